"""Published figures for reports: one TOML file per paper, table by table, as printed; `readmes.toml` has all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .tables import Row, Table, read_tables, rows_by_benchmark

__all__ = ["PUBLISHED", "TABLES", "Row", "Table", "rows"]

TABLES: Sequence[Table] = read_tables("scimult", "scirepeval", "scirepeval_2022", "multi2spe", "textual_neighbours", "readmes")
PUBLISHED: Mapping[str, Sequence[Row]] = rows_by_benchmark(TABLES)
"""The published rows of each benchmark."""


def rows(benchmark: str) -> Sequence[Row]:
    """The published rows of a benchmark, or of the study `robustness`, in the order of their source."""
    return PUBLISHED.get(benchmark, ())
