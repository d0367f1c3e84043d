"""Sweeps: one system of a matrix with several values of one or more settings, and their figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest
from ..base.wording import counted
from ..metrics.significance import FEWEST_TO_CHOOSE, LEVEL, held_out
from .reports import Column, aligned, column_name
from .standings import Cell, Marks, marks, shares

WARNING = (
    "the best was chosen on the queries that it is measured on, so its figure is too good; see “Choices that carry over” in "
    "docs/evaluation.md"
)


def combinations(table: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The combinations of the listed values in a row of a matrix.

    Returns:
        For each combination the whole row, and its values of listed settings. A row without lists is its only combination.

    Raises:
        InvalidRequest: an empty list, or lists in a system that is run in all modes.
    """
    lists = {name: list(dict.fromkeys(value)) for name, value in table.items() if isinstance(value, list)}
    if empty := next((name for name, values in lists.items() if not values), None):
        raise InvalidRequest(f"`{empty}` has no values; write at least one, or leave it out")
    if lists and table.get("mode") == "all":
        raise InvalidRequest(f"`{next(iter(lists))}` has several values, and so has `mode='all'`; name one mode, or a list of them")
    settings = [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    return [({**table, **one}, one) for one in settings]


def name_of(system: str, settings: Mapping[str, Any]) -> str:
    """The name of a combination, also of its folder: `hybrid-alpha=0.4-k1=0.9`."""
    texts = {name: re.sub(r"[^\w.+-]+", "-", str(value)) for name, value in settings.items()}
    return "-".join([system, *(f"{name}={text}" for name, text in texts.items())])


@dataclass(frozen=True)
class SweepPoint:
    """One combination: its values of the varied settings, and its result."""

    settings: Mapping[str, Any]
    cell: Cell


@dataclass(frozen=True)
class Sweep:
    """A system with several values of its settings on one benchmark.

    Attributes:
        benchmark, system: their names in the plan.
        points: the finished combinations, in the plan's order; at least one.
    """

    benchmark: str
    system: str
    points: Sequence[SweepPoint]

    @property
    def name(self) -> str:
        """The name for titles."""
        return f"{self.system} on {self.benchmark}"

    @property
    def settings(self) -> list[str]:
        """The varied settings."""
        return list(self.points[0].settings)

    @property
    def columns(self) -> list[Column]:
        """The figures to show."""
        return list(dict.fromkeys(column for point in self.points for column in point.cell.main_columns()))

    def values(self, setting: str) -> list[Any]:
        """The values of a setting, in the plan's order."""
        return list(dict.fromkeys(point.settings[setting] for point in self.points))

    def chosen_elsewhere(self, column: Column) -> float | None:
        """The figure of a choice by four fifths of the queries on the last fifth, in per cent, over all fifths. None if it is unknown: for
        a figure that is not a mean over queries, too few queries, or combinations that answer different ones.
        """
        of_points = [shares(point.cell, column) for point in self.points]
        known = [one for one in of_points if one is not None]
        if len(known) < len(of_points) or any(one.keys() != known[0].keys() for one in known) or column[1].startswith("hole"):
            return None
        values = np.array([[one[query] for query in known[0]] for one in known])
        return 100 * float(held_out(values).sum()) if len(known[0]) >= FEWEST_TO_CHOOSE else None

    def lines(self) -> list[str]:
        """The sweep in words: a line for each combination, the best of each figure marked, and the figure of a choice on other queries."""
        column_marks: dict[Column, Marks] = {column: marks([point.cell for point in self.points], column) for column in self.columns}
        table = [[*self.settings, *map(column_name, self.columns), ""]]
        for point in self.points:
            figures = [self._figure(point.cell, column, column_marks[column]) for column in self.columns]
            table.append([*map(str, point.settings.values()), *figures, ""])
        out = [f"{self.name}: {counted(len(self.points), 'combination')}", "", *aligned(table), ""]
        if len(self.points) < 2:
            return out[:-1]
        untested = dict.fromkeys(reason for one in column_marks.values() for reason in one.untested.values())
        out.append(f"* is the best, † significantly below it: p < {LEVEL:g} in a paired randomisation test, corrected by Holm's method")
        out += [f"not tested: {reason}" for reason in untested]
        return [*out, *(self._choice_line(column) for column in self.columns[:1]), WARNING]

    def _figure(self, cell: Cell, column: Column, column_marks: Marks) -> str:
        value = cell.value(column)
        return "" if value is None else f"{value:.2f}{column_marks.sign(cell.system)}"

    def _choice_line(self, column: Column) -> str:
        value, name = self.chosen_elsewhere(column), column_name(column)
        if value is None:
            return f"what the choice by {name} is worth on other queries cannot be told from these"
        return f"chosen by four fifths of the queries, the setting gives {name} {value:.2f} on the last fifth, over all fifths"

    def to_dict(self) -> dict[str, Any]:
        """The sweep as plain values; figures from 0 to 1."""
        worth = {column_name(column): self.chosen_elsewhere(column) for column in self.columns}
        return {
            "benchmark": self.benchmark,
            "system": self.system,
            "points": [
                {
                    "settings": dict(point.settings),
                    "measures": {column_name(one): value / 100 for one in self.columns if (value := point.cell.value(one)) is not None},
                }
                for point in self.points
            ],
            "chosen_on_other_queries": {name: None if value is None else value / 100 for name, value in worth.items()},
        }
