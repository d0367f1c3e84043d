"""Word patterns for folded text, stop words, and a cache of what texts are read as."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeVar

from ...base.characters import INVISIBLE, JOINERS

WORD = re.compile(r"\d{1,3}(?:,\d{3}){1,6}+(?![\d,])|\d+(?:\.\d+)+|[^\W_]+(?:[-/_^][^\W_]+)*")
"""A number with decimal points or thousands separators, or words joined by hyphen, slash, underscore or caret.

A number has at most six groups of thousands. Without this limit, a long list of digits and commas would be scanned again from each of them.
"""
JOINT = re.compile(r"[-/_^]")

_BETWEEN = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in ",.-/_^"}
"""ASCII characters outside every match of `WORD`."""

# Lucene's English stop words, the usual short list of BM25 baselines
_STOP = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
"""
STOPWORDS = frozenset(_STOP.split())

TEXTS_REMEMBERED, LONGEST_REMEMBERED = 256, 5_000
"""Texts whose reading is cached, since a query is read for several purposes, and their most characters."""
Reading = TypeVar("Reading")


def remembering(read: Callable[[str], Reading]) -> Callable[[str], Reading]:
    """A function that reads texts, with what it last read cached."""
    remembered = lru_cache(TEXTS_REMEMBERED)(read)
    return lambda text: remembered(text) if len(text) <= LONGEST_REMEMBERED else read(text)


_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    # beyond the first plane: stand-ins for these scripts' marks, see `folding`, and further Han
    "\U00017700-\U000177ff\U00017900-\U0001799f\U00018080-\U000180ff\U00020000-\U0003ffff"
)
UNSPACED = re.compile(rf"(?:[{_UNSPACED}](?<=[^\W_]))+")
"""Folded text in scripts without blanks between words: Han, kana, Thai, Lao, Khmer and Burmese."""
_WRITTEN_UNSPACED = re.compile(rf"[{_UNSPACED}]+")
SEAM = re.compile(rf"(?<=[{_UNSPACED}])(?=[^\W_])(?![{_UNSPACED}])|(?<=[^\W_])(?<![{_UNSPACED}])(?=[{_UNSPACED}])(?=[^\W_])")
"""The border between such text and a word of another script."""


AS_WRITTEN = rf"[^\W_](?:[^\W_]|[{INVISIBLE}{JOINERS}\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0700-\u0963\u0971-\u1aff])*"
"""A word of unfolded text, with the marks in it."""
_PART = re.compile(AS_WRITTEN)


def parts_as_written(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Positions of the words in a stretch of unfolded text. In scripts without blanks, every two characters are a word."""
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
    """A folded text with blanks between the words of scripts without blanks, where every two consecutive characters are a word."""

    def pairs(match: re.Match[str]) -> str:
        run = match[0]
        return f" {' '.join(run[place : place + 2] for place in range(max(len(run) - 1, 1)))} "

    return plain if plain.isascii() else UNSPACED.sub(pairs, plain)


def pieces(plain: str) -> list[str]:
    """Split a folded text between words. `WORD` matches the same in the pieces as in the text. Pieces repeat, so each is analysed only
    once. Commas are kept, since a comma after a number decides how far the number goes."""
    return plain.translate(_BETWEEN).replace(". ", " ").split()
