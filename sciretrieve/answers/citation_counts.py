"""How often papers are cited: as a column of their corpus says, which counts citations by all works, else by the papers of the index."""

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
"""Columns with how often a paper is cited, by their letters, best first: of Semantic Scholar, OpenAlex, S2ORC, Crossref and others."""


@dataclass(frozen=True, slots=True, eq=False)
class CitationCounts:
    """How often each paper of an index is cited: `numbers`, (rows,), -1 where it is not known."""

    numbers: Ints

    def of(self, row: int) -> int | None:
        """How often a paper is cited; None if that is not known."""
        return None if (number := int(self.numbers[row])) < 0 else number

    def total(self, rows: Rows) -> int | None:
        """How often some papers are cited together; None where it is known of none."""
        numbers = self.numbers[rows]
        known = numbers[numbers >= 0]
        return int(known.sum()) if len(known) else None

    def h_index(self, rows: Rows) -> int | None:
        """The greatest h of which h of the papers are each cited h times or more (Hirsch, PNAS 2005); None where it is known of none."""
        numbers = np.sort(self.numbers[rows])[::-1]
        known = numbers[numbers >= 0]
        return int((known > np.arange(len(known))).sum()) if len(known) else None


@once_for_each
def citation_counts(index: Index) -> CitationCounts:
    """How often the papers of an index are cited. Where they are too many for `similar` to follow citations, columns alone say it."""
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
