"""What a format's reader yields: a table with the source's own column names, and the rows that could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from ..schema import column_from

BATCH_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that is not indexed: where it stands (rows count from 1), its id if it has one, and why."""

    source: str
    row: int
    reason: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class RawBatch:
    """Some rows of one source: `table` as it was found, `rows` its row numbers, `rejected` those not in it."""

    source: str
    table: pa.Table
    rows: list[int]
    rejected: list[Rejected] = field(default_factory=list)


Row: TypeAlias = Mapping[str, Any]


def batches_of_rows(source: str, items: Iterable[tuple[int, Row | Rejected]]) -> Iterator[RawBatch]:
    """Gather numbered rows (mappings, or rejections in their place) into batches with one column a key."""
    rows: list[Row] = []
    numbers: list[int] = []
    rejected: list[Rejected] = []
    for number, item in items:
        if isinstance(item, Rejected):
            rejected.append(item)
        else:
            rows.append(item)
            numbers.append(number)
        if len(rows) + len(rejected) >= BATCH_ROWS:
            yield RawBatch(source, _table(rows), numbers, rejected)
            rows, numbers, rejected = [], [], []
    if rows or rejected:
        yield RawBatch(source, _table(rows), numbers, rejected)


def _table(rows: list[Row]) -> pa.Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: column_from([row.get(name) for row in rows]) for name in names})
