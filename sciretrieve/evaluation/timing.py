"""Run times of an evaluation: measured while it runs, kept in its report, and compared between systems (as in SciRepEval's Table 4)."""

from __future__ import annotations

import math
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
        self._progress, self._times = progress, times
        self._last: float | None = None

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Papers are filled in from here on, if they are the unit."""
        self._last = perf_counter() if unit == "papers" else None
        self._progress.start(total, done, unit)

    def advance(self, papers: int) -> None:
        """So many more have been filled in."""
        if self._last is not None:
            now = perf_counter()
            self._times.papers += papers
            self._times.indexing += now - self._last
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


def relative(times: Mapping[str, Mapping[str, Mapping[str, float]]], systems: Sequence[str]) -> dict[str, dict[str, float]]:
    """Run times relative to the first system: system -> step -> how many times as long as the first takes for a paper or a query.

    Args:
        times: benchmark -> system -> times as in a report.
        systems: the systems in their order. A step is the geometric mean over benchmarks where both were measured, and left out if
            there is none.
    """
    ratios_of: dict[str, dict[str, float]] = {}
    for system in systems:
        for step, (count, seconds) in STEPS.items():
            ratios = []
            for row in times.values():
                pair: list[Mapping[str, Any]] = [row.get(system, {}), row.get(systems[0], {})]
                if all(one.get(count) and one.get(seconds) for one in pair):
                    ours, first = (one[seconds] / one[count] for one in pair)
                    ratios.append(math.log(ours / first))
            if ratios:
                ratios_of.setdefault(system, {})[step] = math.exp(sum(ratios) / len(ratios))
    return ratios_of
