"""One HTML page for a matrix of evaluations, with tables and embedded plots, without scripts and network; and plots of sweeps."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from ..base.errors import InvalidRequest, MissingExtra
from ..files.figures import COLOURS, draw, drawn
from .reports import column_name
from .standings import Cell, Correlations, Standings
from .sweeps import Sweep

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .2rem .7rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr.best td { font-weight: 600; } thead th { border-bottom: 1px solid #888; }
small, .source { color: #666; }
.wide, pre { overflow-x: auto; }
pre { font-size: 13px; line-height: 1.4; } th.group { text-align: center; border-bottom: 1px solid #ccc; } sup { line-height: 0; }
img { max-width: 100%; margin: .5rem 1rem .5rem 0; }
"""

PLOTTED = 2
"""The most settings in a plot."""


def page(
    cells: Sequence[Cell],
    standings: Standings,
    correlated: Correlations | None,
    failures: Sequence[str],
    sweeps: Sequence[Sweep] = (),
    plots: Mapping[str, str] = {},
) -> str:
    """The whole page: all systems on all benchmarks, sweeps, correlations of tasks, then each benchmark with its published rows.

    `plots` has the path of each sweep's plot from the page, by the sweep's name.
    """

    def show(title: str, figure: Callable[[], Any]) -> None:
        try:
            data = base64.b64encode(drawn(figure)).decode("ascii")
            parts.append(f'<img src="data:image/svg+xml;base64,{data}" alt="{_text(title)}">')
        except MissingExtra as error:
            lack = f"<p><small>{_text(error)}</small></p>"
            parts.extend([] if lack in parts else [lack])  # remarks on all are printed once

    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>Evaluation</title><style>{STYLE}</style><h1>Evaluation</h1>"]
    parts += [standings.as_html()] if cells else []
    for sweep in sweeps:
        parts.append(f"<h2>{_text(sweep.name)}</h2><pre>{_text(chr(10).join(sweep.lines()[2:]))}</pre>")
        parts += [f'<img src="{_text(quote(plots[sweep.name]))}" alt="{_text(sweep.name)}">'] if sweep.name in plots else []
    if correlated is not None:
        note = "Pearson's correlations of figures over systems; near 1, two tasks rank them alike. Blank: fewer than five have both."
        parts.append("<h2>Tasks</h2>")
        show("Correlations of tasks", partial(correlation_map, correlated))
        parts.append(f"<p><small>{note}</small></p>")
    for benchmark in dict.fromkeys(cell.benchmark for cell in cells):
        benchmark_cells = [cell for cell in cells if cell.benchmark == benchmark]
        report = benchmark_cells[0].report
        parts.append(f"<h2>{_text(benchmark)}</h2><p><small>{_text(report['benchmark'])}, {_text(report['split'])}</small></p>")
        parts += [_table(benchmark_cells, task) for task in _figures(benchmark_cells[0])]
        if all(cell.recall for cell in benchmark_cells):
            recall_lines = {cell.system: [(depth, 100 * value) for depth, value in cell.recall.items()] for cell in benchmark_cells}
            show(title := "Recall at depth, %", partial(curves, title, recall_lines))
    if failures:
        parts.append("<h2>Not run</h2><ul>" + "".join(f"<li>{_text(line)}</li>" for line in failures) + "</ul>")
    return "\n".join(parts) + "\n</html>\n"


def _table(cells: Sequence[Cell], task: str) -> str:
    """The systems' figures of one task, or of the benchmark as a whole, above the published ones."""
    tasks = list(cells[0].report["counts"])
    task_names = {"", *tasks} if len(tasks) == 1 else {task}  # published rows of a one-task benchmark may name the task
    measures = list(_figures(cells[0])[task])
    rows = [(cell.system, _figures(cell)[task], "measured") for cell in cells]
    rows += [
        (published_row["system"], values, published_row["source"])
        for published_row in cells[0].report["published"]
        if (values := {item["measure"]: item["value"] for item in published_row["values"] if item["task"] in task_names})
    ]
    rows.sort(key=lambda row: -row[1].get(measures[0], -1))
    head = "".join(f"<th>{_text(name)}</th>" for name in measures)
    body = []
    for name, values, source in rows:
        mark = " class=best" if source == "measured" else ""
        numbers = "".join(f"<td>{values[measure]:.2f}</td>" if measure in values else "<td></td>" for measure in measures)
        body.append(f"<tr{mark}><td>{_text(name)}</td>{numbers}<td class=source>{_text(source)}</td></tr>")
    return f"<table><thead><tr><th>{_text(task)}</th>{head}<th></th></tr></thead><tbody>{''.join(body)}</tbody></table>"


def _figures(cell: Cell) -> dict[str, dict[str, float]]:
    """By task and measure, the figure in per cent; the task "" is the benchmark as a whole, if its authors define an average."""
    overall = {"": cell.report["rounded"]} if cell.report["rounded"] else {}
    return overall | {task: row["rounded"] for task, row in cell.tasks.items()}


def _text(value: Any) -> str:
    return html.escape(str(value))


def plot(sweep: Sweep, target: Path) -> None:
    """Draw a sweep's figures, or the first of them over two settings, into an .svg or .png file.

    Raises:
        InvalidRequest: more than two settings vary, or as `sciretrieve.files.figures.check_plot`.
        MissingExtra: matplotlib is not installed.
    """
    if len(sweep.settings) > PLOTTED:
        raise InvalidRequest(f"a plot shows {PLOTTED} settings at the most, and {sweep.name} has {len(sweep.settings)}")
    draw(lambda: _line_plot(sweep) if len(sweep.settings) == 1 else _heat_map(sweep), target)


def curves(title: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> Any:
    """Values in per cent over a logarithmic axis, a line per system."""
    figure, axes = _figure(7, 4.2, title)
    for number, points in enumerate(lines.values()):
        axes.plot(*zip(*points, strict=True), color=COLOURS[number % len(COLOURS)], marker="o", markersize=3)
    axes.set_xscale("log")
    axes.set_ylim(0, 100)
    axes.legend(axes.lines, list(lines), frameon=False)  # matplotlib omits labels that begin with _
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


def _line_plot(sweep: Sweep) -> Any:
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
