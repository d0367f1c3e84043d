"""Papers as Arrow tables: the columns that every corpus has, and joining tables with different further columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import CorruptData
from ..types import Mask, Paper, Rows

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
"""The columns of papers.parquet, in order; a corpus's further columns follow with their own types."""

MOST_FIELDS, DEEPEST = 1000, 50
"""Fields that the objects of a column may have in all, and levels of nesting; else the column is JSON text."""
NESTED = {dict, list}

FIELD_NAMES = tuple(field.name for field in PAPER_FIELDS)


def papers_of(table: pa.Table | pa.RecordBatch) -> list[Paper]:
    """The rows of a table with the columns of `PAPER_FIELDS` (and others, which become `extra`) as papers."""
    papers = []
    for row in table.to_pylist():
        values = {name: row.pop(name, None) for name in FIELD_NAMES}
        values["title"] = values["title"] or ""
        values["abstract"] = values["abstract"] or ""
        values["authors"] = tuple(values["authors"] or ())
        papers.append(Paper(**values, extra={name: value for name, value in row.items() if value is not None}))
    return papers


def texts_of(table: pa.Table | pa.RecordBatch) -> list[Paper]:
    """The rows of a table as papers with only id, title and abstract, for encoding."""
    return [Paper(*row) for row in zip(*(table[name].to_pylist() for name in ("id", "title", "abstract")), strict=True)]


def concat(tables: Sequence[pa.Table]) -> pa.Table:
    """Join tables of papers, in the schema that `common_schema` finds for them; a column that one lacks is null there."""
    schema = common_schema(table.schema for table in tables)
    return pa.concat_tables([conform(table, schema) for table in tables])


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """`table` with exactly the columns of `schema`, a common one of this and other tables."""
    if table.schema == schema:
        return table
    present_columns = set(table.column_names)
    columns = [
        cast_column(table[field.name], field.type) if field.name in present_columns else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def common_schema(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """All columns of `schemas`, in order of appearance, each with a type that holds all its values.

    If there is no such type (numbers in one table, texts in another) the column becomes text, so that nothing is lost.
    """
    fields: dict[str, pa.Field] = {}
    for field in (field for schema in dict.fromkeys(schemas) for field in schema):
        earlier_field = fields.get(field.name)
        fields[field.name] = field if earlier_field is None or earlier_field == field else _common_field(earlier_field, field)
    return pa.schema(fields.values())


def _common_field(first: pa.Field, second: pa.Field) -> pa.Field:
    try:
        merged_field = pa.unify_schemas([pa.schema([first]), pa.schema([second])], promote_options="permissive").field(0)
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return pa.field(first.name, pa.string())
    if pa.types.is_integer(merged_field.type) and pa.uint64() in (first.type, second.type) and first.type != second.type:
        return pa.field(first.name, pa.string())  # Arrow says int64, which does not hold the greatest
    return merged_field


def column_from(values: Sequence[Any]) -> pa.Array:
    """Python values as an Arrow column of the narrowest type that Parquet can store; JSON text if there is none.

    Raises UnicodeEncodeError for a lone surrogate.
    """
    try:
        column = None if _has_many_fields(values) else pa.array(values)
        if column is not None:
            column.validate(full=True)  # in a list, Arrow takes bytes for text
    except UnicodeEncodeError:
        raise
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        column = None
    if column is None or _has_empty_struct(column.type):
        return pa.array([_text(value) for value in values], pa.string())
    return column


def _has_many_fields(values: Iterable[Any]) -> bool:
    """Whether objects among the values have so many different keys that one type for all of them would be wide, or nested deeply."""
    fields: dict[str, Any] = {}  # of each field, the fields of its objects
    new_fields = iter(range(MOST_FIELDS))

    def is_over(value: Any, known_fields: dict[str, Any], depth: int) -> bool:
        if depth > DEEPEST:
            return True
        if type(value) is list:
            return any(is_over(item, known_fields, depth + 1) for item in value if type(item) in NESTED)
        for key in value.keys() - known_fields.keys():
            known_fields[key] = {}
            if next(new_fields, None) is None:
                return True
        return any(is_over(item, known_fields[key], depth + 1) for key, item in value.items() if type(item) in NESTED)

    return any(is_over(value, fields, 0) for value in values if type(value) in NESTED)


def _has_empty_struct(kind: pa.DataType) -> bool:
    """Whether a type is or contains an object without fields, which Parquet cannot store."""
    inner = [kind.field(place).type for place in range(kind.num_fields)]
    return (pa.types.is_struct(kind) and not inner) or any(map(_has_empty_struct, inner))


def cast_column(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """`column` as `kind`, a type that `common_schema` found for it."""
    if column.type == kind:
        return column
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), kind)
    if pa.types.is_nested(column.type):  # Arrow's own cast of structs does not fill in missing fields in every case
        values = column.to_pylist()
        return pa.array(map(_text, values) if pa.types.is_string(kind) else values, kind)
    return column.cast(kind, safe=pa.types.is_string(kind))  # integers above 2^53 lose digits as floats


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "nested too deeply"
    except (TypeError, ValueError):  # keys that JSON does not have, or an object in itself
        return str(value)


def mapped_columns(path: Path, types: Mapping[str, pa.DataType]) -> dict[str, pa.Array]:
    """The columns of an Arrow file, mapped into memory: each one array without missing values.

    Arrow trusts what a file says of its columns, so all of that is checked first.

    Raises:
        CorruptData: the file does not have them, or is no such file.
    """
    try:
        source = pa.memory_map(str(path))
    except FileNotFoundError as error:
        raise CorruptData(f"{path} is missing; try `sciretrieve verify --repair`") from error
    with source:
        try:
            table = pa.ipc.open_file(source).read_all()
            table.validate(full=True)
            columns = {name: _one(table[name], kind) for name, kind in types.items()}
        except (pa.ArrowException, OSError, KeyError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise CorruptData(f"{path} cannot be read ({reason}); try `sciretrieve verify --repair`") from error
    return columns


def _one(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    array = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    values = array.values if pa.types.is_list(kind) and len(array) else array
    if array.type != kind or array.null_count or values.null_count:
        raise ValueError(f"a column is {array.type} where {kind} was written, or lacks values")
    return array


def booleans(mask: Mask) -> pa.BooleanArray:
    """A mask as an Arrow array, without `pa.array`, which imports pandas if installed and so takes a fifth of a second."""
    return pa.BooleanArray.from_buffers(pa.bool_(), len(mask), [None, pa.py_buffer(np.packbits(mask, bitorder="little"))])


def integers(rows: Rows) -> pa.Int64Array:
    """Rows as an Arrow array for `take`; without `pa.array`, as in `booleans`."""
    return pa.Int64Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows, np.int64))])


def letters(name: str) -> str:
    """A column's or a field's name by its letters and digits: "paperId", "paper_id" and "Paper ID" are one."""
    return re.sub(r"[\W_]", "", name.lower())


def text(value: str) -> pa.StringScalar:
    """A text as an Arrow scalar to compare with; without `pa.scalar`, as in `booleans`."""
    data = value.encode()
    buffers = [None, pa.py_buffer(np.array([0, len(data)], np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), 1, buffers)[0]


def plain(value: Any) -> Any:
    """`value` for output as JSON: dates and bytes become text, NaN null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and value != value:
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
