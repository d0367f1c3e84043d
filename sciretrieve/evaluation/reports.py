"""Reports: our figures among the published ones, and the scoring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from ..base.forms import AsJson, AsTable
from ..files.writing import replaced, write_json, write_lines
from ..storage.manifest import library_versions
from . import sides
from .benchmark_specs import Benchmark
from .costs import times_line, training_line
from .predicting import Predicted
from .published import Row, rows
from .scoring import Result

WIDEST = 10
"""The most columns of figures in one table."""
LIBRARIES = ("pytrec_eval-terrier", "scikit-learn", "numpy", "PyStemmer", "faiss-cpu", "openvino", "tokenizers")

Column: TypeAlias = tuple[str, str]
"""A task and a measure."""


@dataclass(frozen=True)
class Report(AsJson, AsTable):
    """The result of an evaluation, to print and save."""

    benchmark: Benchmark
    split: str
    metric: str
    """The scoring: the protocol's metric or a requested one."""
    overridden: bool
    system: str
    facts: Mapping[str, Any]
    result: Result
    notes: Sequence[str]
    times: Mapping[str, float]
    """The measured run times, see `costs.Times.to_dict`."""
    lacks: Sequence[str] = ()
    """The missing parts of the benchmark, see `benchmark_reading.lacking`; figures are then not comparable with published ones."""

    @property
    def published(self) -> Sequence[Row]:
        """The benchmark's published rows."""
        return rows(self.benchmark.name)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values: schema 1."""
        result = self.result
        per_task = {
            task.name: {
                "measures": {name: result.means[task.name, name] for name in result.measures},
                "rounded": {name: result.rounded[task.name, name] for name in result.measures},
                "intervals": {
                    name: list(result.intervals[task.name, name]) for name in result.measures if (task.name, name) in result.intervals
                },
                "queries": len(task.per_query),
                "judged_queries": task.judged_queries,
                "unanswered_queries": len(task.unanswered),
                "missing_candidates": task.missing_candidates,
                "ties": task.ties,
                "self_matches_dropped": task.self_matches,
                "judged@10": task.judged_share,
            }
            | (_learning(task.prediction) if task.prediction else {})
            for task in result.tasks
        }
        several = {"per_field" if self.benchmark.name.startswith("mdcr") else "per_task": per_task} if len(result.tasks) > 1 else {}
        return {
            "schema": 1,
            "benchmark": self.benchmark.name,
            "split": self.split,
            "kind": self.benchmark.kind,
            "measures": {name: result.means["", name] for name in result.overall},
            "rounded": {name: result.rounded["", name] for name in result.overall},
            "intervals": {name: list(result.intervals["", name]) for name in result.measures if ("", name) in result.intervals},
            **several,
            "queries": sum(len(task.per_query) for task in result.tasks),
            "protocol": {
                "score": self.metric,
                "overridden": self.overridden,
                "self_matches": "dropped" if self.benchmark.protocol.drop_self else "kept",
                "ties": "by document id, falling, after rounding to float32 (trec_eval)",
                "score_decimals": self.benchmark.protocol.score_decimals,
                "depth": self.benchmark.protocol.depth,
                "average": self.benchmark.protocol.average,
            },
            "counts": {
                task.name: {key: value for key, value in per_task[task.name].items() if isinstance(value, int)} for task in result.tasks
            },
            "published": [row.to_dict() for row in self.published],
            "system": {"name": self.system, **self.facts},
            "notes": list(self.notes),
            "partial": list(self.lacks),
            "times": dict(self.times),
            "versions": versions(),
        }

    def to_arrow(self) -> pa.Table:
        """Each query's values: task, query, and a column for each measure."""
        rows = [(task.name, query, values) for task in self.result.tasks for query, values in task.per_query.items()]
        columns: dict[str, list[Any]] = {"task": [task for task, _, _ in rows], "query": [query for _, query, _ in rows]}
        return pa.table(columns | {name: [values.get(name) for _, _, values in rows] for name in self.result.measures})

    def lines(self) -> list[str]:
        """The report in words: one table, or one per task if it would be too wide; then the scoring."""
        result, benchmark = self.result, self.benchmark
        out = [f"{benchmark.name}, {self.split}: {benchmark.task}", ""]
        for title, columns in self.tables():
            out += [*([title] if title else []), *table({self.system: self}, columns), ""]
        if self.facts.get("mode") == "dense" and "effort" not in self.facts and not any(task.prediction for task in result.tasks):
            out.append("mode: dense, the encoder alone; --mode hybrid measures what `search` answers")
        return out + self.how()

    def how(self) -> list[str]:
        """The scoring, in words."""
        result, out = self.result, []
        if self.lacks:
            out.append(f"in brackets: {'; '.join(self.lacks)}: does not compare with published figures")
        if any(task.prediction for task in result.tasks):
            out += [f"{task.name}: {_learning_line(task.prediction)}" for task in result.tasks if task.prediction]
        else:
            out += self._ranking_lines()
        if self.times:
            out.append(times_line(self.times, self.facts.get("mode")))
        out += map(training_line, self.facts.get("training", []))
        out += sides.lines(self.facts.get("reads", []))
        if any(task.judged_share for task in result.tasks):
            out.append("judged among the first ten: " + ", ".join(f"{100 * task.judged_share:.1f} %" for task in result.tasks))
        out += [f"note: {note}" for note in self.notes]
        return out

    def _ranking_lines(self) -> list[str]:
        """The scoring of rankings, in words."""
        result, benchmark = self.result, self.benchmark
        judged, answered, unanswered, ties, self_matches, unscored = (
            sum(counts)
            for counts in zip(
                *(
                    (t.judged_queries, len(t.per_query), len(t.unanswered), t.ties, t.self_matches, t.missing_candidates)
                    for t in result.tasks
                ),
                strict=True,
            )
        )
        rounding = benchmark.protocol.score_decimals
        score = self.metric + (" (not the protocol's)" if self.overridden else "")
        score += f", rounded to {rounding} decimals" if rounding is not None else ""
        itself = f"dropped ({self_matches:,})" if benchmark.protocol.drop_self else "kept"
        return [
            f"queries: {answered:,} of {judged:,} judged; unanswered: {unanswered:,}{self._counting() if unanswered else ''}",
            f"score: {score}; tied documents: {ties:,}, ordered by id, falling",
            f"the query itself, where it is a candidate: {itself}; candidates without a score: {unscored:,}",
        ]

    def _counting(self) -> str:
        """How unanswered queries count by the protocol."""
        tasks, names = self.result.tasks, self.result.measures
        zero = [name for name in names if all(len(task.values(name)) == task.judged_queries for task in tasks)]
        if zero == names:
            return ", counted as 0"
        return ", left out of the means" + (f", but 0 in {', '.join(zero)}" if zero else "")

    def tables(self) -> list[tuple[str, list[Column]]]:
        """Each table's title and columns; the task "" is the benchmark as a whole."""
        result = self.result
        overall = [("", name) for name in result.overall]
        if len(result.tasks) == 1:
            return [("", overall)]
        per_task = {task.name: [(task.name, name) for name in result.measures] for task in result.tasks}
        all_columns = [*(column for columns in per_task.values() for column in columns), *overall]
        if len(all_columns) <= WIDEST:
            return [("", all_columns)]
        return [*([("all tasks", overall)] if overall else []), *per_task.items()]


