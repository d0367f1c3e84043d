"""All of a paper: against what `similar` and `duplicates` say of the same index."""

from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.answers.profiles import profile
from sciretrieve.base.errors import NotFound
from tests.made_up import write_jsonl

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
