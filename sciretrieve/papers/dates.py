"""Dates of publication as sources write them, as ISO texts of as many parts as are known: 2019, 2019-05, 2019-05-01."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

_YEAR = r"(?<!\d)(1[4-9]\d\d|20\d\d)(?!\d)"
YEAR = re.compile(_YEAR)
NUMBERS = re.compile(rf"{_YEAR}\s*[-/.]\s*(\d{{1,2}})(?!\d)(?:\s*[-/.]\s*(\d{{1,2}})(?!\d))?")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?<![^\W\d_])(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)(?![^\W\d_])\.?"
)
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?(?!\d)"
WORDS = re.compile(rf"(?:(?<!\d){_DAY}[\s.,/-]+)?{_MONTH}(?:[\s,/-]+{_DAY})?", re.IGNORECASE)

_PLAIN = r"(?:[+-]?\d{4}|\d{3}[Xu]|\d{2}[Xu]{2})(?:-(?:\d\d|XX)(?:-(?:\d\d|XX))?)?"
_POINT = rf"({_PLAIN})(?:[T ]\d\d:?\d\d[\d:.]*\s?(?:Z|[+-]\d\d(?::?\d\d)?)?)?([~?%]?)"
_EDTF = re.compile(rf"(?:{_POINT})?(?:\s?(/)\s?(?:{_POINT}|\.\.|open|unknown|\*)?)?", re.IGNORECASE)


def edtf(text: str) -> tuple[str, str]:
    """The year and the date of a text in the form that BibLaTeX, CSL and libraries use, ISO 8601 with extensions: ranges, which may be
    open, unknown digits, seasons, what is not certain. "" for both if it is something else, for the date if it says no more than the year.

    >>> edtf("2017-10-28T14:30:00Z"), edtf("2020-05/2020-06"), edtf("199X"), edtf("/2001"), edtf("May 2019")
    (('2017', '2017-10-28'), ('2020', '2020-05/2020-06'), ('1990', '199X'), ('2001', '/2001'), ('', ''))

    Source: https://www.loc.gov/standards/datetime/
    """
    match = _EDTF.fullmatch(text.strip())
    if match is None or not (match[1] or match[4]):
        return "", ""
    first, last = ((match[place] or "").upper().replace("U", "X") + (match[place + 1] or "") for place in (1, 4))
    start = first or last
    year = start[:5] if start[0] in "+-" else start[:4]
    whole = f"{first}/{last}" if match[3] else first
    return year.replace("X", "0").lstrip("+"), "" if whole == year else whole


def date_in(text: str, year: str = "") -> str:
    """The first date in a text, "" if it has none. Where it says no year, that is `year`.

    >>> date_in("2021 Aug 15"), date_in("1952/07//Jul/Aug1952"), date_in("JUL-AUG", "1998"), date_in("1998 Winter")
    ('2021-08-15', '1952-07', '1998-07', '1998')
    """
    if numbers := NUMBERS.search(text):
        return _iso(numbers[1], int(numbers[2]), int(numbers[3] or 0))
    years = YEAR.search(text)
    year = years[1] if years else year
    words = WORDS.search(text)
    if not year or not words:
        return year
    return _iso(year, MONTHS.index(words[2][:3].lower()) + 1, int(words[1] or words[3] or 0))


def publication(texts: Iterable[str]) -> tuple[str, str]:
    """The year and the date that texts say, the best first: the first year, and the most exact date in that year, "" if none says more
    than the year."""
    return _publication(tuple(texts))


@lru_cache(1 << 12)
def _publication(texts: tuple[str, ...]) -> tuple[str, str]:
    year = next((found[1] for found in map(YEAR.search, texts) if found), "")
    dates = [date for text in texts if (date := date_in(text, year)).startswith(f"{year}-")] if year else []
    return year, max(dates, key=len, default="")


def _iso(year: str, month: int, day: int) -> str:
    """The parts that are on the calendar."""
    if not 1 <= month <= 12:
        return year
    try:
        return date(int(year), month, day).isoformat()
    except ValueError:
        return f"{year}-{month:02}"
