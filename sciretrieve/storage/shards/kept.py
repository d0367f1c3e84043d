"""Row groups of papers that were read last, so that the hits of one search after another are shown without reading them again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock

import pyarrow as pa

KEPT = 128 << 20
"""Most bytes of kept row groups of an index: those of some 100,000 papers with abstracts."""


class KeptGroups:
    """Row groups by key, of which those go first that were not used for longest. Thread-safe."""

    def __init__(self) -> None:
        self._tables: dict[Hashable, tuple[pa.Table, int]] = {}
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: Hashable, read: Callable[[], pa.Table]) -> pa.Table:
        """A row group, read if it is not kept."""
        with self._lock:
            if (kept := self._tables.pop(key, None)) is not None:
                self._tables[key] = kept  # the last one now
                return kept[0]
        table = read()
        with self._lock:
            if key not in self._tables:
                self._tables[key] = table, table.nbytes
                self._bytes += table.nbytes
            while self._bytes > KEPT:
                self._bytes -= self._tables.pop(next(iter(self._tables)))[1]
        return table
