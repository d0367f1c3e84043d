"""The costs of systems: run times, measured during an evaluation and compared between systems; and parameters, training and inference
times, as in SciRepEval's Table 4.

A training's folder has its trained parameters and its time in training.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from ..base.errors import InvalidRequest
from ..base.wording import duration_text
from ..encoders.ensemble import members_of
from ..encoders.resolving import is_path
from ..metrics.judgements import json_of
from ..protocols import Progress
from .published import rows

Item = TypeVar("Item")
STEPS = {
    "indexing": ("indexed_papers", "indexing_seconds"),
    "encoding": ("encoded_queries", "encoding_seconds"),
    "searching": ("answered_queries", "searching_seconds"),
}
"""By step: the keys of its count and of its seconds in a report."""


@dataclass
class Times:
    """The counted work and its seconds. Work that an index or the cache had already done is not counted.

    Attributes:
        papers, indexing: papers encoded and added to an index, and the seconds.
        encoded, encoding: queries that the encoder read, and the seconds.
        answered, answering: queries answered, and the seconds, including those for their vectors.
        preparing: the seconds for queries' vectors: opening the encoder, looking up, encoding.
    """

    papers: int = 0
    indexing: float = 0.0
    encoded: int = 0
    encoding: float = 0.0
    answered: int = 0
    answering: float = 0.0
    preparing: float = 0.0

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """A context whose seconds count as preparation of queries' vectors."""
        start = perf_counter()
        yield
        self.preparing += perf_counter() - start

    def answers(self, answers: Iterator[Item]) -> Iterator[Item]:
        """Pass answers on, and count the seconds of waiting for them."""
        while True:
            start = perf_counter()
            answer = next(answers, None)
            self.answering += perf_counter() - start
            if answer is None:
                return
            self.answered += 1
            yield answer

    def to_dict(self) -> dict[str, float]:
        """The measured counts and seconds, as in a report."""
        searching = max(self.answering - self.preparing, 0.0)
        counted = ((self.papers, self.indexing), (self.encoded, self.encoding), (self.answered, searching))
        rows = [(names, pair) for names, pair in zip(STEPS.values(), counted, strict=True) if pair[0]]
        return {name: value for names, pair in rows for name, value in zip(names, pair, strict=True)}


class TimedBuild:
    """Passes a build's progress on, and times its papers."""

    def __init__(self, progress: Progress, times: Times) -> None:
        self._progress, self.times = progress, times
        self._last: float | None = None

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Start timing if the unit is papers."""
        self._last = perf_counter() if unit == "papers" else None
        self._progress.start(total, done, unit)

    def advance(self, papers: int) -> None:
        """Count papers as added to the index."""
        if self._last is not None:
            now = perf_counter()
            self.times.papers += papers
            self.times.indexing += now - self._last
            self._last = now
        self._progress.advance(papers)

    def note(self, text: str) -> None:
        """See `Progress`."""
        self._progress.note(text)


def times_line(times: Mapping[str, float], mode: str | None) -> str:
    """The times of a report in words: milliseconds per paper and query, and the vectors that existed before."""
    parts = []
    for step, (count, seconds) in STEPS.items():
        if count in times:
            unit = "paper" if step == "indexing" else "query"
            parts.append(f"{step} {1000 * times[seconds] / times[count]:.3g} ms a {unit} ({int(times[count]):,})")
    sides = {"papers": "indexed_papers", "queries": "encoded_queries"}
    there = [side for side, count in sides.items() if count not in times and mode != "bm25"]
    absent = f"; not measured for the vectors of {' and '.join(there)}, which were there already" if there else ""
    return f"times: {', '.join(parts)}{absent}"


def repeated(runs: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """By step: the seconds per paper or query in each run of one system, for steps measured in two runs or more.

    A single run tells nothing: another one on the same machine may take twice as long.
    """
    seconds_of = {}
    for step, (count, seconds) in STEPS.items():
        measured = [run[seconds] / run[count] for run in runs if run.get(count) and run.get(seconds)]
        if len(measured) > 1:
            seconds_of[step] = measured
    return seconds_of


def relative(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, float]]:
    """Run times relative to the first system: by system and step, the ratio of the times per paper or query.

    Args:
        runs: by system, the times of each of its runs, as in their reports. A step is the mean over runs; it needs two runs of both
            systems.
    """
    means = {system: {step: sum(row) / len(row) for step, row in repeated(of_runs).items()} for system, of_runs in runs.items()}
    first = next(iter(means.values()), {})
    return {system: {step: mean / first[step] for step, mean in row.items() if step in first} for system, row in means.items()}


def repeated_lines(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Run times in words: a line for each system and step measured twice or more, with mean, least and greatest time.

    A ratio to the first system follows if both were measured.
    """
    names = {"indexing": "a paper", "encoding": "a query", "searching": "a query"}
    lines, first, ratios = [], next(iter(runs), ""), relative(runs)
    for system, of_system in runs.items():
        for step, seconds in repeated(of_system).items():
            mean, least, most = (1000 * value for value in (sum(seconds) / len(seconds), min(seconds), max(seconds)))
            ratio = ratios[system].get(step) if system != first else None
            compared = f", {ratio:.2f}x {first}" if ratio is not None else ""
            lines.append(f"{system}: {step} {mean:.3g} ms {names[step]} ({least:.3g} to {most:.3g} in {len(seconds)} runs){compared}")
    return lines


