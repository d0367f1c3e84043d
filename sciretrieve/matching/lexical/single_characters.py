"""Single letters and digits, joined with a neighbour: vitamin D as vitamind, type 2 as type2, T cell as tcell, N = 4 as n4.

Alone they mean little and cost much. In papers, a digit is joined with the word before it, a letter with the words on both sides. An A is
mostly an article, so it is joined with the word before it only if capital. In queries, every possible pair is joined, since pairs that no
paper has are dropped anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...papers.folding import fold
from .words import JOINT, STOPWORDS

_WORD = r"[^\W_]+(?:[-/_^][^\W_]+)*"
_ALONE = rf"(?:(?:\+\+|#)(?!\w)|(?![\w'’-]|[.,]\d)(?=(?: | ?= ?)({_WORD})(?![.,]\d)|))"
_LONE = re.compile(r"[^\w'’.,-][a-z0-9](?![\w'’-])")
"""What every match of the next two begins with: much faster to find, and few queries have it."""
_SINGLE = re.compile(rf"[^\w'’.,-]([a-z0-9]{_ALONE})")
"""A lone character, which is no part of a number and no ending (cell's), with the word after it; or C++ and C#, which are words."""
_SINGLE_IN_ASCII = re.compile(rf"[\x00-&(-+/:-@\[-^`{{-\x7f]([b-z0-9]{_ALONE}|a(?:\+\+|#)(?!\w))", re.ASCII)
"""The same for a paper's ASCII text, much faster. A lone A is left to `_CAPITAL_A`."""
_LAST = re.compile(rf"{_WORD}$")
_LONGEST = 40
"""Characters before a single character in which its neighbour is searched for."""
SHORTEST = 3
"""Fewest letters of a word before an A that is no article."""
_CAPITAL_A = re.compile(r" A(?![\w'’-])")


def joined(text: str, plain: str, *, typed: bool = False) -> list[tuple[str, str]]:
    """Pairs of each single character of a text with a neighbour before or after it, in plain letters, unordered.

    >>> joined("vitamin D and T cells in C++", "vitamin d and t cells in c++")
    [('vitamin', 'd'), ('t', 'cells'), ('c++', '')]

    Args:
        text: text of a paper or a query.
        plain: the same text, folded.
        typed: whether the text is a query.
    """
    pairs = list(_beside(plain, typed))
    if typed:
        return pairs
    words = (word_before(text, match.start() + 1) for match in _CAPITAL_A.finditer(text))
    plain_words = (fold(word) for word in words if len(word) >= SHORTEST)
    return pairs + [(JOINT.sub("", word), "a") for word in plain_words if word not in STOPWORDS]


def _beside(plain: str, typed: bool) -> Iterator[tuple[str, str]]:
    plain = f" {plain}"
    if _LONE.search(plain) is None:
        return
    for match in (_SINGLE_IN_ASCII if not typed and plain.isascii() else _SINGLE).finditer(plain):
        single, after = match.groups()
        if len(single) > 1:
            yield single, ""
        if len(single) > 1 or (single == "a" and not typed):
            continue
        before = word_before(plain, match.start(1))
        if before and before not in STOPWORDS and (single != "a" or len(before) >= SHORTEST):
            yield JOINT.sub("", before), single
        # of two single characters, the second takes the first as its neighbour
        if after and len(after) > 1 and single != "a" and (typed or single.isalpha()) and after not in STOPWORDS:
            yield single, JOINT.sub("", after)


def word_before(text: str, place: int) -> str:
    """The word before a place of a text, across a blank or an equals sign; None for a number beside a number."""
    end = place
    for mark in (" ", "=", " "):
        if text.endswith(mark, 0, end):
            end -= 1
    if end == place:
        return ""
    start = max(0, end - _LONGEST, text.rfind(" ", 0, end) + 1)
    word = text[start:end]
    if not word.isalnum():
        word = match[0] if (match := _LAST.search(word)) else ""
    return "" if word.isdecimal() and text[place].isdecimal() else word
