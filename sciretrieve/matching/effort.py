"""Search effort of approximate indexes, and the recall measured on an index's own papers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Knob: TypeAlias = Literal["ef", "nprobe"]


@dataclass(frozen=True, slots=True)
class Effort:
    """Search effort of an index.

    Attributes:
        ef: candidates that HNSW keeps while walking its graph, at least as many as it is asked for.
        nprobe: number of IVF lists to search.
        deepens: whether a deep search visits more lists than `nprobe`, enough to hold the papers asked for.
        exact: whether every vector is scored.
        always: whether the index is used even where an exact search is expected to be faster.
    """

    ef: int | None = None
    nprobe: int | None = None
    deepens: bool = True
    exact: bool = False
    always: bool = False

    @classmethod
    def at(cls, knob: Knob, value: int | None) -> Effort:
        """The effort with this value of a knob."""
        return cls(ef=value) if knob == "ef" else cls(nprobe=value)


USUAL = Effort()
"""Default effort."""
EXACT = Effort(exact=True)


def knob(dense: str) -> Knob | None:
    """The effort setting of this index type, a value of `--dense`: `ef` for HNSW, `nprobe` for IVF, None for others."""
    if re.search("IVF|IMI", dense) or dense in ("ivf", "rabitq"):
        return "nprobe"  # also if a graph finds the lists
    return "ef" if dense == "hnsw" or "HNSW" in dense else None


@dataclass(frozen=True, slots=True)
class Step:
    """A knob's value with its recall and its milliseconds per query."""

    value: int | None
    recall: float
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """The measurement of an approximate index when it was committed.

    Attributes:
        knob: the effort setting of its type; None if it has none.
        target: the wanted recall.
        value: the knob's least value that reached the target, else the greatest; None without a knob.
        steps: the tried values, ascending, with their results.
        k: recall is the share found of this many best papers.
        queries: number of papers whose vectors were the queries. A paper never counts as an answer to itself.
        exact_milliseconds: time per query of an exact search.
        bytes: size of the FAISS indexes, which a search reads besides the candidates' vectors.
    """

    knob: Knob | None
    target: float
    value: int | None
    steps: tuple[Step, ...]
    k: int
    queries: int
    exact_milliseconds: float
    bytes: int

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Trial:
        """Read from a manifest. Raises KeyError, TypeError or ValueError if the fields do not form a trial."""
        steps = tuple(Step(**step) for step in facts["steps"])
        trial = cls(**{**facts, "steps": steps})
        values = [trial.value, *(step.value for step in steps)]
        if trial.knob not in (None, "ef", "nprobe") or not steps or any((value is None) != (trial.knob is None) for value in values):
            raise ValueError("a trial's knob")
        if not all(value is None or (type(value) is int and 1 <= value < 1 << 31) for value in values) or trial.chosen is None:
            raise ValueError("a trial's values")
        if not all(type(number) is int and number >= 1 for number in (trial.k, trial.queries, trial.bytes)):
            raise ValueError("a trial's counts")
        measured = [trial.target, trial.exact_milliseconds, *(number for step in steps for number in (step.recall, step.milliseconds))]
        if not all(0 <= number < float("inf") for number in measured):
            raise ValueError("a trial's measurements")
        return trial

    def __str__(self) -> str:
        """finds 98.9 % of the best 10 with ef 64, in 1.2 ms a query on the machine that tried it out (9.8 ms for all vectors)"""
        assert self.chosen is not None
        setting = f" with {self.knob} {self.value}" if self.knob else ""
        short = f", less than the {100 * self.target:.4g} % wanted" if self.chosen.recall < self.target else ""
        return (
            f"finds {100 * self.chosen.recall:.4g} % of the best {self.k}{setting}{short}, in {self.chosen.milliseconds:.3g} ms a query "
            f"on the machine that tried it out ({self.exact_milliseconds:.3g} ms for all vectors)"
        )

    @property
    def chosen(self) -> Step | None:
        """The result of the chosen value."""
        return next((step for step in self.steps if step.value == self.value), None)

    @property
    def effort(self) -> Effort:
        """The default effort of this index."""
        return self._effort(self.value)

    def reaching(self, recall: float) -> Effort:
        """Least effort measured to reach this recall; exact search if none did."""
        if recall >= 1:
            return EXACT
        return next((self._effort(step.value) for step in self.steps if step.recall >= recall), EXACT)

    def _effort(self, value: int | None) -> Effort:
        return USUAL if self.knob is None else Effort.at(self.knob, value)
