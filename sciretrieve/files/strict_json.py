"""JSON without repeated keys. Python's own reader silently keeps the last value of a repeated key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


class RepeatedKey(ValueError):
    """An object contains a key twice; the message names the key and the object's place."""


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
        value, key = repeated[-1]  # the enclosing objects end later and repeat no key
        raise RepeatedKey(f"{' → '.join(map(repr, (*next(_ways(whole, value), ()), key)))} is there twice; keep one of them")
    return whole


def _ways(tree: Any, value: Any) -> Iterator[tuple[str | int, ...]]:
    """Paths of keys and positions from a value to a value within it."""
    if tree is value:
        yield ()
    for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from ((key, *way) for way in _ways(item, value))
