"""Doing the next piece's first half in another thread while the caller works on this one's second."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def make_ahead(items: Iterable[Item], make: Callable[[Item], Result]) -> Iterator[tuple[Item, Result]]:
    """Yield each item with what `make` gives for it, made while the item before it was in use."""
    waiting: tuple[Item, Future[Result]] | None = None
    with ThreadPoolExecutor(1) as pool:
        for item in items:
            started = pool.submit(make, item)
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = item, started
        if waiting is not None:
            yield waiting[0], waiting[1].result()
