"""Translates bulk search's queries into an index's own: `+` is AND, `|` OR, `-` NOT, and the rest means the same in both."""

from __future__ import annotations

import re

QUOTED = r'-?(?:[^\W\d][\w.-]*:)?"[^"]*"(?:~\d+)?'
PARTS = re.compile(rf'{QUOTED}|[^\s"]+?(?={QUOTED}|[\s"]|$)')
EITHER = re.compile(r"\|+")
FUZZY = re.compile(r"(?<=\w)~\d*$")
"""The mark after a word that may be misspelt; an index corrects words by itself in a search, and never in a demand."""


def translated(text: str) -> str:
    """The query in an index's own operators.

    >>> translated('(graph | tree) +"neural network" -survey cloud~2')
    '(graph OR tree) "neural network" -survey cloud'
    """
    parts: list[str] = []
    for part in PARTS.findall(text):
        if '"' in part:
            parts.append(part)
            continue
        for place, word in enumerate(EITHER.split(part)):
            if place and parts and parts[-1] != "OR":
                parts.append("OR")
            word = FUZZY.sub("", re.sub(r"(?<![^\s(-])\++", "", word))
            if word:
                parts.append(word)
    while parts and parts[-1] == "OR":
        parts.pop()
    return " ".join(parts)
