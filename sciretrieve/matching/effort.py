"""How hard an approximate search tries, and what was measured of it on an index's own papers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Knob: TypeAlias = Literal["ef", "nprobe"]


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard an index is searched.

    Attributes:
        ef: candidates that HNSW keeps while it walks its graph; it never keeps fewer than it is asked for.
        nprobe: lists of IVF that are searched.
        deepens: whether a deep search looks into more lists than `nprobe`, as many as hold what it asks for.
        exact: whether every vector is scored.
        always: whether the index is asked even where scoring every vector is thought to be quicker.
    """

    ef: int | None = None
    nprobe: int | None = None
    deepens: bool = True
    exact: bool = False
    always: bool = False

    @classmethod
    def at(cls, knob: Knob, value: int | None) -> Effort:
        """With this value of a knob."""
        return cls(ef=value) if knob == "ef" else cls(nprobe=value)


USUAL = Effort()
"""As hard as is enough on most collections."""
EXACT = Effort(exact=True)


def knob(dense: str) -> Knob | None:
    """What says how hard an index of this type, a value of `--dense`, is searched: HNSW's `ef`, IVF's `nprobe`, or nothing."""
    if re.search("IVF|IMI", dense) or dense in ("ivf", "rabitq"):
        return "nprobe"  # also where a graph finds the lists
    return "ef" if dense == "hnsw" or "HNSW" in dense else None


@dataclass(frozen=True, slots=True)
class Step:
    """What one value of a knob gave: the share of the true best papers that were found, and milliseconds a query."""

    value: int | None
    recall: float
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """What an approximate index was found to be worth when it was committed.

    Attributes:
        knob: what says how hard its type is searched; None if nothing does.
        target: the recall that was asked for.
        value: the knob's least value that reached the target, else its greatest; None without a knob.
        steps: what each value gave that was tried, rising.
        k: of how many best papers recall is the share that was found.
        queries: the papers whose vectors were the queries; none counts as an answer to itself.
        exact_milliseconds: a query's time where every vector is scored.
        bytes: the size of the FAISS indexes, which a search reads besides the vectors of its candidates.
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
        """From a manifest's facts. Raises KeyError, TypeError or ValueError if they are of no trial."""
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
        """What the chosen value gave."""
        return next((step for step in self.steps if step.value == self.value), None)

    @property
    def effort(self) -> Effort:
        """How hard the index is searched where nothing else is asked for."""
        return self._effort(self.value)

    def reaching(self, recall: float) -> Effort:
        """The least effort that was measured to reach this recall: exact search where none did."""
        if recall >= 1:
            return EXACT
        return next((self._effort(step.value) for step in self.steps if step.recall >= recall), EXACT)

    def _effort(self, value: int | None) -> Effort:
        return USUAL if self.knob is None else Effort.at(self.knob, value)
