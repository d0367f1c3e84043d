"""The indexes of a service: opened once, updated when others change them, and searched one at a time or all as one."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TypeAlias, TypeVar
from weakref import ref

from ..answers.authors import authors_of
from ..answers.suggesting import titles_of
from ..base.errors import CorruptData, InvalidRequest, SciretrieveError, UnknownName
from ..config import cache_directory
from ..query.index import Index
from ..query.opening import open_index, open_many
from ..query.ranking.linking import GRAPHED

LOG = logging.getLogger(__name__)
Value = TypeVar("Value")
Seen: TypeAlias = tuple[str, int, int, int]
"""A file's path, inode, size and modification time."""


class Library:
    """The indexes of a service.

    Attributes:
        names: their names, in the given order.
        is_ready: whether each has answered once, so that nothing must be opened for the next answer, and none is damaged.
        is_doubted: whether one is known to be damaged.
    """

    def __init__(self, paths: Sequence[Path], *, encoder: str | None = None) -> None:
        """Open the indexes at `paths`. Raises as `open_index` and `open_many`."""
        self._all = open_index(paths[0], encoder=encoder) if len(paths) == 1 else open_many(paths, encoder=encoder)
        self._turn = Lock()
        self._earlier: list[ref[Index]] = []
        self.names = self._all.names
        self.is_ready, self.is_doubted = False, False
        self._paths, self._damaged = tuple(paths), list[Seen]()
        places = {place for path in paths for place in (path, path.resolve())} | {cache_directory(), Path.cwd(), Path.home()}
        self._places = sorted((str(place) for place in places if len(place.parts) > 1), key=len, reverse=True)

    def index(self, name: str | None = None) -> Index:
        """The current index of that name; without a name, all of them as one. Raises UnknownName.

        The index does not change: a caller may go on with it after the library has a newer one.
        """
        index = self._all
        if name is None or (len(self.names) == 1 and name == self.names[0]):
            return index
        if name not in self.names:
            raise UnknownName("index", name, self.names)
        return index.members[self.names.index(name)]

    def follow(self) -> bool:
        """Take up the latest commits once they can answer; returns whether there were any.

        An index that cannot be opened now, such as one that is being moved, stays until the next look. Damaged files are opened again once
        they are restored or replaced.
        """
        with self._turn:
            with suppress(CorruptData):
                self.sound(lambda: None)
            try:
                index = self._mended() if self.is_doubted else self._all.refreshed()
                is_new = index is not self._all
                if is_new:
                    _warm(index)
                    self._earlier.append(ref(self._all))
                    self._all = index
                    self.is_ready, self.is_doubted = self.is_ready or self.is_doubted, False
            except (SciretrieveError, OSError) as error:
                LOG.warning("the indexes stay as they are: %s", error)
                is_new = False
            self._let_go()
            return is_new

    def _let_go(self) -> None:
        """Free unused snapshots and their files: their parts refer to each other, so only the garbage collector finds them."""
        if self._earlier:
            gc.collect()
            self._earlier = [earlier for earlier in self._earlier if earlier() is not None]

    def sound(self, work: Callable[[], Value]) -> Value:
        """The result of some work, unless an open file was truncated or overwritten. After that, or after an error of damage, the service
        is not ready. Raises CorruptData, and the errors of the work.
        """
        try:
            self._all.snapshot.check_files()
            return work()
        except CorruptData as error:
            self.doubt(error)
            raise

    def doubt(self, error: CorruptData) -> None:
        """Record that an index is damaged: the service is not ready until its files are restored."""
        if not self.is_doubted:
            LOG.error("the service is not ready: %s", error)
        self.is_ready, self.is_doubted = False, True

    def _mended(self) -> Index:
        """The indexes opened again, with all their files checked; unchanged if no file has changed since the last attempt.

        Raises as `open_index`.
        """
        seen = [_file_state(path) for folder in self._paths for path in sorted(folder.rglob("*")) if path.is_file()]
        if seen == self._damaged:
            return self._all
        self._damaged = seen
        index = self._all.reopened()
        try:
            for snapshot in (index.snapshot, index.snapshot.passages):
                for shard in snapshot.shards if snapshot is not None else ():
                    for name in shard.facts.files:
                        shard.file(name)
        except BaseException:
            index.close()
            raise
        return index

    def warm(self) -> None:
        """Have every index answer once. If one cannot, the log has the reason."""
        if self.is_doubted:
            return
        try:
            _warm(self.index())
            self.is_ready = True
        except CorruptData as error:
            self.doubt(error)
        except (SciretrieveError, OSError) as error:
            LOG.error("the service is not ready: %s", error)

    def public(self, text: str) -> str:
        """A message without private paths: names of indexes replace them."""
        for place in self._places:
            text = text.replace(place, Path(place).name)
        return text

    def close(self) -> None:
        """Close the indexes."""
        self._all.close()


def _file_state(path: Path) -> Seen:
    status = path.stat()
    return str(path), status.st_ino, status.st_size, status.st_mtime_ns


def _warm(index: Index) -> None:
    """Open everything that answers of an index need. Raises CorruptData, NotFound."""
    snapshots = [each for each in (index.snapshot, index.snapshot.passages) if each is not None]
    for snapshot in snapshots:
        snapshot.papers_at(snapshot.scope.places[:1])
    if len(index) <= GRAPHED:  # for larger indexes these take much time and memory, so the first request makes them
        titles_of(index), authors_of(index)
        if index.snapshot.has_references:
            index.snapshot.citations  # noqa: B018
    for shard in (shard for snapshot in snapshots if snapshot.bm25 is not None for shard in snapshot.bm25.shards):
        shard.postings.lengths  # noqa: B018 - otherwise a search opens these for shards with its words
    for each in dict.fromkeys((index, *index.members)):
        try:
            each.search("warm up", 1)
        except InvalidRequest as error:  # requests report what the index lacks
            LOG.warning("%s", error)
