"""Papers that are one work: what makes two titles and two names the same, that groups never mix first authors, and which records of a
collection are of one paper."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.types import Paper
from sciretrieve.papers.duplicates import SameWork, groups, key, same_works, works

LONG = "A long title that names one paper only"


def family(name: str) -> str:
    work_key = key(LONG, [name])
    assert work_key is not None
    return work_key[1]


def of(*papers: tuple[str, tuple[str, ...]]) -> list[Paper]:
    return [Paper(str(position), title, authors=authors) for position, (title, authors) in enumerate(papers)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{BERT}: Pre-training of Transformers", "BERT - pretraining of transformers"),
        ("Schrödinger's cat", 'Schr{\\"o}dinger’s Cat'),
        ("Schro\u0308dinger's cat", "Schrödinger's cat"),
        ("The \\emph{Drosophila} genome.", "The Drosophila  genome"),
        ("$\\beta$-decay", "β decay"),
        ("Graphs\u2014a\nsurvey", "Graphs: a survey"),
        ("snake_case", "Snake case"),
    ],
)
def test_titles_that_are_the_same(one: str, other: str) -> None:
    assert key(one, []) == key(other, [])


def test_titles_that_differ() -> None:
    assert key("Attention is all you need", []) != key("Attention is not all you need", [])
    assert key("Part 1", []) != key("Part 2", [])
    assert key("图像检索", []) != key("文本检索", [])


@pytest.mark.parametrize("title", ["", "  ", "?!", "$$", "{}"])
def test_an_empty_title_has_no_key(title: str) -> None:
    assert key(title, ["Ada Lovelace"]) is None


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Lovelace, Ada", "Ada Lovelace", "A. Lovelace", "A.Lovelace", "LOVELACE, A.", "Lovelace A.", "Ada Lovelace, PhD"], "lovelace"),
        (["van Beethoven, Ludwig", "Ludwig van Beethoven", "L. van Beethoven"], "beethoven"),
        (["King, Jr., Martin Luther", "Martin Luther King Jr.", "King III, Martin"], "king"),
        (["Gödel, Kurt", 'Kurt G{\\"o}del', "K. Godel"], "godel"),
        (["J.-P. Serre", "Serre, Jean-Pierre", "Serre J.-P."], "serre"),
        (["Conan O'Brien", "O’Brien, C."], "obrien"),
        (["O, Kenneth"], "o"),
        (["王小明"], "王小明"),
        (["", " ", ","], ""),
    ],
)
def test_family_names(names: list[str], expected: str) -> None:
    assert {family(name) for name in names} == {expected}


def test_a_paper_without_authors_joins_the_only_author_of_its_long_title() -> None:
    assert groups(of((LONG, ()), (LONG, ("Ann Aye",)), (LONG, ()), (LONG, ("Aye, A.",)))) == [[0, 1, 2, 3]]
    assert groups(of((LONG, ()), (LONG, ()))) == [[0, 1]]


def test_a_paper_without_authors_never_joins_two_first_authors() -> None:
    assert groups(of((LONG, ("Ann Aye",)), (LONG, ()), (LONG, ("Bob Bee",)), (LONG, ()))) == [[0], [1, 3], [2]]


def test_a_short_title_without_authors_is_alone() -> None:
    short = "Introduction"
    assert groups(of((short, ()), (short, ("Ann Aye",)), (short, ()), (short, ("Aye, Ann",)))) == [[0], [1, 3], [2]]


def test_the_length_that_tells_is_counted_in_letters_and_digits() -> None:
    assert groups(of(("a " * 25, ()), ("a" * 25, ()))) == [[0], [1]]
    assert groups(of(("a " * 26, ()), ("a" * 26, ()))) == [[0, 1]]


some_papers = st.lists(
    st.builds(
        Paper,
        st.just("id"),
        st.sampled_from(["", "Note", "NOTE.", LONG, f"{{{LONG}}}", LONG.replace(" ", "-"), "Another long title of another paper"]),
        authors=st.sampled_from([(), ("",), ("Ann Aye",), ("Aye, Ann", "Bob Bee"), ("Bob Bee",)]),
    ),
    max_size=25,
)


@given(some_papers)
def test_every_paper_is_in_one_group(papers: list[Paper]) -> None:
    works = groups(papers)
    assert sorted(position for group in works for position in group) == list(range(len(papers)))
    assert all(group == sorted(group) for group in works)
    assert [group[0] for group in works] == sorted(group[0] for group in works)


@given(some_papers)
def test_a_group_has_one_title_and_at_most_one_first_author(papers: list[Paper]) -> None:
    group_of = {position: number for number, group in enumerate(groups(papers)) for position in group}
    keys = [key(paper.title, paper.authors) for paper in papers]
    for position, one in enumerate(keys):
        for later in range(position + 1, len(keys)):
            other = keys[later]
            if group_of[position] == group_of[later]:
                assert one is not None
                assert other is not None
                assert one[0] == other[0]
                assert "" in (one[1], other[1]) or one == other
            elif one is not None and one[1]:
                assert one != other
    for group in groups(papers):
        assert len({work_key[1] for position in group if (work_key := keys[position]) and work_key[1]}) <= 1


@given(some_papers, st.randoms(use_true_random=False))
def test_groups_do_not_hang_on_the_order(papers: list[Paper], chance: object) -> None:
    order = list(range(len(papers)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    shuffled = groups([papers[position] for position in order])
    assert {frozenset(order[position] for position in group) for group in shuffled} == {frozenset(group) for group in groups(papers)}


def record(title: str = LONG, author: str | None = "Ann Aye", year: int | None = None, doi: str | None = None) -> Paper:
    return Paper("id", title, authors=(author,) if author else (), year=year, doi=doi)


def test_a_doi_decides() -> None:
    papers = [
        record("One title of a paper", "Ann Aye", 2001, "10.1000/ABC"),
        record("Other", "Bob Bee", 2001, "10.1000/abcd"),
        record("Another title, as a publisher has it", "Aye, A.", 2020, "https://doi.org/10.1000/abc"),
        record(doi=None),
    ]
    assert same_works(papers) == [SameWork((0, 2), "DOI")]


def test_chapters_with_the_doi_of_their_book_are_works_of_their_own() -> None:
    chapters = [record(f"On the matter of {what}", f"Ann {what.title()}", 2001, "10.1000/book") for what in ("ants", "bees", "cats")]
    assert same_works(chapters) == []
    assert works(chapters) == [[0], [1], [2]]
    # records that do not say which chapter they are of are of none
    unknown = [record("", "Ann Ants", 2001, "10.1000/book"), record("On the matter of bees", None, 2001, "10.1000/book")]
    assert same_works([*chapters, *unknown]) == []
    assert same_works([chapters[0], unknown[0]]) == [SameWork((0, 1), "DOI")]
    assert same_works([*chapters, chapters[1]]) == [SameWork((1, 3), "DOI")]


def test_title_and_first_author_where_a_doi_is_not_known() -> None:
    assert same_works([record(doi="10.1000/a"), record(LONG.upper(), "Aye, A."), record(author="Bob Bee")]) == [
        SameWork((0, 1), "title and author")
    ]
    assert same_works([record(doi="10.1000/a"), record(doi="10.1000/b"), record(doi="10.1000/a")]) == [
        SameWork((0, 1, 2), "title and author")
    ]


def test_initials_without_points_are_no_family_name() -> None:
    assert key(LONG, ["Doudna JA"]) == key(LONG, ["Doudna, Jennifer A."]) == key(LONG, ["J. A. Doudna"])
    assert key(LONG, ["Jet LI"]) != key(LONG, ["Li, Jet"]), "which is read as initials, as everywhere"
    assert key(LONG, ["JET LI"]) == key(LONG, ["Li, Jet"])


@pytest.mark.parametrize(
    ("years", "expected"),
    [
        ((2010, 2010), [(0, 1)]),
        ((2011, 2010), [(0, 1)]),
        ((2010, 2012), []),
        ((None, 2012), [(0, 1)]),
        ((2010, 2012, None), []),
        ((2010, 2012, None, None), [(2, 3)]),
        ((2012, 2010, 2011), [(1, 2)]),
        ((2013, 2012, 2011, 2010), [(0, 1), (2, 3)]),
    ],
)
def test_years_that_contradict(years: tuple[int | None, ...], expected: list[tuple[int, ...]]) -> None:
    assert [work.places for work in same_works([record(year=year) for year in years])] == expected


@pytest.mark.parametrize(
    ("dois", "expected"),
    [
        (("10.1000/a", "10.1000/b"), []),
        (("10.1000/a", None), [(0, 1)]),
        (("10.1000/a", "10.1000/b", None), []),
        ((None, "10.1000/a", None, "10.1000/a"), [(0, 1, 2, 3)]),
    ],
)
def test_dois_that_contradict_a_short_title(dois: tuple[str | None, ...], expected: list[tuple[int, ...]]) -> None:
    assert [work.places for work in same_works([record("Editorial", doi=doi, year=2010) for doi in dois])] == expected


records = st.lists(
    st.builds(
        record,
        st.sampled_from([LONG, LONG.upper(), "Editorial", "Another long title of another paper", ""]),
        st.sampled_from([None, "Ann Aye", "Aye, Ann", "Bob Bee"]),
        st.sampled_from([None, 2000, 2001, 2002, 2003]),
        st.sampled_from([None, None, "10.1000/a", "doi:10.1000/A", "10.1000/b"]),
    ),
    max_size=14,
)


@given(records, st.randoms(use_true_random=False))
def test_works_do_not_hang_on_the_order(papers: list[Paper], chance: object) -> None:
    order = list(range(len(papers)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    shuffled = same_works([papers[place] for place in order])
    assert {(frozenset(order[place] for place in work.places), work.by) for work in shuffled} == {
        (frozenset(work.places), work.by) for work in same_works(papers)
    }


@given(records)
def test_what_records_of_one_work_have_in_common(papers: list[Paper]) -> None:
    """Compared pair by pair: one DOI joins what has one title or one author, and whatever is joined hangs together by pairs that agree."""
    works = same_works(papers)
    assert all(len(work.places) > 1 and list(work.places) == sorted(work.places) for work in works)
    work_of = {place: work for work in works for place in work.places}
    assert len(work_of) == sum(len(work.places) for work in works)
    plain = [paper.doi and paper.doi.removeprefix("doi:").lower() for paper in papers]
    for one, other in combinations(range(len(papers)), 2):
        both = papers[one], papers[other]
        is_known = all(paper.title and paper.authors for paper in both)
        is_alike = len({paper.title.lower() for paper in both}) == 1 or len(set(map(_family_of, both))) == 1
        if plain[one] and plain[one] == plain[other] and is_known and is_alike:
            assert work_of[one] is work_of[other]
    for work in works:
        reached = {work.places[0]}
        while more := {place for place in work.places if any(_agree(papers, plain, place, other) for other in reached)} - reached:
            reached |= more
        assert reached == set(work.places)
        assert (work.by == "DOI") == (
            None not in {plain[place] for place in work.places} and len({plain[place] for place in work.places}) == 1
        )


def _family_of(paper: Paper) -> str:
    return "".join(paper.authors).replace(",", "").replace("Ann", "").replace("Bob", "").strip()


def _agree(papers: list[Paper], dois: list[str | None], one: int, other: int) -> bool:
    left, right = papers[one], papers[other]
    if dois[one] and dois[one] == dois[other]:
        return True
    families = {_family_of(left), _family_of(right)} - {""}
    is_short = left.title == "Editorial"
    contradict = bool(left.year and right.year and abs(left.year - right.year) > 1) or bool(is_short and dois[one] and dois[other])
    return bool(left.title) and left.title.lower() == right.title.lower() and len(families) <= 1 and not contradict


def test_an_answer_shows_as_one_what_has_one_title_and_author_or_one_doi() -> None:
    papers = [
        Paper("a", "A comet", year=1990, authors=("Ann Bee",), doi="10.1000/A"),
        Paper("b", "Salt"),
        Paper("c", "Un cometa", doi="https://doi.org/10.1000/a"),
        Paper("d", "A Comet.", year=2020, authors=("Bee, A.",), doi="10.1000/d"),
        Paper("e", "", doi=None),
    ]
    assert works(papers) == [[0, 2, 3], [1], [4]]
    assert works([]) == []
