"""Nested values by dotted names: `open_access.is_oa` is a field of a column's objects, `authorships.author.id` a field of each object in a
list. Maps and JSON texts are objects, too."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...base.characters import composed
from ...base.types import Rows
from ...files.schema import beginning_with, column_from, is_list, is_text, owners_of

MOST_NAMES = 1000
"""Most dotted names that an error lists."""


@dataclass(frozen=True, slots=True)
class Elements:
    """Elements of lists: for each element the row of its list, ascending, and its value."""

    rows: int
    owners: Rows
    values: Any

    @property
    def type(self) -> pa.DataType:
        """Type of the elements."""
        return self.values.type


def place_of(names: Collection[str], name: str) -> tuple[str, str] | None:
    """Split a dotted name into a column and fields within it. The fields are empty for a column's own name, which may contain dots. Returns
    None if there is no such column. Names are compared in Unicode NFC."""
    if name in names:
        return name, ""
    wanted = composed(name)
    forms = {composed(one): one for one in names}
    ends = [len(wanted), *(place for place in range(len(wanted) - 1, 0, -1) if wanted[place] == ".")]
    for end in ends:
        if (column := wanted[:end]) in forms:
            return forms[column], wanted[end + 1 :]
    return None


def within(array: Any, fields: str) -> Any | None:
    """Values of dotted fields within a column: a column, or `Elements` if there are lists on the way; None if there are no such fields."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return within(array.cast(kind.value_type), fields)
    if not fields:
        return array
    if is_list(kind):
        lists = elements(array)
        inner = within(lists.values, fields)
        if isinstance(inner, Elements):
            return Elements(len(array), lists.owners[inner.owners], inner.values)
        return None if inner is None else Elements(len(array), lists.owners, inner)
    if pa.types.is_struct(kind):
        names = {kind.field(place).name: place for place in range(kind.num_fields)}
        found = place_of(names, fields)
        return None if found is None else within(pc.struct_field(array, [names[found[0]]]), found[1])
    if pa.types.is_map(kind) and is_text(kind.key_type):
        return pc.map_lookup(array, pa.scalar(fields, kind.key_type), "first")
    return _of_json(array, fields, b"{[") if is_text(kind) else None


def elements(array: Any) -> Elements:
    """Elements of a column of lists, and of lists within these."""
    owners, values = owners_of(array), pc.list_flatten(array)
    if is_list(values.type):
        inner = elements(values)
        owners, values = owners[inner.owners], inner.values
    return Elements(len(array), owners, values)


def dotted_names(schema: pa.Schema) -> list[str]:
    """Dotted names of all fields within the columns' objects, up to `MOST_NAMES`."""
    names: list[str] = []
    for name in (name for field in schema for name in _names_within(field.type, field.name)):
        names.append(name)
        if len(names) == MOST_NAMES:
            break
    return names


def values_within(value: Any, fields: str) -> Any:
    """Value of dotted fields within a Python value: a list if there are lists on the way, None if there is no value."""
    if not fields:
        return value
    if isinstance(value, str) and value.startswith(("{", "[")):
        value = _from_json(value)
    if isinstance(value, list):
        values = [inner for item in value for inner in _as_list(values_within(item, fields))]
        return values or None
    place = place_of(value, fields) if isinstance(value, dict) else None
    return None if place is None else values_within(value[place[0]], place[1])


def _names_within(kind: pa.DataType, before: str) -> Iterator[str]:
    while is_list(kind):
        kind = kind.value_type
    for place in range(kind.num_fields) if pa.types.is_struct(kind) else ():
        field = kind.field(place)
        yield f"{before}.{field.name}"
        yield from _names_within(field.type, f"{before}.{field.name}")


def json_elements(texts: Any) -> Elements | None:
    """Elements of JSON texts that are lists; None if no text is a list."""
    return _of_json(texts, "", b"[")


def _of_json(texts: Any, fields: str, starts: bytes) -> Elements | None:
    """Values of dotted fields within JSON texts that begin with `starts`; None if there are none."""
    rows = beginning_with(texts, starts)
    lists = [_as_list(values_within(_from_json(text), fields)) for text in texts.take(pa.array(rows)).to_pylist()] if len(rows) else []
    values = [value for items in lists for value in items]
    return Elements(len(texts), np.repeat(rows, [len(items) for items in lists]), column_from(values)) if values else None


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
