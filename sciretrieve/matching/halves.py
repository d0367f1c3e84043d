"""What a search needs of an opened index: its two halves, and the full texts of its papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..base.types import Rows
from .dense import VectorShard
from .dense.scale import Scale
from .effort import Effort
from .full_texts import FullText
from .fusion import Fusion
from .late import TokenShard
from .lexical import Bm25
from .scope import Scope


class Halves(Protocol):
    """The parts of an opened index that searching needs. Each is read on first use."""

    @property
    def vectors(self) -> Sequence[VectorShard]:
        """Shards of the dense half; empty if there is none."""

    @property
    def bm25(self) -> Bm25 | None:
        """The BM25 half, if any."""

    @property
    def late(self) -> bool:
        """Whether there are token vectors."""

    @property
    def tokens(self) -> Sequence[TokenShard]:
        """Token vectors by shard; empty if there are none."""

    @property
    def scope(self) -> Scope:
        """The undeleted papers."""

    @property
    def scale(self) -> Scale | None:
        """The scale of dense scores; None if it is unknown."""

    @property
    def usual_effort(self) -> Effort:
        """Default search effort of an approximate dense half."""

    @property
    def fusion(self) -> Fusion:
        """Default fusion of the two halves."""

    @property
    def fulltext(self) -> FullText[Halves] | None:
        """The passages of the papers' full texts; None without any."""

    def ids(self, rows: Rows) -> list[str]:
        """Ids of the papers at the given rows, for breaking ties."""
