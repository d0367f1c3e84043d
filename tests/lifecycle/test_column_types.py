"""A column that has one type in some papers and another in others, for all pairs of Arrow's types.

They are added, merged, exported, counted, and asked by every operator of filters, in one index and in several, against Python's own values.
Whatever is refused is refused by an error of ours, in one line.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import math
import operator
import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.answers.overview import facets_at
from sciretrieve.lifecycle.exporting import export
from tests.conftest import Effort

NOON = datetime.datetime(2020, 1, 1, 12, 0, 0, 250_000)
OLD = datetime.datetime(1850, 6, 1)
BERLIN, UTC = ZoneInfo("Europe/Berlin"), datetime.UTC
KINDS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "null": (pa.null(), [None]),
    "bool": (pa.bool_(), [True, False]),
    "int8": (pa.int8(), [-128, 12, 127]),
    "uint8": (pa.uint8(), [0, 12, 255]),
    "int32": (pa.int32(), [-(2**31), 2020, 2**24 + 1]),
    "int64": (pa.int64(), [-(2**63), 12, 2**53 + 1, 2**63 - 1]),
    "int64 small": (pa.int64(), [-5, 12, 2**53]),
    "uint64": (pa.uint64(), [0, 12, 2**63, 2**64 - 1]),
    "float16": (pa.float16(), [0.5, 12.0, math.nan]),
    "float32": (pa.float32(), [0.10000000149011612, 12.0, 2.0**30]),
    "float64": (pa.float64(), [0.1, 12.0, 2.0**53, 1e23, -1.5, math.nan, 5e-324]),
    "decimal": (pa.decimal128(6, 2), [Decimal("0.10"), Decimal("12.00"), Decimal("-1.50")]),
    "long decimal": (pa.decimal128(38, 10), [Decimal("9007199254740993.0000000001"), Decimal(12)]),
    "wide decimal": (pa.decimal256(76, 60), [Decimal("0.1"), Decimal(12)]),
    "date": (pa.date32(), [datetime.date(2020, 1, 1), datetime.date(1850, 6, 1), datetime.date(2020, 1, 2)]),
    "date64": (pa.date64(), [datetime.date(2020, 1, 1), datetime.date(1999, 12, 31)]),
    "time in s": (pa.timestamp("s"), [NOON.replace(microsecond=0), OLD]),
    "time in ms": (pa.timestamp("ms"), [NOON, datetime.datetime(2020, 1, 2), datetime.datetime(3000, 1, 1)]),
    "time in us": (pa.timestamp("us"), [NOON, datetime.datetime(2019, 12, 31, 23, 59, 59, 999_999)]),
    "time in ns": (pa.timestamp("ns"), [NOON, datetime.datetime(2020, 1, 1)]),
    "time in UTC": (pa.timestamp("us", "UTC"), [NOON.replace(tzinfo=UTC), datetime.datetime(2020, 1, 2, tzinfo=UTC)]),
    "time in ms in UTC": (pa.timestamp("ms", "UTC"), [NOON.replace(tzinfo=UTC), datetime.datetime(2019, 12, 31, 23, tzinfo=UTC)]),
    "time in Berlin": (pa.timestamp("us", "Europe/Berlin"), [NOON.replace(tzinfo=BERLIN), datetime.datetime(2020, 1, 1, tzinfo=BERLIN)]),
    "clock": (pa.time32("s"), [datetime.time(12, 30), datetime.time(0)]),
    "exact clock": (pa.time64("us"), [datetime.time(12, 30), datetime.time(23, 59, 59, 999_999)]),
    "duration": (pa.duration("s"), [datetime.timedelta(days=1), datetime.timedelta(seconds=-5)]),
    "exact duration": (pa.duration("us"), [datetime.timedelta(microseconds=1), datetime.timedelta(days=30_000)]),
    "text": (pa.string(), ["n/a", "12", "0.1", "9007199254740993", "true", "cafe\u0301", "ABC", "2020-01-01T12:00:00", ""]),
    "large text": (pa.large_string(), ["café", "007", "1e3", "12345678901234567890", "2020-01-01"]),
    "category": (pa.dictionary(pa.int32(), pa.string()), ["ABC", "12", "ABC"]),
    "bytes": (pa.binary(), [b"ABC", b"\xff\x00"]),
    "three bytes": (pa.binary(3), [b"ABC", b"xyz"]),
    "list": (pa.list_(pa.string()), [["a", "cafe\u0301"], [], ["12", None]]),
    "list of int": (pa.large_list(pa.int64()), [[12, 2**53 + 1], [1]]),
    "list of float": (pa.list_(pa.float64()), [[12.0, 0.1], [math.nan]]),
    "pair": (pa.list_(pa.int8(), 2), [[12, 1], [2, 3]]),
    "lists": (pa.list_(pa.list_(pa.int64())), [[[12], [1, 2]], [[]]]),
    "object": (pa.struct([("a", pa.int64()), ("b", pa.string())]), [{"a": 12, "b": "x"}, {"a": 2**53 + 1, "b": None}]),
    "other object": (pa.struct([("a", pa.float64()), ("c", pa.struct([("d", pa.date32())]))]), [{"a": 12.0, "c": {"d": NOON.date()}}]),
    "objects": (pa.list_(pa.struct([("a", pa.int64())])), [[{"a": 12}, {"a": 3}], [{"a": None}], []]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("a", 12)], [("b", 2)]]),
}
LITERALS = [
    *("12", "12.0", "1.2e1", "0", "-1.5", "0.1", "0.10", "1e3", "1e23", "2020"),
    *(str(number) for number in (2**53, 2**53 + 1, -(2**63), 2**63, 2**64 - 1, 2**64, 10**30)),
    *("9007199254740993.0", "9007199254740993.0000000001", "1e400", "5e-324"),
    *("true", "false", '"café"', '"cafe\u0301"', '"ABC"', '"n/a"', '"a"', '"x"'),
    *('"2020-01-01"', '"2020-01"', '"1850"', '"2020-01-01T12:00:00"', '"2020-01-01 12:00:00.250"', '"2020-01-01T11:00:00.25Z"'),
    *('"12:30:00"', '"23:59:59.999999"'),
]
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NUMERAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
DATED = re.compile(r"\d{4}-\d\d-\d\d([T ].*)?")


# what Python says


def is_missing(value: Any) -> bool:
    return value is None or value == [] or value == "" or (isinstance(value, float) and math.isnan(value))


def compared(value: Any, sign: str, literal: str) -> bool | None:
    """Whether a single value compares so with a value as filters have it; None where Python could not tell."""
    if literal.startswith('"'):
        return of_text(value, sign, unicodedata.normalize("NFC", literal[1:-1]))
    if literal in ("true", "false"):
        wanted = literal == "true"
        same = value == literal if isinstance(value, str) else value is wanted
        return {"==": same, "!=": not same}.get(sign)
    if isinstance(value, str) and NUMERAL.fullmatch(value):
        return OPERATORS[sign](Decimal(value), Decimal(literal))
    if isinstance(value, float):
        number = float(literal) if any(char in literal for char in ".e") else int(literal)
        if number == math.inf:
            number = Decimal("1e400")  # type: ignore[assignment]
        return OPERATORS[sign](value, number)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return OPERATORS[sign](value, Decimal(literal))
    same = value == literal
    return {"==": same, "!=": not same}.get(sign)


def of_text(value: Any, sign: str, text: str) -> bool | None:
    if isinstance(value, bytes):
        return OPERATORS[sign](value, text.encode())
    if isinstance(value, datetime.time) and re.fullmatch(r"\d\d:\d\d.*", text):
        return OPERATORS[sign](value, datetime.time.fromisoformat(text))
    if isinstance(value, datetime.date) and re.fullmatch(r"\d{4}(-.*)?", text):
        return of_moment(value, sign, text)
    if isinstance(value, str):
        value = unicodedata.normalize("NFC", value)
        if DATED.fullmatch(value) and re.fullmatch(r"\d{4}(-.*)?", text):
            is_day = len(value) == 10
            return of_moment(datetime.date.fromisoformat(value) if is_day else datetime.datetime.fromisoformat(value), sign, text)
        return OPERATORS[sign](value, text)
    return {"==": False, "!=": True}.get(sign)


def of_moment(value: datetime.date, sign: str, text: str) -> bool:
    """A day, a month or a year is all of it, in the value's own zone; a time is an instant."""
    if len(text) <= 10:
        shown = value.isoformat()[: len(text)]
        return OPERATORS[sign](shown, text)
    wanted = datetime.datetime.fromisoformat(text)
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if (value.tzinfo is None) != (wanted.tzinfo is None):  # without a zone: in the value's, or else in UTC
        wanted = wanted.replace(tzinfo=value.tzinfo or wanted.tzinfo)
        value = value if value.tzinfo else value.replace(tzinfo=UTC)
    return OPERATORS[sign](value, wanted)


