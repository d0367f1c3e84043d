"""What one paper cites, and what cites it: papers of the index, and references to works that it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..base.types import Paper
from ..matching.sharding import by_shard
from ..query.citations import Reference, reference_columns, references_of
from ..query.index import Index


@dataclass(frozen=True, slots=True)
class CitationsOf:
    """The citations of one paper.

    Attributes:
        cites: what it cites, in its own order: papers of the index, and for others the references as they are given.
        cited_by: the papers of the index that cite it, the latest first, then by id.
        cites_names, cited_by_names: what names each of them, see `Snapshot.whole_names`; "" for a reference.
    """

    cites: tuple[Paper | Reference, ...]
    cited_by: tuple[Paper, ...]
    cites_names: tuple[str, ...]
    cited_by_names: tuple[str, ...]


def citations_of(index: Index, id: str) -> CitationsOf:
    """What a paper of an index cites, and what cites it.

    Raises:
        NotFound: the id is none of a paper of the index.
        InvalidRequest: no column of the index says what papers cite.
    """
    row = int(index.named_rows([id])[0])
    cited: dict[int | str, int | Reference] = {}
    for reference in _references(index, row):
        cited_row = index.snapshot.citations.names.row(reference.names)
        if cited_row is None:
            cited.setdefault(str(reference), reference)
        elif cited_row != row:
            cited.setdefault(cited_row, cited_row)
    rows = np.array([item for item in cited.values() if isinstance(item, int)], np.int64)
    known = dict(zip(rows.tolist(), zip(index.snapshot.papers_at(rows), index.snapshot.whole_names(rows), strict=True), strict=True))
    cites = [known[item] if isinstance(item, int) else (item, "") for item in cited.values()]
    citing_rows = index.snapshot.citations.graph.cited_by(row)
    citing = sorted(
        zip(index.snapshot.papers_at(citing_rows), index.snapshot.whole_names(citing_rows), strict=True),
        key=lambda pair: (-(pair[0].year or 0), pair[0].id),
    )
    return CitationsOf(
        tuple(work for work, _ in cites),
        tuple(paper for paper, _ in citing),
        tuple(name for _, name in cites),
        tuple(name for _, name in citing),
    )


def _references(index: Index, row: int) -> Iterator[Reference]:
    for shard, _, shard_rows in by_shard(np.array([row]), index.snapshot.shards):
        for _, table in shard.read_at(shard_rows, shard.schema.names):
            yield from references_of(table.to_pylist()[0], reference_columns(shard.schema))
