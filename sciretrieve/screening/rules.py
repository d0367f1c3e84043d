"""Status of a session, and stopping rules with their statements on recall."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..base.errors import InvalidRequest
from ..base.wording import counted

COUNTED = re.compile(r"(budget|consecutive):(\d{1,9})")
DRY, DRY_SHARE = 50, 0.05
"""Irrelevant papers in a row after which a random sample replaces the ranking: at least DRY, and at least this share of all papers, since a
sample's cost grows with their number. Measured, see docs/tried.md."""


@dataclass(frozen=True, slots=True)
class Status:
    """Status of a session. Near-identical papers count as one.

    Attributes:
        papers: number of papers to screen.
        read: number of papers with a decision, maybes and conflicts included.
        relevant: number of relevant papers among them.
        maybe: number of maybes.
        conflicts: number of papers on which reviewers disagree.
        rule: the stopping rule.
        target: the wanted recall.
        confidence: probability of the statements.
        sampled: papers read of the random sample; 0 before it begins.
        sampled_relevant: relevant papers among these.
        recall: estimated share of the relevant papers that was found; None without a sample.
        low, high: bounds of that share, each with probability `confidence`, at all moments of the session at once, however maybes and
            conflicts are decided; None without a sample.
        p_value: of a recall below the target, if the ranking was no worse than chance; see `ranked_p_value`.
        irrelevant_in_a_row: number of irrelevant papers at the end of the papers read.
        stop: whether the stopping rule is satisfied.
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
        """Number of papers without a decision."""
        return self.papers - self.read

    @property
    def unresolved(self) -> int:
        """Number of maybes and conflicts."""
        return self.maybe + self.conflicts

    @property
    def claim(self) -> str:
        """The present statement on recall, with its assumption, as a sentence."""
        claim = stopping_rule(self.rule).claim(self) if self.unread else "all papers are read"
        if not self.unresolved:
            return claim
        counts = [counted(count, noun) for count, noun in ((self.maybe, "maybe"), (self.conflicts, "conflict")) if count]
        count, them = ("counts", "it") if self.unresolved == 1 else ("count", "them")
        return f"{claim}; {' and '.join(counts)} {count} as not found, so decide {them}"


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """A rule that says when to stop reading.

    Attributes:
        kind: "sample", a bound from a random sample of the unread papers, with a guarantee; "ranking", a test on the last papers read,
            without a guarantee; "budget", a number of papers; or "consecutive", irrelevant papers in a row.
        count: the number of papers, or of papers in a row.
    """

    kind: str
    count: int = 0

    @property
    def draws_sample(self) -> bool:
        """Whether a random sample is read once the ranking runs dry."""
        return self.kind == "sample"

    def stops(self, status: Status) -> bool:
        """Whether enough papers are read."""
        match self.kind:
            case "sample":
                return status.low is not None and status.low >= status.target
            case "ranking":
                return status.p_value <= 1 - status.confidence
            case "budget":
                return status.read >= self.count
        return status.irrelevant_in_a_row >= self.count

    def claim(self, status: Status) -> str:
        """The statement on the unread papers, with its assumption."""
        verb, wanted = "stop" if status.stop else "go on", f"{100 * status.target:g} %"
        match self.kind, status.low:
            case "sample", None:
                begins = f"after {dry_run(status.papers):,} irrelevant papers in a row"
                return f"go on: the recall is estimated from a random sample, which begins {begins}"
            case "sample", float(low):
                sure, found = f"{100 * status.confidence:g} % sure", f"{100 * low:.1f} % of the relevant papers"
                known = f"{verb}: {sure} that at least {found} are read (from a random sample of the unread)"
                return known if status.stop else f"{known}; {wanted} is wanted"
            case "ranking", _:
                assumption = "if the ranking finds no less than chance does (no guarantee)"
                return f"{verb}: p = {status.p_value:.3g} that less than {wanted} of the relevant papers are read, {assumption}"
            case "budget", _:
                return f"{verb}: {status.read:,} papers are read of a budget of {self.count:,}; it says nothing about unread papers"
        in_a_row = f"the last {counted(status.irrelevant_in_a_row, 'paper')} read were irrelevant, of {self.count:,} in a row"
        return f"{verb}: {in_a_row}; it says nothing about unread papers"


def stopping_rule(text: str) -> StoppingRule:
    """Parse a rule: sample, ranking, budget:N or consecutive:N, where N is a number of papers. Raises InvalidRequest."""
    if text in ("sample", "ranking"):
        return StoppingRule(text)
    match = COUNTED.fullmatch(text)
    if match is None or not int(match[2]):
        raise InvalidRequest(f"there is no rule {text!r}; write sample, ranking, or with a number of papers budget:500 or consecutive:50")
    return StoppingRule(match[1], int(match[2]))


def dry_run(papers: int) -> int:
    """Number of irrelevant papers in a row after which a ranking of this many papers has run dry."""
    return max(DRY, round(DRY_SHARE * papers))
