"""The plot of a `Bench`: recall against time, a line for each type, the Pareto front marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..files.figures import COLOURS, draw
from .dense_types import Bench

MARKERS = "osD^vP*X"


def plot(bench: Bench, target: Path) -> None:
    """Draw what was measured into an .svg or .png file.

    Raises:
        as `sciretrieve.files.figures.check_plot`.
    """
    draw(lambda: _figure(bench), target)


def _figure(bench: Bench) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.add_subplot()
    front = bench.front
    axes.plot(
        [row.milliseconds for row in front],
        [row.recall for row in front],
        **{"color": "#999999", "linewidth": 7, "alpha": 0.35, "solid_capstyle": "round", "marker": "o", "markersize": 13},
        markeredgewidth=0,
        label="Pareto front",
        zorder=1,
    )
    for number, dense in enumerate(dict.fromkeys(row.dense for row in bench.rows)):
        rows = [row for row in bench.rows if row.dense == dense]
        axes.plot(
            [row.milliseconds for row in rows],
            [row.recall for row in rows],
            color=COLOURS[number % len(COLOURS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=5,
            linewidth=1.5,
            label=f"{dense}, {rows[0].bytes:,.0f} bytes a paper",
            zorder=2,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("milliseconds a query, one at a time")
    axes.set_ylabel(f"recall@{bench.k} against exact search")
    axes.set_title(f"{bench.measured:,} papers, {bench.queries} others as queries, {bench.dim} dimensions, {bench.metric}", fontsize=10)
    figure.legend(loc="outside right upper", frameon=False)
    return figure
