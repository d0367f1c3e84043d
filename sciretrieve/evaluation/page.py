"""One HTML page for a matrix of evaluations: tables, and plots as plain SVG; it needs no script and no network."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .correlations import Correlations
from .standings import Cell, Standings
from .sweeps import Sweep

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""
WIDTH, HEIGHT, MARGIN = 460, 280, 44
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .2rem .7rem; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr.best td { font-weight: 600; } thead th { border-bottom: 1px solid #888; }
small, .source { color: #666; }
.wide, pre { overflow-x: auto; }
pre { font-size: 13px; line-height: 1.4; } th.group { text-align: center; border-bottom: 1px solid #ccc; } sup { line-height: 0; }
svg { margin: .5rem 1rem .5rem 0; } svg text { font: 11px system-ui, sans-serif; fill: #444; }
figure { display: inline-block; margin: 0; vertical-align: top; } figcaption { max-width: 28rem; margin: -1rem 0 .5rem 2.8rem; }
figcaption span { font-size: 12px; color: #444; margin-right: .8rem; white-space: nowrap; }
figcaption i { display: inline-block; width: 9px; height: 9px; margin-right: 4px; }
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
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>Evaluation</title><style>{STYLE}</style><h1>Evaluation</h1>"]
    parts += [standings.as_html()] if cells else []
    for sweep in sweeps:
        parts.append(f"<h2>{_text(sweep.name)}</h2><pre>{_text(chr(10).join(sweep.lines()[2:]))}</pre>")
        parts += [f'<img src="{_text(quote(plots[sweep.name]))}" alt="{_text(sweep.name)}">'] if sweep.name in plots else []
    if correlated is not None:
        note = "Pearson's correlations of figures over systems; near 1, two tasks rank them alike. Blank: fewer than five have both."
        parts.append(f"<h2>Tasks</h2><div class=wide>{heat_map('Correlations of tasks', correlated)}</div><p><small>{note}</small></p>")
    for benchmark in dict.fromkeys(cell.benchmark for cell in cells):
        benchmark_cells = [cell for cell in cells if cell.benchmark == benchmark]
        report = benchmark_cells[0].report
        parts.append(f"<h2>{_text(benchmark)}</h2><p><small>{_text(report['benchmark'])}, {_text(report['split'])}</small></p>")
        parts += [_table(benchmark_cells, task) for task in _figures(benchmark_cells[0])]
        if all(cell.recall for cell in benchmark_cells):
            recall_lines = {cell.system: [(depth, 100 * value) for depth, value in cell.recall.items()] for cell in benchmark_cells}
            parts.append(curves("Recall at depth, %", recall_lines))
        if fields := _fields(benchmark_cells):
            measure = _first_measure(benchmark_cells[0])
            parts.append(bars(f"{measure} of each task, %", fields))
        if len(benchmark_cells) > 1:
            first, second = benchmark_cells[:2]
            measure = next((name for row in first.per_query.values() for name in row), "")
            points = [(100 * a, 100 * b) for a, b in _pairs(first, second)]
            parts.append(scatter(f"{measure} of each query, %", (first.system, second.system), points))
    if failures:
        parts.append("<h2>Not run</h2><ul>" + "".join(f"<li>{_text(line)}</li>" for line in failures) + "</ul>")
    return "\n".join(parts) + "\n</html>\n"


def curves(title: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Values from 0 to 100 over a logarithmic axis, one line per system."""
    right = max((x for points in lines.values() for x, _ in points), default=1.0)
    out = [_frame(title)]
    for power in range(int(math.log10(max(right, 1))) + 1):
        x = _x(math.log(10**power) / max(math.log(right), 1e-9))
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 16}" text-anchor="middle">{10**power:,}</text>')
    for number, (name, points) in enumerate(lines.items()):
        path = " ".join(f"{_x(math.log(x) / max(math.log(right), 1e-9)):.1f},{_y(y):.1f}" for x, y in points)
        out.append(
            f'<polyline points="{path}" fill="none" stroke="{_colour(number)}" stroke-width="2"><title>{_text(name)}</title></polyline>'
        )
    return _with_legend("".join([*out, "</svg>"]), list(lines))


def bars(title: str, groups: Mapping[str, Mapping[str, float]]) -> str:
    """One group of bars per task, one bar per system, from 0 to 100."""
    systems = list(dict.fromkeys(system for row in groups.values() for system in row))
    width = max(WIDTH, MARGIN * 2 + 26 * len(groups) * max(len(systems), 1) // 2)
    out = [_frame(title, width)]
    step = (width - 2 * MARGIN) / max(len(groups), 1)
    for group_number, (task, row) in enumerate(groups.items()):
        group_left = MARGIN + group_number * step
        for number, system in enumerate(systems):
            if system in row:
                bar_width, y = step * 0.8 / len(systems), _y(row[system])
                x, height = group_left + step * 0.1 + number * bar_width, HEIGHT - MARGIN - y
                out.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar_width * 0.92:.1f}" height="{height:.1f}" fill="{_colour(number)}">'
                    f"<title>{_text(task)}, {_text(system)}: {row[system]:.2f}</title></rect>"
                )
        middle = group_left + step / 2
        out.append(f'<text x="{middle:.1f}" y="{HEIGHT - MARGIN + 14}" text-anchor="middle">{_text(task[: max(4, int(step // 6))])}</text>')
    return _with_legend("".join([*out, "</svg>"]), systems)


