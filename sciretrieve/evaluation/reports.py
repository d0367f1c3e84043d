"""A report: our figures between the published ones, what the protocol did, and a receipt to make them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..manifest import library_versions
from . import sides
from .catalogue import Benchmark
from .published import Row, rows
from .scoring import Result

LIBRARIES = ("pytrec_eval-terrier", "numpy", "PyStemmer", "faiss-cpu", "openvino", "tokenizers")


@dataclass(frozen=True)
class Report:
    """What an evaluation prints and keeps."""

    benchmark: Benchmark
    split: str
    metric: str
    """How scores came about: the protocol's metric, or another that was asked for."""
    overridden: bool
    system: str
    facts: Mapping[str, Any]
    result: Result
    notes: Sequence[str]

    @property
    def published(self) -> Sequence[Row]:
        """The published rows, where the protocol is the one that they were measured by."""
        return rows(self.benchmark.name)

    def as_json(self) -> dict[str, Any]:
        """The report as plain values: schema 1."""
        result = self.result
        per_task = {
            task.name: {
                "measures": {name: result.means[task.name, name] for name in result.measures},
                "rounded": {name: result.rounded[task.name, name] for name in result.measures},
                "intervals": {name: list(result.intervals[task.name, name]) for name in result.measures},
                "queries": len(task.per_query),
                "judged_queries": task.asked,
                "unanswered_queries": task.unanswered,
                "missing_candidates": task.missing,
                "ties": task.ties,
                "self_matches_dropped": task.dropped,
                "judged@10": task.judged,
            }
            for task in result.tasks
        }
        found: dict[str, Any] = {
            "schema": 1,
            "benchmark": self.benchmark.name,
            "split": self.split,
            "kind": self.benchmark.kind,
            "measures": {name: result.means["", name] for name in result.overall},
            "rounded": {name: result.rounded["", name] for name in result.overall},
        }
        found["intervals"] = {name: list(result.intervals["", name]) for name in result.measures if ("", name) in result.intervals}
        if len(result.tasks) > 1:
            found["per_field" if self.benchmark.name.startswith("mdcr") else "per_task"] = per_task
        found |= {
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
            "published": [
                {
                    "system": row.system,
                    "source": row.source,
                    "values": [{"task": task, "measure": measure, "value": value} for (task, measure), value in row.values.items()],
                }
                for row in self.published
            ],
            "system": {"name": self.system, **self.facts},
            "notes": list(self.notes),
            "versions": versions(),
        }
        return found

    def lines(self) -> list[str]:
        """The report for people."""
        result, benchmark = self.result, self.benchmark
        decimals = benchmark.protocol.decimals
        columns = self._columns()
        header = ["", *(f"{task} {measure}".strip() for task, measure in columns), "source"]
        mine = ["> " + self.system, *(f"{result.rounded[column]:.{decimals}f}" for column in columns), "measured here"]
        table = [mine]
        for row in self.published:
            if any(column in row.values for column in self._keys(columns)):
                cells = [f"{row.values[key]:.2f}" if key in row.values else "" for key in self._keys(columns)]
                table.append([f"  {row.system}", *cells, row.source])
        first = next((at for at, column in enumerate(columns) if any(line[at + 1] for line in table[1:])), 0)
        table.sort(key=lambda line: float(line[first + 1] or -1))
        out = [f"{benchmark.name}, {self.split}: {benchmark.task}", ""]
        out += _aligned([header, *table])
        out.append("")
        for task in [*(task.name for task in result.tasks), ""] if len(result.tasks) > 1 else [""]:
            for name in result.measures:
                if (task, name) not in result.intervals:
                    continue
                low, high = result.intervals[task, name]
                label = f"{task} {name}" if task else name if len(result.tasks) == 1 else f"all {name}"
                out.append(f"{label}: {100 * result.means[task, name]:.{decimals}f}, 95 % interval {100 * low:.2f} to {100 * high:.2f}")
        out.append("")
        asked, answered = sum(task.asked for task in result.tasks), sum(len(task.per_query) for task in result.tasks)
        out.append(f"queries: {answered:,} of {asked:,} judged; unanswered: {sum(task.unanswered for task in result.tasks):,}")
        rounding = benchmark.protocol.score_decimals
        score = self.metric + (" (not the protocol's)" if self.overridden else "")
        score += f", rounded to {rounding} decimals" if rounding is not None else ""
        tied = sum(task.ties for task in result.tasks)
        out.append(f"score: {score}; tied documents: {tied:,}, ordered by id, falling")
        own = f"dropped ({sum(task.dropped for task in result.tasks):,})" if benchmark.protocol.drop_self else "kept"
        unscored = sum(task.missing for task in result.tasks)
        out.append(f"the query itself, where it is a candidate: {own}; candidates without a score: {unscored:,}")
        out += sides.lines(self.facts.get("reads", []))
        if any(task.judged for task in result.tasks):
            out.append("judged among the first ten: " + ", ".join(f"{100 * task.judged:.1f} %" for task in result.tasks))
        out += [f"note: {note}" for note in self.notes]
        return out

    def _columns(self) -> list[tuple[str, str]]:
        """(task, measure) of the table: each task's where there are few, else the benchmark's."""
        tasks = [task.name for task in self.result.tasks]
        if len(tasks) == 1:
            return [("", name) for name in self.result.measures]
        shown = [*tasks, ""] if len(tasks) * len(self.result.measures) <= 10 else [""]
        return [(task, name) for task in shown for name in (self.result.measures if task else self.result.overall)]

    def _keys(self, columns: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """The columns as published rows name them: a benchmark of one task may be named by it."""
        tasks = [task.name for task in self.result.tasks]
        return [(tasks[0], name) if len(tasks) == 1 else (task, name) for task, name in columns]


def versions() -> dict[str, str]:
    """The versions of what a figure depends on."""
    return library_versions(LIBRARIES)


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    return [
        "  ".join(
            cell.ljust(width) if at in (0, len(line) - 1) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]
