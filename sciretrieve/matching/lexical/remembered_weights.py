"""A cache of the weights of recently searched terms, in large blocks of memory.

Linux maps large blocks in huge pages, in which the processor finds addresses quickly. With an array for each term, a list of titles took a
tenth to a fifth longer (2026-11-27, an Intel Xeon).
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

REMEMBERED = 64_000_000
"""Postings that an open index caches, 8 bytes each, of the most recently searched terms. Most of a query's postings belong to common words,
which recur. A million papers have some 70 million postings."""
BLOCK = 4_000_000
"""Postings of a block. Memory that is not used is not taken."""

Weights = npt.NDArray[np.float32]
Places: TypeAlias = npt.NDArray[np.int32]
Key: TypeAlias = tuple[int, int]
"""The row of a shard's first paper, and a term's number there."""

LIST = np.dtype([("rows", np.int64), ("weights", np.int64), ("length", np.int64), ("most", np.float64)])
"""A list of postings for compiled code: the addresses of rows and weights, their number, and the greatest weight."""


class TermWeights(NamedTuple):
    """Rows of a shard's papers that have a term, its contributions to their scores, both (postings,), the greatest of these, and all as a
    `LIST`, which is valid as long as the arrays are kept."""

    rows: Places
    weights: Weights
    most: float
    packed: bytes

    @classmethod
    def of(cls, rows: Places, weights: Weights) -> TermWeights:
        """Weights of the papers at these rows."""
        most = float(weights.max(initial=0.0))
        return cls(rows, weights, most, struct.pack("=qqqd", rows.ctypes.data, weights.ctypes.data, len(rows), most))


class RememberedWeights:
    """Weights of recently searched terms, shared by all shards. Thread-safe.

    A full cache drops its oldest block, except the terms that were used since they were last spared: looking them up takes no lock.
    """

    def __init__(self) -> None:
        self._blocks: deque[_Block] = deque()
        self._weights: dict[Key, TermWeights] = {}
        self._used: set[Key] = set()
        self._lock = Lock()

    def known(self, first: int, number: int) -> TermWeights | None:
        """Cached weights of a term, or None; see `get`."""
        key = first, number
        if (remembered := self._weights.get(key)) is not None:
            self._used.add(key)
        return remembered

    def each(self, first: int, numbers: Sequence[int], compute: Callable[[int], tuple[Places, Weights]]) -> list[TermWeights]:
        """`get` for each number."""
        keys = [(first, number) for number in numbers]
        remembered = [weights for key in keys if (weights := self._weights.get(key)) is not None]
        if len(remembered) < len(keys):
            return [self.get(first, number, compute) for number in numbers]
        self._used.update(keys)
        return remembered

    def get(self, first: int, number: int, compute: Callable[[int], tuple[Places, Weights]]) -> TermWeights:
        """Weights of a term, by its number, in the shard that begins at row `first`; if not cached, from the computed rows and weights."""
        if (remembered := self.known(first, number)) is not None:
            return remembered
        (rows, weights), key = compute(number), (first, number)
        with self._lock:
            if key not in self._weights:
                self._place(key, rows, weights)
            return self._weights[key]

    def _place(self, key: Key, rows: Places, weights: Weights) -> None:
        while not self._blocks or self._blocks[-1].room < len(rows):
            self._blocks.append(_Block(max(BLOCK, len(rows))))
            while len(self._blocks) > 1 and sum(block.size for block in self._blocks) > REMEMBERED:
                self._spare_used(self._blocks.popleft())
        self._weights[key] = self._blocks[-1].take(key, rows, weights)

    def _spare_used(self, block: _Block) -> None:
        """Drop a block, and place its used terms in another. Searches that have its arrays keep them."""
        for key in block.keys:
            dropped = self._weights.pop(key)
            if key in self._used:
                self._used.discard(key)
                self._place(key, dropped.rows, dropped.weights)


class _Block:
    """Memory for so many postings."""

    def __init__(self, size: int) -> None:
        self.size, self.room = size, size
        self.keys: list[Key] = []
        self._rows, self._weights = np.empty(size, np.int32), np.empty(size, np.float32)

    def take(self, key: Key, rows: Places, weights: Weights) -> TermWeights:
        """A copy here, for which there must be room."""
        place = slice(self.size - self.room, self.size - self.room + len(rows))
        self.room -= len(rows)
        self.keys.append(key)
        self._rows[place], self._weights[place] = rows, weights
        return TermWeights.of(self._rows[place], self._weights[place])