def elements(value: Any) -> list[Any]:
    return [inner for item in value for inner in elements(item)] if isinstance(value, list) else [value]


def verdict(value: Any, sign: str, literals: tuple[str, ...]) -> bool | None:
    """Whether a paper with this value passes; None where that cannot be told."""
    if sign == "is null":
        return is_missing(value)
    if is_missing(value):
        return False
    if sign == "contains":
        text = unicodedata.normalize("NFC", literals[0][1:-1]).lower()
        return any(isinstance(item, str) and text in unicodedata.normalize("NFC", item).lower() for item in elements(value))
    if sign == "in":
        return any(bool(compared(item, "==", literal)) for item in elements(value) for literal in literals if not is_missing(item))
    if isinstance(value, list | dict):
        return {"==": False, "!=": True}.get(sign) if isinstance(value, dict) else None
    if sign == "between":
        ends = compared(value, ">=", literals[0]), compared(value, "<=", literals[1])
        return None if None in ends else all(ends)
    return compared(value, sign, literals[0])


def written(column: str, sign: str, literals: tuple[str, ...]) -> str:
    values = {"in": f"({', '.join(literals)})", "between": " and ".join(literals), "is null": ""}
    return f"`{column}` {sign} {values.get(sign, literals[0] if literals else '')}"


