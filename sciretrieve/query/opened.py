"""What of an opened index is needed to say which papers are meant, and which may answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from ..matching.lexical import Analyzer, Bm25
from ..matching.scope import Scope
from ..storage.shards import Shard


class Opened(Protocol):
    """An opened index; each part is read when it is first asked for."""

    @property
    def shards(self) -> Sequence[Shard]:
        """Its shards, in order."""

    @property
    def scope(self) -> Scope:
        """Which rows' papers are not deleted."""

    @property
    def columns(self) -> pa.Schema:
        """The columns of these papers."""

    @property
    def analyzer(self) -> Analyzer:
        """How text becomes terms."""

    @property
    def bm25(self) -> Bm25 | None:
        """Its BM25 half, if it has one."""
