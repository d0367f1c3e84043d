"""Evaluates one encoder or index in every mode of a benchmark: a row of the report and a receipt for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from ..base.arguments import checked
from ..base.choices import Mode
from ..base.errors import InvalidRequest
from ..base.forms import AsJson
from ..lifecycle.distributed import RayWorkers
from ..options import KNOBS, OF_BOTH_HALVES, OF_RM3, OF_WORDS, READING, EvaluationOptions
from ..options.keywords import EvaluationKeywords
from ..progress import shown
from ..protocols import Progress
from ..query.index import Index
from ..query.opening import open_index
from .benchmark_reading import read_for
from .evaluation_options import EvaluationRequest, make_request, objects_in
from .material import Material
from .reports import Column, Report, merged_notes, save, table
from .requests import measure
from .standings import CAPTION, Cell, Marks, marks

ALL = "all"
"""The value of `mode` for all modes."""
ORDER: tuple[Mode, ...] = ("dense", "hybrid", "bm25")


@dataclass(frozen=True)
class ModesReport(AsJson):
    """The result of several modes: each mode's report."""

    reports: Mapping[Mode, Report]

    def to_dict(self) -> dict[str, Any]:
        """The reports as plain values, by mode: schema 1."""
        first = next(iter(self.reports.values()))
        modes = {mode: report.to_dict() for mode, report in self.reports.items()}
        return {"schema": 1, "benchmark": first.benchmark.name, "split": first.split, "modes": modes}

    def lines(self) -> list[str]:
        """The report in words: a row for each mode among the published rows, and the scoring of each."""
        first = next(iter(self.reports.values()))
        reports = {report.system: report for report in self.reports.values()}
        cells = []
        for report in reports.values():
            values = {(task.name, query): row for task in report.result.tasks for query, row in task.per_query.items()}
            cells.append(Cell(first.benchmark.name, report.system, report.to_dict(), {}, values))
        out = [f"{first.benchmark.name}, {first.split}: {first.benchmark.task}", ""]
        column_marks: dict[Column, Marks] = {}
        for title, columns in first.tables():
            column_marks |= {column: marks(cells, column) for column in columns} if len(reports) > 1 else {}
            signs = {(system, column): one.sign(system) for column, one in column_marks.items() for system in reports}
            out += [*([title] if title else []), *table(reports, columns, signs), ""]
        if column_marks:
            untested = [f"not tested: {system}: {reason}" for one in column_marks.values() for system, reason in one.untested.items()]
            out += [CAPTION.format(best="marked *", below="† is"), *dict.fromkeys(untested)]
        return out + list(merged_notes({report.system: report.how() for report in self.reports.values()}))


@checked
def evaluate_modes(
    benchmark: str,
    data: str | Path | None = None,
    *,
    output: str | Path | None = None,
    progress: Progress | bool = True,
    workers: RayWorkers | None = None,
    **options: Unpack[EvaluationKeywords],
) -> ModesReport:
    """Evaluate an encoder or an index in every mode that it has and that makes sense for the benchmark.

    Args:
        benchmark, data, progress, workers: as for `evaluate`.
        output: a folder for the report, with a folder for each mode, with all results of `evaluate`.
        options: the system, as for `evaluate`, without a `mode`. Options of some modes (`fusion`, `ef`, …) are left out in the others.

    Raises:
        UnknownName, InvalidRequest, NotFound, Unavailable: as `evaluate`; InvalidRequest for vectors and scores from elsewhere.
    """
    objects, options = objects_in(options, workers)
    requests = requests_in_modes(benchmark, data, options)
    request = requests["hybrid"]
    spec, materials = read_for(request)
    folder = Path(output) if output is not None else None
    reports: dict[Mode, Report] = {}
    with shown(progress) as listener:
        for mode in sensible_modes(request, materials, objects.index):
            place = folder / mode if folder is not None else None
            reports[mode] = measure(requests[mode], spec, materials, place, listener, workers, objects=objects)
    report = ModesReport(reports)
    if folder is not None:
        save(folder, report)
    return report


def requests_in_modes(benchmark: str, data: str | Path | None, options: EvaluationKeywords) -> dict[Mode, EvaluationRequest]:
    """A request in each mode, from options without one. BM25 has none of the encoder's options, so that it is one system for all encoders.

    Raises UnknownName, InvalidRequest.
    """
    for name in ("embeddings", "scores", "metric"):
        if options.get(name) is not None:
            raise InvalidRequest(
                f"all modes are those of an encoder or an index, by their own scores; leave out `{name}`, or name one mode"
            )
    request = make_request(benchmark, data, {**options, "mode": "hybrid"})  # the mode with all settings
    usual = EvaluationOptions()
    of_both, of_words = ({name: getattr(usual, name) for name in names} for names in (OF_BOTH_HALVES, (*OF_WORDS, *OF_RM3)))
    of_vectors: dict[str, Any] = dict.fromkeys(("encoder", *READING, *KNOBS))
    dense = replace(request, mode="dense", **of_both, **of_words)
    bm25 = replace(request, mode="bm25", **of_both, **of_vectors)
    if request.rerank is None:
        bm25 = replace(bm25, precision="auto", device="auto")
    return {"dense": dense, "hybrid": request, "bm25": bm25}


def sensible_modes(request: EvaluationRequest, materials: Sequence[Material], opened: Index | None = None) -> tuple[Mode, ...]:
    """The modes that both the system and the benchmark allow: labels, clusters and standardised vectors need vectors."""
    needs_vectors = all(task.standardise for material in materials for task in material.tasks)
    has: Sequence[Mode] = ORDER
    if request.index is not None:
        with nullcontext(opened) if opened is not None else open_index(request.index) as index:
            has = index.modes
    if needs_vectors or any(material.predictions for material in materials):
        return ("dense",)
    return tuple(mode for mode in ORDER if mode in has)
