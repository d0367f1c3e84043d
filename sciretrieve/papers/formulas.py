r"""Formulas in TeX within titles and abstracts as typed, `$\alpha$-decay of $^{208}$Pb`: where they are, and how they look in Unicode."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TEX = re.compile(
    r"(?<![\\$])(?:\$\$((?:[^$\\]|\\.){1,300})\$\$(?!\$)|\$((?:[^$\\]|\\.){1,300})\$(?!\d))|\\\((.{1,300}?)\\\)|\\\[(.{1,300}?)\\\]",
    re.DOTALL,
)
MARKED = re.compile(r"[\\_^{}]")
"""What TeX has and prices have not."""
FUNCTION, WORD, OPERATOR = (
    re.compile(r"\b(?:log|ln|exp|sin|cos|tan|min|max|mod)\b"),
    re.compile(r"[^\W\d_]{2}"),
    re.compile(r"[=<>+*/|≤≥±×(]"),
)
"""What else a formula of several words has, and has not."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula: where it begins and ends in its text, with its dollars, and its TeX without them."""

    start: int
    end: int
    tex: str


def formulas_in(text: str) -> Iterator[Formula]:
    """The formulas of a text, in order. Dollars of prices are none: "it costs $5 and $6"."""
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return
    place = 0
    while (match := _TEX.search(text, place)) is not None:
        tex = next(filter(None, match.groups()))
        if match[2] is None or _is_formula(tex):
            yield Formula(*match.span(), tex.strip())
            place = match.end()
        else:  # its second dollar may begin a formula
            place = match.end() - 1


def in_unicode(text: str) -> str:
    r"""A text with its formulas in Unicode, as far as it has their characters.

    >>> in_unicode(r"$\alpha$-decay of $^{208}$Pb costs $5")
    'α-decay of ²⁰⁸Pb costs $5'
    """
    parts, place = [], 0
    for formula in formulas_in(text):
        from .corpora.latex import plain_text

        parts += [text[place : formula.start], plain_text(f"${formula.tex}$").strip("$")]
        place = formula.end
    return "".join([*parts, text[place:]]) if parts else text


def _is_formula(tex: str) -> bool:
    """Whether what is between two dollars is a formula: `$x$`, `$O(n)$`, `$k = 3$`, but not "5 and "."""
    if MARKED.search(tex) or not re.search(r"\s", tex):
        return True
    return tex == tex.strip() and OPERATOR.search(tex) is not None and WORD.search(FUNCTION.sub("", tex)) is None
