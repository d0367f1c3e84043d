"""JSON whose objects have every key once. Of two values of one key Python's own reader keeps the last, and says nothing of the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


class RepeatedKey(ValueError):
    """A key is in an object twice; the message says which, and where that object is."""


def parsed(text: str | bytes) -> Any:
    """The value of a JSON text. Raises RepeatedKey; ValueError and RecursionError as `json.loads`."""
    repeated: list[tuple[dict[str, Any], str]] = []

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            names = [name for name, _ in pairs]
            repeated.append((value, next(name for name in names if names.count(name) > 1)))
        return value

    whole = json.loads(text, object_pairs_hook=made)
    if repeated:
        value, key = repeated[-1]  # what it stands in ended later, and has every key once
        raise RepeatedKey(f"{' → '.join(map(repr, (*next(_ways(whole, value), ()), key)))} is there twice; keep one of them")
    return whole


def _ways(tree: Any, value: Any) -> Iterator[tuple[str | int, ...]]:
    """The keys and places that lead from a value to one within it."""
    if tree is value:
        yield ()
    for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from ((key, *way) for way in _ways(item, value))
