"""Protocol of an opened index, as far as lookup and narrowing use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from ..matching.lexical import Analyzer
from ..matching.search import Halves
from ..storage.shards import Shard


class Opened(Halves, Protocol):
    """An opened index. Each part is read on first use."""

    @property
    def shards(self) -> Sequence[Shard]:
        """Shards, in order."""

    @property
    def columns(self) -> pa.Schema:
        """Columns of the undeleted papers."""

    @property
    def analyzer(self) -> Analyzer:
        """How text becomes terms."""
