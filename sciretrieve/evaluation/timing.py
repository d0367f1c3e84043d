"""Run times of an evaluation: measured while it runs, kept in its report, and compared between systems that ran more than once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

from ..protocols import Progress

Item = TypeVar("Item")
STEPS = {
    "indexing": ("indexed_papers", "indexing_seconds"),
    "encoding": ("encoded_queries", "encoding_seconds"),
    "searching": ("answered_queries", "searching_seconds"),
}
"""Step -> what is counted, and its seconds, in a report."""


@dataclass
class Times:
    """What was done while the clock ran, and its seconds. What was there already, in an index or the cache, is not counted.

    Attributes:
        papers, indexing: papers that were encoded and put into an index, and the seconds of that.
        encoded, encoding: queries that the encoder read, and the seconds of that.
        answered, answering: queries that were answered, and the seconds of that, those of getting their vectors among them.
        preparing: the seconds of getting queries' vectors: opening the encoder, looking up, encoding.
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
        """Count the seconds of a block as of getting queries' vectors."""
        start = perf_counter()
        yield
        self.preparing += perf_counter() - start

    def answers(self, answers: Iterator[Item]) -> Iterator[Item]:
        """Pass on answers, and count the seconds of waiting for them."""
        while True:
            start = perf_counter()
            answer = next(answers, None)
            self.answering += perf_counter() - start
            if answer is None:
                return
            self.answered += 1
            yield answer

    def as_json(self) -> dict[str, float]:
        """As a report has them: what was counted, and seconds; without what was not measured."""
        searching = max(self.answering - self.preparing, 0.0)
        counted = ((self.papers, self.indexing), (self.encoded, self.encoding), (self.answered, searching))
        rows = [(names, pair) for names, pair in zip(STEPS.values(), counted, strict=True) if pair[0]]
        return {name: value for names, pair in rows for name, value in zip(names, pair, strict=True)}


class TimedBuild:
    """Progress of a build that is passed on, and whose papers are timed."""

    def __init__(self, progress: Progress, times: Times) -> None:
        self._progress, self.times = progress, times
        self._last: float | None = None

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Papers are filled in from here on, if they are the unit."""
        self._last = perf_counter() if unit == "papers" else None
        self._progress.start(total, done, unit)

    def advance(self, papers: int) -> None:
        """So many more have been filled in."""
        if self._last is not None:
            now = perf_counter()
            self.times.papers += papers
            self.times.indexing += now - self._last
            self._last = now
        self._progress.advance(papers)

    def note(self, text: str) -> None:
        """See `Progress`."""
        self._progress.note(text)


def line(times: Mapping[str, float], mode: str | None) -> str:
    """The times of a report for people: milliseconds a paper and a query, and which vectors were there already."""
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
    """The seconds that each step took for a paper or a query in each run of one system, by step; of those that two runs or more measured.

    A single run says nothing: another one on the same machine may take twice as long.
    """
    seconds_of = {}
    for step, (count, seconds) in STEPS.items():
        measured = [run[seconds] / run[count] for run in runs if run.get(count) and run.get(seconds)]
        if len(measured) > 1:
            seconds_of[step] = measured
    return seconds_of


def relative(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, float]]:
    """Run times relative to the first system: system -> step -> how many times as long as the first takes for a paper or a query.

    Args:
        runs: system -> the times of each of its runs, as in their reports. A step is the mean over runs, and left out where not both
            systems have it measured twice.
    """
    means = {system: {step: sum(row) / len(row) for step, row in repeated(of_system).items()} for system, of_system in runs.items()}
    first = next(iter(means.values()), {})
    return {system: {step: mean / first[step] for step, mean in row.items() if step in first} for system, row in means.items()}


def repeated_lines(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Run times for people: a line for each system and step that was measured twice or more, with its mean, its least and its greatest.

    Behind them stands how many times as long as the first system that is, where both were measured.
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
