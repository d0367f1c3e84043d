"""Rewrites the library's error messages for language models, in terms of the tools."""

from __future__ import annotations

import re

REWORDED = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"`sciretrieve search` shows", "`search` shows"),
        (r"`sciretrieve add --fulltext` reads them", "`search` answers from abstracts"),
        (r"`sciretrieve show` prints", "`get_papers` returns"),
        (r"`k=(\d+)`", r"`limit=\1`"),
        (r"--by text compares", 'by="text" compares'),
        (r"`k`", "`limit`"),
        (r"`facets`", "`columns`"),
    )
)
"""Phrases of the library for users of a command line, with their replacements."""


def reworded(text: str) -> str:
    """A message in terms of the tools."""
    for pattern, words in REWORDED:
        text = pattern.sub(words, text)
    return text
