"""What a format's reader yields: a table with the source's own column names, and the rows that could not be read."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from ...base.errors import InvalidRequest
from ...files.schema import column_from

BATCH_ROWS = 4096
BATCH_BYTES = 64 << 20
"""Bytes after which a batch is full, however few rows it has."""
BROKEN = "broken UTF-8"
"""Why a row with bytes that are no text, or with lone surrogates in their place, is rejected."""
MOST_COLUMNS = 4096
"""Columns that a corpus may have. A shard has a value, or the lack of it, for each paper and column."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that is not indexed: its position (counted from 1), its id if it has one, and the reason."""

    source: str
    row: int
    reason: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Withdrawn(Rejected):
    """A row that withdraws a paper from its source."""


@dataclass(frozen=True, slots=True)
class CutOff(Rejected):
    """A broken row at the end of its source, which may have been longer: what came after it is not known."""


@dataclass(frozen=True, slots=True)
class RawBatch:
    """Some rows of one source: `table` unchanged, `rows` its row numbers, `rejected` those not in it.

    `untyped` says that the source has only texts, some of which mean numbers; `has_weak_ids` that ids are record numbers or citation keys,
    which other sources give to other papers.
    """

    source: str
    table: pa.Table
    rows: list[int]
    rejected: list[Rejected] = field(default_factory=list)
    untyped: bool = False
    has_weak_ids: bool = False


Row: TypeAlias = Mapping[str, Any]


def batches_of_rows(
    source: str, items: Iterable[tuple[int, Row | Rejected]], *, untyped: bool = False, has_weak_ids: bool = False
) -> Iterator[RawBatch]:
    """Gather numbered rows (mappings or rejections) into batches with one column per key.

    Rows with a lone surrogate in a text are rejected: bytes that are not UTF-8 arrive as these.
    Raises InvalidRequest: the rows have more columns than a corpus may have.
    """
    for window in _windows(source, items):
        rejected = [item for _, item in window if isinstance(item, Rejected)]
        rows = {number: item for number, item in window if not isinstance(item, Rejected)}
        try:
            table = table_of_rows(list(rows.values()))
        except UnicodeEncodeError:
            broken_rows = [number for number, row in rows.items() if is_broken(row)]
            rejected += [Rejected(source, number, BROKEN) for number in broken_rows]
            for number in broken_rows:
                del rows[number]
            table = table_of_rows(list(rows.values()))
        yield RawBatch(source, table, list(rows), rejected, untyped, has_weak_ids)


def batch_of_table(source: str, table: pa.Table, numbers: Sequence[int], rejected: Sequence[Rejected] = ()) -> RawBatch:
    """The numbered rows of a table, those with broken UTF-8 rejected, too."""
    try:
        table.validate(full=True)  # Arrow trusts the bytes that it reads; this looks at them
        return RawBatch(source, table, list(numbers), list(rejected))
    except pa.ArrowInvalid:
        broken_rows = {row for column in table.columns for row in _unreadable(column)}
    sound_rows = [row for row in range(table.num_rows) if row not in broken_rows]
    more = [Rejected(source, numbers[row], BROKEN) for row in sorted(broken_rows)]
    return RawBatch(source, table.take(sound_rows), [numbers[row] for row in sound_rows], [*rejected, *more])


def _unreadable(column: pa.ChunkedArray) -> Iterator[int]:
    """The rows of a column of texts, or of lists of texts, that hold broken UTF-8."""
    for row in range(len(column)):
        try:
            column[row].as_py()
        except UnicodeDecodeError:
            yield row
        except (OverflowError, ValueError):
            continue  # a time that Python does not have, which is told later


def filled(row: Row) -> Row:
    """A row without the columns in which it has nothing."""
    return {name: value for name, value in row.items() if value}


def _windows(source: str, items: Iterable[tuple[int, Row | Rejected]]) -> Iterator[list[tuple[int, Row | Rejected]]]:
    """Numbered rows in lists that fit into memory."""
    window: list[tuple[int, Row | Rejected]] = []
    size = 0
    for number, row in items:
        try:
            size += _size(row) if isinstance(row, dict) else 0
        except RecursionError:
            row = Rejected(source, number, "nested too deeply")
        window.append((number, row))
        if len(window) == BATCH_ROWS or size > BATCH_BYTES:
            yield window
            window, size = [], 0
    if window:
        yield window


def _size(value: dict[str, Any] | list[Any]) -> int:
    """About how many bytes a row takes, or an object or a list within it."""
    size = 64 * len(value)
    for item in value.values() if isinstance(value, dict) else value:
        kind = type(item)
        if kind is str:
            size += len(item)
        elif kind is dict or kind is list:
            size += _size(item)
    return size


def too_many_columns(count: int) -> InvalidRequest:
    """The error for a corpus with more columns than `MOST_COLUMNS`."""
    return InvalidRequest(
        f"the corpus has {count:,} columns, and at most {MOST_COLUMNS:,} are read; put what differs by paper into one column"
    )


def free_name(name: str, used_names: Container[str]) -> str:
    """`name`, with underscores appended until it is not in `used_names`."""
    while name in used_names:
        name += "_"
    return name


def is_broken(row: object) -> bool:
    """Whether a text of a row has a lone surrogate."""
    try:
        json.dumps(row, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False


def table_of_rows(rows: list[Row]) -> pa.Table:
    """Rows as a table with one column per key. Raises UnicodeEncodeError for a lone surrogate, InvalidRequest for too many keys."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if len(names) > MOST_COLUMNS:
        raise too_many_columns(len(names))
    return pa.table({name: column_from([row.get(name) for row in rows]) for name in names})
