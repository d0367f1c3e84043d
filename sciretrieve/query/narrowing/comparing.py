"""Exact comparison of columns with a filter's values: numbers as Python compares them, days as days.

A value splits a column into values before it and values behind it; the rest are equal to it. Integers, decimals, booleans, dates and times
are counted in whole steps, so nothing is rounded: 2.5 lies between two steps, and a day spans many. In a column of floats, a number with a
point or an exponent stands for the float that it parses to.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...base.characters import composed
from ...base.types import Mask
from ...base.waiting import raise_if_abandoned
from ...files.schema import booleans, in_one_form, is_bytes, is_number, is_text

Value: TypeAlias = str | int | float | bool | Decimal
Split: TypeAlias = tuple[Any, Any]
"""Flags of a column's values before and behind a filter's value; null where values do not compare."""

EXACT = Context(prec=10_000)
GREATEST = 10**1000
"""A number beyond every column's range."""
WHOLE, SHORT, PLAIN = r"^-?(0|[1-9]\d{0,17})$", r"^-?(0|[1-9]\d{0,6})\.\d{1,8}$", r"^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$"
"""Patterns: whole numbers of up to 18 digits, numbers that floats tell apart, and all numbers. Numbers are written as in JSON, so 007 and
1,000 are texts."""
FEW = 8
"""Most values that are compared one by one; more are looked up in a table."""


