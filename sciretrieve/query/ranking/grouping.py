"""Grouping of near-duplicates, by DOI or by title and first author: each work stands once in an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ...base.types import Paper
from ...papers.duplicates import groups, works_down
from ...runs import Ranking


def groups_of(tables: Iterable[pa.Table]) -> list[tuple[str, list[str]]]:
    """Works with more than one paper in the tables: the title and the papers' ids. The tables need id, title and authors."""
    papers = [
        Paper(id, title, authors=tuple(authors or ()))
        for table in tables
        for id, title, authors in zip(*(_column(table, name) for name in ("id", "title", "authors")), strict=True)
    ]
    return [(papers[work[0]].title, [papers[place].id for place in work]) for work in groups(papers) if len(work) > 1]


def _column(table: pa.Table, name: str) -> list[Any]:
    values: list[Any] = table[name].to_pylist() if name in table.column_names else [None] * len(table)
    return values


def grouped(ranking: Ranking, papers: Sequence[Paper], k: int) -> Ranking:
    """The first k works of a ranking. Each stands by its best ranked paper; the others go into `also` and `also_in`. `papers` are the
    ranking's papers."""
    first = works_down(papers)[:k]
    also = [[ranking.ids[place] for place in work[1:]] for work in first]
    also_in = [[ranking.indexes[place] for place in work[1:]] for work in first] if ranking.indexes else ()
    return replace(ranking.take([work[0] for work in first]), also=also, also_in=also_in)


def fullest(papers: Sequence[Paper]) -> int:
    """Position of the most complete paper: abstract before no abstract, then most fields, ties by position."""
    counts = []
    for paper in papers:
        *fields, extra = paper.to_dict().values()
        counts.append((bool(paper.abstract), sum(map(bool, [*fields, *extra.values()]))))
    return max(range(len(counts)), key=counts.__getitem__)
