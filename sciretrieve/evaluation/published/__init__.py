"""Published figures, shown in reports beside ours: one module a paper, table by table, as printed; `readmes` has all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import multi2spe, readmes, scimult, scirepeval, scirepeval_2022, textual_neighbours
from .tables import Row, Table, rows_by_benchmark

__all__ = ["PUBLISHED", "TABLES", "Row", "Table", "rows"]

TABLES: Sequence[Table] = (
    *scimult.TABLES,
    *scirepeval.TABLES,
    *scirepeval_2022.TABLES,
    *multi2spe.TABLES,
    *textual_neighbours.TABLES,
    *readmes.TABLES,
)
PUBLISHED: Mapping[str, Sequence[Row]] = rows_by_benchmark(TABLES)
"""Benchmark -> its rows."""


def rows(benchmark: str) -> Sequence[Row]:
    """The published rows of a benchmark, or of the study `robustness`, in the order of their source."""
    return PUBLISHED.get(benchmark, ())
