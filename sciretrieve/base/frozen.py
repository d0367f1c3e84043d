"""Values as JSON has them that cannot be changed: they can be hashed, and still equal plain dicts and lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from .errors import InvalidRequest

SCALARS = frozenset({str, int, float, bool, type(None)})
"""The types of most values, which cannot be changed anyway."""


class _Frozen:
    """Goes before a dict or a list in the class of its frozen values. `dict(value)`, `list(value)` and `.copy()` give plain ones."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        kind = "dict" if isinstance(self, dict) else "list"
        raise TypeError(f"this {kind} belongs to a value that never changes; change a copy, as {kind}(value) gives it")

    __setitem__ = __delitem__ = __iadd__ = __imul__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = append = extend = insert = remove = reverse = sort = _refuse

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self


class FrozenDict(_Frozen, dict[str, Any]):
    """A dict that cannot be changed, made by `frozen`."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


class FrozenList(_Frozen, list[Any]):
    """A list that cannot be changed, made by `frozen`."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[Any]]]:
        return FrozenList, (list(self),)


def frozen(value: Any) -> Any:
    """A value whose mappings, lists, tuples and sets cannot be changed, at any depth; others, such as dates, as they are.

    Nothing is copied that is frozen already. Raises InvalidRequest for a value that contains itself, or nests a thousand deep.
    """
    try:
        return _frozen(value)
    except RecursionError as error:
        raise InvalidRequest("a value of a paper contains itself, or is nested too deeply; give a simpler one") from error


def _frozen(value: Any) -> Any:
    kind = type(value)
    if kind in SCALARS or kind is FrozenDict or kind is FrozenList:
        return value
    if isinstance(value, Mapping):
        return frozen_dict(dict(value))
    if isinstance(value, list):
        return FrozenList([item if type(item) in SCALARS else _frozen(item) for item in value])
    if kind is tuple:
        return tuple(map(_frozen, value))
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers, and pandas' columns
        return _frozen(value.tolist())
    return frozenset(value) if kind is set else bytes(value) if kind is bytearray else value


def frozen_dict(values: dict[str, Any]) -> FrozenDict:
    """`frozen` for a dict that nobody else has: its values are frozen in place, which most need not be."""
    for name, value in values.items():
        if type(value) not in SCALARS:
            values[name] = _frozen(value)
    return FrozenDict(values)
