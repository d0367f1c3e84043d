"""Indexes as one call of a tool sees them: which papers names mean there, and what papers are called."""

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
"""Characters of why a name is none of a paper."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """An index, or several as one.

    Attributes:
        index: what is searched.
        public: a message without the paths of this machine.
        prefix: what stands before ids where the index is one of several: "acm:"; otherwise "".
    """

    index: Index
    public: Callable[[str], str]
    prefix: str = ""

    @property
    def state(self) -> str:
        """What identifies the papers that the indexes have now."""
        return self.index.snapshot.checksum

    def own(self, names: Sequence[str]) -> list[str]:
        """Names of papers as the index has them."""
        return [name.removeprefix(self.prefix) for name in names]

    def name(self, hit: Hit) -> str:
        """What a hit is called in answers: INDEX:ID where there are several indexes."""
        return self.prefix + hit.name

    def also(self, hit: Hit) -> list[str]:
        """The same of the other records of its work."""
        return [self.prefix + name for name in hit.also_names]

    def names(self, rows: Rows) -> list[str]:
        """The same of the papers at some rows."""
        return [self.prefix + name for name in self.index.snapshot.whole_names(rows)]

    def named(self, names: Sequence[str]) -> tuple[Rows, list[Missing]]:
        """The rows of the papers that some names mean, each once, in their order; and the names that mean none, or several."""
        rows: dict[int, None] = {}
        missing: list[Missing] = []
        for name in dict.fromkeys(names):
            try:
                rows.setdefault(int(self.index.named_rows([name])[0]))
            except (NotFound, Ambiguous) as error:
                reason = reworded(self.public(str(error)))
                missing.append(Missing(name=cut(name, LONGEST_REASON), reason=cut(reason, LONGEST_REASON)))
        return np.array(list(rows), np.int64), missing
