"""All of a paper: against what `similar` and `duplicates` say of the same index; and what it cites and is cited by, by the rows indexed."""

from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.answers.profiles import profile
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.papers.references import Reference
from tests.made_up import write_jsonl
from tests.query.citations.test_citation_graph import library as citing_library

TITLE = "A long title on graphs that are drawn by hand and by machines"
PAPERS: list[dict[str, Any]] = [
    {"id": "journal", "title": TITLE, "abstract": "Graphs drawn by hand.", "authors": ["Ada Lovelace"], "year": 2020},
    {"id": "preprint", "title": TITLE.upper(), "abstract": "Graphs drawn by hand.", "authors": ["Lovelace, A."], "year": 2019},
    *({"id": f"p{number}", "title": f"Graphs drawn in way {number}", "authors": [f"B{number} C"]} for number in range(8)),
    {"id": "p0-again", "title": "Graphs drawn in way 0", "authors": ["B0 C"]},
    {"id": "other", "title": "Whales at sea"},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """A paper twice, and others like it."""
    folder = tmp_path_factory.mktemp("library")
    return sr.build(write_jsonl(folder / "papers.jsonl", PAPERS), folder / "index", encoder=None)


def test_near_duplicates_are_told_apart_from_neighbours(library: sr.Index) -> None:
    found = profile(library, "journal")
    assert (found.paper.id, found.paper.authors, found.also) == ("journal", ("Ada Lovelace",), ("preprint",))
    assert [hit.rank for hit in found.similar] == [1, 2, 3, 4, 5]
    assert not {"journal", "preprint"} & {hit.id for hit in found.similar}
    works = library.similar("journal", 5, group=True).hits
    assert [(hit.id, hit.also, hit.score) for hit in found.similar] == [(hit.id, hit.also, hit.score) for hit in works]
    assert any(hit.also for hit in found.similar)


def test_a_paper_like_no_other_is_alone(library: sr.Index) -> None:
    assert (profile(library, "other").also, profile(library, "other").similar) == ((), ())


def test_citations_are_those_of_the_index_that_has_them(library: sr.Index, tmp_path: Path) -> None:
    assert profile(library, "journal").citations is None
    rows = [{"id": "a", "title": "On graphs", "references": ["b", "10.1000/x"]}, {"id": "b", "title": "On more graphs", "references": []}]
    index = sr.build(rows, tmp_path / "index", encoder=None)
    assert profile(index, "a").citations == sr.citations_of(index, "a")
    assert [paper.id for paper in (profile(index, "b").citations or sr.citations_of(index, "a")).cited_by] == ["a"]


def test_a_paper_that_is_not_there(library: sr.Index, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no paper 'jornal'"):
        profile(library, "jornal")


ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "title": "A",
        "year": 2001,
        "doi": "10.1000/A",
        "reference": [{"key": "r1", "DOI": "10.1000/X", "unstructured": "X, 1990"}],
    },
    {
        "id": "b",
        "title": "B",
        "year": 2005,
        "reference": [{"DOI": "10.1000/y"}, {"DOI": "https://doi.org/10.1000/a"}, {"DOI": "10.1000/Y"}],
    },
    {"id": "c", "title": "C", "year": None, "reference": [{"unstructured": "In words alone"}, {"DOI": "10.1000/a"}]},
    {"id": "d", "title": "D", "year": 2005, "reference": [{"DOI": "10.1000/a"}]},
]


def test_cites_and_cited_by(tmp_path: Path) -> None:
    index = sr.build(ROWS, tmp_path / "index", encoder=None, shard_size=2)
    (paper,) = index.papers("a")
    assert sr.citations_of(index, "a").cites == (Reference(("doi:10.1000/x",), "X, 1990"),)
    assert [other.id for other in sr.citations_of(index, "10.1000/a").cited_by] == ["b", "d", "c"]  # the latest first
    found = sr.citations_of(index, "b")
    assert found.cites == (Reference(("doi:10.1000/y",)), paper)
    assert found.cited_by == ()
    assert [str(cited) for cited in found.cites[:1]] == ["doi:10.1000/y"]
    assert sr.citations_of(index, "c").cites == (Reference((), "In words alone"), paper)


def test_it_is_the_graph(tmp_path: Path) -> None:
    rows = citing_library()
    index = sr.build(rows, tmp_path / "index", encoder=None, shard_size=7)
    sr.delete(index.path, ["p00", "p13"])
    index = sr.open(index.path)
    left = {row["id"]: [id for id in row["references"] if id != row["id"]] for row in rows if row["id"] not in ("p00", "p13")}
    for id, references in left.items():
        found = sr.citations_of(index, id)
        assert [getattr(cited, "id", None) for cited in found.cites] == [other if other in left else None for other in references]
        assert [paper.id for paper in found.cited_by] == [other for other in left if id in left[other]]


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    index = sr.build(ROWS, tmp_path / "index", encoder=None)
    with pytest.raises(NotFound, match="nobody"):
        sr.citations_of(index, "nobody")
    plain = sr.build([{"id": "a", "title": "A"}], tmp_path / "plain", encoder=None)
    with pytest.raises(InvalidRequest, match="has no column of references"):
        sr.citations_of(plain, "a")
