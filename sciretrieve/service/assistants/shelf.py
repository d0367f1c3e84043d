"""The indexes of one call of a tool: finds papers by name, and names papers in answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...base.errors import Ambiguous, NotFound
from ...base.types import Hit, Rows
from ...query.index import Index
from .messages import reworded
from .results import Missing, cut

LONGEST_REASON = 500
"""The most characters of the reason for an unknown name."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """An index, or several as one.

    Attributes:
        index: the index to search.
        public: removes the paths of this machine from a message.
        prefix: the prefix of ids if there are several indexes, "acm:"; otherwise "".
    """

    index: Index
    public: Callable[[str], str]
    prefix: str = ""

    @property
    def state(self) -> str:
        """Identifies the current papers of the indexes."""
        return self.index.snapshot.checksum

    def own(self, names: Sequence[str]) -> list[str]:
        """Names of papers without the prefix of the index."""
        return [name.removeprefix(self.prefix) for name in names]

    def name(self, hit: Hit) -> str:
        """The name of a hit in answers: INDEX:ID if there are several indexes."""
        return self.prefix + hit.name

    def also(self, hit: Hit) -> list[str]:
        """The names of the other records of a hit's work."""
        return [self.prefix + name for name in hit.also_names]

    def names(self, rows: Rows) -> list[str]:
        """The names of the papers at some rows."""
        return [self.prefix + name for name in self.index.snapshot.whole_names(rows)]

    def named(self, names: Sequence[str]) -> tuple[Rows, list[Missing]]:
        """The rows of the papers with some names, each once, in order; and the names of no paper, or of several."""
        rows: dict[int, None] = {}
        missing: list[Missing] = []
        for name in dict.fromkeys(names):
            try:
                rows.setdefault(int(self.index.named_rows([name])[0]))
            except (NotFound, Ambiguous) as error:
                reason = reworded(self.public(str(error)))
                missing.append(Missing(name=cut(name, LONGEST_REASON), reason=cut(reason, LONGEST_REASON)))
        return np.array(list(rows), np.int64), missing
