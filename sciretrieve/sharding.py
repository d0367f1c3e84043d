"""Rows are counted over all shards; here they are told apart by the shard that they are in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np

from .types import Rows


class Part(Protocol):
    """Anything that holds one shard's rows."""

    @property
    def first(self) -> int:
        """Its first row, counted over all shards."""

    @property
    def papers(self) -> int:
        """How many rows it has."""


AnyPart = TypeVar("AnyPart", bound=Part)


def by_shard(rows: Rows, parts: Sequence[AnyPart]) -> Iterator[tuple[AnyPart, Rows, Rows]]:
    """For each part that has any of the rows: it, the positions of its rows in `rows`, and these rows counted within it."""
    if len(parts) == 1:
        if len(rows):
            yield parts[0], np.arange(len(rows)), rows - parts[0].first
        return
    for part in parts:
        positions = np.flatnonzero((rows >= part.first) & (rows < part.first + part.papers))
        if len(positions):
            yield part, positions, rows[positions] - part.first
