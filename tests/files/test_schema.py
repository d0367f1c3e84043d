"""Joining tables whose columns differ: every value of every table is still there, in one type."""

import json
import math
import unicodedata
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.files.schema import beginning_with, booleans, column_from, common_schema, concat, in_one_form, integers

scalars = st.none() | st.booleans() | st.integers(-(2**31), 2**31) | st.floats(-1e6, 1e6) | st.text(max_size=5)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2), max_leaves=5
)


def same(got: Any, given: Any) -> bool:
    """Whether a value is still there: itself, as text or JSON text, within an object that has gained empty fields, or a list of it."""
    if isinstance(got, str) and (not isinstance(given, str) or (got != given and got.startswith("["))):
        try:
            return same(json.loads(got), given)
        except ValueError:
            return got == str(given)
    if isinstance(got, dict) and isinstance(given, dict):
        return all(same(got.get(key), given.get(key)) for key in got.keys() | given.keys())
    if isinstance(got, list) and isinstance(given, list):
        return len(got) == len(given) and all(map(same, got, given))
    if given == "" and got is None:
        return True  # an empty text among lists
    if isinstance(got, list) and len(got) == 1 and given is not None:
        return same(got[0], given)  # a single value among lists
    if isinstance(got, float) and isinstance(given, int | float):
        return math.isclose(got, given, rel_tol=1e-12)
    return bool(got == given)


@settings(max_examples=60)
@given(st.lists(st.lists(values, min_size=1, max_size=3), min_size=1, max_size=4))
def test_no_value_is_lost(columns: list[list[Any]]) -> None:
    tables = [pa.table({"x": column_from(column)}) for column in columns]
    merged_table = concat(tables)
    merged_table.validate(full=True)
    expected = [value for column in columns for value in column]
    got = merged_table["x"].to_pylist()
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        assert same(one, other), (one, other)
    if len(tables) == 1 or len({table.schema for table in tables}) == 1:
        assert merged_table.schema == tables[0].schema


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.int64(), pa.float32(), pa.float64()),
        (pa.null(), pa.date32(), pa.date32()),
        (pa.int64(), pa.uint64(), pa.int64()),
        (pa.int8(), pa.uint8(), pa.int16()),
        (pa.int32(), pa.float32(), pa.float64()),
        (pa.int16(), pa.float32(), pa.float32()),
        (pa.int32(), pa.decimal128(5, 2), pa.decimal128(12, 2)),
        (pa.decimal128(38, 0), pa.decimal128(38, 38), pa.decimal256(76, 38)),
        (pa.decimal128(38, 0), pa.decimal256(76, 76), pa.string()),
        (pa.float64(), pa.decimal128(5, 2), pa.string()),
        (pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
        (pa.timestamp("ms", "UTC"), pa.timestamp("ms"), pa.string()),
        (pa.time32("s"), pa.time64("us"), pa.time64("us")),
        (pa.binary(), pa.binary(3), pa.binary()),
        (
            pa.struct([("a", pa.int32())]),
            pa.struct([("a", pa.string()), ("b", pa.bool_())]),
            pa.struct([("a", pa.string()), ("b", pa.bool_())]),
        ),
        (pa.map_(pa.string(), pa.int32()), pa.map_(pa.string(), pa.float64()), pa.map_(pa.string(), pa.float64())),
        (pa.int64(), pa.string(), pa.string()),
        (pa.bool_(), pa.int64(), pa.string()),
        (pa.timestamp("ms"), pa.date32(), pa.string()),
        (pa.list_(pa.int64()), pa.string(), pa.string()),
        (pa.list_(pa.int64()), pa.list_(pa.string()), pa.list_(pa.string())),
        (pa.list_(pa.int64()), pa.list_(pa.float64()), pa.list_(pa.float64())),
        (pa.struct([("a", pa.int64())]), pa.string(), pa.string()),
    ],
)
def test_the_common_type(one: pa.DataType, other: pa.DataType, common: pa.DataType) -> None:
    for pair in ([one, other], [other, one]):
        assert common_schema([(pa.schema([("x", kind)]), 1) for kind in pair]).field("x").type == common


