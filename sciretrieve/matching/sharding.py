"""Mapping rows, which are counted over all shards, to shards; and dividing shards among machines that build them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from ..base.errors import InvalidRequest
from ..base.types import Rows
from ..base.waiting import raise_if_abandoned


class ShardRows(Protocol):
    """Any object that holds one shard's rows."""

    @property
    def first(self) -> int:
        """First row, counted over all shards."""

    @property
    def papers(self) -> int:
        """Number of rows."""


AnyPart = TypeVar("AnyPart", bound=ShardRows)


def by_shard(rows: Rows, parts: Sequence[AnyPart]) -> Iterator[tuple[AnyPart, Rows, Rows]]:
    """For each part that contains any of the rows: the part, the positions of its rows in `rows`, and their numbers within the shard. The
    parts are in the order of their rows."""
    raise_if_abandoned()
    if len(parts) == 1:
        if len(rows):
            yield parts[0], np.arange(len(rows)), rows - parts[0].first
        return
    part_of = np.searchsorted(np.array([part.first for part in parts]), rows, side="right") - 1
    for number in np.unique(part_of[part_of >= 0]).tolist():
        raise_if_abandoned()
        part = parts[number]
        positions = np.flatnonzero((part_of == number) & (rows < part.first + part.papers))
        if len(positions):
            yield part, positions, rows[positions] - part.first


@dataclass(frozen=True, slots=True)
class Share:
    """Part `number`, counted from 1, of the `of` parts into which a corpus is divided. One machine builds one part."""

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise InvalidRequest(f"`part` wants I/N with I from 1 to N, such as 3/8, not {self}")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Share:
        """Parse a share such as 3/8. Raises InvalidRequest."""
        number, _, of = text.partition("/")
        if not (number.isascii() and number.isdigit() and of.isascii() and of.isdigit()):
            raise InvalidRequest(f"`part` wants I/N with I from 1 to N, such as 3/8, not {text}")
        return cls(int(number), int(of))

    def places(self, ends: Sequence[int]) -> range:
        """Positions of its shards, counted from 0, given where each part's shards end."""
        return range(ends[self.number - 2] if self.number > 1 else 0, ends[self.number - 1])


ALL = Share()
"""All shards."""
MOST_UNEQUAL = 5 / 3
"""Largest part, in multiples of the mean, before shards are divided, too."""


def divided(sizes: Sequence[int], of: int) -> tuple[list[int], list[int]]:
    """Divide shards among this many machines, each getting a range. Returns each shard's number of papers, and where each part's shards
    end.

    The shards are those that one machine would build, as long as this gives parts of similar size; else they are also cut at even ranges of
    papers.

    Raises:
        InvalidRequest: there are fewer papers than parts.
    """
    papers = sum(sizes)
    if papers < of:
        raise InvalidRequest(f"{papers:,} papers are too few for {of:,} parts, of which some would be empty; make {papers:,} parts at most")
    ends = [-(-len(sizes) * number // of) for number in range(1, of + 1)]
    bounds = np.cumsum([0, *sizes])
    parts = np.diff(bounds[[0, *ends]])
    if parts.min() > 0 and parts.max() * of <= MOST_UNEQUAL * papers:
        return list(sizes), ends
    edges = [papers * number // of for number in range(1, of + 1)]
    bounds = np.union1d(bounds, edges)
    return np.diff(bounds).tolist(), np.searchsorted(bounds, edges).tolist()
