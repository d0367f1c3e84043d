"""Facets: how often each value of a column occurs among the papers of an answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.errors import InvalidRequest, UnknownName
from ..base.types import Rows, TotalIs
from ..files.schema import in_one_form, integers, is_list, is_text, owners_of

FACET_DEPTH = 1000
"""How many of the first papers facets look at where a ranking says which match."""
USUAL = 10
"""Values that a facet shows where nothing else is asked for."""
DIGITS = 9
"""Digits of a number of values that are read: more than there are papers."""
IN_ORDER = "year"
"""The column whose values are shown in their own order."""

PapersAre: TypeAlias = TotalIs | Literal["match"]


@dataclass(frozen=True, slots=True)
class Facet:
    """The commonest values of a column, each with its number of papers; years in their order.

    `others` is the number of further distinct values, `missing` the number of papers without any value, `papers` the
    number of papers counted, and `papers_are` what they are: all that an answer's total counts, as its `total_is` says, or those of the
    first papers of a ranking that "match".
    """

    column: str
    values: tuple[tuple[str | int | float | bool, int], ...]
    others: int
    missing: int
    papers: int
    papers_are: PapersAre = "match"


def facets(papers: pa.Table, names: Sequence[str], most: int = USUAL) -> list[Facet]:
    """Count the values of columns of a table of papers, and keep up to `most` of each column; a name such as "year:50" says how many.

    The greatest count comes first; of equal counts the lesser number, or the alphabetically first text. Of years the commonest are kept,
    too, and are shown in their order. Each value in a list counts once per paper. Null, NaN and a list without other values are missing.
    Dates, times and decimals count as their text.

    Raises UnknownName for a column that the table lacks, and InvalidRequest for one whose values cannot be counted: structs,
    maps, binary data, durations, lists of lists; or for no values of one.
    """
    asked = [counted_column(name, papers.column_names, most) for name in names]
    return [_facet(column, papers[column], count) for column, count in asked]


def counted_column(name: str, columns: Collection[str], most: int = USUAL) -> tuple[str, int]:
    """The column of which `name` asks for values, as in year or year:50, and how many are kept. Raises as `facets`."""
    column, colon, count = name.rpartition(":")
    if name in columns or not colon or not count.isdecimal():
        column, kept = name, most
    elif not (kept := int(count[:DIGITS])):
        raise InvalidRequest(f"a facet shows one value or more, so {name!r} shows none; write {column}:{USUAL}")
    if column not in columns:
        raise UnknownName("column in `facets`", column, columns)
    return column, kept


def _facet(name: str, column: pa.ChunkedArray, most: int) -> Facet:
    if is_list(column.type):
        owners, values = pa.chunked_array([integers(owners_of(column))]), pc.list_flatten(column)
    else:
        owners, values = None, column
    kind = _counted_as(values.type)
    if kind is None:
        raise InvalidRequest(
            f"the column {name!r} holds {column.type}; `facets` counts texts, numbers, dates, true or false, and lists of these"
        )
    try:
        values = values.cast(kind)
    except pa.ArrowInvalid:  # times in a zone that Arrow does not know: as times in UTC, which is how they are stored
        values = values.cast(pa.timestamp(values.type.unit, "UTC")).cast(kind)
    values = in_one_form(values) if is_text(kind) else values
    present = pc.invert(pc.is_null(values, nan_is_null=True))
    values = values.filter(present)
    papers_with_value = len(values)
    if owners is not None:
        values, papers_with_value = _once_a_paper(owners.filter(present), values)

    counts = pa.Table.from_struct_array(values.value_counts()).rename_columns(["value", "papers"])
    # it is unstable for equal rows only, and no value occurs twice
    commonest_counts = counts.take(pc.select_k_unstable(counts, k=most, sort_keys=[("papers", "descending"), ("value", "ascending")]))
    commonest = tuple(zip(commonest_counts["value"].to_pylist(), commonest_counts["papers"].to_pylist(), strict=True))
    if name == IN_ORDER:
        commonest = tuple(sorted(commonest))
    return Facet(name, commonest, len(counts) - len(commonest_counts), len(column) - papers_with_value, len(column))


def _once_a_paper(owners: pa.ChunkedArray, values: pa.ChunkedArray) -> tuple[pa.Array, int]:
    """`values` without those that their paper already has, and the number of papers that have any."""
    # one number for a paper and a value; group_by, pa.scalar and to_numpy would each import pandas, which takes 0.2 s
    dictionary_values = values.dictionary_encode().combine_chunks()
    size = max(1, len(dictionary_values.dictionary))
    pairs = _rows(owners.combine_chunks()) * size + _rows(dictionary_values.indices)
    return dictionary_values.dictionary.take(integers(_rows(pc.unique(integers(pairs))) % size)), len(pc.unique(owners))


def _rows(numbers: pa.Array) -> Rows:
    rows: Rows = np.from_dlpack(numbers).astype(np.int64, copy=False)
    return rows


def _counted_as(kind: pa.DataType) -> pa.DataType | None:
    """The type that values of `kind` are counted and shown in; None if they cannot be."""
    types = pa.types
    if types.is_dictionary(kind):
        return _counted_as(kind.value_type)
    if types.is_boolean(kind) or types.is_integer(kind):
        return kind
    if types.is_floating(kind):
        return pa.float64()
    # Arrow can count neither string views nor all-null columns: they are counted as text
    texts = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)
    if texts or types.is_decimal(kind) or (types.is_temporal(kind) and not types.is_duration(kind)):
        return pa.string()
    return None
