"""The ids of an index's papers: as the keys of a mapping, and as a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, overload

from ..base.types import Rows
from .snapshot import Snapshot

READ_AT_ONCE = 4096
"""Papers, or ids, read at a time when all are read."""


class Ids(Set[str]):
    """The ids of the undeleted papers in row order, INDEX:ID for several indexes: a set of them that is read while iterating."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __len__(self) -> int:
        return len(self._snapshot)

    def __contains__(self, id: object) -> bool:
        return id in self._snapshot

    def __iter__(self) -> Iterator[str]:
        rows = self._snapshot.scope.places
        for first in range(0, len(rows), READ_AT_ONCE):
            yield from self._snapshot.whole_names(rows[first : first + READ_AT_ONCE])

    def __repr__(self) -> str:
        return f"<Ids of {self._snapshot!r}>"

    @classmethod
    def _from_iterable(cls, ids: Iterable[str]) -> set[str]:  # type: ignore[override]  # what `keys() & others` gives
        return set(ids)


class IdsAt(Sequence[str]):
    """The ids at some rows, each read when it is looked at, since there may be millions. Pickled and copied they are a list."""

    def __init__(self, snapshot: Snapshot, rows: Rows) -> None:
        self._snapshot, self._rows = snapshot, rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self._snapshot.ids(self._rows[place]) if isinstance(place, slice) else self._snapshot.ids(self._rows[[place]])[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])

    def __eq__(self, other: object) -> bool:
        return list(self) == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))

    def __reduce__(self) -> tuple[type[list[str]], tuple[Any, ...]]:
        return list, (list(self),)