def is_numeric(value: Value) -> bool:
    """Whether a value is a number. Booleans are not."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def as_text(value: Value) -> str:
    """A value as a text column stores it, where numbers and others were converted to text."""
    return ("true" if value else "false") if isinstance(value, bool) else composed(str(value))


def compares(kind: pa.DataType, value: Value) -> bool:
    """Whether a column of this type can be compared with a value."""
    if is_text(kind):
        return not isinstance(value, bool)
    if is_bytes(kind):
        return isinstance(value, str)
    return is_numeric(value) if pa.types.is_floating(kind) else _steps(kind, value) is not None


def split(array: Any, value: Value) -> Split | None:
    """Split a column at a value; None if values of the two types do not compare."""
    raise_if_abandoned()
    kind = array.type
    if not compares(kind, value):
        return None
    if is_text(kind):
        return _numbers_split(array, value) if is_numeric(value) else _texts_split(in_one_form(array), str(value))
    if is_bytes(kind):
        array, wanted = array.cast(pa.large_binary()), pa.scalar(str(value).encode(), pa.large_binary())
        return pc.less(array, wanted), pc.greater(array, wanted)
    if pa.types.is_floating(kind):
        return _floats_split(array, value)
    first, end = _steps(kind, value) or (0, 0)
    return _before(array, first), pc.invert(_before(array, end))


def equal(array: Any, values: Sequence[Value]) -> Any:
    """Where a column has one of the values. Values of another type never match, and missing values are False."""
    raise_if_abandoned()
    kind = array.type
    if is_text(kind):
        return _texts_equal(in_one_form(array), values)
    values = [value for value in values if compares(kind, value)]
    singles: list[Any] = []
    if len(values) > FEW and pa.types.is_floating(kind):
        singles = [float(value) for value in values if not isinstance(value, int) or _is_float(value)]
        singles += [-0.0, 0.0] if 0 in singles else []
        array, values = array.cast(pa.float64()), []
    elif len(values) > FEW and (pa.types.is_integer(kind) or pa.types.is_decimal128(kind) or pa.types.is_decimal256(kind)):
        spans = [steps for value in values if (steps := _steps(kind, value)) is not None]
        singles = [_scalar(kind, first).as_py() for first, end in spans if first < end and _is_held(kind, first)]
        values = []
    matches: list[Any] = [pc.is_in(array, value_set=pa.array(singles, array.type))] if singles else []
    matches += [_neither(parts) for value in values if (parts := split(array, value)) is not None]
    return _any(matches, array)


def is_missing(array: Any) -> Any:
    """Where a column lacks a value: null, NaN, an empty text, or an empty list among texts."""
    missing = pc.is_null(array, nan_is_null=pa.types.is_floating(array.type))
    return pc.or_(missing, pc.fill_null(pc.or_(pc.equal(array, ""), pc.equal(array, "[]")), False)) if is_text(array.type) else missing


def numbers_among(array: Any) -> int:
    """Number of values that are numbers or numeric texts."""
    if is_text(array.type):
        return int(pc.sum(pc.match_substring_regex(array, PLAIN)).as_py() or 0)
    return len(array) - array.null_count if is_number(array.type) else 0


def _neither(parts: Split) -> Any:
    return pc.fill_null(pc.invert(pc.or_(*parts)), False)


def _any(flags: Sequence[Any], array: Any) -> Any:
    mask = booleans(np.zeros(len(array), bool))
    for one in flags:
        mask = pc.or_(mask, one)
    return mask


# whole steps


def _steps(kind: pa.DataType, value: Value) -> Span | None:
    """The first step of this column type at or after the value, and the first step after it; None if they do not compare."""
    types = pa.types
    if types.is_boolean(kind):
        return (int(value), int(value) + 1) if isinstance(value, bool) else None
    if types.is_integer(kind):
        return _rounded(value, 0) if is_numeric(value) else None
    if types.is_decimal(kind):
        if isinstance(value, str) and pc.match_substring_regex(pa.scalar(value), PLAIN).as_py():
            value = Decimal(value)
        return _rounded(value, kind.scale) if is_numeric(value) else None
    if not isinstance(value, str) or types.is_duration(kind):
        return None
    if types.is_timestamp(kind):
        bounds, unit = span(value, kind.tz), UNITS[kind.unit]
    elif types.is_date(kind):
        bounds, unit = span(value), DAY if types.is_date32(kind) else UNITS["ms"]
    elif types.is_time(kind):
        bounds, unit = time_span(value), UNITS[kind.unit]
    else:
        return None
    return None if bounds is None else (-(-bounds[0] // unit), -(-bounds[1] // unit))


def _rounded(value: Value, scale: int) -> Span:
    """A number in units of 10^-scale: rounded up; and rounded down, plus one."""
    number = value if isinstance(value, Decimal) else Decimal(value)
    if number and number.adjusted() > 500:
        return (GREATEST, GREATEST) if number > 0 else (-GREATEST, -GREATEST)
    scaled = number.scaleb(scale, EXACT) if number.adjusted() > -500 else Decimal((number > 0) - (number < 0)).scaleb(-1)
    return math.ceil(scaled), math.floor(scaled) + 1


def _before(array: Any, step: int) -> Any:
    """Where a column of whole steps is before a step."""
    kind = array.type
    if not _is_held(kind, step):
        return pc.if_else(pc.is_valid(array), step > 0, pa.scalar(None, pa.bool_()))
    if pa.types.is_decimal(kind):
        return pc.less(array, _scalar(kind, step))
    if not pa.types.is_integer(kind):
        array = array.cast(_counted(kind))
    return pc.less(array, pa.scalar(step, array.type))


def _counted(kind: pa.DataType) -> pa.DataType:
    """The integer type of a column's steps."""
    return pa.uint8() if pa.types.is_boolean(kind) else pa.int32() if kind.bit_width == 32 else pa.int64()


def _is_held(kind: pa.DataType, step: int) -> bool:
    """Whether a column of this type can hold a step."""
    if pa.types.is_decimal(kind):
        return bool(abs(step) < 10**kind.precision)
    counted = kind if pa.types.is_integer(kind) else _counted(kind)
    bits = counted.bit_width - pa.types.is_signed_integer(counted)
    return bool((-(1 << bits) if pa.types.is_signed_integer(counted) else 0) <= step < (1 << bits))


def _scalar(kind: pa.DataType, step: int) -> pa.Scalar:
    return pa.scalar(Decimal(step).scaleb(-kind.scale, EXACT) if pa.types.is_decimal(kind) else step, kind)


# floats


