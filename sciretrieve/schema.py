"""Papers as Arrow tables: the columns that every corpus has, and joining tables whose further columns differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from .types import Mask, Paper, Rows

PAPER_FIELDS = (
    pa.field("id", pa.string(), nullable=False),
    pa.field("title", pa.string(), nullable=False),
    pa.field("abstract", pa.string(), nullable=False),
    pa.field("year", pa.int32()),
    pa.field("venue", pa.string()),
    pa.field("authors", pa.list_(pa.string())),
    pa.field("doi", pa.string()),
    pa.field("url", pa.string()),
)
"""The columns of papers.parquet, in order; a corpus's further columns follow them with the types they came with."""

FIELD_NAMES = tuple(field.name for field in PAPER_FIELDS)


def papers_of(table: pa.Table | pa.RecordBatch) -> list[Paper]:
    """The rows of a table with the columns of `PAPER_FIELDS` (and others, which become `extra`) as papers."""
    papers = []
    for row in table.to_pylist():
        known = {name: row.pop(name, None) for name in FIELD_NAMES}
        known["title"] = known["title"] or ""
        known["abstract"] = known["abstract"] or ""
        known["authors"] = tuple(known["authors"] or ())
        papers.append(Paper(**known, extra={name: value for name, value in row.items() if value is not None}))
    return papers


def concat(tables: Sequence[pa.Table]) -> pa.Table:
    """Join tables of papers. A column that one of them lacks is null there; types that differ are widened.

    Where no common type exists (a number in one table, a text in another) the column becomes text, so that
    nothing is lost.
    """
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        clashing = _clashing(table.schema for table in tables)
        return pa.concat_tables([_as_text(table, clashing) for table in tables], promote_options="permissive")


def common_schema(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """The schema that `concat` gives tables of these schemas."""
    first, *others = schemas
    return concat([schema.empty_table() for schema in (first, *others)]).schema if others else first


def column_from(values: Sequence[Any]) -> pa.Array:
    """Python values as an Arrow column of the narrowest type that holds them all; JSON text where none does."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([_text(value) for value in values], pa.string())


def cast_column(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """`column` as `kind`, a type that `common_schema` found for it; what Arrow cannot cast becomes JSON text."""
    if column.type == kind:
        return column
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([_text(value) for value in column.to_pylist()], kind)


def _clashing(schemas: Iterable[pa.Schema]) -> set[str]:
    """The columns whose types have no common one."""
    seen: dict[str, pa.Schema] = {}
    clashing = set()
    for schema in schemas:
        for field in schema:
            alone = pa.schema([field])
            if field.name in seen:
                try:
                    alone = pa.unify_schemas([seen[field.name], alone], promote_options="permissive")
                except (pa.ArrowTypeError, pa.ArrowInvalid):
                    clashing.add(field.name)
            seen[field.name] = alone
    return clashing


def _as_text(table: pa.Table, names: set[str]) -> pa.Table:
    for name in names & set(table.column_names):
        text = cast_column(table[name], pa.string())
        table = table.set_column(table.column_names.index(name), name, text)
    return table


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def booleans(mask: Mask) -> pa.BooleanArray:
    """A mask as an Arrow array, without `pa.array`: that imports pandas where it is installed, for a fifth of a second."""
    return pa.BooleanArray.from_buffers(pa.bool_(), len(mask), [None, pa.py_buffer(np.packbits(mask, bitorder="little"))])


def integers(rows: Rows) -> pa.Int64Array:
    """Rows as an Arrow array to take by; without `pa.array`, as in `booleans`."""
    return pa.Int64Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows, np.int64))])


def plain(value: Any) -> Any:
    """`value` with what JSON lacks (dates, bytes, NaN) made text or null, for output."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and value != value:
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