def table(reports: Mapping[str, Report], columns: Sequence[Column], signs: Mapping[tuple[str, Column], str] | None = None) -> list[str]:
    """Reports on one benchmark: a row for each, its intervals below, among the published rows with any of these columns.

    Args:
        reports: by row name.
        columns: the columns to show.
        signs: the text after a figure, by the row's name and the column.
    """
    first = next(iter(reports.values()))
    decimals, has_one_task = first.benchmark.protocol.decimals, len(first.result.tasks) == 1
    has_several_tasks = len({task for task, _ in columns}) > 1
    header = ["", *(f"{task} {measure}".strip() if has_several_tasks else measure for task, measure in columns), "source"]
    # published rows name the task even if the benchmark has only one
    keys = [(first.result.tasks[0].name, name) if has_one_task else (task, name) for task, name in columns]
    blocks: list[tuple[list[float | None], list[list[str]]]] = []
    apart: list[tuple[list[float | None], list[list[str]]]] = []
    for name, report in reports.items():
        rounded = report.result.rounded
        form = "({:.{}f})" if report.lacks else "{:.{}f}"
        cells = [form.format(rounded[column], decimals) if column in rounded else "" for column in columns]
        figures = [cell + signs[name, column] if signs else cell for column, cell in zip(columns, cells, strict=True)]
        ends = [report.result.intervals.get(column) for column in columns]
        intervals = ["  95 % interval", *(f"{100 * both[0]:.2f}-{100 * both[1]:.2f}" if both else "" for both in ends), ""]
        sorting = [rounded.get(column) for column in columns]
        ours = apart if report.lacks else blocks
        ours.append((sorting, [["> " + name, *figures, "measured here"], *([intervals] if any(intervals[1:]) else [])]))
    for row in first.published:
        if any(key in row.values for key in keys):
            figures = [f"{row.values[key]:.2f}" if key in row.values else "" for key in keys]
            blocks.append(([row.values.get(key) for key in keys], [[f"  {row.system}", *figures, row.source]]))
    published = blocks[len(reports) - len(apart) :]
    sort_column = next((place for place in range(len(columns)) if any(sorting[place] for sorting, _ in published)), 0)
    blocks.sort(key=lambda block: block[0][sort_column] or -1)
    return aligned([header, *(line for _, lines in (*blocks, *apart) for line in lines)])


