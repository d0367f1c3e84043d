"""How often papers are cited, by a column or by the papers of the index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.answers.citation_counts import CitationCounts, citation_counts

ROWS: list[dict[str, Any]] = [
    {"id": "a", "title": "A", "references": ["b", "c"], "cited_by_count": 7},
    {"id": "b", "title": "B", "references": ["c", "10.1000/outside"]},
    {"id": "c", "title": "C", "references": ["c"]},
    {"id": "gone", "title": "D", "references": ["a", "b", "c"]},
]


def counts(index: sr.Index) -> dict[str, int | None]:
    """How often each paper is cited."""
    found = citation_counts(index)
    return {paper.id: found.of(int(index.snapshot.rows(paper.id)[0])) for paper in index}


def test_a_column_wins_and_deleted_papers_cite_nothing(tmp_path: Path) -> None:
    path = sr.build(ROWS, tmp_path / "index", encoder=None, shard_size=3).path
    assert counts(sr.open(path)) == {"a": 7, "b": 2, "c": 3, "gone": 0}
    sr.delete(path, ["gone"])
    assert counts(sr.open(path)) == {"a": 7, "b": 1, "c": 2}


def test_without_references_columns_alone_say_it(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": "a", "title": "A", "citationCount": 3}, {"id": "b", "title": "B", "citationCount": None}]
    index = sr.build(rows, tmp_path / "index", encoder=None)
    assert counts(index) == {"a": 3, "b": None}
    assert citation_counts(index) is citation_counts(index)


@given(st.lists(st.integers(-1, 12)))
def test_totals_and_h(numbers: list[int]) -> None:
    found, rows = CitationCounts(np.array(numbers, np.int64)), np.arange(len(numbers))
    known = [number for number in numbers if number >= 0]
    assert found.total(rows) == (sum(known) if known else None)
    h_index = max((h for h in range(len(known) + 1) if sum(number >= h for number in known) >= h), default=None) if known else None
    assert found.h_index(rows) == h_index
