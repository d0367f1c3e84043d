"""Refusals of words that look like operators but cannot be parsed. The error shows the place; they are never searched for as words."""

from __future__ import annotations

import re

from ...base.errors import InvalidRequest

QUOTE_IT = "to search for these characters, put them in double quotes"
_STAR = f"a star ends the beginning of a word, as in child*, and can stand nowhere else; {QUOTE_IT}"
_NEAR = f"write a NEAR/3 b, with a number up to 999; {QUOTE_IT}"
LIKE_OPERATORS = [
    (re.compile(r"[^\W\d_]{2}\*[^\W\d_A-Z]|^\*[^\W\d_A-Z]{2}|[^\W_]{2}\*\*(?!\d)"), _STAR),
    (re.compile(r"[^\W\d_]\?[^\W\d_A-Z]"), f"a question mark stands for no letter: write (woman OR women); {QUOTE_IT}"),
    (re.compile(r"^NEAR/|^(?:NEAR|N|ADJ|W|PRE|WITHIN)/\d+$|^(?:NEAR|ADJ)\d+$"), _NEAR),
    (re.compile(r"^~"), '~ follows a quoted phrase, and a number up to 999 follows it, as in "heart failure"~3'),
    (re.compile(r"^[^\W\d_]{2,}~\d*$"), f'~ follows a quoted phrase, as in "heart failure"~3, and never a word; {QUOTE_IT}'),
    (
        re.compile(r"\[(?:tiab|tw|ti|ab|au|mh|majr|dp|pdat|[Mm]e[Ss][Hh]|Title|Author|All Fields)(?:[\]:/]|$)"),
        "fields come first and end with a colon, as in title:cancer or author:smith",
    ),
]
"""Operators of other search engines, and what to write instead. Names such as K*SQL are not refused."""
BARE_NEAR = "NEAR"
SHOWN = 40
"""Most characters of the query that a message shows."""


def refusal(text: str, start: int, end: int, is_in_capitals: bool) -> InvalidRequest | None:
    """The error for a word that looks like an operator; None for an ordinary word. `is_in_capitals` says whether the whole text is."""
    word = text[start:end].lstrip("(").rstrip("),;.:!?")
    if "://" in word:
        return None
    if word == BARE_NEAR and start and not is_in_capitals:
        return refused(text, start, f"the query has {word}, which is not understood", _NEAR)
    for pattern, advice in LIKE_OPERATORS:
        if pattern.search(word) or (is_in_capitals and pattern.search(word.lower())):
            return refused(text, start, f"the query has {word}, which is not understood", advice)
    return None


def refused(text: str, place: int, what: str, advice: str) -> InvalidRequest:
    """An error about a place in a query."""
    start = max(0, min(place - SHOWN // 2, len(text) - SHOWN))
    excerpt = "…" * (start > 0) + " ".join(text[start : start + SHOWN].split()) + "…" * (start + SHOWN < len(text))
    return InvalidRequest(f"{what}, at character {place + 1:,} of {excerpt!r}; {advice}")
