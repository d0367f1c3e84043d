"""The filter language against plain Python over the same rows, and its errors."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base import waiting
from sciretrieve.base.errors import InvalidRequest, TimedOut
from sciretrieve.query.narrowing import filters
from sciretrieve.query.narrowing.combining import leaves
from tests.column_types import OPERATORS

ROWS: list[dict[str, Any]] = [
    {"id": "a", "year": 1999, "impact": 1.5, "venue": "ACL", "open": True, "authors": ["Ada Lovelace"], "day": "1999-05-01"},
    {"id": "b", "year": 2018, "impact": 0.5, "venue": "Nature", "open": False, "authors": [], "day": "2018-01-02"},
    {"id": "c", "year": None, "impact": None, "venue": None, "open": None, "authors": None, "day": None},
    {
        "id": "d",
        "year": 2020,
        "impact": 2.0,
        "venue": 'The "Q" Journal',
        "open": True,
        "authors": ["Grace Hopper", "ADA X"],
        "day": "2020-02-29",
    },
    {"id": "e", "year": 2018, "impact": -3.0, "venue": "naïve Größe", "open": False, "authors": ["M. Curie"], "day": "2018-12-31"},
]
TABLE = pa.Table.from_pylist(ROWS).set_column(
    6, "day", pa.array([row["day"] and datetime.date.fromisoformat(row["day"]) for row in ROWS], pa.date32())
)
COLUMNS = {name: TABLE[name] for name in TABLE.column_names} | {
    "odd name": pa.array([1, 2, 3, 4, 5]),
    "nothing": pa.nulls(5),
    "between": pa.array(["", "x", None, "", ""]),
    "is": pa.array([None, "x", None, None, ""]),
}


def masked(expression: filters.Expression, columns: dict[str, Any]) -> Any:
    """Which rows pass; in one table, as in a shard, there is none of which that cannot be told unless its column holds texts."""
    for leaf in leaves(expression):
        leaf.check({name: [array.type] for name, array in columns.items()})
    passes, undecided = filters.decide(filters.evaluate(expression, columns))
    assert passes.dtype == undecided.dtype == bool
    assert not (passes & undecided).any()
    return passes


def passing(text: str) -> str:
    mask = masked(filters.parse(text), COLUMNS)
    return "".join(row["id"] for row, ok in zip(ROWS, mask, strict=True) if ok)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("year = 2018", "be"),
        ("year not in (1999, 2020)", "bce"),
        ("impact > -3e0", "abd"),
        (f"impact > {10**400}", ""),
        ("year > 1e-999999999", "abde"),
        ("venue == 'ACL' or venue == 'Nature'", "ab"),
        (r'venue == "The \"Q\" Journal"', "d"),
        ('venue contains "NAÏVE"', "e"),
        ('not (authors contains "ada") and year >= 2000', "be"),
        ("open = FALSE", "be"),
        ("year between 2018 and 1999", ""),
        ("year not between 1999 and 2018", "cd"),
        ("year between 1999 and 2018 and impact < 1 or year is null", "bce"),
        ("impact BETWEEN -3.5 AND 0.5", "be"),
        ("day between '2018-01-02' and \"2018-12-31\"", "be"),
        ("year IS NOT NULL", "abde"),
        ("authors is null", "bc"),
        ("authors is not null and open is not null", "ade"),
        ("between is null", "acde"),
        ("is == 'x' and is is not null", "b"),
        ("`odd name` <= 2", "ab"),
        ("not nothing == 3", "abcde"),
        ("year == 1999 or year == 2018 and impact < 0", "ae"),
        ('not not year == 1999 and not venue contains "x"', "a"),
    ],
)
def test_filters_say_what_they_mean(text: str, ids: str) -> None:
    assert passing(text) == ids


@pytest.mark.parametrize(
    ("column", "text", "ids"),
    [
        ("year", "1999-2018", "abe"),
        ("year", "2018-1999", "abe"),
        ("year", "2018–2019", "be"),
        ("year", "2018-", "bde"),
        ("year", "-2018", "abe"),
        ("year", ">2018", "d"),
        ("year", "<=1999", "a"),
        ("year", "=1999", "a"),
        ("year", "!=2018", "ad"),
        ("impact", "-3", "e"),
        ("impact", "-3.0-0.5", "be"),
        ("day", ">=2018-12-31", "de"),
        ("venue", "2018-", ""),
        ("authors", "ada", "ad"),
        ("open", "True", "ad"),
    ],
)
def test_what_people_write_after_a_field(column: str, text: str, ids: str) -> None:
    mask = masked(filters.matching(column, text, COLUMNS[column].type), COLUMNS)
    assert "".join(row["id"] for row, ok in zip(ROWS, mask, strict=True) if ok) == ids


Oracle = tuple[str, Callable[[dict[str, Any]], bool]]


def comparison(column: str, sign: str, value: Any) -> Oracle:
    literal = f"'{value}'" if isinstance(value, str) else str(value)
    return f"{column} {sign} {literal}", lambda row: row[column] is not None and OPERATORS[sign](row[column], value)


def spanned(first: float, last: float) -> Oracle:
    return f"impact between {first} and {last}", lambda row: row["impact"] is not None and first <= row["impact"] <= last


def missing(column: str) -> Oracle:
    return f"{column} is null", lambda row: row[column] in (None, "", [])


def joined(left: Oracle, word: str, right: Oracle) -> Oracle:
    if word == "and":
        return f"({left[0]} and {right[0]})", lambda row: left[1](row) and right[1](row)
    return f"({left[0]} or {right[0]})", lambda row: left[1](row) or right[1](row)


def negated(inner: Oracle) -> Oracle:
    return f"not ({inner[0]})", lambda row: not inner[1](row)


signs = st.sampled_from(sorted(OPERATORS))
conditions = (
    st.builds(comparison, st.just("year"), signs, st.sampled_from([1998, 1999, 2018, 2019, 2018.5]))
    | st.builds(comparison, st.just("impact"), signs, st.sampled_from([-3.0, 0, 0.5, 2]))
    | st.builds(spanned, st.sampled_from([-3.0, 0.5, 1]), st.sampled_from([0, 1.5, 9]))
    | st.builds(missing, st.sampled_from(["year", "venue", "authors", "day"]))
    | st.builds(comparison, st.just("venue"), signs, st.sampled_from(["ACL", "Nature", "M"]))
)
expressions = st.recursive(
    conditions, lambda inner: st.builds(negated, inner) | st.builds(joined, inner, st.sampled_from(["and", "or"]), inner), max_leaves=8
)


@given(expressions)
def test_any_combination_is_as_in_python(expression: Oracle) -> None:
    text, oracle = expression
    assert passing(text) == "".join(row["id"] for row in ROWS if oracle(row))


@given(st.text(max_size=30) | st.text("year=<>()'\"`and or not in contains 0123.\\", max_size=30))
def test_any_text_is_read_or_refused_with_one_line(text: str) -> None:
    refusal = ""
    try:
        expression = filters.parse(text)
        masked(expression, dict.fromkeys(filters.columns(expression), COLUMNS["id"]) | COLUMNS)
    except InvalidRequest as error:
        refusal = str(error)
    assert "\n" not in refusal


@pytest.mark.parametrize("deep", ["not " * 3000 + "year == 1999", "not (" * 3000 + "year == 1999" + ")" * 3000])
def test_what_is_nested_too_deeply_is_refused_in_one_line(deep: str) -> None:
    with pytest.raises(InvalidRequest, match=r"^the filter nests conditions more than 100 levels deep; write it flatter$"):
        passing(deep)


def test_long_filters_are_no_deep_ones() -> None:
    assert passing(" or ".join(f"year == {year}" for year in range(2018, 5000))) == "bde"
    assert passing(" and ".join(f"year != {year}" for year in range(2018, 5000))) == "a"
    assert passing("(" * 3000 + "year == 1999" + ")" * 3000) == "a"
    assert passing("not " * 98 + "year == 1999") == "a"


def test_lists_of_ids_are_read_as_a_whole_and_all_else_has_a_bound() -> None:
    ids = ", ".join(f'"W{number}"' for number in range(20_000))
    assert passing(f'id in ({ids}, "a, \\"(b", true, -1.5e3)') == ""
    assert passing(f"id not in ({ids}) and id in (\"a\" , 'b')") == "ab"
    refused = "at most 60,000 are read, and 4,000,000 with lists of values"
    for long in (" or ".join("year == 1" for _ in range(5000)), "not " * 20_000 + "year == 1", f"id in ({ids}, x)", f"id == {ids}"):
        with pytest.raises(InvalidRequest, match=refused):
            filters.parse(long)


def test_reading_stops_when_nobody_waits() -> None:
    steps = iter(range(100))
    with pytest.raises(TimedOut), waiting.unless(lambda: next(steps) > 50):
        filters.parse(" or ".join(f"year == {year}" for year in range(3000)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot be read at its end"),
        ("year", "cannot be read"),
        ("year >=", "cannot be read at its end"),
        ("year >= 2018 and", "cannot be read at its end"),
        ("year == 2018)", r"cannot be read at '\)'"),
        ("year == ACL", "cannot be read at 'ACL'; put texts in quotation marks: \"ACL\"$"),
        ("venue in (ACL)", "cannot be read at 'ACL\\)'; put texts in quotation marks: \"ACL\"$"),
        ("year == '2018'", "does not compare with '2018'; write 2018 without quotation marks"),
        ("year == " + "9" * 5000, "a number of 5000 characters"),
        ("venue == '\ud800'", "not UTF-8"),
        ("venue contains '\udfff'", "not UTF-8"),
        ("__import__('os')", "cannot be read"),
        ('venue == "ACL', "cannot be read"),
        ("year == 'recent'", "year holds int64, which does not compare with 'recent'"),
        ("open > 3", "does not compare"),
        ("year == null", "cannot be read at 'null'; find missing values with: COLUMN is null"),
        ("year between 2018", "cannot be read at its end"),
        ("year between 2018 or 2019", "cannot be read at 'or 2019'"),
        ("year is 2018", "cannot be read at '2018'"),
        ("year between 'x' and 2019", "year holds int64, which does not compare with 'x', 2019"),
        ("authors between 'a' and 'b'", "authors is a list"),
        ("year contains 20", "`contains` searches texts"),
        ('authors == "Ada"', "authors is a list"),
        ('day >= "soon"', "does not compare with 'soon'"),
    ],
)
def test_what_cannot_be_asked(text: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        passing(text)


def test_lists_that_were_sliced_and_chunked() -> None:
    array = pa.array([["x"], ["a", "b"], None, [], ["b"]])
    chunked = pa.chunked_array([array.slice(1, 2), array.slice(3)])
    mask = masked(filters.parse('tags in ("b")'), {"tags": chunked})
    np.testing.assert_array_equal(mask, [True, False, False, True])
