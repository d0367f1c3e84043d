"""Evaluates suites: each benchmark by its own protocol, with averages as in the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from ..base.arguments import checked
from ..base.choices import DEFAULT_ENCODER, check_choice
from ..base.errors import InvalidRequest, NotFound, ResultAwaited
from ..base.forms import AsJson
from ..encoders import EncoderRequest
from ..lifecycle.distributed import RayWorkers
from ..lifecycle.ingest import plain_json
from ..metrics.judgements import json_of
from ..options.keywords import EvaluationKeywords
from ..progress import shown
from ..protocols import Progress
from .benchmark_catalogue import SUITES, find_benchmark
from .benchmark_reading import read_sets
from .benchmark_specs import Figure, Suite
from .costs import training_line, trainings_of
from .evaluation_options import NO_OBJECTS, EvaluationRequest, Objects, make_request, objects_in
from .published import Row, rows
from .readers.scirepeval import TEXTS, first_matches
from .reports import aligned, merged_notes, save, versions
from .requests import measure

ALL = "average"
"""The average of all figures."""
FORMATS = ("CLF", "RGN", "PRX", "SRCH")


@dataclass(frozen=True)
class SuiteReport(AsJson):
    """The result of a suite, to print and save.

    Attributes:
        suite: the suite.
        system: the system's name.
        figures: each figure's value in per cent, rounded by its benchmark's protocol.
        missing: each missing figure, with the reason.
        notes: the benchmarks' notes, each once.
        times: the sums of the benchmarks' run times.
        training: the facts of a trained encoder's training, see `costs.trainings_of`.
        partial: by benchmark, its missing parts, see `benchmark_reading.lacking`.
    """

    suite: Suite
    system: str
    figures: Sequence[tuple[Figure, float]]
    missing: Sequence[tuple[Figure, str]]
    notes: Sequence[str]
    times: Mapping[str, float]
    training: Sequence[Mapping[str, Any]] = ()
    partial: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def averages(self) -> Mapping[str, tuple[float, int, int]]:
        """By name of an average: the mean in per cent, and the numbers of figures present and defined; without empty averages.

        An average is of a group, a format of a group (`in-train CLF`), a format without one of its figures, or the whole suite.
        """
        result = {}
        for name, chosen in _averaged(self.suite).items():
            values = [value for figure, value in self.figures if figure in chosen]
            if values:
                result[name] = (float(np.mean(values)), len(values), len(chosen))
        return result

    @property
    def complete(self) -> Mapping[str, float]:
        """The means over complete sets of figures."""
        return {name: mean for name, (mean, present, of) in self.averages.items() if present == of}

    @property
    def published(self) -> Sequence[Row]:
        """The suite's published rows."""
        return rows(self.suite.name)

    @property
    def changes(self) -> Mapping[str, float]:
        """By name of a complete average: how many per cent our mean is above that of `Suite.against`."""
        known = {name: value for row in self.published if row.system == self.suite.against for (_, name), value in row.values.items()}
        return {name: 100 * (self.complete[name] / base - 1) for name, base in known.items() if name in self.complete}

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values: schema 1, as for a benchmark. Incomplete averages are under `incomplete` only."""
        per_task: dict[str, Any] = {}
        for figure, value in self.figures:
            row = per_task.setdefault(figure.name, {"benchmark": figure.benchmark, "format": figure.format, "group": figure.group})
            row.setdefault("measures", {})[figure.measure] = value / 100
            row.setdefault("rounded", {})[figure.measure] = value
            row["intervals"] = {}
        return {
            "schema": 1,
            "benchmark": self.suite.name,
            "split": "test",
            "kind": "suite",
            "measures": {name: mean / 100 for name, mean in self.complete.items()},
            "rounded": {name: round(mean, 2) for name, mean in self.complete.items()},
            "intervals": {},
            "incomplete": {
                name: {"mean": mean / 100, "figures": present, "of": of}
                for name, (mean, present, of) in self.averages.items()
                if present < of
            },
            "changes": {self.suite.against: {name: change / 100 for name, change in self.changes.items()}} if self.changes else {},
            "missing": {figure.name: reason for figure, reason in self.missing},
            "per_task": per_task,
            "counts": {},
            "published": [row.to_dict() for row in self.published],
            "system": {"name": self.system} | ({"training": list(self.training)} if self.training else {}),
            "notes": list(self.notes),
            "partial": [f"{name}: {lack}" for name, lacks in self.partial.items() for lack in lacks],
            "times": dict(self.times),
            "versions": versions(),
        }

    def lines(self) -> list[str]:
        """The report in words: every figure, what is missing, and the averages among the published ones."""
        table = [["task", "", "", "measure", "", ""]]
        table += [
            [f.name, f.format, f.group, f.measure, f"({value:.2f})" if f.benchmark in self.partial else f"{value:.2f}", f.benchmark]
            for f, value in self.figures
        ]
        out = [f"{self.suite.name}: {self.suite.task}", "", *aligned(table), ""]
        for names in dict.fromkeys(map(self._averages_of, self.published)):
            out += [*self._averages_table(names), ""]
        if (changes := self.changes) and not self.partial:
            shown = ", ".join(f"{name} {change:+.2f} %" for name, change in changes.items())
            out.append(f"against the published {self.suite.against}: {shown}")
        out += [f"in brackets: {name}: {'; '.join(lacks)}: does not compare" for name, lacks in self.partial.items()]
        groups = {figure.group for figure in self.suite.figures}
        for name, (_, present, of) in self.averages.items():
            if present < of and (name in groups or name == ALL):
                out.append(f"{name} is the mean of {present} of its {of} figures, so it does not compare with the published ones")
        reasons: dict[str, list[str]] = {}
        for figure, reason in self.missing:
            reasons.setdefault(reason, []).append(figure.name)
        out += [f"left out: {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in reasons.items()]
        out += map(training_line, self.training)
        out += [f"note: {note}" for note in self.notes]
        return out

    def _averages_of(self, row: Row) -> tuple[str, ...]:
        """The averages that a published row has."""
        return tuple(name for name in _averaged(self.suite) if ("", name) in row.values)

    def _averages_table(self, names: Sequence[str]) -> list[str]:
        """Our averages above the published rows with the same ones; incomplete ones are in brackets."""
        ours = ["> " + self.system]
        averaged = _averaged(self.suite)
        for name in names:
            mean, present, of = self.averages.get(name, (0.0, 0, 0))
            is_whole = present == of and not any(figure.benchmark in self.partial for figure in averaged[name])
            ours.append("" if not present else f"{mean:.2f}" if is_whole else f"({mean:.2f})")
        lines = [
            [f"  {row.system}", *(f"{row.values['', name]:.{self.suite.decimals}f}" for name in names), row.source]
            for row in self.published
            if self._averages_of(row) == names
        ]
        return aligned([["", *names, "source"], [*ours, "measured here"], *lines])


@checked
def evaluate_suite(
    name: str,
    data: str | Path | None = None,
    *,
    output: str | Path | None = None,
    progress: Progress | bool = True,
    workers: RayWorkers | None = None,
    **options: Unpack[EvaluationKeywords],
) -> SuiteReport:
    """Evaluate a system on all benchmarks of a suite whose files are in `data`.

    Args:
        name: "scirepeval", "scirepeval-2022", "multi-scidocs-all", "scidocs-all" or "scimult".
        data: the folder with a folder of files for each task.
        output: a folder for the report, with a folder for each benchmark; results of the same request are kept.
        progress: a listener for progress; by default a bar on a terminal or in a notebook, False for none.
        workers: must be None: a cluster searches one index, and none has the papers of all benchmarks.
        options: the system, as for `evaluate`: an `encoder` or `embeddings`.

    Raises:
        UnknownName, InvalidRequest, NotFound: as `evaluate`; NotFound if no task has its files.
    """
    if workers is not None:
        raise InvalidRequest(f"a cluster searches an index, and none has the papers of all of {name}; leave out `workers`")
    check_choice("suite", name, [*SUITES])
    objects, options = objects_in(options)
    request = make_request(name, data, options)
    with shown(progress) as listener:
        return evaluate_suite_request(request, Path(output) if output is not None else None, listener, objects)


def evaluate_suite_request(
    request: EvaluationRequest, output: Path | None, progress: Progress, objects: Objects = NO_OBJECTS
) -> SuiteReport:
    """Carry out a request for a suite; see `evaluate_suite`."""
    suite = SUITES[request.benchmark]
    data = _checked_data(request, suite)
    reports: dict[str, dict[str, Any]] = {}
    reasons: dict[str, str] = {}
    for name in suite.benchmarks:
        wanted = [figure for figure in suite.figures if figure.benchmark == name]
        tasks = {figure.task for figure in wanted}
        metric = request.metric if name in suite.compared else None
        member = replace(request, benchmark=name, metric=metric, task=tasks.pop() or None if len(tasks) == 1 else None)
        folder = output / name if output is not None else None
        report = done(folder, member, objects) if folder is not None else None
        if report and all(_value(report, figure) is not None for figure in wanted):
            reports[name] = report
            continue
        spec = find_benchmark(name)
        try:
            materials = read_sets(spec, data, spec.splits[0], member.task)
        except NotFound as error:
            reasons[name] = str(error)
            continue
        except InvalidRequest as error:
            raise InvalidRequest(f"{name}: {error}") from error
        progress.note(f"{suite.name}: {name}")
        try:
            reports[name] = measure(member, spec, materials, folder, progress, objects=objects).to_dict()
        except ResultAwaited as error:
            reasons[name] = str(error)
        except InvalidRequest as error:
            raise InvalidRequest(f"{name}: {error}") from error
    if not reports:
        raise NotFound(f"{request.data} has no files of any task of {suite.name}; see `sciretrieve benchmarks show {suite.name}`")
    values = {figure: _value(reports[figure.benchmark], figure) for figure in suite.figures if figure.benchmark in reports}
    figures = [(figure, value) for figure, value in values.items() if value is not None]
    missing = [
        (figure, reasons.get(figure.benchmark) or f"there are no files of {figure.benchmark}'s task {figure.task}")
        for figure in suite.figures
        if values.get(figure) is None
    ]
    notes = list(merged_notes({name: report["notes"] for name, report in reports.items()}))
    training = trainings_of(request.encoder, request.adapter, request.query_adapter)
    partial = {name: report["partial"] for name, report in reports.items() if report.get("partial")}
    times: Counter[str] = Counter()
    for report in reports.values():
        times.update(report["times"])
    # as requested: the readers of papers may differ between the benchmarks
    encoder_request = EncoderRequest(
        request.encoder or DEFAULT_ENCODER,
        *(request.adapter, request.query_adapter, False, request.pooling, request.template, request.query_template),
    )
    system = str(encoder_request) if request.embeddings is None else Path(request.embeddings).name
    suite_report = SuiteReport(suite, system, figures, missing, notes, times, training, partial)
    if output is not None:
        columns = {
            "task": [figure.name for figure, _ in figures],
            "query": [figure.measure for figure, _ in figures],
            "figure": [value / 100 for _, value in figures],
        }
        save(output, suite_report, pa.table(columns))
    return suite_report


def _checked_data(request: EvaluationRequest, suite: Suite) -> Path:
    """The folder of a request for the suite. Raises NotFound, InvalidRequest."""
    if request.data is None:
        raise InvalidRequest(f"{suite.name} needs its files: name their folder with `data`; see `sciretrieve benchmarks show {suite.name}`")
    folder = Path(request.data)
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; see `sciretrieve benchmarks show {suite.name}`")
    if texts := first_matches([folder], TEXTS):
        raise InvalidRequest(
            f"{folder} has the files of one task ({texts[0].name}); {suite.name} needs the folder above, with one for each"
        )
    unsuitable = {
        "`index`, which has the papers of one benchmark": request.index,
        "`scores`": request.scores,
        "`rerank`": request.rerank,
        "`task`": request.task,
        "`split`": request.split,
        "`metric`": None if suite.compared else request.metric,
        "`self_matches`": request.self_matches,
        "`measures`": request.measures,
    }
    for option, value in unsuitable.items():
        if value:
            raise InvalidRequest(f"{suite.name} averages figures of all its benchmarks' own protocols, so it does not go with {option}")
    if request.mode != "dense":
        raise InvalidRequest(f"{suite.name} predicts labels from vectors, so it goes with `mode='dense'` only; its rankings go one by one")
    return folder


def done(folder: Path, request: EvaluationRequest, objects: Objects = NO_OBJECTS) -> dict[str, Any] | None:
    """The report in a folder, if it answers this request, with the same encoder if that is an object."""
    if not (folder / "receipt.json").exists():
        return None
    receipt, given = json_of(folder / "receipt.json"), objects.encoder and objects.encoder.identity()
    is_same = [receipt.get("request"), receipt.get("given")] == plain_json([asdict(request), given])
    return json_of(folder / "report.json") if is_same else None


def _value(report: Mapping[str, Any], figure: Figure) -> float | None:
    """A figure of a report; None if its task was left out."""
    if figure.task and figure.task not in report["counts"]:
        return None
    row = report["per_task"][figure.task] if figure.task and "per_task" in report else report
    return float(row["rounded"][figure.measure])


def _averaged(suite: Suite) -> dict[str, list[Figure]]:
    """The figures of each average: first the formats of each group, if it has several, then the group, and last all figures."""
    result = {}
    for group in dict.fromkeys(figure.group for figure in suite.figures if figure.group):
        members = [figure for figure in suite.figures if figure.group == group]
        of_formats = {format: [figure for figure in members if figure.format == format] for format in FORMATS}
        for format, chosen in of_formats.items():
            if 0 < len(chosen) < len(members):
                result[f"{group} {format}"] = chosen
                if rest := _without(suite.apart, chosen):
                    result[f"{group} {format} without {suite.apart}"] = rest
        result[group] = members
    for format in FORMATS:
        if rest := _without(suite.apart, [figure for figure in suite.figures if figure.format == format]):
            result[f"{format} without {suite.apart}"] = rest
    return result | ({ALL: list(suite.figures)} if suite.overall else {})


def _without(name: str, figures: Sequence[Figure]) -> list[Figure]:
    """All figures except that of this name; none if it is not among them."""
    rest = [figure for figure in figures if figure.name != name]
    return rest if len(rest) < len(figures) else []
