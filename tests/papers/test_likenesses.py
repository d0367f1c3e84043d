"""Marks of titles and DOIs, against the texts that they stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.papers import identifiers
from sciretrieve.papers.duplicates import bare_title
from sciretrieve.papers.likenesses import doi_mark, sharing, title_mark

TITLES = st.lists(
    st.one_of(st.text(max_size=8), st.text("aB1 -é\\{}$^α检_", max_size=8), st.sampled_from(["{BERT}", "Bert", "$\\beta$", "β"]))
)
DOIS = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.builds("{}{}{}".format, st.sampled_from(["", "https://doi.org/", "doi:", "(", " "]), *[st.text("10./Aa%2F?=-", max_size=9)] * 2),
        st.builds(
            "{}10.1000/{}{}".format, st.sampled_from(["", "https://doi.org/", "<"]), st.text("aA1.-", max_size=3), st.sampled_from(".,> ")
        ),
    )
)


@given(TITLES)
def test_titles_of_the_same_letters_have_one_mark(titles: list[str]) -> None:
    assert [title_mark(title).decode() for title in titles] == [bare_title(title) for title in titles]


@given(DOIS)
def test_dois_that_are_one_have_one_mark(dois: list[str]) -> None:
    plain = [(identifiers.doi(text), doi_mark(text)) for text in dois]
    for doi, mark in plain:
        assert all(mark == other for same, other in plain if same == doi is not None)
        assert mark or doi is None


@pytest.mark.parametrize("dois", [["10.1000/ABC", "https://doi.org/10.1000/abc", "10.1000/abc."], ["", "none"]])
def test_a_doi_is_the_same_however_it_is_written(dois: list[str]) -> None:
    assert {bool(doi_mark(doi)) for doi in dois} == {"10" in dois[0]}
    assert len(set(map(doi_mark, dois))) == 1


@given(st.lists(st.sampled_from([b"", b"a", b"b", b"c", b"d"])))
def test_marks_are_shared_by_two_or_more(marks: list[bytes]) -> None:
    assert {*sharing(marks)} == {place for place, mark in enumerate(marks) if mark and marks.count(mark) > 1}
