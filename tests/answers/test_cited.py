"""What one paper cites and what cites it: by the rows that were indexed."""

from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.query.citations import Reference
from tests.query.citations.test_citation_graph import library

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
    rows = library()
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
    with pytest.raises(InvalidRequest, match="has no column with what its papers cite"):
        sr.citations_of(plain, "a")
