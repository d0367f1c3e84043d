"""When enough is read: how far a session is, and the rules that look at this and say whether to stop, and what they promise."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..base.errors import InvalidRequest
from ..base.wording import counted

COUNTED = re.compile(r"(budget|consecutive):(\d{1,9})")
DRY, DRY_SHARE = 50, 0.05
"""Irrelevant papers in a row after which a random sample is read instead of the ranking: at least so many, and at least this share of all
papers, as what a sample costs grows with them, too. Measured, see docs/tried.md."""


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
        claim = stopping_rule(self.rule).claim(self) if self.unread else "all papers are read"
        if not self.unresolved:
            return claim
        counts = [counted(count, noun) for count, noun in ((self.maybe, "maybe"), (self.conflicts, "conflict")) if count]
        count, them = ("counts", "it") if self.unresolved == 1 else ("count", "them")
        return f"{claim}; {' and '.join(counts)} {count} as not found, so decide {them}"


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """Says when enough is read.

    Attributes:
        kind: "sample", a bound from a random sample of the unread, which is a promise; "ranking", a test on the papers that were read last,
            which nothing guarantees; "budget", a number of papers that can be read; or "consecutive", irrelevant papers in a row.
        count: that number of papers, or how many in a row.
    """

    kind: str
    count: int = 0

    @property
    def draws_sample(self) -> bool:
        """Whether a random sample is read once the ranking is dry."""
        return self.kind == "sample"

    def stops(self, status: Status) -> bool:
        """Whether enough is read."""
        match self.kind:
            case "sample":
                return status.low is not None and status.low >= status.target
            case "ranking":
                return status.p_value <= 1 - status.confidence
            case "budget":
                return status.read >= self.count
        return status.irrelevant_in_a_row >= self.count

    def claim(self, status: Status) -> str:
        """What may be said of the papers that are unread, and what it assumes."""
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
                return f"{verb}: {status.read:,} papers are read of a budget of {self.count:,}; it promises nothing of the unread"
        in_a_row = f"the last {counted(status.irrelevant_in_a_row, 'paper')} read were irrelevant, of {self.count:,} in a row"
        return f"{verb}: {in_a_row}; it promises nothing of the unread"


def stopping_rule(text: str) -> StoppingRule:
    """The rule that a text names: sample, ranking, budget:N or consecutive:N, N a number of papers. Raises InvalidRequest."""
    if text in ("sample", "ranking"):
        return StoppingRule(text)
    match = COUNTED.fullmatch(text)
    if match is None or not int(match[2]):
        raise InvalidRequest(f"there is no rule {text!r}; write sample, ranking, or with a number of papers budget:500 or consecutive:50")
    return StoppingRule(match[1], int(match[2]))


def dry_run(papers: int) -> int:
    """After how many irrelevant papers in a row a ranking of so many papers has run dry."""
    return max(DRY, round(DRY_SHARE * papers))
