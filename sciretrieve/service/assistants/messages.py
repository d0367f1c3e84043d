"""What a language model is told where something cannot be done: the library's own messages, in the words of the tools."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from pydantic import ValidationError

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


def unknown_parameter(tool: str, given: Collection[str], known: Collection[str]) -> str:
    """That a tool was called with a parameter that it does not have; "" if it was not."""
    strange = [name for name in given if name not in known]
    return f"{tool} has no parameter {strange[0]!r}; it has {', '.join(known)}" if strange else ""


def invalid(tool: str, error: ValidationError) -> str:
    """Which arguments of a tool cannot be taken, and why, on one line."""
    parts = dict.fromkeys(_told(detail) for detail in error.errors(include_url=False, include_context=False, include_input=False))
    return f"{tool} cannot be called like this: {'; '.join(parts)}"


def _told(detail: Any) -> str:
    message = str(detail["msg"])
    return f"`{detail['loc'][0] if detail['loc'] else 'arguments'}`: {message[:1].lower()}{message[1:]}"
