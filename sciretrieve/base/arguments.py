"""Checks the arguments of public functions against their declared types, before anything is done."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any, TypeVar, cast, get_type_hints

from .choices import Filter, Help, check_value, is_checkable, kinds_of, parted

Function = TypeVar("Function", bound=Callable[..., Any])


def checked(function: Function) -> Function:
    """The function, which refuses an argument of another type than it declares, with a line that says what is wanted.

    Types that say what an object must be able to do, such as encoders, are left to whoever uses the object.

    Raises:
        UnknownName: a text is not among the choices.
        InvalidRequest: a value has a wrong type.
    """
    code = cast(Any, function).__code__
    names = code.co_varnames[: code.co_argcount]

    @wraps(function)
    def checking(*args: Any, **named: Any) -> Any:
        declared = _declared(function)
        for name, value in (*zip(names, args, strict=False), *named.items()):
            if name in declared:
                check_value(name, value, *declared[name])
        return function(*args, **named)

    return cast(Function, checking)


class _Names(dict[str, Any]):
    """The names that a function's types may use. One that is only imported for type checkers allows everything."""

    def __missing__(self, name: str) -> Any:
        return object


@cache
def _declared(function: Callable[..., Any]) -> Mapping[str, tuple[Sequence[Any], Help | None]]:
    """The allowed types of each argument that can be checked, and its help."""
    names = _Names({**vars(builtins), **getattr(function, "__globals__", {})})
    declared = {}
    for name, hint in get_type_hints(function, localns=names, include_extras=True).items():
        plain, help = parted(hint)
        if all(map(is_checkable, kinds_of(plain))) and name != "return" and plain != Filter:  # `conditions` checks filters
            declared[name] = kinds_of(plain), help
    return declared
