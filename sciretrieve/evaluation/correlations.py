"""How alike tasks rank systems: Pearson's correlations of their figures over systems (Singh et al. 2023, SciRepEval, App. G)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..metrics.significance import Values
from .reports import Column, column_name
from .standings import Cell

ENOUGH = 5
"""A correlation over fewer systems says next to nothing."""


@dataclass(frozen=True)
class Correlations:
    """Of each two tasks' figures over the systems that have both.

    Attributes:
        names: the tasks' figures.
        pearson: (n, n), from -1 to 1; NaN where fewer than five systems have both, or all have the same figure.
    """

    names: Sequence[str]
    pearson: Values


def correlations(cells: Sequence[Cell]) -> Correlations | None:
    """Correlations of the benchmarks' main figures, and of each figure of a suite; None where no two have enough systems in common."""
    figures: dict[tuple[str, Column], dict[str, float]] = {}
    for cell in cells:
        columns = cell.main_columns()
        if cell.is_suite:  # its averages would be correlated with what they are averages of
            columns = [(task, measure) for task, row in cell.tasks.items() for measure in row["rounded"]]
        for column in columns:
            if (value := cell.value(column)) is not None:
                figures.setdefault((cell.benchmark, column), {})[cell.system] = value
    pearson = np.full((len(figures), len(figures)), np.nan)
    rows = list(figures.values())
    for place, row in enumerate(rows):
        for other_place, other in enumerate(rows[: place + 1]):
            systems = [system for system in row if system in other]
            a, b = (np.array([one[system] for system in systems]) for one in (row, other))
            if len(systems) >= ENOUGH and np.ptp(a) > 0 and np.ptp(b) > 0:
                pearson[place, other_place] = pearson[other_place, place] = np.corrcoef(a, b)[0, 1]
    known = ~np.isnan(pearson)
    if not known[~np.eye(len(rows), dtype=bool)].any():
        return None
    return Correlations([f"{benchmark} {column_name(column)}" for benchmark, column in figures], pearson)
