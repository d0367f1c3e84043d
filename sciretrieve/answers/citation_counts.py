"""Citation counts of papers: from a column of the corpus, which counts all citing works, else from the citations within the index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.types import Rows
from ..files.schema import is_number, letters
from ..query.index import Index
from ..query.ranking.linking import GRAPHED
from .remembering import once_for_each
from .word_index import Ints

COLUMNS = (
    *("citationcount", "citedbycount", "numcitedby", "ncitations", "ncitation", "timescited", "isreferencedbycount"),
    *("citationscount", "numcitations", "incitationscount", "citations"),
)
"""Columns of citation counts, by their letters, best first: those of Semantic Scholar, OpenAlex, S2ORC, Crossref and others."""


@dataclass(frozen=True, slots=True, eq=False)
class CitationCounts:
    """Citation counts of an index's papers: `numbers`, (rows,), -1 if unknown."""

    numbers: Ints

    def of(self, row: int) -> int | None:
        """Citations of a paper; None if unknown."""
        return None if (number := int(self.numbers[row])) < 0 else number

    def total(self, rows: Rows) -> int | None:
        """Citations of some papers together; None if unknown for all of them."""
        numbers = self.numbers[rows]
        known = numbers[numbers >= 0]
        return int(known.sum()) if len(known) else None

    def h_index(self, rows: Rows) -> int | None:
        """The h-index of some papers (Hirsch, PNAS 2005): the greatest h such that h of them are cited at least h times. None if unknown
        for all of them."""
        numbers = np.sort(self.numbers[rows])[::-1]
        known = numbers[numbers >= 0]
        return int((known > np.arange(len(known))).sum()) if len(known) else None


@once_for_each
def citation_counts(index: Index) -> CitationCounts:
    """Citation counts of an index's papers. If the index is too large for `similar` to use citations by default, only columns are used."""
    papers = sum(shard.papers for shard in index.snapshot.shards)
    numbers = np.full(papers, -1, np.int64)
    if index.snapshot.has_references and len(index) <= GRAPHED:
        ends = index.snapshot.citations.graph.citing_ends[: papers + 1]
        numbers[:] = np.diff(ends)
    for shard in index.snapshot.shards:
        names = {letters(field.name): field.name for field in shard.schema if is_number(field.type)}
        for name in [names[name] for name in reversed(COLUMNS) if name in names]:
            column = pc.fill_null(shard.columns([name])[name].combine_chunks().cast(pa.float64()), -1).to_numpy()
            part = numbers[shard.first : shard.first + shard.papers]
            part[column >= 0] = column[column >= 0].astype(np.int64)
    return CitationCounts(numbers)
