"""Columns of a corpus in the one form that texts are stored in, see `characters.clean`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...base.characters import clean
from ...files.schema import is_list, is_text


def cleaned(values: Any) -> Any:
    """An array, or a chunked one, with all texts clean, those in lists and objects, too; the same array where they are."""
    if isinstance(values, pa.ChunkedArray):
        chunks = [cleaned(chunk) for chunk in values.chunks]
        return pa.chunked_array(chunks, values.type) if any(map(_differs, chunks, values.chunks)) else values
    kind = values.type
    if is_text(kind):
        flags = pc.fill_null(pc.invert(pc.string_is_ascii(values)), False)
        others = values.filter(flags).to_pylist()
        texts = [clean(text) for text in others]
        return values if texts == others else pc.replace_with_mask(values, flags, pa.array(texts, kind))
    if is_list(kind):
        inner = [values.flatten()]
    elif pa.types.is_struct(kind):
        inner = [values.field(number) for number in range(kind.num_fields)]
    else:
        return values
    return pa.array(map(_cleaned, values.to_pylist()), kind) if any(_differs(cleaned(part), part) for part in inner) else values


def _differs(new: object, old: object) -> bool:
    return new is not old


def _cleaned(value: Any) -> Any:
    """A text, or all texts of a list or an object."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return {name: _cleaned(item) for name, item in value.items()} if isinstance(value, dict) else value
