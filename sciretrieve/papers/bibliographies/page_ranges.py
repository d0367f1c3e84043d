"""Pages as sources write them ("pp. 21--24", "583-9", "e1000-e1009", "S. 5 f."), as first and last."""

from __future__ import annotations

import re
from dataclasses import dataclass

BEFORE = re.compile(r"(?i:pages?|pgs?\.|pp?\.|pp\s|seiten?|págs?\.)\s*(?=\S*\d|[ivxlc]+\b)|[Ss]\.\s+(?=\d)")
"""What stands before the number of a page."""
AFTER = re.compile(r"(?<=\d)\s*(?:p|pp|pages?|S)\.?$")
LONG_DASH = re.compile(r"\s*(?:-{2,}|[‐‑‒–—―−]+)\s*")
BETWEEN_RANGES = re.compile(r"\s*[,;+&]\s*")
ROMAN = re.compile(r"[ivxlc]+")
NUMBER = re.compile(r"(\D*)(\d+)(\D*)")
NOTHING = re.compile(r"[\W_]*|(?:n/?a[\W_]*)+", re.IGNORECASE)
ARTICLE = re.compile(r"(?:art(?:icle)?\b\.?\s*(?:no\b\.?|number|id)?|eid)[\s:]*([\w./-]*\d[\w./-]*)", re.IGNORECASE)
"""The number of an article in a journal without pages."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The first page and the last; the latter is "" where there is one page alone."""

    first: str
    last: str = ""

    def text(self, dash: str) -> str:
        """Both with a dash between."""
        return dash.join(filter(None, (self.first, self.last)))


def pages_in(text: str) -> tuple[Pages, ...]:
    """The ranges of pages that a text says, with what is left out in the last page.

    >>> pages_in("pp. 583-9"), pages_in("S1–S5, 12")
    ((Pages(first='583', last='589'),), (Pages(first='S1', last='S5'), Pages(first='12', last='')))
    """
    parts = (BEFORE.sub("", part, count=1).strip(" .") for part in BETWEEN_RANGES.split(" ".join(text.split())))
    return tuple(_range(part) for part in parts if not NOTHING.fullmatch(part))


def pages_between(first: str, last: str) -> tuple[Pages, ...]:
    """The pages from the first to the last, of which each may be missing or say both."""
    if not last or re.search(r"\d\s*[-–—]+\s*\w", first):
        return pages_in(first)
    firsts, lasts = pages_in(first), pages_in(last)
    if not firsts or not lasts:
        return firsts or lasts
    return (_whole(first, last),) if len(firsts) == len(lasts) == 1 else firsts


def article_number(text: str) -> str:
    """The article's number where a text in place of pages is one: "Art. No. 104"; else ""."""
    match = ARTICLE.fullmatch(text.strip())
    return match[1] if match else ""


def _range(text: str) -> Pages:
    parts = LONG_DASH.split(text)
    parts = parts if len(parts) > 1 else _at_hyphen(text)
    return _whole(*parts) if len(parts) == 2 and parts[0] else Pages(text)


def _at_hyphen(text: str) -> list[str]:
    """What is before and after the hyphen between two pages, the middle one of several; the whole text where a hyphen is part of one
    page's number."""
    hyphens = [match.span() for match in re.finditer(r"\s*-\s*", text)]
    if len(hyphens) % 2 == 0:
        return [text]
    start, end = hyphens[len(hyphens) // 2]
    halves = [text[:start], text[end:]]
    are_pages = all(map(ROMAN.fullmatch, halves)) or all(re.search(r"\d", half) for half in halves)
    return halves if are_pages or not halves[1] else [text]


def _whole(first: str, last: str) -> Pages:
    """A range, with the digits and letters of its last page that were left out: 583-9 is 583 to 589."""
    first, last = first.strip(" ."), AFTER.sub("", last.strip(" ."))
    start, end = NUMBER.fullmatch(first), NUMBER.fullmatch(last)
    if start and end and len(end[2]) < len(start[2]) and end[1] in ("", start[1]):
        digits = start[2][: -len(end[2])] + end[2]
        last = f"{start[1]}{digits}{end[3]}" if int(digits) > int(start[2]) else last
    return Pages(first, "" if last == first else last)