# whether a value is still there


def same(got: Any, given: Any) -> bool:
    """Whether a value is itself, or the same in another type: a number as a number, any value as its text, objects as JSON."""
    if is_missing(given):
        return is_missing(got) or got == "[]"
    if isinstance(got, list) and not isinstance(given, list | tuple):
        return len(got) == 1 and same(got[0], given)
    if isinstance(given, list):
        if isinstance(got, str):
            got = json.loads(got)
        return len(got) == len(given) and all(map(same, got, given))
    if isinstance(given, tuple):
        got = json.loads(got) if isinstance(got, str) else got
        return len(got) == len(given) and all(map(same, got, given))
    if isinstance(given, dict):
        got = json.loads(got) if isinstance(got, str) else got
        return all(same(got.get(key), given.get(key)) for key in got.keys() | given.keys())
    if isinstance(got, str) and not isinstance(given, str):
        with contextlib.suppress(ValueError, ArithmeticError):
            if isinstance(given, bool):
                return got == json.dumps(given)
            if isinstance(given, float):
                return float(got) == given
            if isinstance(given, int | Decimal):
                return Decimal(got) == given
            if isinstance(given, datetime.datetime | datetime.time):
                return type(given).fromisoformat(got) == given
            if isinstance(given, bytes):
                return got in (given.decode("utf-8", "replace"), str(given))
        return got == str(given)
    if isinstance(got, str):
        return got == unicodedata.normalize("NFC", given)
    return bool(got == given) and isinstance(got, bool) == isinstance(given, bool)


# pairs


def corpus(pairs: list[tuple[str, str]], side: int, path: Path) -> list[dict[str, Any]]:
    """A Parquet file with a column for each pair, of the type of one of its sides; returns the rows as Python has them."""
    depth = max(len(KINDS[pair[side]][1]) for pair in pairs) + 1
    ids = [f"{side}-{row}" for row in range(depth)]
    columns: dict[str, Any] = {"id": pa.array(ids), "title": pa.array([f"Paper {id}" for id in ids])}
    rows: list[dict[str, Any]] = [{"id": id} for id in ids]
    for place, pair in enumerate(pairs):
        kind, values = KINDS[pair[side]]
        padded = [*values, *[None] * (depth - len(values))]
        columns[f"c{place}"] = pa.array(padded, kind)
        for row, value in zip(rows, padded, strict=True):
            row[f"c{place}"] = value
    pq.write_table(pa.table(columns), path)
    return rows


