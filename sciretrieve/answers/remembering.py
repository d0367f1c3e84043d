"""A cache for values derived from all papers of an index: computed once per snapshot, and dropped with it."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TypeVar
from weakref import WeakKeyDictionary

from ..base.waiting import for_all
from ..query.index import Index

Value = TypeVar("Value")


def once_for_each(compute: Callable[[Index], Value]) -> Callable[[Index], Value]:
    """Cache a function of an index. The value must not keep the index in memory. Threads wait for each other."""
    values: WeakKeyDictionary[Index, Value] = WeakKeyDictionary()
    lock = RLock()

    def known(index: Index) -> Value:
        if (value := values.get(index)) is not None:
            return value
        with lock:
            if (value := values.get(index)) is None:
                value = values[index] = for_all(compute, index)
            return value

    known.__doc__ = compute.__doc__
    return known
