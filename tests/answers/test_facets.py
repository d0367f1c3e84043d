"""Counts of values: against a Counter over the rows in plain Python, for every kind of column that can be counted."""

import datetime
import math
from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.answers.overview import Facet, facets
from sciretrieve.base.errors import InvalidRequest, UnknownName

SCALARS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), st.sampled_from(["", "ACL", "acl", "Éa", "z", "量"])),
    "long text": (pa.large_string(), st.sampled_from(["a", "b", "c"])),
    "viewed text": (pa.string_view(), st.sampled_from(["a", "b", "a text too long to stand inline"])),
    "category": (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["a", "b", "c"])),
    "integer": (pa.int32(), st.integers(-3, 3)),
    "unsigned": (pa.uint64(), st.sampled_from([0, 2**64 - 1])),
    "decimal": (pa.float64(), st.sampled_from([0.5, -1.0, 2.25, math.inf, math.nan])),
    "short decimal": (pa.float32(), st.sampled_from([0.5, math.nan])),
    "truth": (pa.bool_(), st.booleans()),
}


def expected(name: str, rows: list[Any], most: int) -> Facet:
    """What facets says, by a Counter. `rows` are values or lists of values."""
    held = [{item for item in (row if isinstance(row, list) else [row]) if item is not None and item == item} for row in rows]
    counts = Counter(item for paper_values in held for item in paper_values)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return Facet(name, tuple(ordered[:most]), max(0, len(ordered) - most), sum(not paper_values for paper_values in held), len(rows))


def chunked(rows: list[Any], kind: pa.DataType, cut: int) -> pa.Table:
    """The rows as the column `x`, in two chunks, cut out of a longer table: as a filtered index hands them on."""
    return pa.table({"x": pa.chunked_array([[None], rows[:cut], rows[cut:]], kind)}).slice(1)


def test_times_in_a_zone_that_arrow_does_not_know_count_in_utc() -> None:
    table = pa.table({"x": pa.array([0, 0, 3600], pa.timestamp("s", "posix/UTC"))})
    assert facets(table, ["x"])[0].values == (("1970-01-01 00:00:00Z", 2), ("1970-01-01 01:00:00Z", 1))


def test_years_are_in_their_order_and_a_name_says_how_many_values() -> None:
    years = [2003, 1999, 2003, 2001, None, 1999, 2003, 1980]
    table = pa.table({"year": years, "year:2": years})
    assert facets(table, ["year:2", "year:3", "year"]) == [
        Facet("year:2", ((2003, 3), (1999, 2), (1980, 1), (2001, 1)), 0, 1, 8),
        Facet("year", ((1980, 1), (1999, 2), (2003, 3)), 1, 1, 8),
        Facet("year", ((1980, 1), (1999, 2), (2001, 1), (2003, 3)), 0, 1, 8),
    ]
    assert facets(table, [f"year:{10**30}"])[0].others == 0
    with pytest.raises(InvalidRequest, match="'year:0' shows none; write year:10"):
        facets(table, ["year:0"])
    for name in ("yaer:3", "year:", "year:x", ":3"):
        with pytest.raises(UnknownName, match=r"unknown column in `facets` '.*'; (did you mean '|there are: )year"):
            facets(table, [name])


@pytest.mark.parametrize("sort", SCALARS)
@settings(deadline=None)
@given(data=st.data(), most=st.integers(0, 5))
def test_counts_are_those_of_a_counter(sort: str, data: st.DataObject, most: int) -> None:
    kind, values = SCALARS[sort]
    rows = data.draw(st.lists(st.none() | values, max_size=20))
    table = chunked(rows, kind, data.draw(st.integers(0, len(rows))))
    assert facets(table, ["x"], most) == [expected("x", rows, most)]


@pytest.mark.parametrize("sort", SCALARS)
@settings(deadline=None)
@given(data=st.data(), most=st.integers(0, 5))
def test_lists_count_a_value_once_a_paper(sort: str, data: st.DataObject, most: int) -> None:
    kind, values = SCALARS[sort]
    rows = data.draw(st.lists(st.none() | st.lists(st.none() | values, max_size=4), max_size=12))
    table = chunked(rows, pa.list_(kind), data.draw(st.integers(0, len(rows))))
    assert facets(table, ["x"], most) == [expected("x", rows, most)]


def test_dates_and_decimals_count_as_text() -> None:
    table = pa.table(
        {"day": [datetime.date(2020, 1, 2), None, datetime.date(2020, 1, 2)], "price": [Decimal("1.50"), Decimal("0.25"), None]}
    )
    assert facets(table, ["price", "day"]) == [
        Facet("price", (("0.25", 1), ("1.50", 1)), 0, 1, 3),
        Facet("day", (("2020-01-02", 2),), 0, 1, 3),
    ]


def test_values_keep_their_types() -> None:
    table = pa.table({"year": [2020], "score": [1.5], "open": [True], "venue": ["ACL"]})
    values = [facet.values[0][0] for facet in facets(table, ["year", "score", "open", "venue"])]
    assert [type(value) for value in values] == [int, float, bool, str]


def test_a_column_of_nulls_is_missing() -> None:
    table = pa.table({"x": pa.nulls(3), "lists": pa.array([[None], [], None], pa.list_(pa.null()))})
    assert facets(table, ["x", "lists"]) == [Facet("x", (), 0, 3, 3), Facet("lists", (), 0, 3, 3)]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"a": 1}, pa.struct([("a", pa.int32())])),
        ([{"a": 1}], pa.list_(pa.struct([("a", pa.int32())]))),
        ([("a", "b")], pa.map_(pa.string(), pa.string())),
        ([[1]], pa.list_(pa.list_(pa.int8()))),
        (b"bytes", pa.binary()),
        (datetime.timedelta(1), pa.duration("s")),
    ],
    ids=str,
)
def test_what_cannot_be_counted_is_refused_in_one_line(value: Any, kind: pa.DataType) -> None:
    with pytest.raises(InvalidRequest, match="the column 'x' holds") as caught:
        facets(pa.table({"x": pa.array([value], kind)}), ["x"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [pa.large_list(pa.string()), pa.list_(pa.string(), 2)], ids=str)
def test_other_lists(kind: pa.DataType) -> None:
    rows = [["a", "a"], None, ["b", "a"], [None, None]]
    assert facets(pa.table({"x": pa.array(rows, kind)}), ["x"]) == [Facet("x", (("a", 2), ("b", 1)), 0, 2, 4)]
