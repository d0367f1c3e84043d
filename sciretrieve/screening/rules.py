"""When enough is read: how far a session is, and the rules that look at this and say whether to stop, and what they promise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ..base.errors import InvalidRequest
from ..base.wording import counted

COUNTED = re.compile(r"(budget|consecutive):(\d{1,9})")
DRY, DRY_SHARE = 50, 0.05
"""Irrelevant papers in a row after which a random sample is read instead of the ranking: at least so many, and at least this share of all
papers, as what a sample costs grows with them, too. Measured, see docs/screening.md."""


@dataclass(frozen=True, slots=True)
class Status:
    """How far a session is. Near-identical papers count as one.

    Attributes:
        papers: how many papers there are to screen.
        read: on how many of them there is a decision, be it a maybe or a conflict.
        relevant: how many of these are relevant.
        maybe: how many may be.
        conflicts: on how many those who decided disagree.
        rule: what the stopping rule goes by.
        target: the recall to be reached.
        confidence: the probability of what is claimed.
        sampled: how many papers of the random sample were read; 0 before it begins.
        sampled_relevant: how many of these are relevant.
        recall: the estimate of the share of the relevant papers that were found; None without a sample.
        low, high: what that share is at least and at most, each with the probability `confidence`, at all moments of the session at
            once, however the maybes and conflicts are decided; None without a sample.
        p_value: of a recall below the target, if the ranking was no worse than chance; see `ranked_p_value`.
        irrelevant_in_a_row: how many of the papers that were read last were irrelevant.
        stop: whether the stopping rule says that enough is read.
    """

    papers: int
    read: int
    relevant: int
    maybe: int
    conflicts: int
    rule: str
    target: float
    confidence: float
    sampled: int
    sampled_relevant: int
    recall: float | None
    low: float | None
    high: float | None
    p_value: float
    irrelevant_in_a_row: int
    stop: bool

    @property
    def unread(self) -> int:
        """How many papers there is no decision on."""
        return self.papers - self.read

    @property
    def unresolved(self) -> int:
        """How many papers are read and still neither relevant nor irrelevant."""
        return self.maybe + self.conflicts

    @property
    def claim(self) -> str:
        """What may be said of the recall now, and on what assumption, as a sentence."""
        open_ones = f"; {_unresolved(self)}" if self.unresolved else ""
        if not self.unread:
            return f"all papers are read{open_ones}"
        return stopping_rule(self.rule).claim(self) + open_ones


class StoppingRule(Protocol):
    """Says when enough is read."""

    @property
    def draws_sample(self) -> bool:
        """Whether a random sample is read once the ranking is dry."""

    def stops(self, status: Status) -> bool:
        """Whether enough is read."""

    def claim(self, status: Status) -> str:
        """What may be said of the papers that are unread."""


@dataclass(frozen=True, slots=True)
class BySample:
    """A bound from a random sample of the unread, which is a promise."""

    draws_sample: ClassVar[bool] = True

    def stops(self, status: Status) -> bool:
        """Whether the bound from below reaches the target."""
        return status.low is not None and status.low >= status.target

    def claim(self, status: Status) -> str:
        """The bound, or when the sample begins."""
        if status.low is None:
            begins = f"after {dry_run(status.papers):,} irrelevant papers in a row"
            return f"go on: the recall is estimated from a random sample, which begins {begins}"
        sure, found = f"{100 * status.confidence:g} % sure", f"{100 * status.low:.1f} % of the relevant papers"
        known = f"{sure} that at least {found} are read (from a random sample of the unread)"
        return f"stop: {known}" if status.stop else f"go on: {known}; {100 * status.target:g} % is wanted"


@dataclass(frozen=True, slots=True)
class ByRanking:
    """A test on the papers that were read last, which nothing guarantees."""

    draws_sample: ClassVar[bool] = False

    def stops(self, status: Status) -> bool:
        """Whether the test rejects a recall below the target."""
        return status.p_value <= 1 - status.confidence

    def claim(self, status: Status) -> str:
        """The p-value, and what it assumes."""
        assumption = "if the ranking finds no less than chance does (no guarantee)"
        target = f"less than {100 * status.target:g} % of the relevant papers are read"
        return f"{_verb(status)}: p = {status.p_value:.3g} that {target}, {assumption}"


@dataclass(frozen=True, slots=True)
class ByBudget:
    """A number of papers that can be read."""

    count: int
    draws_sample: ClassVar[bool] = False

    def stops(self, status: Status) -> bool:
        """Whether so many papers are read."""
        return status.read >= self.count

    def claim(self, status: Status) -> str:
        """What of the budget is read."""
        return f"{_verb(status)}: {status.read:,} papers are read of a budget of {self.count:,}; it promises nothing of the unread"


@dataclass(frozen=True, slots=True)
class ByConsecutive:
    """Irrelevant papers in a row."""

    count: int
    draws_sample: ClassVar[bool] = False

    def stops(self, status: Status) -> bool:
        """Whether so many of the last papers were irrelevant."""
        return status.irrelevant_in_a_row >= self.count

    def claim(self, status: Status) -> str:
        """How long the run is."""
        in_a_row = f"the last {counted(status.irrelevant_in_a_row, 'paper')} read were irrelevant, of {self.count:,} in a row"
        return f"{_verb(status)}: {in_a_row}; it promises nothing of the unread"


def stopping_rule(text: str) -> StoppingRule:
    """The rule that a text names: sample, ranking, budget:N or consecutive:N, N a number of papers. Raises InvalidRequest."""
    if text == "sample":
        return BySample()
    if text == "ranking":
        return ByRanking()
    match = COUNTED.fullmatch(text)
    if match is None or not int(match[2]):
        raise InvalidRequest(f"there is no rule {text!r}; write sample, ranking, or with a number of papers budget:500 or consecutive:50")
    return (ByBudget if match[1] == "budget" else ByConsecutive)(int(match[2]))


def dry_run(papers: int) -> int:
    """After how many irrelevant papers in a row a ranking of so many papers has run dry."""
    return max(DRY, round(DRY_SHARE * papers))


def _verb(status: Status) -> str:
    return "stop" if status.stop else "go on"


def _unresolved(status: Status) -> str:
    """What the papers that are neither relevant nor irrelevant do to a claim."""
    parts = [counted(status.maybe, "maybe")] * bool(status.maybe) + [counted(status.conflicts, "conflict")] * bool(status.conflicts)
    does, them = ("counts", "it") if status.unresolved == 1 else ("count", "them")
    return f"{' and '.join(parts)} {does} as not found, so decide {them}"
