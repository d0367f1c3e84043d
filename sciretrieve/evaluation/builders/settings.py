"""What can be chosen of a benchmark that is made from citations, with its defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...errors import InvalidRequest

QUERIES, QUERIES_IN_FIELD = 1000, 200
"""How many papers are queries by default: as in SciDocs' tasks, and, in each field, as in MDCR's."""


@dataclass(frozen=True, slots=True)
class CiteSettings:
    """How a benchmark is made from citations.

    Attributes:
        references: the corpus's column with the ids that a paper cites; by default recognised by name.
        citations: a table of citing and cited ids, in place of a column.
        field: the corpus's column with each paper's field; by default recognised by name, and one field if there is none.
        queries: how many papers are queries, in each field if there are several; None for 1,000, or 200 in each field.
        cited: how many papers of the corpus a query cites at least.
        cocited: how many papers cite two papers together at least, for these to count as co-cited.
        indexes: indexes of the corpus, whose encoders choose hard negatives.
        seed: what is drawn by chance depends on this alone.

    Raises:
        InvalidRequest: a number is too small, or citations are named twice.
    """

    references: str | None = None
    citations: Path | None = None
    field: str | None = None
    queries: int | None = None
    cited: int = 5
    cocited: int = 10
    indexes: tuple[Path, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("queries", "cited", "cocited"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidRequest(f"`{name}` must be at least 1, not {value}")
        if self.references is not None and self.citations is not None:
            raise InvalidRequest("citations come from one place: a column (`references`) or a file (`citations`), not both")

    def query_count(self, has_fields: bool) -> int:
        """How many papers are queries, of the corpus or of each field."""
        return self.queries or (QUERIES_IN_FIELD if has_fields else QUERIES)
