"""Numbers of titles and DOIs, against the texts that they stand for."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.papers import identifiers
from sciretrieve.papers.duplicates import bare_title
from sciretrieve.papers.likenesses import doi_numbers, title_numbers

TITLES = st.lists(
    st.one_of(st.text(max_size=8), st.text("aB1 -é\\{}$^α检_", max_size=8), st.sampled_from(["{BERT}", "Bert", "$\\beta$", "β"]))
)
DOIS = st.lists(
    st.one_of(
        st.none(),
        st.text(max_size=8),
        st.builds("{}{}{}".format, st.sampled_from(["", "https://doi.org/", "doi:", "(", " "]), *[st.text("10./Aa%2F?=-", max_size=9)] * 2),
        st.builds(
            "{}10.1000/{}{}".format, st.sampled_from(["", "https://doi.org/", "<"]), st.text("aA1.-", max_size=3), st.sampled_from(".,> ")
        ),
    )
)


def check(numbers: list[int], texts: list[str]) -> None:
    letters = [sorted(text.encode()) for text in texts]
    assert [number == 0 for number in numbers] == [not text for text in letters]
    for number, text in zip(numbers, letters, strict=True):
        assert [other == number for other in numbers] == [other == text for other in letters]


@given(TITLES, st.integers(0, 3))
def test_titles_with_the_same_letters_have_one_number(titles: list[str], first: int) -> None:
    check(title_numbers(pa.array(titles, pa.string()).slice(first)).tolist(), [bare_title(title) for title in titles[first:]])


@given(DOIS, st.integers(0, 3))
def test_dois_that_are_one_have_one_number(dois: list[str | None], first: int) -> None:
    numbers = doi_numbers(pa.array(dois, pa.string()).slice(first)).tolist()
    plain = [(identifiers.doi(text or ""), number) for text, number in zip(dois[first:], numbers, strict=True)]
    for doi, number in plain:
        assert all(number == other for same, other in plain if same == doi is not None)
        assert number or doi is None


@pytest.mark.parametrize("dois", [["10.1000/ABC", "https://doi.org/10.1000/abc", "10.1000/abc."], [None, "", "none"]])
def test_a_doi_is_the_same_however_it_is_written(dois: list[str | None]) -> None:
    numbers = doi_numbers(pa.array(dois, pa.string()))
    assert set((numbers != 0).tolist()) == {dois[0] is not None}
    assert len(set(numbers.tolist())) == 1
