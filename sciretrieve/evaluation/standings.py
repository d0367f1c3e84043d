"""Compares systems on benchmarks: the main figures, the best, and those significantly below it; and the table in four forms."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..metrics.significance import LEVEL, Values, holm, randomisation
from .reports import Column, aligned, column_name

FEW = 3
"""Up to this number, all measures of a benchmark, or of each task, are main figures; beyond it, only the first is."""
ENOUGH = 5
"""The fewest systems for a meaningful correlation."""
MOST_PATTERNS, FEWEST_PATTERNS, SIGNS = 10_000, 1_000, 200_000_000
"""The most and the fewest sign patterns of a test, and the total number of signs that limits them."""
CAPTION = (
    f"The best of each benchmark's figures is {{best}}. {{below}} significantly below it: p < {LEVEL:g} in a paired randomisation test "
    "over queries, corrected by Holm's method for the systems compared with the best."
)


@dataclass(frozen=True)
class Cell:
    """One system on one benchmark.

    Attributes:
        benchmark, system: their names in the plan.
        report: as saved by `evaluate -o`.
        recall: depth -> recall, from 0 to 1; empty if unknown.
        per_query: (task, query) -> measure -> value, from 0 to 1.
    """

    benchmark: str
    system: str
    report: Mapping[str, Any]
    recall: Mapping[int, float]
    per_query: Mapping[tuple[str, str], Mapping[str, float]]

    @property
    def is_suite(self) -> bool:
        """Whether its figures are averages over benchmarks."""
        return bool(self.report["kind"] == "suite")

    @property
    def tasks(self) -> Mapping[str, Any]:
        """The figures of each task, if there are several."""
        tasks: Mapping[str, Any] = self.report.get("per_field") or self.report.get("per_task") or {}
        return tasks

    def value(self, column: Column) -> float | None:
        """A figure in per cent, as the protocol rounds it; None if there is none, or only part of an average."""
        task, measure = column
        row = self.tasks.get(task, {}).get("rounded", {}) if task else self.report["rounded"]
        return float(row[measure]) if measure in row else None

    def part(self, column: Column) -> Mapping[str, Any] | None:
        """For an average over part of its figures, the mean, from 0 to 1, and the numbers of figures present and defined; None if it is
        complete.
        """
        part: Mapping[str, Any] | None = None if column[0] else self.report.get("incomplete", {}).get(column[1])
        return part

    @property
    def columns(self) -> list[Column]:
        """Every figure, those of the whole benchmark first."""
        overall = [("", name) for name in (*self.report["rounded"], *self.report.get("incomplete", {}))]
        return overall + [(task, name) for task, row in self.tasks.items() for name in row["rounded"]]

    def main_columns(self) -> list[Column]:
        """The main figures: those of the whole benchmark, or of each task if its authors define no average."""
        if self.is_suite:
            groups = [*dict.fromkeys(row["group"] for row in self.tasks.values()), "average"]
            return [("", name) for name in groups if name in self.report["rounded"] or name in self.report["incomplete"]]
        if self.report["rounded"]:
            return _few([("", name) for name in self.report["rounded"]])
        return [column for task, row in self.tasks.items() for column in _few([(task, name) for name in row["rounded"]])]


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one column: the best systems, those significantly below, and the untested ones, with the reason."""

    best: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()
    untested: Mapping[str, str] = field(default_factory=dict)

    def sign(self, system: str) -> str:
        """An asterisk for the best, a dagger for those below, a blank for others."""
        return "*" if system in self.best else "†" if system in self.below else " "


