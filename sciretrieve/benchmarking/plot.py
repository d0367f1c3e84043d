"""The plot of a `Bench`: recall against time, a line for each type, the Pareto front marked. Drawn by matplotlib, without a display."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

from ..errors import InvalidRequest, MissingExtra
from ..files import write_whole
from .dense_types import Bench

FORMATS = (".svg", ".png")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""
MARKERS = "osD^vP*X"
SETTINGS = {"svg.hashsalt": "sciretrieve", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10.0}
"""Names in an SVG do not change from run to run, and its text is text."""


def check_plot(target: Path) -> None:
    """Find what would keep a plot from being drawn, before there is one.

    Raises:
        InvalidRequest: another suffix than .svg and .png, or a place that cannot be written to.
        MissingExtra: matplotlib is not installed.
    """
    if target.suffix not in FORMATS:
        raise InvalidRequest(f"cannot draw {target.name}: name a .svg or a .png file")
    try:
        if target.is_dir():
            raise InvalidRequest(f"cannot write to {target}: it is a directory; name a file")
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise InvalidRequest(f"cannot write {target.name} to {target.parent}: {error.strerror}") from error
    _load_matplotlib()


def plot(bench: Bench, target: Path) -> None:
    """Draw what was measured into an .svg or .png file: the same bytes for the same figures and version of matplotlib.

    Raises:
        as `check_plot`.
    """
    check_plot(target)
    matplotlib = _load_matplotlib()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        figure = _figure(bench)
        buffer = io.BytesIO()
        kind = target.suffix.removeprefix(".")
        figure.savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {"Software": None})
    write_whole(target, buffer.getvalue())


def _load_matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtra("matplotlib", "a plot", 'pip install "sciretrieve[plots]"') from error
    return matplotlib


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
