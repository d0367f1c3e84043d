"""Dates and times as filters have them: a day, a month or a year is all of it, a time is an instant.

Everything is counted in nanoseconds: instants since 1970 in UTC, times of a day since midnight.
"""

from __future__ import annotations

import datetime
import re
from zoneinfo import ZoneInfo

DAY = 86_400 * 10**9
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
EPOCH = datetime.date(1970, 1, 1).toordinal()
CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,9}))?)?"
TIME = re.compile(CLOCK, re.ASCII)
MOMENT = re.compile(
    rf"(?P<year>\d{{4}})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)(?:[Tt ]{CLOCK}(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?)?)?)?", re.ASCII
)
DATED = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
"""Texts that are dates, or times of a date, as Arrow reads them."""
ZONE = re.compile(r"[Zz]$|[+-]\d\d(:?\d\d)?$")
"""How the time of a day ends that says its zone."""
OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?", re.ASCII)

Span = tuple[int, int]
"""The first nanosecond, and that after the last."""


def span(text: str, zone: str | None = None) -> Span | None:
    """What a date or time means in a column of times in a zone; None for a text that is neither.

    What has no zone of its own is meant in the column's, and in UTC where that has none.
    """
    if not (found := MOMENT.fullmatch(text)):
        return None
    year, month, day = (int(found[name] or 0) for name in ("year", "month", "day"))
    try:
        first = datetime.date(year, month or 1, day or 1).toordinal() - EPOCH
        if found["hour"]:
            time = _of_day(found)
            return None if time is None else _instant(first * DAY + time, found["zone"] or zone)
        years, months = divmod(month, 12)
        after = first + 1 if day else datetime.date(year + (years if month else 1), months + 1, 1).toordinal() - EPOCH
    except ValueError:  # no such day, or the end of the year 9999
        if (year, month or 12, day) != (9999, 12, 0):
            return None
        after = datetime.date.max.toordinal() + 1 - EPOCH
    return _instant(first * DAY, zone)[0], _instant(after * DAY, zone)[0]


def time_span(text: str) -> Span | None:
    """What a time of the day means; None for a text that is none."""
    found = TIME.fullmatch(text)
    time = _of_day(found) if found else None
    return None if time is None else (time, time + 1)


def _of_day(found: re.Match[str]) -> int | None:
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        return None
    return ((hour * 60 + minute) * 60 + second) * 10**9 + int((found["fraction"] or "").ljust(9, "0"))


def _instant(wall: int, zone: str | None) -> Span:
    """What clocks in a zone show, as an instant."""
    seconds = min(max(wall // 10**9, -62_135_596_800), 253_402_300_799)  # the years that Python knows
    offset = _zone(zone).utcoffset(datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)) or datetime.timedelta()
    instant = wall - (offset.days * 86_400 + offset.seconds) * 10**9
    return instant, instant + 1


def _zone(name: str | None) -> datetime.tzinfo:
    """A zone; UTC, in which times are stored, for none, and for one that is not known here."""
    if name is None or name in ("Z", "z", "UTC"):
        return datetime.UTC
    if found := OFFSET.fullmatch(name):
        minutes = int(found["hours"]) * 60 + int(found["minutes"] or 0)
        return datetime.timezone(datetime.timedelta(minutes=min(minutes, 1439) * (1 if found["sign"] == "+" else -1)))
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        return datetime.UTC
