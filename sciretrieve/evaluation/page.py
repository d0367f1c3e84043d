"""One HTML page for a matrix of evaluations: tables, and plots within it; it needs no script and no network."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from ..base.errors import MissingExtra
from ..files.figures import drawn
from .plots import correlation_map, curves
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


def page(
    cells: Sequence[Cell],
    standings: Standings,
    correlated: Correlations | None,
    failures: Sequence[str],
    sweeps: Sequence[Sweep] = (),
    plots: Mapping[str, str] = {},
) -> str:
    """The whole page: all systems on all benchmarks, sweeps, how alike tasks rank systems, then each benchmark with its published rows.

    `plots` are the sweeps' by their names, by paths from the page.
    """

    def draw(title: str, figure: Callable[[], Any]) -> None:
        picture = _picture(title, figure)
        parts.extend([] if picture in parts else [picture])  # what all of them lack is said once

    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>Evaluation</title><style>{STYLE}</style><h1>Evaluation</h1>"]
    parts += [standings.as_html()] if cells else []
    for sweep in sweeps:
        parts.append(f"<h2>{_text(sweep.name)}</h2><pre>{_text(chr(10).join(sweep.lines()[2:]))}</pre>")
        parts += [f'<img src="{_text(quote(plots[sweep.name]))}" alt="{_text(sweep.name)}">'] if sweep.name in plots else []
    if correlated is not None:
        note = "Pearson's correlations of figures over systems; near 1, two tasks rank them alike. Blank: fewer than five have both."
        parts.append("<h2>Tasks</h2>")
        draw("Correlations of tasks", partial(correlation_map, correlated))
        parts.append(f"<p><small>{note}</small></p>")
    for benchmark in dict.fromkeys(cell.benchmark for cell in cells):
        benchmark_cells = [cell for cell in cells if cell.benchmark == benchmark]
        report = benchmark_cells[0].report
        parts.append(f"<h2>{_text(benchmark)}</h2><p><small>{_text(report['benchmark'])}, {_text(report['split'])}</small></p>")
        parts += [_table(benchmark_cells, task) for task in _figures(benchmark_cells[0])]
        if all(cell.recall for cell in benchmark_cells):
            recall_lines = {cell.system: [(depth, 100 * value) for depth, value in cell.recall.items()] for cell in benchmark_cells}
            draw(title := "Recall at depth, %", partial(curves, title, recall_lines))
    if failures:
        parts.append("<h2>Not run</h2><ul>" + "".join(f"<li>{_text(line)}</li>" for line in failures) + "</ul>")
    return "\n".join(parts) + "\n</html>\n"


def _picture(title: str, figure: Callable[[], Any]) -> str:
    """A plot within the page; where none can be drawn, what it lacks."""
    try:
        data = base64.b64encode(drawn(figure)).decode("ascii")
    except MissingExtra as error:
        return f"<p><small>{_text(error)}</small></p>"
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{_text(title)}">'


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
    """Task -> measure -> figure in per cent; the task "" is the benchmark as a whole, if its authors define an average."""
    overall = {"": cell.report["rounded"]} if cell.report["rounded"] else {}
    return overall | {task: row["rounded"] for task, row in cell.tasks.items()}


def _text(value: Any) -> str:
    return html.escape(str(value))
