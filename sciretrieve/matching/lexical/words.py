"""What a word is: the patterns that cut folded text, and the words that are too common to count."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...base.characters import INVISIBLE, JOINERS

WORD = re.compile(r"\d{1,3}(?:,\d{3}){1,6}+(?![\d,])|\d+(?:\.\d+)+|[^\W_]+(?:[-/_^][^\W_]+)*")
"""A number with its points, or words joined by hyphen, slash, underscore or caret.

No number has more than six groups of thousands: without this limit, backtracking would read a long list of digits and
commas again from each of them.
"""
JOINT = re.compile(r"[-/_^]")

_BETWEEN = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in ",.-/_^"}
"""What no match of `WORD` has, of ASCII."""

# Lucene's English stop words, the usual short list of BM25 baselines
_STOP = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
"""
STOPWORDS = frozenset(_STOP.split())


_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    # beyond: the stand-ins for the marks of these, see `folding`; and further Han
    "\U00017700-\U000177ff\U00017900-\U0001799f\U00018080-\U000180ff\U00020000-\U0003ffff"
)
UNSPACED = re.compile(rf"(?:[{_UNSPACED}](?<=[^\W_]))+")
"""What is written without blanks between words: Han, kana, Thai, Lao, Khmer and Burmese, folded."""
_WRITTEN_UNSPACED = re.compile(rf"[{_UNSPACED}]+")
SEAM = re.compile(rf"(?<=[{_UNSPACED}])(?=[^\W_])(?![{_UNSPACED}])|(?<=[^\W_])(?<![{_UNSPACED}])(?=[{_UNSPACED}])(?=[^\W_])")
"""Where such text and a word of another script meet."""


AS_WRITTEN = rf"[^\W_](?:[^\W_]|[{INVISIBLE}{JOINERS}\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0700-\u0963\u0971-\u1aff])*"
"""A word of a text that was not folded, with the marks in it."""
_PART = re.compile(AS_WRITTEN)


def parts_as_written(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the words of a stretch of a text stand that was not folded; in scripts without blanks every two characters."""
    for match in _PART.finditer(text, start, end):
        place = match.start()
        for run in _WRITTEN_UNSPACED.finditer(text, *match.span()):
            if place < run.start():
                yield place, run.start()
            yield from ((first, min(first + 2, run.end())) for first in range(run.start(), max(run.end() - 1, run.start() + 1)))
            place = run.end()
        if place < match.end():
            yield place, match.end()


def spaced(plain: str) -> str:
    """A folded text in which every two characters that follow each other in a script without blanks are a word of their own."""

    def pairs(match: re.Match[str]) -> str:
        run = match[0]
        return f" {' '.join(run[place : place + 2] for place in range(max(len(run) - 1, 1)))} "

    return plain if plain.isascii() else UNSPACED.sub(pairs, plain)


def pieces(plain: str) -> list[str]:
    """A folded text cut where no word can go on. `WORD` finds in the pieces what it finds in the text; since texts have the same pieces
    over and over, each is looked through only once. Commas stay where they are: one after a number decides what the number is."""
    return plain.translate(_BETWEEN).replace(". ", " ").split()
