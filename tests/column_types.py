"""Arrow's types with values that are easily damaged, values to compare them with, and what Python says of each comparison."""

import datetime
import math
import operator
import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

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
    if sign in ("is null", "is not null"):
        return is_missing(value) == (sign == "is null")
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
