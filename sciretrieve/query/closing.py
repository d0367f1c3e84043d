"""What an index is once it is closed: every use of it is an error that says so."""

from __future__ import annotations

from typing import Any, NoReturn

from ..base.errors import IndexClosed

KEPT = ("path", "close")
"""What a closed index still has."""


_KINDS: dict[type[Any], type[Any]] = {}


def closed(kind: type[Any]) -> type[Any]:
    """The class of closed objects of a class. What is open has none of this, so it costs nothing there."""
    return _KINDS.setdefault(kind, type(kind.__name__, (_Closed, kind), {}))


class _Closed:
    """Stands before a class of indexes whose objects are closed."""

    def __getattribute__(self, name: str) -> Any:
        is_known = hasattr(type(self), name) or name in object.__getattribute__(self, "__dict__")
        if is_known and name not in KEPT and not name.startswith("__"):
            _refuse(self)
        return object.__getattribute__(self, name)

    def close(self) -> None:
        """Do nothing: it is closed."""

    def __repr__(self) -> str:
        return f"<closed {type(self).__name__} {object.__getattribute__(self, 'path')}>"


def _refuse(index: object, *_: object) -> NoReturn:
    raise IndexClosed(str(object.__getattribute__(index, "path")))


for sign in ("__len__", "__iter__", "__contains__", "__enter__"):  # which Python looks up in the class
    setattr(_Closed, sign, _refuse)
