"""What is derived from all papers of an index, and takes a while: computed once for each snapshot, and kept as long as that."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TypeVar
from weakref import WeakKeyDictionary

from ..base.waiting import for_all
from ..query.index import Index

Value = TypeVar("Value")


def once_for_each(compute: Callable[[Index], Value]) -> Callable[[Index], Value]:
    """A function that computes a value once for each index, which must not keep that index in memory. Threads wait for each other."""
    values: WeakKeyDictionary[Index, Value] = WeakKeyDictionary()
    lock = RLock()

    def known(index: Index) -> Value:
        if (value := values.get(index)) is not None:
            return value
        with lock, for_all():
            if (value := values.get(index)) is None:
                value = values[index] = compute(index)
            return value

    known.__doc__ = compute.__doc__
    return known
