"""Papers as Arrow tables: common columns, and joining tables with different further columns."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from itertools import repeat
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.characters import composed
from ..base.errors import CorruptData
from ..base.frozen import FrozenDict, frozen_dict
from ..base.types import Mask, Paper, Rows

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
"""Columns of papers.parquet, in order. A corpus's further columns follow with their own types."""

UNITS = ("s", "ms", "us", "ns")
MANTISSAS = {16: 11, 32: 24, 64: 53}
"""Bits of the integers that a float of this many bits represents exactly."""
DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}
"""Decimal digits of integers of this many bits."""
INTEGERS = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}

MOST_FIELDS, DEEPEST = 1000, 50
"""Most fields of a column's objects, and deepest nesting. Beyond these the column becomes JSON text."""
NESTED = {dict, list}
NOTHING = {(False, None)}

DOUBTFUL = 0xCC
"""Least first byte in UTF-8 of a character that may be outside NFC. Latin letters are below."""

FIELD_NAMES = tuple(field.name for field in PAPER_FIELDS)


def papers_of(table: pa.Table | pa.RecordBatch) -> list[Paper]:
    """Rows of a table as papers. Columns outside `PAPER_FIELDS` become `extra`."""
    columns = {name: table[name].to_pylist() for name in table.column_names}
    nothing = [None] * table.num_rows
    ids, titles, abstracts, years, venues, authors, dois, urls = (columns.pop(name, nothing) for name in FIELD_NAMES)
    rows = zip(*columns.values(), strict=True)
    extras = ({name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows)
    rest = map(frozen_dict, extras) if columns else repeat(FrozenDict(), table.num_rows)
    return [
        Paper(id, title or "", abstract or "", year, venue, tuple(names or ()), doi, url, extra)
        for id, title, abstract, year, venue, names, doi, url, extra in zip(
            ids, titles, abstracts, years, venues, authors, dois, urls, rest, strict=True
        )
    ]


def texts_of(table: pa.Table | pa.RecordBatch) -> list[Paper]:
    """Rows of a table as papers with only id, title and abstract, for encoding."""
    return [Paper(*row) for row in zip(*(table[name].to_pylist() for name in ("id", "title", "abstract")), strict=True)]


Values: TypeAlias = Callable[[str], Iterable[pa.ChunkedArray]]
"""Values of a column, by its name, in each table that has it."""


def concat(tables: Sequence[pa.Table]) -> pa.Table:
    """Join tables of papers, with a schema from `common_schema`. Missing columns become null."""
    weighed = ((field, len(table) - table[field.name].null_count) for table in tables for field in table.schema)
    schema = _common_schema(weighed, lambda name: (table[name] for table in tables if name in table.column_names))
    return pa.concat_tables([conform(table, schema) for table in tables])


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """`table` with exactly the columns of `schema`, which is common to this and other tables."""
    if table.schema == schema:
        return table
    present_columns = set(table.column_names)
    columns = [
        cast_column(table[field.name], field.type) if field.name in present_columns else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def common_schema(schemas: Iterable[tuple[pa.Schema, int]], values: Values | None = None) -> pa.Schema:
    """All columns of tables with these schemas and numbers of papers, in order of appearance, each with a type that holds all values.

    If a column has lists in some tables and single values in others, the majority of papers decides: single values become lists of one, or
    lists become JSON text. If no other type fits (numbers in one table, texts in another), the column becomes text, so that nothing is
    lost. Whether floats can hold other tables' 64-bit integers depends on the values; without `values`, it is assumed.
    """
    return _common_schema(((field, papers) for schema, papers in schemas for field in schema), values)


def _common_schema(weighed_fields: Iterable[tuple[pa.Field, int]], values: Values | None) -> pa.Schema:
    fields: dict[str, Counter[pa.Field]] = {}
    for field, weight in weighed_fields:
        fields.setdefault(field.name, Counter())[field] += weight
    return pa.schema(next(iter(same)) if len(same) == 1 else _common_field(name, same, values) for name, same in fields.items())


def _common_field(name: str, weights: Mapping[pa.Field, int], values: Values | None) -> pa.Field:
    hoped, sure = (_common_of_all(weights, is_hopeful) for is_hopeful in (True, False))
    if hoped != sure and values is not None and not all(_is_held(column, hoped) for column in values(name)):
        return pa.field(name, sure)
    return pa.field(name, hoped)


def _common_of_all(weights: Mapping[pa.Field, int], hopeful: bool) -> pa.DataType:
    lists = {field.type: weight for field, weight in weights.items() if is_list(field.type)}
    others = {field.type: weight for field, weight in weights.items() if not (is_list(field.type) or pa.types.is_null(field.type))}

    def common(kinds: Iterable[pa.DataType]) -> pa.DataType:
        return reduce(lambda one, other: _common_type(one, other, hopeful), kinds)

    if not lists or not others:
        return common(field.type for field in weights)
    if sum(lists.values()) > sum(others.values()):
        return pa.list_(common([*(kind.value_type for kind in lists), *others]))
    return pa.string()


def _common_type(first: pa.DataType, second: pa.DataType, hopeful: bool) -> pa.DataType:
    """A type that holds values of both types, text if there is no other. With `hopeful`, numbers are assumed to be small enough."""
    types = pa.types
    pair = first, second
    if first == second or types.is_null(second):
        return first
    if types.is_null(first):
        return second
    if types.is_dictionary(first) or types.is_dictionary(second):
        first, second = (kind.value_type if types.is_dictionary(kind) else kind for kind in pair)
        return _common_type(first, second, hopeful)
    if all(map(_is_exact, pair)) or all(map(is_number, pair)):
        return _common_number(first, second, hopeful)
    if all(map(is_list, pair)):
        return pa.list_(_common_type(first.value_type, second.value_type, hopeful))
    if all(map(types.is_struct, pair)):
        return pa.struct(list(_common_fields(first, second, hopeful)))
    if all(map(types.is_map, pair)):
        return pa.map_(*(_common_type(getattr(first, part), getattr(second, part), hopeful) for part in ("key_type", "item_type")))
    if all(map(is_bytes, pair)):
        return pa.binary()
    if all(map(types.is_date, pair)):
        return pa.date64()
    if all(map(types.is_time, pair)):
        return pa.time64("ns" if "ns" in (first.unit, second.unit) else "us")
    is_alike = all(map(types.is_duration, pair)) or (all(map(types.is_timestamp, pair)) and first.tz == second.tz)
    return max(pair, key=lambda kind: UNITS.index(kind.unit)) if is_alike and hopeful else pa.string()


def _common_fields(first: pa.DataType, second: pa.DataType, hopeful: bool) -> Iterator[pa.Field]:
    kinds: dict[str, list[pa.DataType]] = {}
    for kind in (first, second):
        for place in range(kind.num_fields):
            kinds.setdefault(kind.field(place).name, []).append(kind.field(place).type)
    for name, of_name in kinds.items():
        yield pa.field(name, reduce(lambda one, other: _common_type(one, other, hopeful), of_name))


def _is_exact(kind: pa.DataType) -> bool:
    """Whether values of a type are integers or decimals."""
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def _common_number(first: pa.DataType, second: pa.DataType, hopeful: bool) -> pa.DataType:
    kinds = sorted((first, second), key=lambda kind: (pa.types.is_floating(kind), pa.types.is_decimal(kind), kind.bit_width))
    less, greater = kinds
    if pa.types.is_floating(less):
        return greater
    if pa.types.is_floating(greater):
        bits = less.bit_width - pa.types.is_signed_integer(less)
        if bits <= MANTISSAS[greater.bit_width]:
            return greater
        return pa.float64() if hopeful or bits <= MANTISSAS[64] else pa.string()
    if not pa.types.is_decimal(greater):
        signed = [kind.bit_width for kind in kinds if pa.types.is_signed_integer(kind)]
        unsigned = [kind.bit_width for kind in kinds if pa.types.is_unsigned_integer(kind)]
        if not signed or not unsigned:
            return greater
        bits = max(signed[0], 2 * unsigned[0])
        return INTEGERS[bits] if bits <= 64 else pa.int64() if hopeful else pa.decimal128(20, 0)
    scale = max(kind.scale if pa.types.is_decimal(kind) else 0 for kind in kinds)
    digits = max(kind.precision - kind.scale if pa.types.is_decimal(kind) else DIGITS[kind.bit_width] for kind in kinds) + scale
    return pa.decimal128(digits, scale) if digits <= 38 else pa.decimal256(digits, scale) if digits <= 76 else pa.string()


def _is_held(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    try:
        cast_column(column, kind)
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        return False
    return True


def is_list(kind: pa.DataType) -> bool:
    """Whether values of a type are lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a type are texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values of a type are bytes."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def in_one_form(texts: Any) -> Any:
    """A column of texts in Unicode NFC. Only texts that may differ are converted."""
    chunks = _chunks(texts)
    formed = [_normalised(chunk) for chunk in chunks]
    if all(one is other for one, other in zip(chunks, formed, strict=True)):
        return texts
    return pa.chunked_array(formed) if isinstance(texts, pa.ChunkedArray) else formed[0]


def beginning_with(texts: Any, characters: bytes) -> Rows:
    """Rows of a column's texts that begin with one of some ASCII characters, ascending."""
    rows, first = [np.empty(0, np.int64)], 0
    for chunk in _chunks(texts):
        offsets, data = _bytes(chunk)
        filled = np.flatnonzero(np.diff(offsets))
        rows.append(filled[np.isin(data[offsets[filled]], list(characters))] + first)
        first += len(chunk)
    return np.concatenate(rows)


def _bytes(texts: pa.Array) -> tuple[Any, Any]:
    """Offsets of the texts in their concatenated bytes, and these bytes."""
    if not len(texts) or texts.buffers()[2] is None:
        return np.zeros(len(texts) + 1, np.int64), np.empty(0, np.uint8)
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    offsets = np.frombuffer(texts.buffers()[1], kind)[texts.offset : texts.offset + len(texts) + 1]
    return offsets - offsets[0], np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]


def _normalised(texts: pa.Array) -> pa.Array:
    offsets, bytes = _bytes(texts)
    if not len(bytes) or bytes.max() < DOUBTFUL:
        return texts
    places = np.flatnonzero(bytes >= DOUBTFUL)
    # in punctuation, only two blanks have another form
    lead, second, third = (bytes[np.minimum(places + further, len(bytes) - 1)] for further in range(3))
    places = places[~((lead == 0xE2) & (second == 0x80) & (third >= 0x82))]
    rows = np.unique(np.searchsorted(offsets, places, side="right") - 1)
    values = texts.take(integers(rows)).to_pylist()
    formed = [value and composed(value) for value in values]
    if formed == values:
        return texts
    mask = np.zeros(len(texts), bool)
    mask[rows] = True
    return pc.replace_with_mask(texts, booleans(mask), pa.array(formed, texts.type))


def is_number(kind: pa.DataType) -> bool:
    """Whether values of a type are integers or floats."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def column_from(values: Sequence[Any]) -> pa.Array:
    """Python values as an Arrow column of the narrowest type that Parquet can store. If there is none, all become lists if most are lists,
    else JSON text.

    Raises UnicodeEncodeError for a lone surrogate.
    """
    if (column := _typed(values)) is not None:
        return column
    if 2 * sum(isinstance(value, list) for value in values) > sum(value is not None for value in values):
        lists = [_as_list(value) for value in values]
        if (column := _typed(lists)) is not None:
            return column
        return pa.array([None if items is None else [_text(item) for item in items] for items in lists], pa.list_(pa.string()))
    return pa.array([_text(value) for value in values], pa.string())


def _typed(values: Sequence[Any]) -> pa.Array | None:
    """Python values as a column if they share a type that Parquet can store, else None. Raises UnicodeEncodeError for a lone surrogate."""
    try:
        if np.uint64 in map(type, values):  # beside floats, Arrow would make an int64 of it
            values = [int(value) if type(value) is np.uint64 else value for value in values]
        column = None if _has_many_fields(values) else _array(values)
        if column is not None:
            column.validate(full=True)  # within lists, Arrow accepts bytes as text
    except UnicodeEncodeError:
        raise
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        return None
    return None if column is None or _has_empty_struct(column.type) or _is_mixed(values, column.type) else column


def _array(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (OverflowError, pa.ArrowInvalid):
        if {int} == {*map(type, values)} - {type(None)}:
            return pa.array(values, pa.uint64())
        raise


def _is_mixed(values: Iterable[Any], kind: pa.DataType) -> bool:
    """Whether Arrow has converted values of different kinds at one place: a time to a date, or a boolean to a number."""
    if is_list(kind):
        return _is_mixed((item for value in values if value is not None for item in value), kind.value_type)
    if pa.types.is_struct(kind):
        objects = [value for value in values if value is not None]
        names = {kind.field(place).name: kind.field(place).type for place in range(kind.num_fields)}
        return any(_is_mixed((value.get(name) for value in objects), of_name) for name, of_name in names.items())
    if is_text(kind) or is_bytes(kind) or pa.types.is_null(kind):
        return False
    if pa.types.is_timestamp(kind):
        return (
            len({(isinstance(value, datetime.datetime | np.datetime64), getattr(value, "tzinfo", None)) for value in values} - NOTHING) > 1
        )
    return len({_number_type(found) for found in {*map(type, values)} - {type(None)}}) > 1


def _number_type(kind: type) -> type:
    """Common type of Python's and NumPy's numbers; other types are unchanged."""
    return bool if issubclass(kind, np.bool_) else kind if kind is bool or not issubclass(kind, Real) else float


def _has_many_fields(values: Iterable[Any]) -> bool:
    """Whether the objects among the values have too many different keys, or nest too deeply, for a common type."""
    fields: dict[str, Any] = {}  # for each field, the fields of its objects
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
    """Convert `column` to `kind`, a type from `common_schema`. Nothing is rounded."""
    if column.type == kind:
        return column
    if pa.types.is_dictionary(column.type):
        return cast_column(column.cast(column.type.value_type), kind)
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), kind)
    if pa.types.is_string(kind):
        return _as_texts(column)
    if pa.types.is_nested(column.type) or is_list(kind):  # Arrow's cast of structs does not always fill in missing fields
        return pa.array([_as(value, kind) for value in column.to_pylist()], kind)
    return column.cast(kind)


def _as_texts(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Lossless text of a column's values: numbers with all digits, times as in Python, objects as JSON."""
    kind = column.type
    if pa.types.is_nested(kind) or pa.types.is_duration(kind) or is_bytes(kind):
        return pa.array([_text(value) for value in column.to_pylist()], pa.string())
    if pa.types.is_floating(kind):
        column = column.cast(pa.float64())  # 0.1 in 32 bits differs from 0.1 in 64
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)  # a missing number is no text
    if pa.types.is_timestamp(kind):
        try:
            texts = column.cast(pa.string())
        except pa.ArrowInvalid:  # Arrow does not know the zone, so use UTC, as stored
            texts = column.cast(pa.timestamp(kind.unit, "UTC")).cast(pa.string())
        texts = pc.replace_substring_regex(texts, r"\.0+(Z|[+-]\d{4})?$", r"\1")
        texts = pc.replace_substring_regex(texts, r"Z$", "+00:00")
        return pc.replace_substring_regex(texts, r"([+-]\d\d)(\d\d)$", r"\1:\2")
    texts = column.cast(pa.string())
    return pc.replace_substring_regex(texts, r"\.0+$", "") if pa.types.is_time(kind) else texts


def _as(value: Any, kind: pa.DataType) -> Any:
    """Convert a value to `kind`. A single value for a list type becomes a list of it."""
    if is_list(kind):
        items = _as_list(value)
        return None if items is None else [_as(item, kind.value_type) for item in items]
    if pa.types.is_map(kind) and value is not None:
        return [(_as(key, kind.key_type), _as(item, kind.item_type)) for key, item in value]
    if pa.types.is_struct(kind) and value is not None:
        fields = (kind.field(place) for place in range(kind.num_fields))
        return {field.name: _as(value.get(field.name), field.type) for field in fields}
    return _text(value) if pa.types.is_string(kind) else value


def _as_list(value: Any) -> list[Any] | None:
    """A value for a column of lists: the list itself, the list in a JSON text, or a list of the value; None for a missing value and an
    empty text."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return str(value)
    if not isinstance(value, list | tuple | dict | bool | int | float):
        return str(value)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "nested too deeply"
    except (TypeError, ValueError):  # keys that JSON does not allow, or a recursive object
        return str(value)


def mapped_columns(path: Path, types: Mapping[str, pa.DataType]) -> dict[str, pa.Array]:
    """Columns of an Arrow file, memory-mapped: each a single array without missing values.

    Arrow trusts a file's offsets, so these are checked first. Raises CorruptData if the file is no Arrow file or lacks the columns.
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
    # without chunks, `combine_chunks` calls `pa.array`, which imports pandas, see `booleans`
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() if column.num_chunks else pa.nulls(0, column.type)
    values = array.values if pa.types.is_list(kind) and len(array) else array
    if array.type != kind or array.null_count or values.null_count:
        raise ValueError(f"a column is {array.type} where {kind} was written, or lacks values")
    return array


def booleans(mask: Mask) -> pa.BooleanArray:
    """A mask as an Arrow array. `pa.array` would import pandas if installed, which takes a fifth of a second."""
    return pa.BooleanArray.from_buffers(pa.bool_(), len(mask), [None, pa.py_buffer(np.packbits(mask, bitorder="little"))])


def integers(rows: Rows) -> pa.Int64Array:
    """Rows as an Arrow array for `take`, without `pa.array`, see `booleans`."""
    return pa.Int64Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows, np.int64))])


