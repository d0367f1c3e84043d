"""Plots of evaluations: sweeps, and what a page of them shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest
from ..files.figures import COLOURS, draw
from .reports import column_name
from .standings import Correlations
from .sweeps import Sweep

PLOTTED = 2
"""Settings that a plot can show at the most."""


def plot(sweep: Sweep, target: Path) -> None:
    """Draw a sweep's figures, or the first of them over two settings, into an .svg or .png file.

    Raises:
        InvalidRequest: more than two settings vary, or as `sciretrieve.files.figures.check_plot`.
        MissingExtra: matplotlib is not installed.
    """
    if len(sweep.settings) > PLOTTED:
        raise InvalidRequest(f"a plot shows {PLOTTED} settings at the most, and {sweep.name} has {len(sweep.settings)}")
    draw(lambda: _lines(sweep) if len(sweep.settings) == 1 else _heat_map(sweep), target)


def curves(title: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> Any:
    """Values in per cent over a logarithmic axis, a line a system."""
    figure, axes = _figure(7, 4.2, title)
    for number, points in enumerate(lines.values()):
        axes.plot(*zip(*points, strict=True), color=COLOURS[number % len(COLOURS)], marker="o", markersize=3)
    axes.set_xscale("log")
    axes.set_ylim(0, 100)
    axes.legend(axes.lines, list(lines), frameon=False)  # a label that begins with _ would be left out
    return figure


def correlation_map(correlated: Correlations) -> Any:
    """A square for each two tasks: red for a correlation of 1, white for 0, blue for -1."""
    count = len(correlated.names)
    figure, axes = _figure(2.5 + 0.5 * count, 1 + 0.45 * count, "")
    axes.grid(visible=False)
    axes.imshow(correlated.pearson, cmap="bwr", vmin=-1.8, vmax=1.8, aspect="auto")
    for (row, column), value in np.ndenumerate(correlated.pearson):
        if not np.isnan(value):
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=9)
    axes.set_xticks(range(count), [str(place + 1) for place in range(count)])
    axes.set_yticks(range(count), [f"{place + 1} {name}" for place, name in enumerate(correlated.names)])
    return figure


def _figure(width: float, height: float, title: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(title, fontsize=10)
    return figure, axes


def _lines(sweep: Sweep) -> Any:
    figure, axes = _figure(7, 4.2, f"{sweep.name}, the best ringed")
    (setting,) = sweep.settings
    values = sweep.values(setting)
    are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    places = {value: value if are_numbers else place for place, value in enumerate(values)}
    for number, column in enumerate(sweep.columns):
        pairs = [
            (places[point.settings[setting]], figure_of) for point in sweep.points if (figure_of := point.cell.value(column)) is not None
        ]
        pairs.sort()
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(
            [x for x, _ in pairs], [y for _, y in pairs], color=colour, marker="o", markersize=4, linewidth=1.5, label=column_name(column)
        )
        if pairs:
            best = max(pairs, key=lambda pair: pair[1])
            axes.plot(*best, color=colour, marker="o", markersize=10, fillstyle="none", markeredgewidth=1.5)
    if not are_numbers:
        axes.set_xticks(range(len(values)), [str(value) for value in values])
    axes.set_xlabel(setting)
    axes.set_ylabel("per cent")
    axes.legend(frameon=False)
    return figure


def _heat_map(sweep: Sweep) -> Any:
    down, across = sweep.settings
    rows, columns = sweep.values(down), sweep.values(across)
    column = sweep.columns[0]
    grid = [[float("nan")] * len(columns) for _ in rows]
    for point in sweep.points:
        value = point.cell.value(column)
        if value is not None:
            grid[rows.index(point.settings[down])][columns.index(point.settings[across])] = value
    figure, axes = _figure(2.2 + 0.8 * len(columns), 1.6 + 0.5 * len(rows), f"{column_name(column)}, {sweep.name}")
    axes.grid(visible=False)
    axes.imshow(grid, cmap="Blues", aspect="auto")
    known = [value for line in grid for value in line if value == value]
    middle = (min(known) + max(known)) / 2 if known else 0.0
    for y, line in enumerate(grid):
        for x, value in enumerate(line):
            if value == value:
                weight = "bold" if value == max(known) else "normal"
                axes.text(x, y, f"{value:.2f}", ha="center", va="center", fontweight=weight, color="white" if value > middle else "black")
    axes.set_xticks(range(len(columns)), [str(value) for value in columns])
    axes.set_yticks(range(len(rows)), [str(value) for value in rows])
    axes.set_xlabel(across)
    axes.set_ylabel(down)
    return figure
