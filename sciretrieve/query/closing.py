"""Closed indexes: every use raises IndexClosed."""

from __future__ import annotations

from typing import Any, NoReturn

from ..base.errors import IndexClosed

KEPT = ("path", "close")
"""Attributes that a closed index keeps."""


_KINDS: dict[type[Any], type[Any]] = {}


def shut(index: Any) -> None:
    """Make an object a closed one, which holds nothing, so that files of it are released. Its class is swapped: open ones pay nothing."""
    kind = type(index)
    index.__class__ = _KINDS.setdefault(kind, kind if issubclass(kind, _Closed) else type(kind.__name__, (_Closed, kind), {}))
    values = vars(index)
    values.update(dict.fromkeys(values.keys() - {*KEPT}))


class _Closed:
    """Goes before an index class in the class of its closed objects."""

    def __getattribute__(self, name: str) -> Any:
        is_known = hasattr(type(self), name) or name in object.__getattribute__(self, "__dict__")
        if is_known and name not in KEPT and not name.startswith("__"):
            _refuse(self)
        return object.__getattribute__(self, name)

    def close(self) -> None:
        """Do nothing: the index is closed already."""

    def __repr__(self) -> str:
        return f"<closed {type(self).__name__} {object.__getattribute__(self, 'path')}>"


def _refuse(index: object, *_: object) -> NoReturn:
    raise IndexClosed(str(object.__getattribute__(index, "path")))


for sign in ("__len__", "__iter__", "__contains__", "__enter__"):  # Python looks these up in the class
    setattr(_Closed, sign, _refuse)
