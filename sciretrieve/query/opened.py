"""Protocol of an opened index, as far as lookup and narrowing use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from ..matching.full_texts import FullText
from ..matching.halves import Halves
from ..matching.lexical import Analyzer
from ..storage.shards import Shard


class Opened(Halves, Protocol):
    """An opened index. Each part is read on first use."""

    @property
    def shards(self) -> Sequence[Shard]:
        """Shards, in order."""

    @property
    def fulltext(self) -> FullText[Opened] | None:
        """The passages of the papers' full texts; None without any."""

    @property
    def columns(self) -> pa.Schema:
        """Columns of the undeleted papers."""

    @property
    def analyzer(self) -> Analyzer:
        """How text becomes terms."""
