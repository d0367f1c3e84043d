"""Prepares the next item in another thread while the caller works on the current one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def make_ahead(items: Iterable[Item], make: Callable[[Item], Result]) -> Iterator[tuple[Item, Result]]:
    """Yield each item with the result of `make`, computed while the previous item was in use."""
    previous: tuple[Item, Future[Result]] | None = None
    with ThreadPoolExecutor(1) as pool:
        for item in items:
            future = pool.submit(make, item)
            if previous is not None:
                yield previous[0], previous[1].result()
            previous = item, future
        if previous is not None:
            yield previous[0], previous[1].result()