def _floats_split(array: Any, value: Any) -> Split:
    array = array.cast(pa.float64())
    array = pc.if_else(pc.is_nan(array), pa.scalar(None, pa.float64()), array)
    nearest = _float(value)
    if math.isinf(nearest) or (isinstance(value, int) and int(nearest) != value):  # it lies between two floats
        if nearest > value:
            return pc.less(array, nearest), pc.greater_equal(array, nearest)
        return pc.less_equal(array, nearest), pc.greater(array, nearest)
    return pc.less(array, nearest), pc.greater(array, nearest)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_float(value: int) -> bool:
    nearest = _float(value)
    return math.isfinite(nearest) and int(nearest) == value


# texts


def _texts_split(texts: Any, value: str) -> Split:
    """Split texts by their characters. If the value is a date or time, texts that are dates or times are compared as such."""
    value = composed(value)
    below, above = pc.less(texts, value), pc.greater(texts, value)
    if len(value) <= len("2020-01-01") and span(value) is not None:
        days = pc.utf8_slice_codeunits(texts, 0, len(value))
        dated = pc.match_substring_regex(texts, DATED)
        return pc.if_else(dated, pc.less(days, value), below), pc.if_else(dated, pc.greater(days, value), above)
    if len(value) > len("2020-01-01") and (wanted := span(value)) is not None:
        read = _instant if ZONE.search(value[10:]) else _wall
        return _by_one((below, above), texts, pc.match_substring_regex(texts, DATED), read, wanted[0])
    return below, above


def _numbers_split(texts: Any, value: Any) -> Split:
    """Split texts that are numbers in JSON; null for other texts."""
    whole = pc.match_substring_regex(texts, WHOLE)
    integers = (texts if (is_whole := pc.all(whole, min_count=0).as_py()) else pc.if_else(whole, texts, pa.scalar(None, texts.type))).cast(
        pa.int64()
    )
    below, above = split(integers, value) or (None, None)
    if is_whole:
        return below, above
    others = pc.and_(pc.match_substring_regex(texts, PLAIN), pc.invert(whole))
    exact = value if isinstance(value, int | Decimal) else Decimal(repr(value))
    if isinstance(value, int) or len(Decimal(exact).as_tuple().digits) <= 15:  # floats do not separate longer numbers
        short = pc.match_substring_regex(texts, SHORT)
        floats = _floats_split(pc.if_else(short, texts, pa.scalar(None, texts.type)).cast(pa.float64()), value)
        below, above = pc.coalesce(below, floats[0]), pc.coalesce(above, floats[1])
        others = pc.and_(others, pc.invert(short))
    return _by_one((below, above), texts, others, Decimal, exact)


def _by_one(parts: Split, texts: Any, chosen: Any, read: Callable[[str], Any], wanted: Any) -> Split:
    """`parts`, with the chosen texts compared one by one. A chosen text that cannot be read keeps its part."""
    rows = np.flatnonzero(_mask(chosen))
    if not len(rows):
        return parts
    sides = []
    values = [read(text) for text in texts.take(pa.array(rows)).to_pylist()]
    for part, is_below in zip(parts, (True, False), strict=True):
        side = np.full(len(texts), None)
        side[rows] = [None if value is None else value < wanted if is_below else value > wanted for value in values]
        sides.append(pc.coalesce(pa.array(side, pa.bool_()), part))
    return sides[0], sides[1]


def _texts_equal(texts: Any, values: Sequence[Value]) -> Any:
    matches = [pc.is_in(texts, value_set=pa.array(map(as_text, values), texts.type))]
    if moments := [value for value in values if isinstance(value, str) and span(value) is not None]:
        mask = _mask(pc.match_substring_regex(texts, DATED))
        dated = texts.filter(booleans(mask))
        mask[mask] = np.any([_mask(_neither(_texts_split(dated, value))) for value in moments], axis=0) if len(dated) else False
        matches.append(booleans(mask))
    if numbers := [value for value in values if is_numeric(value)]:
        matches.append(_numbers_equal(texts, numbers))
    return _any(matches, texts)


