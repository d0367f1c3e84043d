"""Rows are counted over all shards; here they are told apart by the shard that they are in, and shards by the machine that builds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from ..base.errors import InvalidRequest
from ..base.types import Rows
from ..base.waiting import raise_if_abandoned


class ShardRows(Protocol):
    """Anything that holds one shard's rows."""

    @property
    def first(self) -> int:
        """Its first row, counted over all shards."""

    @property
    def papers(self) -> int:
        """How many rows it has."""


AnyPart = TypeVar("AnyPart", bound=ShardRows)


def by_shard(rows: Rows, parts: Sequence[AnyPart]) -> Iterator[tuple[AnyPart, Rows, Rows]]:
    """For each part that has any of the rows: the shard, the positions of its rows in `rows`, and their numbers within the shard."""
    raise_if_abandoned()
    if len(parts) == 1:
        if len(rows):
            yield parts[0], np.arange(len(rows)), rows - parts[0].first
        return
    for part in parts:
        positions = np.flatnonzero((rows >= part.first) & (rows < part.first + part.papers))
        if len(positions):
            raise_if_abandoned()
            yield part, positions, rows[positions] - part.first


@dataclass(frozen=True, slots=True)
class Share:
    """The part of this number, counted from 1, of so many that a corpus is divided into: what one of several machines builds."""

    number: int = 1
    of: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise InvalidRequest(f"`part` wants I/N with I from 1 to N, such as 3/8, not {self}")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Share:
        """The share that a text like 3/8 means. Raises InvalidRequest."""
        number, _, of = text.partition("/")
        if not (number.isascii() and number.isdigit() and of.isascii() and of.isdigit()):
            raise InvalidRequest(f"`part` wants I/N with I from 1 to N, such as 3/8, not {text}")
        return cls(int(number), int(of))

    def places(self, ends: Sequence[int]) -> range:
        """The places of its shards, counted from 0, by where the shards of each part end."""
        return range(ends[self.number - 2] if self.number > 1 else 0, ends[self.number - 1])


ALL = Share()
"""All shards."""
MOST_UNEQUAL = 5 / 3
"""How many times the mean of all parts the largest may have before shards are divided, too."""


def divided(sizes: Sequence[int], of: int) -> tuple[list[int], list[int]]:
    """Shards that so many machines can build, each a range of them: how many papers each has, and where those of each part end.

    The shards are those of one machine, with so many papers each, as long as that gives parts of about one size; else they are also cut
    where even ranges of papers end.

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