def owners_of(lists: Any) -> Rows:
    """Position of the list that contains each element of a column. Arrow's own positions also count null lists."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    return np.repeat(np.arange(len(lists)), np.concatenate([np.empty(0, np.int64), *map(np.from_dlpack, _chunks(lengths))]))


def _chunks(column: Any) -> list[pa.Array]:
    return list(column.chunks) if isinstance(column, pa.ChunkedArray) else [column]


def text_of(array: pa.StringArray) -> Callable[[int], str]:
    """A function from a position in an array, which begins no other, to its text; "" for a missing one. It is quicker than `take` for a few
    texts."""
    if not len(array):
        return lambda _: ""
    known, offsets, data = (memoryview(b"" if buffer is None else buffer).cast("B") for buffer in array.buffers())
    ends = offsets.cast("i")
    if not array.null_count:
        return lambda place: str(data[ends[place] : ends[place + 1]], "utf-8")
    return lambda place: str(data[ends[place] : ends[place + 1]], "utf-8") if known[place >> 3] >> (place & 7) & 1 else ""


def letters(name: str) -> str:
    """Letters and digits of a column's or field's name: "paperId", "paper_id" and "Paper ID" are equal."""
    return re.sub(r"[\W_]", "", name.lower())


def text(value: str) -> pa.StringScalar:
    """A text as an Arrow scalar for comparisons, without `pa.scalar`, see `booleans`."""
    return texts([value])[0]


def texts(values: Sequence[str]) -> pa.StringArray:
    """Texts as an Arrow array, without `pa.array`, see `booleans`."""
    data = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, data)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(data), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(data))])