def heat_map(title: str, correlated: Correlations) -> str:
    """A square for each two tasks: red for a correlation of 1, white for 0, blue for -1."""
    side, left = 38, 12 + 7 * max(len(name) for name in correlated.names)
    size, half = side * len(correlated.names), side // 2
    out = [f'<svg width="{left + size}" height="{size + 24}" role="img"><title>{_text(title)}</title>']
    for row, name in enumerate(correlated.names):
        y = 24 + row * side
        out.append(f'<text x="{left - 6}" y="{y + half + 4}" text-anchor="end">{row + 1} {_text(name)}</text>')
        out.append(f'<text x="{left + row * side + half}" y="16" text-anchor="middle">{row + 1}</text>')
        for column, value in enumerate(correlated.pearson[row].tolist()):
            if math.isnan(value):
                continue
            x, paler = left + column * side, 255 - round(190 * abs(value))
            colour = f"rgb(255,{paler},{paler})" if value > 0 else f"rgb({paler},{paler},255)"
            out.append(f'<rect x="{x}" y="{y}" width="{side - 1}" height="{side - 1}" fill="{colour}">')
            out.append(f"<title>{_text(name)}, {_text(correlated.names[column])}: {value:.3f}</title></rect>")
            out.append(f'<text x="{x + half}" y="{y + half + 4}" text-anchor="middle">{value:.2f}</text>')
    return "".join([*out, "</svg>"])


def scatter(title: str, names: tuple[str, str], points: Sequence[tuple[float, float]]) -> str:
    """Each query as a point, one system's value over the other's, from 0 to 100."""
    out = [_frame(title), f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(100)}" stroke="#bbb"/>']
    out += [f'<circle cx="{_x(a / 100):.1f}" cy="{_y(b):.1f}" r="3" fill="{COLOURS[0]}" fill-opacity=".4"/>' for a, b in points]
    out.append(f'<text x="{WIDTH // 2}" y="{HEIGHT - 8}" text-anchor="middle">{_text(names[0])}</text>')
    out.append(f'<text transform="translate(12 {HEIGHT // 2}) rotate(-90)" text-anchor="middle">{_text(names[1])}</text>')
    return "".join([*out, "</svg>"])


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


def _first_measure(cell: Cell) -> str:
    """The measure that plots of tasks show."""
    return next(iter(list(_figures(cell).values())[-1]))


def _pairs(first: Cell, second: Cell) -> list[tuple[float, float]]:
    """The first measure of the queries that two systems answer; of a suite, each figure."""
    values = [{key: next(iter(row.values())) for key, row in cell.per_query.items() if row} for cell in (first, second)]
    return [(value, values[1][key]) for key, value in values[0].items() if key in values[1]]


def _fields(cells: Sequence[Cell]) -> dict[str, dict[str, float]]:
    """Task -> system -> the first measure in per cent, if there are several tasks."""
    fields: dict[str, dict[str, float]] = {}
    for cell in cells:
        for task, row in cell.tasks.items():
            fields.setdefault(task, {})[cell.system] = next(iter(row["rounded"].values()))
    return fields


def _frame(title: str, width: int = WIDTH) -> str:
    out = [f'<svg width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}" role="img"><title>{_text(title)}</title>']
    out.append(f'<text x="{MARGIN}" y="16">{_text(title)}</text>')
    for value in range(0, 101, 20):
        out.append(f'<line x1="{MARGIN}" x2="{width - MARGIN}" y1="{_y(value)}" y2="{_y(value)}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{MARGIN - 6}" y="{_y(value) + 4}" text-anchor="end">{value}</text>')
    return "".join(out)


def _with_legend(plot: str, names: Sequence[str]) -> str:
    """A plot and, below it, which colour is whose: text that the browser breaks into lines, however many and long the names are."""
    entries = (f'<span><i style="background:{_colour(number)}"></i>{_text(name)}</span> ' for number, name in enumerate(names))
    return f"<figure>{plot}<figcaption>{''.join(entries)}</figcaption></figure>"


def _x(share: float) -> float:
    return MARGIN + share * (WIDTH - 2 * MARGIN)


def _y(percent: float) -> float:
    return HEIGHT - MARGIN - percent / 100 * (HEIGHT - 2 * MARGIN)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _text(value: Any) -> str:
    return html.escape(str(value))
