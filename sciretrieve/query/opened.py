"""What of an opened index is needed to say which papers are meant, and which may answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from ..matching.lexical import Analyzer
from ..matching.search import Halves
from ..storage.shards import Shard


class Opened(Halves, Protocol):
    """An opened index; each part is read when it is first asked for."""

    @property
    def shards(self) -> Sequence[Shard]:
        """Its shards, in order."""

    @property
    def columns(self) -> pa.Schema:
        """The columns of the papers that are not deleted."""

    @property
    def analyzer(self) -> Analyzer:
        """How text becomes terms."""