FILE = "training.json"
COLUMNS = ("parameters", "training time", "inference time")
"""The columns of the published table, of the study `cost`."""


def trainings_of(*names: str | None) -> list[dict[str, Any]]:
    """The facts of trainings, from the folders of trained encoders and adapters, each folder once.

    Args:
        names: encoders and adapters, as requested, also the members of ensembles. Names without a folder with a training.json are skipped.

    Returns:
        For each folder `folder`, `parameters` (trained ones), `seconds` (of training), and, if known, `parameters_of_base`, `base` and
            `seed`.

    Raises:
        InvalidRequest: a training.json is not JSON, or lacks the number of parameters or of seconds.
    """
    found = {}
    for name in names:
        ensemble = members_of(name) if name else None
        for member in ensemble[1] if ensemble else [name] if name else []:
            folder = Path(member).expanduser().resolve()
            if is_path(member) and (folder / FILE).is_file():
                found[folder] = _read(folder / FILE)
    return list(found.values())


def _read(path: Path) -> dict[str, Any]:
    facts = json_of(path)
    for name in ("parameters", "seconds"):
        if not isinstance(facts.get(name), int | float) or isinstance(facts[name], bool) or facts[name] < 0:
            raise InvalidRequest(f"{path} has no number of {name!r}; it is to say how many were trained, and in how many seconds")
    known = ("parameters", "parameters_of_base", "seconds", "base", "seed")
    return {"folder": str(path.parent), **{name: facts[name] for name in known if facts.get(name) is not None}}


def training_line(facts: Mapping[str, Any]) -> str:
    """One training, in words."""
    of_base, base = "", facts.get("parameters_of_base", 0)
    if base:  # other layers may add parameters
        of_base = f" of {in_short(base)}" if facts["parameters"] <= base else f" beside {in_short(base)}"
    on, seed = (f" on {facts['base']}" if "base" in facts else ""), (f", seed {facts['seed']}" if "seed" in facts else "")
    return f"trained: {in_short(facts['parameters'])}{of_base} parameters{on} in {duration_text(facts['seconds'])}{seed}"


def in_short(count: float) -> str:
    """A number of parameters as in the papers: 768, 450k, 1M, 1.2M."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return f"{count:.0f}"


def cost_table(reports: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[list[list[str]], str]:
    """The table of costs, above the published one, and its caption; empty if no system's training is known.

    Args:
        reports: by system, the saved reports of its trainings. Parameters are a training's, and times are means over trainings, relative to
            the first system if both have more than one.
    """
    parameters, seconds = {}, {}
    for name, of_system in reports.items():
        trainings = [report["system"].get("training", []) for report in of_system]
        if all(trainings):
            parameters[name] = sum(sum(one["parameters"] for one in each) for each in trainings) / len(trainings)
            seconds[name] = sum(sum(one["seconds"] for one in each) for each in trainings) / len(trainings)
    if not parameters:
        return [], ""
    names = list(parameters)
    inference = relative({name: [report.get("times", {}) for report in reports[name]] for name in names})
    table = [["", *COLUMNS, "source"]]
    for name in names:
        steps = inference.get(name, {})
        are_repeated = min(len(reports[name]), len(reports[names[0]])) > 1
        training = f"{seconds[name] / seconds[names[0]]:.2f}x" if are_repeated and seconds[names[0]] else ""
        table.append(
            [f"> {name}", in_short(parameters[name]), training, f"{steps['indexing']:.2f}x" if "indexing" in steps else "", "measured here"]
        )
    for row in rows("cost"):
        count, *ratios = (row.values["", column] for column in COLUMNS)
        table.append([f"  {row.system}", in_short(count), *(f"{ratio:.2f}x" for ratio in ratios), row.source])
    return table, (
        f"parameters that are trained; times relative to {names[0]}, which was trained in {duration_text(seconds[names[0]])}, on the "
        "machines where they ran, and left out of what ran once; inference is what a paper takes to be indexed; "
        "published are those of a task format, relative to SPECTER2 MTL CTRL"
    )
