"""Lazy properties, computed once per instance, also across threads."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar, overload

from .waiting import for_all

Owner = TypeVar("Owner")
Value = TypeVar("Value")


class once(Generic[Owner, Value]):  # noqa: N801 - used as a decorator, like `property`
    """A lazy property: the first access computes the value, later ones read it.

    `functools.cached_property` has no lock from Python 3.12 on, and before that one lock for all instances of a class. Here each value has
    its own lock, so threads only wait for each other when they ask for the same value. An exception is passed on, and the next access tries
    again. Instances need a `__dict__`.
    """

    def __init__(self, compute: Callable[[Owner], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._lock = name, f"_lock_of_{name}"

    @overload
    def __get__(self, instance: None, owner: type) -> once[Owner, Value]: ...
    @overload
    def __get__(self, instance: Owner, owner: type) -> Value: ...
    def __get__(self, instance: Owner | None, owner: type) -> once[Owner, Value] | Value:
        if instance is None:
            return self
        values: dict[str, Any] = vars(instance)
        # `setdefault` is atomic
        lock = values.setdefault(self._lock, RLock())
        with lock:
            if self._name not in values:
                # the instance's attribute then hides this descriptor, so reading takes no lock
                values[self._name] = for_all(self._compute, instance)
        value: Value = values[self._name]
        return value