def _numbers_equal(texts: Any, numbers: Sequence[Any]) -> Any:
    """Where a text is one of some numbers, in any notation."""
    if len(numbers) <= FEW:
        return _any([_neither(_numbers_split(texts, number)) for number in numbers], texts)
    plain = pc.match_substring_regex(texts, PLAIN)
    wanted = {Decimal(number) if isinstance(number, int) else Decimal(str(number)) for number in numbers}
    rows = np.flatnonzero(_mask(plain))
    mask = np.zeros(len(texts), bool)
    mask[rows] = [Decimal(text) in wanted for text in texts.take(pa.array(rows)).to_pylist()]
    return booleans(mask)


def _instant(text: str) -> int | None:
    bounds = span(text)
    return None if bounds is None else bounds[0]


def _wall(text: str) -> int | None:
    """The time on the clock, whatever the zone. Times without a zone are compared so."""
    return _instant(text[:10] + ZONE.sub("", text[10:]))


def _mask(flags: Any) -> Mask:
    flags = pc.fill_null(flags, False)
    return np.asarray(flags.to_numpy(zero_copy_only=False) if isinstance(flags, pa.Array) else flags.to_numpy(), bool)


# Dates and times: a day, month or year covers all its instants. Instants are nanoseconds since 1970 in UTC; times of day are nanoseconds
# since midnight.

DAY = 86_400 * 10**9
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
EPOCH = datetime.date(1970, 1, 1).toordinal()
CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,9}))?)?"
TIME = re.compile(CLOCK, re.ASCII)
MOMENT = re.compile(
    rf"(?P<year>\d{{4}})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:[Tt ]{CLOCK}(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?)?)?)?", re.ASCII
)
DATED = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
"""Texts that are dates or timestamps, in the notations that Arrow reads."""
ZONE = re.compile(r"[Zz]$|[+-]\d\d(:?\d\d)?$")
"""A time zone at the end of a time."""
OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?", re.ASCII)

Span = tuple[int, int]
"""First nanosecond of a span, and the first after it."""


def span(text: str, zone: str | None = None) -> Span | None:
    """Nanoseconds that a date or time covers in a column with a zone; None for other texts.

    A value without a zone takes the column's, or UTC if that has none.
    """
    if not (match := MOMENT.fullmatch(text)):
        return None
    year, month, day = (int(match[name] or 0) for name in ("year", "month", "day"))
    try:
        first = datetime.date(year, month or 1, day or 1).toordinal() - EPOCH
        if match["hour"]:
            time = _of_day(match)
            return None if time is None else _on_clock(first * DAY + time, match["zone"] or zone)
        years, months = divmod(month, 12)
        after = first + 1 if day else datetime.date(year + (years if month else 1), months + 1, 1).toordinal() - EPOCH
    except ValueError:  # no such day, or beyond the year 9999
        if (year, month or 12, day) != (9999, 12, 0):
            return None
        after = datetime.date.max.toordinal() + 1 - EPOCH
    return _on_clock(first * DAY, zone)[0], _on_clock(after * DAY, zone)[0]


def time_span(text: str) -> Span | None:
    """Nanoseconds that a time of day covers; None for other texts."""
    match = TIME.fullmatch(text)
    time = _of_day(match) if match else None
    return None if time is None else (time, time + 1)


def _of_day(match: re.Match[str]) -> int | None:
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        return None
    return ((hour * 60 + minute) * 60 + second) * 10**9 + int((match["fraction"] or "").ljust(9, "0"))


def _on_clock(wall: int, zone: str | None) -> Span:
    """The instant at which clocks in a zone show this."""
    seconds = min(max(wall // 10**9, -62_135_596_800), 253_402_300_799)  # the years that Python supports
    offset = _zone(zone).utcoffset(datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)) or datetime.timedelta()
    instant = wall - (offset.days * 86_400 + offset.seconds) * 10**9
    return instant, instant + 1


def _zone(name: str | None) -> datetime.tzinfo:
    """A time zone. UTC, in which times are stored, for none and for an unknown one."""
    if name is None or name in ("Z", "z", "UTC"):
        return datetime.UTC
    if match := OFFSET.fullmatch(name):
        minutes = int(match["hours"]) * 60 + int(match["minutes"] or 0)
        return datetime.timezone(datetime.timedelta(minutes=min(minutes, 1439) * (1 if match["sign"] == "+" else -1)))
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        return datetime.UTC
