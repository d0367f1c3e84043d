"""OpenAlex's abstracts: instead of a text, the positions of every word."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

LONGEST = 1_000_000
"""Words that an abstract may have, and 16 times as many characters: a few bytes can say that a long word is everywhere."""


def uninverted(value: Any) -> Any:
    """The text of an inverted index: an object, pairs, or JSON of an object. Anything else is returned unchanged.

    >>> uninverted({"to": [0, 2], "be": [1, 3]})
    'to be to be'
    """
    index = value
    if isinstance(value, str):
        if not value.startswith("{"):
            return value
        try:
            index = json.loads(value)
        except (ValueError, RecursionError):
            return value
    pairs: Iterable[Any] = index.items() if isinstance(index, Mapping) else index or []
    try:
        words = [(str(word), positions or []) for word, positions in pairs]
        if sum(len(positions) for _, positions in words) > LONGEST or sum(len(word) * len(at) for word, at in words) > 16 * LONGEST:
            return value
        words_at = [(position, word) for word, positions in words for position in positions]
        return " ".join(word for _, word in sorted(words_at))
    except (TypeError, ValueError):
        return value
