"""Passages of full texts as rows of an index: which paper each belongs to, and what each says of its place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.types import Paper, Passage, Rows
from ..files.schema import booleans, integers
from ..matching.lexical.lists import numbers_of
from ..storage.fulltext import owners_of
from ..storage.shards import Shard

FIRST = "#0"
PRIVATE = ("file", "attachment", "digest")
"""Columns of passages that no typed query may ask about, since they say where files are on this machine."""


def owning_rows(passages: Sequence[Shard], papers: Sequence[Shard], start: int) -> list[Rows]:
    """The row of each passage's paper, for each shard of passages, (passages,); -1 for a passage without a paper, and a deleted one.

    A paper's passages follow each other, and a shard may begin within them, so only the first of each paper is looked up.

    Args:
        passages, papers: shards of both.
        start: row of the first paper.
    """
    live_ids = pa.chunked_array([shard.ids.filter(booleans(shard.scope.flags)) for shard in papers], pa.string()).combine_chunks()
    live_rows = np.concatenate([shard.scope.places + shard.first for shard in papers]) + start
    owners: list[Rows] = []
    for shard in passages:
        ids = shard.ids
        is_first = pc.ends_with(ids, FIRST).to_numpy(zero_copy_only=False)
        is_first[:1] = True
        places = pc.index_in(owners_of(ids.take(integers(np.flatnonzero(is_first)))), live_ids)
        rows = live_rows[numbers_of(pc.fill_null(places, 0), np.int32)] if len(live_rows) else np.zeros(len(places), np.int64)
        rows = np.where(places.is_valid().to_numpy(zero_copy_only=False), rows, -1)
        owners.append(np.where(shard.scope.flags, rows[np.cumsum(is_first) - 1], -1))
    return owners


def passage_of(row: Paper, index: str | None = None) -> Passage:
    """The passage that a row of an index of passages holds; `index` names the paper's index, if there are several."""
    extra = row.extra
    paper, _, number = row.id.rpartition("#")
    return Passage(
        paper,
        int(number),
        row.abstract,
        str(extra.get("section") or ""),
        extra.get("page") or None,
        int(extra.get("start") or 0),
        int(extra.get("end") or 0),
        extra.get("file"),
        extra.get("attachment"),
        index,
    )
