"""The papers that a search by relevance answers with, as deep as it goes. They are asked for in pages, so the last ones are remembered."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from threading import Lock
from typing import TypeAlias

from ...answers.remembering import once_for_each
from ...base.errors import InvalidRequest
from ...base.types import Query, Rows
from ...query.index import Index
from ...runs import Ranking

REMEMBERED = 128
"""Rankings that are remembered of each index, of up to 40 kB each."""

Key: TypeAlias = tuple[str, int, bytes]


class Recent:
    """The rankings that were last asked for."""

    def __init__(self) -> None:
        self._rankings: OrderedDict[Key, Ranking] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Ranking | None:
        """A ranking, if it is remembered."""
        with self._lock:
            if key in self._rankings:
                self._rankings.move_to_end(key)
            return self._rankings.get(key)

    def put(self, key: Key, ranking: Ranking) -> None:
        """Remember a ranking."""
        with self._lock:
            self._rankings[key] = ranking
            if len(self._rankings) > REMEMBERED:
                self._rankings.popitem(last=False)


@once_for_each
def recent(index: Index) -> Recent:  # noqa: ARG001
    """What was last asked of an index."""
    return Recent()


def ranked(index: Index, query: str, among: Rows | None, depth: int) -> Ranking:
    """The best papers for a query, `depth` at most, among the given rows. Raises InvalidRequest for an empty query."""
    key = query, depth, b"" if among is None else blake2b(among.tobytes()).digest()
    known = recent(index).get(key)
    if known is not None:
        return known
    try:
        ranking = index.search(query, depth, among=among)[0]
    except InvalidRequest:  # what looks like an operator and is none: here it is only words
        ranking = index.search(Query("1", query), depth, among=among)[0]
    recent(index).put(key, ranking)
    return ranking
