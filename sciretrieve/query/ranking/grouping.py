"""Answers in which every work stands once: near-duplicates, by DOI or by title and first author, are shown with the best of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ...base.types import Paper
from ...papers.duplicates import groups, works_down
from ...runs import Ranking


def groups_of(tables: Iterable[pa.Table]) -> list[tuple[str, list[str]]]:
    """The works with more than one paper in tables with id, title and authors: a title, and the papers' ids."""
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
    """The ranking's first k works, each by its best ranked paper, with the others in `also` and `also_in`. `papers` are the ranking's."""
    first = works_down(papers)[:k]
    also = [[ranking.ids[place] for place in work[1:]] for work in first]
    also_in = [[ranking.indexes[place] for place in work[1:]] for work in first] if ranking.indexes else ()
    return replace(ranking.take([work[0] for work in first]), also=also, also_in=also_in)


def fullest(papers: Sequence[Paper]) -> int:
    """The place of the paper that says the most: with an abstract more than without, then with more fields; of equals the first."""
    told = []
    for paper in papers:
        *fields, extra = paper.to_dict().values()
        told.append((bool(paper.abstract), sum(map(bool, [*fields, *extra.values()]))))
    return max(range(len(told)), key=told.__getitem__)