def _learning(prediction: Predicted) -> dict[str, int]:
    return {
        "runs": len(prediction.figures),
        "papers_learnt": prediction.learnt,
        "papers_predicted": prediction.predicted,
        "papers_without_vector": prediction.left_out + prediction.zeros,
        "runs_not_converged": prediction.unconverged,
    }


def _learning_line(prediction: Predicted) -> str:
    runs = len(prediction.figures)
    samples = f" in {runs} samples" if prediction.wanted > 1 else ""
    samples += f", as there are not enough for the protocol's {prediction.wanted}" if runs < prediction.wanted else ""
    parts = [f"learnt from {prediction.learnt:,} {prediction.unit}{samples}", f"predicted {prediction.predicted:,}"]
    if prediction.left_out:
        parts.append(f"left out {prediction.left_out:,} without a vector")
    if prediction.zeros:
        parts.append(f"{prediction.zeros:,} without a vector took zeros, as in the authors' code")
    if prediction.unconverged:
        stopped = f"{prediction.unconverged} of {runs} solvers" if runs > 1 else "the solver"
        parts.append(f"{stopped} stopped at the limit of iterations, as in the authors' code")
    return "; ".join(parts)


def merged_notes(notes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Each note once, with the names of its systems, unless all have it."""
    owners: dict[str, list[str]] = {}
    for name, lines in notes.items():
        for line in lines:
            owners.setdefault(line, []).append(name)
    for line, names in owners.items():
        yield line if len(names) == len(notes) else f"{', '.join(names)}: {line}"


def all_measures(report: Mapping[str, Any]) -> dict[str, float]:
    """Every figure of a JSON report by its name, or by task and name if there are several tasks."""
    per_task = report.get("per_field") or report.get("per_task") or {}
    return dict(report["measures"]) | {f"{task} {name}": value for task, row in per_task.items() for name, value in row["measures"].items()}


def column_name(column: Column) -> str:
    """A column's task and measure as one text."""
    return " ".join(filter(None, column))


class Saved(Protocol):
    """A report that can be saved."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""

    def lines(self) -> list[str]:
        """The report in words."""


def save(folder: Path, report: Saved, per_query: pa.Table | None = None) -> dict[str, Any]:
    """Write a report as JSON and as text into a folder, with a table of each query's values. Returns the report as plain values."""
    folder.mkdir(parents=True, exist_ok=True)
    as_json = report.to_dict()
    write_json(folder / "report.json", as_json)
    write_lines(folder / "report.txt", report.lines())
    if per_query is not None:
        with replaced(folder / "per-query.parquet") as file:
            pq.write_table(per_query, file, compression="zstd")
    return as_json


def versions() -> dict[str, str]:
    """The versions of the libraries that figures depend on."""
    return library_versions(LIBRARIES)


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines: the first and the last column are aligned to the left, the others to the right."""
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    return [
        "  ".join(
            cell.ljust(width) if number in (0, len(line) - 1) else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]
