"""Papers that may be the same works as given ones: those with one of their DOIs, or whose titles have all words of one of theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from ...base.types import Paper, Rows
from ...files.schema import texts
from ...matching.lexical import Analyzer, Bm25
from ...papers import identifiers
from ...storage.shards import Shard
from .identifying import rows_flagged

MOST_ALIKE = 100
"""Papers that may share a title; one that more have, such as "Editorial", names no work."""


def possible_copies(shards: Sequence[Shard], analyzer: Analyzer, bm25: Bm25 | None, papers: Sequence[Paper]) -> Rows:
    """The rows, over all shards and ascending, of the papers that are not deleted and may be one of the given works, these among them.

    A DOI is found as it is stored, in small letters. Titles are looked up in BM25; without it, by their letters as they are.
    """
    dois = [doi for paper in papers if paper.doi and (doi := identifiers.doi(paper.doi))]
    parts = [_with_values(shards, "doi", dois)]
    if bm25 is None:
        parts.append(_with_values(shards, "title", [paper.title for paper in papers if paper.title]))
    else:
        alike = (bm25.rows_with(analyzer.terms(title), "title") for title in {paper.title for paper in papers})
        parts += [rows for rows in alike if len(rows) <= MOST_ALIKE]
    return np.unique(np.concatenate(parts))


def _with_values(shards: Sequence[Shard], column: str, values: Sequence[str]) -> Rows:
    having = [shard for shard in shards if values and column in shard.schema.names]
    wanted = texts(values)
    return rows_flagged(having, [pc.is_in(shard.columns([column])[column], value_set=wanted) for shard in having])