def marks(cells: Sequence[Cell], column: Column) -> Marks:
    """Compare each system on one benchmark with the best of a column.

    Figures that are not means over queries are not tested, nor systems that answer other queries.
    """
    values = {cell.system: value for cell in cells if (value := cell.value(column)) is not None}
    if len(values) < 2 or column[1].startswith("hole"):
        return Marks()
    best = max(values.values())
    leaders = frozenset(system for system, value in values.items() if value == best)
    of_systems = {cell.system: shares(cell, column) for cell in cells if cell.system in values}
    leader = next(system for system in values if system in leaders)
    best_shares = of_systems[leader]
    untested, p_values = {}, {}
    for system, one in of_systems.items():
        if system in leaders:
            continue
        if one is None or best_shares is None:
            untested[system] = "figures that are not means over queries"
        elif one.keys() != best_shares.keys():
            untested[system] = "other queries are answered than by the best"
        else:
            difference = np.array([share - one[query] for query, share in best_shares.items()])
            patterns = min(MOST_PATTERNS, max(FEWEST_PATTERNS, SIGNS // len(difference)))
            p_values[system] = randomisation(difference, patterns)
    corrected = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    return Marks(leaders, frozenset(system for system, p in corrected.items() if p < LEVEL), untested)


def shares(cell: Cell, column: Column) -> dict[tuple[str, str], float] | None:
    """Each query's contribution to a figure, which is their sum; None for predicted labels and classes, clusters and suites.

    The figure is the mean of tasks' means, or of those of all measures, so a query's weight depends on the size of its task.
    """
    task, measure = column
    tasks = [task] if task else list(cell.report["counts"])
    if cell.is_suite or any("papers_predicted" in cell.report["counts"][name] for name in tasks):
        return None
    measures = [measure] if task or measure != "mean" else list(next(iter(cell.tasks.values()))["rounded"])
    sums: dict[tuple[str, str], float] = {}
    for name in tasks:
        rows = {key: row for key, row in cell.per_query.items() if key[0] == name}
        for one in measures:
            counted = {key: row[one] for key, row in rows.items() if row.get(one) is not None}
            for key, value in counted.items():
                sums[key] = sums.get(key, 0.0) + value / len(counted) / len(tasks) / len(measures)
    return sums or None


def _few(columns: list[Column]) -> list[Column]:
    return columns if len(columns) <= FEW else columns[:1]


@dataclass(frozen=True)
class Standings:
    """The table: a row for each system, a column for each main figure.

    Attributes:
        systems: the rows.
        columns: (benchmark, column) each.
        cells: (benchmark, system) -> the cell, if there is one.
        marks: the marks of each column.
    """

    systems: Sequence[str]
    columns: Sequence[tuple[str, Column]]
    cells: Mapping[tuple[str, str], Cell]
    marks: Sequence[Marks]

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> Standings:
        """Compare systems on all benchmarks of their cells."""
        columns: list[tuple[str, Column]] = []
        for benchmark in dict.fromkeys(cell.benchmark for cell in cells):
            columns += dict.fromkeys((benchmark, column) for cell in cells if cell.benchmark == benchmark for column in cell.main_columns())
        column_marks = [marks([cell for cell in cells if cell.benchmark == benchmark], column) for benchmark, column in columns]
        systems = list(dict.fromkeys(cell.system for cell in cells))
        return cls(systems, columns, {(cell.benchmark, cell.system): cell for cell in cells}, column_marks)

    def without(self, systems: Collection[str]) -> Standings:
        """The table of the other systems."""
        return Standings.of([cell for cell in self.cells.values() if cell.system not in systems])

    def figure(self, system: str, place: int) -> str:
        """A figure as printed; in brackets if it averages only part of its figures; "" for none."""
        benchmark, column = self.columns[place]
        cell = self.cells.get((benchmark, system))
        if cell is None:
            return ""
        value, part = cell.value(column), cell.part(column)
        if value is not None:
            return f"({value:.2f})" if cell.report.get("partial") else f"{value:.2f}"
        return f"({100 * part['mean']:.2f})" if part else ""

    def notes(self) -> list[str]:
        """Notes: what was not tested, with a line for each benchmark and reason; and what is in brackets."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for (benchmark, _), column_marks in zip(self.columns, self.marks, strict=True):
            for system, reason in column_marks.untested.items():
                reasons.setdefault((benchmark, reason), []).append(system)
        notes = [f"not tested: {benchmark}, {', '.join(dict.fromkeys(names))}: {reason}" for (benchmark, reason), names in reasons.items()]
        if any(self.figure(system, place).startswith("(") for system in self.systems for place in range(len(self.columns))):
            notes.append("in brackets: averages over part of their figures, and figures of part of a benchmark, which do not compare")
        partial = dict.fromkeys(
            f"{benchmark}: {lack}" for (benchmark, _), cell in self.cells.items() for lack in cell.report.get("partial", ())
        )
        notes += [f"{lack}: does not compare" for lack in partial]
        return notes

    def as_text(self) -> list[str]:
        """For a terminal: a line per figure, a column per system; an asterisk marks the best, a dagger those below."""
        table = [["", *self.systems, ""]]
        for place, (benchmark, column) in enumerate(self.columns):
            figures = [self._marked(system, place, "{}*", "{}†", "{} ") for system in self.systems]
            table.append([f"{benchmark} {column_name(column)}", *figures, ""])
        return [*aligned(table), "", CAPTION.format(best="marked *", below="† is"), *self.notes()]

    def as_markdown(self) -> list[str]:
        """A table in Markdown, and its caption."""
        header = ["system", *(f"{benchmark} {column_name(column)}" for benchmark, column in self.columns)]
        lines = [header, ["---", *["---:"] * len(self.columns)]]
        lines += [[system, *self._row(system, "**{}**", "{}†", "{}")] for system in self.systems]
        return [
            *("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines),
            "",
            CAPTION.format(best="in bold", below="† is"),
            *(f"\n{note}" for note in self.notes()),
        ]

    def as_latex(self) -> list[str]:
        """A table* for a paper, without any package."""
        groups = list(dict.fromkeys(benchmark for benchmark, _ in self.columns))
        spans = [(group, sum(benchmark == group for benchmark, _ in self.columns)) for group in groups]
        rows = [
            " & ".join(["", *(rf"\multicolumn{{{width}}}{{c}}{{{_latex(group)}}}" for group, width in spans)]),
            " & ".join(["System", *(_latex(column_name(column)) for _, column in self.columns)]),
        ]
        body = [" & ".join([_latex(system), *self._row(system, r"\textbf{{{}}}", r"{}$^\dagger$", "{}")]) for system in self.systems]
        caption = _latex(CAPTION.format(best="in bold", below="DAGGER")).replace("DAGGER", r"$^\dagger$ is")
        return [
            r"\begin{table*}",
            r"\centering",
            rf"\begin{{tabular}}{{l{'r' * len(self.columns)}}}",
            r"\hline",
            *(rf"{row} \\" for row in rows),
            r"\hline",
            *(rf"{row} \\" for row in body),
            r"\hline",
            r"\end{tabular}",
            rf"\caption{{{' '.join([caption, *map(_latex, self.notes())])}}}",
            r"\end{table*}",
        ]

    def as_html(self) -> str:
        """A table for the page, and its caption."""
        groups = [benchmark for benchmark, _ in self.columns]
        first = "".join(f"<th class=group colspan={groups.count(name)}>{html.escape(name)}</th>" for name in dict.fromkeys(groups))
        second = "".join(f"<th>{html.escape(column_name(column))}</th>" for _, column in self.columns)
        rows = []
        for system in self.systems:
            figures = "".join(f"<td>{text}</td>" for text in self._row(system, "<b>{}</b>", "{}<sup>†</sup>", "{}"))
            rows.append(f"<tr><td>{html.escape(system)}</td>{figures}</tr>")
        head = f"<thead><tr><th></th>{first}</tr><tr><th></th>{second}</tr></thead>"
        caption = "<br>".join(map(html.escape, [CAPTION.format(best="in bold", below="† is"), *self.notes()]))
        return f"<div class=wide><table>{head}<tbody>{''.join(rows)}</tbody></table></div><p><small>{caption}</small></p>"

    def _row(self, system: str, best: str, below: str, other: str) -> list[str]:
        return [self._marked(system, place, best, below, other) for place in range(len(self.columns))]

    def _marked(self, system: str, place: int, best: str, below: str, other: str) -> str:
        text = self.figure(system, place)
        return {"*": best, "†": below, " ": other}[self.marks[place].sign(system)].format(text) if text else ""


@dataclass(frozen=True)
class Correlations:
    """The correlations between tasks: Pearson's, of their figures over systems (Singh et al. 2023, SciRepEval, App. G).

    Attributes:
        names: the tasks' figures.
        pearson: (n, n), from -1 to 1; NaN if fewer than five systems have both, or all have the same figure.
    """

    names: Sequence[str]
    pearson: Values


def correlations(cells: Sequence[Cell]) -> Correlations | None:
    """Correlations of the benchmarks' main figures, and of each figure of a suite; None if no two have enough common systems."""
    figures: dict[tuple[str, Column], dict[str, float]] = {}
    for cell in cells:
        columns = cell.main_columns()
        if cell.is_suite:  # its averages would correlate with their own parts
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


def _latex(text: str) -> str:
    for letter in "&%$#_{}":
        text = text.replace(letter, rf"\{letter}")
    return text.replace("<", r"$<$").replace(">", r"$>$")
