"""Who cites whom, by rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.types import Rows


@dataclass(frozen=True)
class Graph:
    """Citations between `size` papers, each pair once, no paper citing itself.

    Attributes:
        size: the number of papers.
        cited: the cited rows, by citing row; those of row r are `cited[cited_ends[r]:cited_ends[r + 1]]`, rising.
        cited_ends: (size + 1,).
        citing: the citing rows, by cited row, in the same form.
        citing_ends: (size + 1,).
    """

    size: int
    cited: Rows
    cited_ends: Rows
    citing: Rows
    citing_ends: Rows

    @classmethod
    def of(cls, size: int, pairs: Rows) -> Graph:
        """The graph of `pairs` of citing and cited rows, (n, 2), which may repeat."""
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        keys = distinct(pairs[:, 0] * size + pairs[:, 1])
        reverse_keys = np.sort((keys % size) * size + keys // size) if size else keys
        ends = np.arange(size + 1) * size
        return cls(size, keys % max(size, 1), np.searchsorted(keys, ends), reverse_keys % max(size, 1), np.searchsorted(reverse_keys, ends))

    def __len__(self) -> int:
        return len(self.cited)

    def cites(self, row: int) -> Rows:
        """The papers that a paper cites, rising."""
        return self.cited[self.cited_ends[row] : self.cited_ends[row + 1]]

    def cited_by(self, row: int) -> Rows:
        """The papers that cite a paper, rising."""
        return self.citing[self.citing_ends[row] : self.citing_ends[row + 1]]

    def neighbours(self, row: int) -> Rows:
        """The papers that a paper cites or that cite it, rising."""
        rows: Rows = np.union1d(self.cites(row), self.cited_by(row))
        return rows

    @property
    def cites_counts(self) -> Rows:
        """How many papers each paper cites, (size,)."""
        return np.diff(self.cited_ends)

    @property
    def cited_counts(self) -> Rows:
        """How many papers cite each paper, (size,)."""
        return np.diff(self.citing_ends)

    def cocited(self, row: int, least: int) -> Rows:
        """The papers that at least `least` papers cite together with this one, rising."""
        citing = self.cited_by(row)
        if len(citing) < least:
            return np.empty(0, np.int64)
        others, counts = _counted([self.cites(other) for other in citing.tolist()])
        cocited_rows: Rows = others[(counts >= least) & (others != row)]
        return cocited_rows

    def two_steps(self, row: int) -> Rows:
        """The papers two citations away, in any direction, and no nearer: those with most ways first, then by row."""
        near = self.neighbours(row)
        if not len(near):
            return near
        others, counts = _counted([self.neighbours(other) for other in near.tolist()])
        is_far = (others != row) & ~np.isin(others, near, assume_unique=True)
        far: Rows = others[is_far][np.lexsort((others[is_far], -counts[is_far]))]
        return far


def distinct(keys: Rows) -> Rows:
    """The different numbers, rising: as `np.unique`, whose hash table takes ten times as long for millions."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _counted(lists: list[Rows]) -> tuple[Rows, Rows]:
    """The rows that lists name, rising, and in how many of them each is."""
    rows, counts = np.unique(np.concatenate(lists), return_counts=True)
    return rows, counts
