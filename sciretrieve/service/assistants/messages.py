"""What a language model is told where something cannot be done: the library's own messages, in the words of the tools."""

from __future__ import annotations

import re

REWORDED = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"`sciretrieve search` shows", "`search` shows"),
        (r"`sciretrieve show` has", "`get_papers` has"),
        (r"`k=(\d+)`", r"`limit=\1`"),
        (r"--by text compares", 'by="text" compares'),
        (r"`k`", "`limit`"),
        (r"`facets`", "`columns`"),
    )
)
"""What the library says to people at a command line -> the same of tools."""


def reworded(text: str) -> str:
    """A message in the words of the tools."""
    for pattern, words in REWORDED:
        text = pattern.sub(words, text)
    return text
