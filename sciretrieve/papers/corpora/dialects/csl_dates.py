"""Dates of CSL-JSON and Crossref: in parts, which may be texts, or as somebody has typed them, with seasons, ranges and points of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from ...dates import date_in, edtf

PUBLISHED = ("issued", "published", "published-print", "published-online")
"""Where the date of publication may be, best first."""
OTHERS = ("event-date", "original-date", "created")
"""Where a date is that is better than none."""
TYPED = ("raw", "literal", "edtf", "date-time")
SEASONS = {"spring": 21, "summer": 22, "autumn": 23, "fall": 23, "winter": 24} | {str(number): 20 + number for number in range(1, 5)}
"""CSL's seasons -> EDTF's."""


def dates_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """The year of publication, and the most exact date in that year; "" if the record says none, or no more than the year."""
    year = exact = ""
    for name in (*PUBLISHED, *OTHERS):
        if not row.get(name) or (year and name in OTHERS):
            continue
        said, date = _read(row[name])
        if not year or (len(date) > len(exact) and date.startswith(exact or year)):
            year, exact = said, date
        if len(exact) > len("2019-05"):
            break
    return year, exact


def _read(value: Any) -> tuple[str, str]:
    """The year and the date that a variable says."""
    if isinstance(value, Mapping):
        points = value.get("date-parts")
        points = points if isinstance(points, Sequence) and not isinstance(points, str) else []
        if len(points) == 1 and len(value) == 1 and (plain := _plain(points[0]))[0]:
            return plain
        dates = [date for point in points[:2] if (date := _of_parts(point))]
        season = SEASONS.get(str(value.get("season") or "").strip().lower())
        if len(dates) == 1 and season and "-" not in dates[0][1:]:
            dates[0] += f"-{season}"
        pair = edtf("/".join(dates) + "~" * (bool(value.get("circa")) and len(dates) == 1))
        texts = (str(value[name]) for name in TYPED if value.get(name))
        return pair if pair[0] else next((typed for text in texts if (typed := _typed(text))[0]), _of_moment(value.get("timestamp")))
    if isinstance(value, list):
        return edtf(_of_parts(value[0] if value and isinstance(value[0], list) else value))
    return _typed(str(value))


def _plain(parts: Any) -> tuple[str, str]:
    """What a date of whole numbers on the calendar says, as nearly all do, or nothing."""
    match parts:
        case [int(year)] if 1000 <= year <= 9999:
            return str(year), ""
        case [int(year), int(month)] if 1000 <= year <= 9999 and 1 <= month <= 12:
            return str(year), f"{year}-{month:02}"
        case [int(year), int(month), int(day)] if 1000 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31:
            return str(year), f"{year}-{month:02}-{day:02}"
    return "", ""


def _of_parts(parts: Any) -> str:
    """An ISO text of year, month and day, as far as they are on the calendar; a season as EDTF's month."""
    texts = [str(part).strip() for part in parts if part is not None] if isinstance(parts, list) else [str(parts or "")]
    year = edtf(texts[0])[1] or edtf(texts[0])[0] if texts else ""
    if not year and texts and texts[0].lstrip("-").isdecimal():
        number = int(texts[0][:6])
        year = f"{'-' * (number < 0)}{abs(number):04}" if number else ""
    if not year or len(texts) == 1 or not texts[1].isdecimal():
        return year
    month, day = int(texts[1]), int(texts[2]) if len(texts) > 2 and texts[2].isdecimal() else 0
    if 13 <= month <= 16:
        month += 8  # CSL's seasons as months
    if not (1 <= month <= 12 or 21 <= month <= 24):
        return year
    return f"{year}-{month:02}" + f"-{day:02}" * (1 <= day <= 31 and month <= 12)


def _typed(text: str) -> tuple[str, str]:
    """A date as text."""
    year, date = edtf(text)
    if year:
        return year, date
    said = date_in(text)
    return said[:4], said if len(said) > len("2019") else ""


def _of_moment(timestamp: Any) -> tuple[str, str]:
    """The day of so many milliseconds after 1970."""
    if isinstance(timestamp, int | float) and not isinstance(timestamp, bool):
        with suppress(OverflowError, ValueError, OSError):
            return edtf(datetime.fromtimestamp(timestamp / 1000, UTC).date().isoformat())
    return "", ""
