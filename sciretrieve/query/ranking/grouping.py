"""Grouping of near-duplicates, by DOI or by title and first author: each work stands once in an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, islice, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from ...base.types import Paper, Rows
from ...matching.scope import NO_ROWS
from ...papers.duplicates import groups, works_down
from ...papers.likenesses import sharing
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


def works_of_each(
    rankings: Sequence[Ranking], marks_at: Callable[[Rows], Sequence[Sequence[bytes]]], papers_at: Callable[[Rows], Sequence[Paper]]
) -> list[list[list[int]]]:
    """The works of each ranking, see `works_down`, as the positions of their papers.

    Papers of one work share one of the marks that `marks_at` gives for rows, see `papers.likenesses`. Only papers that share one are read.
    """
    ends = list(accumulate(map(len, rankings), initial=0))
    every_marks = marks_at(np.concatenate([NO_ROWS, *(ranking.rows for ranking in rankings)]))
    places_of = [sorted({place for marks in every_marks for place in sharing(marks[start:end])}) for start, end in pairwise(ends)]
    papers = iter(
        papers_at(np.concatenate([NO_ROWS, *(one.rows[places] for one, places in zip(rankings, places_of, strict=True) if places)]))
    )
    every = [[place] for place in range(max(map(len, rankings), default=0))]
    works = []
    for ranking, places in zip(rankings, places_of, strict=True):
        own = every[: len(ranking)]
        if places:
            joined = [[places[member] for member in work] for work in works_down(list(islice(papers, len(places))))]
            own = sorted([*joined, *(own[place] for place in {*range(len(ranking))}.difference(places))], key=itemgetter(0))
        works.append(own)
    return works


def grouped(ranking: Ranking, works: Sequence[Sequence[int]], k: int) -> Ranking:
    """The first k works of a ranking. Each stands by its best ranked paper; the others go into `also` and `also_in`."""
    first = works[:k]
    also = [[ranking.ids[place] for place in work[1:]] for work in first]
    also_in = [[ranking.indexes[place] for place in work[1:]] for work in first] if ranking.indexes else ()
    return ranking.take([work[0] for work in first], also=also, also_in=also_in)


def fullest(papers: Sequence[Paper]) -> int:
    """Position of the most complete paper: abstract before no abstract, then most fields, ties by position."""
    counts = []
    for paper in papers:
        *fields, extra = paper.to_dict().values()
        counts.append((bool(paper.abstract), sum(map(bool, [*fields, *extra.values()]))))
    return max(range(len(counts)), key=counts.__getitem__)