def asked(rng: random.Random, effort: Effort) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Operators with values: all, or a few of each."""
    texts = [literal for literal in LITERALS if literal.startswith('"')]
    yield "is null", ()
    for literal in rng.sample(LITERALS, effort(3, 8)):
        for sign in rng.sample(sorted(OPERATORS), effort(2, 3)):
            yield sign, (literal,)
    for _ in range(effort(1, 3)):
        yield "in", tuple(rng.sample(LITERALS, rng.choice([1, 2, 3, 12])))
        yield "contains", (rng.choice(texts),)
        yield "between", tuple(rng.sample(texts if rng.random() < 0.5 else [one for one in LITERALS if one[0].isdigit()], 2))


def is_other_as_text(value: Any, literals: tuple[str, ...]) -> bool:
    """Whether a value's text compares otherwise, which has no sign of its type: bytes that are no text, and floats with a number that is
    none but is read as one."""
    if isinstance(value, float):
        return any(literal[0].isdigit() and "." in literal and Decimal(literal) != Decimal(repr(float(literal))) for literal in literals)
    return isinstance(value, bytes) and not value.isascii()


def refusal(call: Callable[[], Any]) -> str | None:
    """What an error of ours says, in one line; None where there is none."""
    try:
        call()
    except sr.SciretrieveError as error:
        return str(error)
    return None


def check_filters(
    index: sr.Index, rows: list[dict[str, Any]], pairs: list[tuple[str, str]], is_joined: bool, effort: Effort, seed: int
) -> None:
    rng = random.Random(seed)
    for place, pair in enumerate(pairs):
        column = f"c{place}"
        for sign, literals in asked(rng, effort):
            filter = written(column, sign, literals)
            told = {
                row["id"]: verdict(row[column], sign, literals)
                for row in rows
                if not (is_joined and is_other_as_text(row[column], literals))
            }
            if (error := refusal(partial(index.narrower.passing, filter))) is not None:
                assert "\n" not in error
                if sign == "in" and len(literals) > 1:  # a value that no paper's compares with
                    alone = [written(column, sign, (literal,)) for literal in literals]
                    assert any(refusal(partial(index.narrower.passing, one)) for one in alone), (pair, filter)
                else:
                    is_advice = sign == "!=" or "is a list" in error or "without quotation marks" in error
                    assert is_advice or not any(told.values()), (pair, filter, error)
                continue
            scope = index.narrower.passing(filter)
            passing = {*index.ids(scope.places)}
            undecided = {*index.ids(scope.undecided)}
            for id, expected in told.items():
                if expected is not None and not (is_joined and (id in undecided or sign == "contains")):
                    assert (id in passing) == expected, (pair, filter, id, [row[column] for row in rows if row["id"] == id])


def check_values(rows: list[dict[str, Any]], got: dict[str, dict[str, Any]], pairs: list[tuple[str, str]]) -> None:
    for row in rows:
        for place, pair in enumerate(pairs):
            assert same(got[row["id"]].get(f"c{place}"), row[f"c{place}"]), (pair, row[f"c{place}"], got[row["id"]].get(f"c{place}"))


def check_facets(index: sr.Index, rows: list[dict[str, Any]], pairs: list[tuple[str, str]]) -> None:
    for place, pair in enumerate(pairs):
        count = partial(facets_at, index, index.scope.places, [f"c{place}:100"])
        if (error := refusal(count)) is not None:
            assert "counts texts, numbers, dates" in error
            continue
        (facet,) = count()
        values = [{*map(str, elements(row[f"c{place}"]))} for row in rows if row[f"c{place}"] == "" or not is_missing(row[f"c{place}"])]
        assert facet.papers == len(rows), pair
        if not {"list", "lists", "pair", "objects", "list of int", "list of float"} & {*pair}:
            assert sum(count for _, count in facet.values) + facet.missing == len(rows), pair
            assert len(values) == facet.papers - facet.missing, (pair, facet)


@pytest.mark.parametrize("part", range(8))
def test_all_pairs_of_types(tmp_path: Path, effort: Effort, part: int, request: pytest.FixtureRequest) -> None:
    pairs = list(itertools.product(KINDS, repeat=2))
    seed = part + 8 * request.config.option.quarter
    random.Random(0).shuffle(pairs)
    pairs = effort(pairs[seed::32][:8] if part < 4 else [], pairs[part::8])
    if not pairs:
        pytest.skip("by --torture alone")
    first, second = (corpus(pairs, side, tmp_path / f"{side}.parquet") for side in (0, 1))
    rows = first + second
    for side in (0, 1):
        sr.build(tmp_path / f"{side}.parquet", tmp_path / f"alone-{side}", encoder=None, progress=False).close()
    with sr.open_many([tmp_path / "alone-0", tmp_path / "alone-1"]) as indexes:
        check_filters(indexes, rows, pairs, False, effort, seed)
        check_facets(indexes, rows, pairs)
    path = tmp_path / "alone-0"
    sr.add(tmp_path / "1.parquet", path, progress=False)
    with sr.open(path) as index:
        check_filters(index, rows, pairs, False, effort, seed)
        check_facets(index, rows, pairs)
        check_values(rows, {paper.id: dict(paper.extra) for paper in index}, pairs)
        for target in ("out.parquet", "out.csv"):
            export(index, tmp_path / target)
        exported = pq.read_table(tmp_path / "out.parquet").to_pylist()
        check_values(rows, {row["id"]: row for row in exported}, pairs)
    sr.merge(path, progress=False)
    with sr.open(path) as index:
        assert len(index.shards) == 1
        check_values(rows, {paper.id: dict(paper.extra) for paper in index}, pairs)
        check_filters(index, rows, pairs, True, effort, seed)
        check_facets(index, rows, pairs)
        export(index, tmp_path / "out.parquet")
    sr.build([tmp_path / "0.parquet", tmp_path / "1.parquet"], tmp_path / "at-once", encoder=None, progress=False).close()
    with sr.open(tmp_path / "at-once") as index:
        check_values(rows, {paper.id: dict(paper.extra) for paper in index}, pairs)