@pytest.mark.parametrize(
    ("lists", "single", "common", "values"),
    [
        ([["a"], ["b", "c"]], "n/a", pa.string(), [["a"], ["b", "c"], ["n/a"]]),
        ([[1], [2, 3]], 4, pa.int64(), [[1], [2, 3], [4]]),
        ([[1], []], "n/a", pa.string(), [["1"], [], ["n/a"]]),
        ([[{"a": 1}], [{"a": 2}]], "n/a", pa.string(), [['{"a": 1}'], ['{"a": 2}'], ["n/a"]]),
    ],
)
def test_what_most_papers_have_decides_between_lists_and_single_values(lists: Any, single: Any, common: pa.DataType, values: Any) -> None:
    for column in (
        column_from([*lists, single]),
        concat([pa.table({"x": lists}), pa.table({"x": [single]})])["x"],
        concat([pa.table({"x": column_from([*lists, single])}), pa.table({"x": pa.nulls(3)})])["x"].slice(0, 3),
        concat([pa.table({"x": lists}), pa.table({"x": column_from([None, single])})])["x"].filter([True, True, False, True]),
    ):
        assert column.type.value_type == common
        assert column.to_pylist() == values
    text = concat([pa.table({"x": lists[:1]}), pa.table({"x": [single, single]})])["x"]
    assert text.type == pa.string()
    assert text.to_pylist() == [json.dumps(lists[0]), str(single), str(single)]
    back = concat([pa.table({"x": text}).slice(0, 1), pa.table({"x": lists})])["x"]
    assert same(back.to_pylist()[0], lists[0])


DAY, NOON = date(2020, 1, 1), datetime(2020, 1, 1, 12)


@pytest.mark.parametrize(
    ("values", "stored"),
    [
        ([DAY, NOON], ["2020-01-01", "2020-01-01 12:00:00"]),
        ([NOON, DAY], ["2020-01-01 12:00:00", "2020-01-01"]),
        ([NOON, NOON.replace(tzinfo=UTC)], ["2020-01-01 12:00:00", "2020-01-01 12:00:00+00:00"]),
        ([NOON.replace(tzinfo=UTC), NOON], ["2020-01-01 12:00:00+00:00", "2020-01-01 12:00:00"]),
        ([NOON, None, NOON], [NOON, None, NOON]),
        ([DAY, 1], ["2020-01-01", "1"]),
        ([timedelta(1), 1], ["1 day, 0:00:00", "1"]),
        ([1.5, True], ["1.5", "true"]),
        ([[1.5], [True]], [["1.5"], ["true"]]),
        ([[DAY], [NOON]], [["2020-01-01"], ["2020-01-01 12:00:00"]]),
        ([{"a": DAY}, {"a": NOON}], ['{"a": "2020-01-01"}', '{"a": "2020-01-01 12:00:00"}']),
        ([np.uint64(2**64 - 1), 0.5], [str(2**64 - 1), "0.5"]),
        ([np.uint64(2**64 - 1), -1], [str(2**64 - 1), "-1"]),
        ([1, 2**64 - 1], [1, 2**64 - 1]),
        ([2**53 + 1, 0.5], [str(2**53 + 1), "0.5"]),
        ([np.int64(1), 0.5, np.float32(0.5), 2], [1.0, 0.5, 0.5, 2.0]),
    ],
)
def test_values_of_several_kinds_stay_what_they_are(values: list[Any], stored: list[Any]) -> None:
    assert column_from(values).to_pylist() == stored


def test_numbers_too_great_for_a_common_type() -> None:
    merged_table = concat([pa.table({"x": [2**63 - 1]}), pa.table({"x": [0.5]})])
    assert merged_table["x"].to_pylist() == [str(2**63 - 1), "0.5"]
    merged_table = concat([pa.table({"x": [2**53]}), pa.table({"x": [0.5]})])
    assert merged_table["x"].to_pylist() == [2.0**53, 0.5]
    merged_table = concat([pa.table({"x": pa.array([2**64 - 1], pa.uint64())}), pa.table({"x": [-1]})])
    assert merged_table["x"].to_pylist() == [2**64 - 1, -1]


letters = (
    st.text(st.sampled_from("eE\u0301é\u1100\u1161\u212a\u2000\u2013“K[{ \U0001d15e가ö\u0308"), max_size=4)
    | st.none()
    | st.text(max_size=3)
)


@given(st.lists(st.lists(letters, max_size=5), max_size=3), st.sampled_from([pa.string(), pa.large_string()]), st.integers(0, 2))
def test_texts_in_one_form(chunks: list[list[str | None]], kind: pa.DataType, first: int) -> None:
    column = pa.chunked_array([pa.array(chunk, kind).slice(first) for chunk in chunks], kind)
    values = column.to_pylist()
    assert in_one_form(column).to_pylist() == [value and unicodedata.normalize("NFC", value) for value in values]
    assert beginning_with(column, b"[{").tolist() == [row for row, value in enumerate(values) if (value or "").startswith(("[", "{"))]
    for chunk in column.chunks:
        assert in_one_form(chunk).to_pylist() == [value and unicodedata.normalize("NFC", value) for value in chunk.to_pylist()]


@given(st.lists(st.booleans(), max_size=70))
def test_masks_and_rows_as_arrow_sees_them(mask: list[bool]) -> None:
    assert booleans(np.array(mask, bool)).equals(pa.array(mask, pa.bool_()))
    rows = np.flatnonzero(mask)
    assert integers(rows).equals(pa.array(rows.tolist(), pa.int64()))
