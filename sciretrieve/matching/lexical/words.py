"""What a word is: the patterns that cut folded text, and the words that are too common to count."""

from __future__ import annotations

import re

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


def pieces(plain: str) -> list[str]:
    """A folded text cut where no word can go on. `WORD` finds in the pieces what it finds in the text; since texts have the same pieces
    over and over, each is looked through only once. Commas stay where they are: one after a number decides what the number is."""
    return plain.translate(_BETWEEN).replace(". ", " ").split()
