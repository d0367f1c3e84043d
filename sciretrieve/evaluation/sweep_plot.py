"""The plot of a `Sweep`: a line over the values of one setting, or a heat map over those of two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import InvalidRequest
from ..files.figures import COLOURS, draw
from .reports import Column
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


def _lines(sweep: Sweep) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.add_subplot()
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
        axes.plot([x for x, _ in pairs], [y for _, y in pairs], color=colour, marker="o", markersize=4, linewidth=1.5, label=_name(column))
        if pairs:
            best = max(pairs, key=lambda pair: pair[1])
            axes.plot(*best, color=colour, marker="o", markersize=10, fillstyle="none", markeredgewidth=1.5)
    if not are_numbers:
        axes.set_xticks(range(len(values)), [str(value) for value in values])
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(setting)
    axes.set_ylabel("per cent")
    axes.set_title(f"{sweep.name}, the best ringed", fontsize=10)
    axes.legend(frameon=False)
    return figure


def _heat_map(sweep: Sweep) -> Any:
    from matplotlib.figure import Figure

    down, across = sweep.settings
    rows, columns = sweep.values(down), sweep.values(across)
    column = sweep.columns[0]
    grid = [[float("nan")] * len(columns) for _ in rows]
    for point in sweep.points:
        value = point.cell.value(column)
        if value is not None:
            grid[rows.index(point.settings[down])][columns.index(point.settings[across])] = value
    figure = Figure(figsize=(2.2 + 0.8 * len(columns), 1.6 + 0.5 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
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
    axes.set_title(f"{_name(column)}, {sweep.name}", fontsize=10)
    return figure


def _name(column: Column) -> str:
    return " ".join(filter(None, column))
