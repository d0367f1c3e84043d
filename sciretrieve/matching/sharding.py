"""Rows are counted over all shards; here they are told apart by the shard that they are in, and shards by the machine that builds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from ..errors import InvalidRequest
from ..types import Rows
from ..waiting import check


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
    """For each part that has any of the rows: the shard, the positions of its rows in `rows`, and their numbers within the shard."""
    check()
    if len(parts) == 1:
        if len(rows):
            yield parts[0], np.arange(len(rows)), rows - parts[0].first
        return
    for part in parts:
        positions = np.flatnonzero((rows >= part.first) & (rows < part.first + part.papers))
        if len(positions):
            check()
            yield part, positions, rows[positions] - part.first


@dataclass(frozen=True, slots=True)
class Share:
    """Every `of`-th shard of a corpus, from the one of this number, counted from 1: what one of several machines builds."""

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

    def has(self, place: int) -> bool:
        """Whether the shard at this place, counted from 0, is one of its."""
        return place % self.of == self.number - 1


ALL = Share()
"""All shards."""
