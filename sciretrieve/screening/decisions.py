"""The file of a session: a JSON object a line, which are only ever appended, each on disk before the next paper is shown.

    {"screening": 2, "time": "2026-11-22T09:00:00+00:00", "query": "graph networks", "papers": 5000, …}   how it began, first
    {"time": "…", "reviewer": "Ada"}                           who decides from here on
    {"time": "…", "reasons": ["no graphs", "a review"]}        more reasons for exclusion; they add up
    {"time": "…", "criteria": "Include papers that …"}         what is shown while somebody reads; the last one counts
    {"time": "…", "id": "kipf2017semi", "relevant": true}      a decision: true, false or "maybe"; the last one on a paper counts
    {"time": "…", "id": "kipf2017semi", "note": "section 3"}   a note; the last one on a paper counts
    {"time": "…", "seed": 1234567}                             from here on, a random sample of what is unread is read
    {"time": "…", "id": "li2018", "votes": {"Ada": true, "Ben": false}}   what each of several people decided: a decision if all agree

A decision that excludes may have a `reason`, any a `note`, and `by` where somebody else decided, "" if nobody knows who. One process at a
time has the file open for writing. A line that a crash cut short was never acknowledged, and is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..base.errors import InvalidRequest
from ..files.appending import AppendedFile
from ..files.streams import checked_text

FORMAT = 2

Verdict: TypeAlias = Literal["include", "exclude", "maybe"]
"""What is decided on a paper."""
WRITTEN: Mapping[Verdict, bool | str] = {"include": True, "exclude": False, "maybe": "maybe"}
"""Verdicts as a file has them, under "relevant"."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided on a paper.

    Attributes:
        id: the paper's.
        verdict: what it is; None where several people disagree.
        reason: why the paper is excluded; empty if nothing was said.
        by: who decided; empty if nobody was named.
        time: when, in ISO 8601.
        is_foreign: whether it was made elsewhere, so that somebody who is not named is not whose session it is.
    """

    id: str
    verdict: Verdict | None
    reason: str = ""
    by: tuple[str, ...] = ()
    time: str = ""
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class RandomSample:
    """A random sample of what was unread: its seed, after how many decisions it began, and when."""

    seed: int
    after: int
    time: str


class DecisionFile(AppendedFile):
    """A session's file, open for one process.

    Attributes:
        start: its first line, how the session began; empty for a new file.
        decisions: all decisions, in their order, also those that were changed later.
        sample: the random sample; None before it begins.
        votes: by paper, what each of several people decided.
        notes: by paper, the last note on it.
        noted: by paper, who wrote that note, "" if nobody was named, and when.
        named: all papers of which a line says something, and the number of the first that does.
        reasons: the reasons for exclusion, in the order in which they came to be known.
        criteria: what is shown while somebody reads; empty if nothing was said.
        reviewer: who decides; empty if nobody was named.
        first_reviewer: who was named first, whose the decisions before are; empty if nobody was.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or a new one, which appears with its first line.

        Raises:
            InvalidRequest: a line is no line of such a file; it is named.
            IndexBusy: another process has it open.
        """
        super().__init__(path)
        self.start: Mapping[str, Any] = {}
        self.decisions: list[Decision] = []
        self.sample: RandomSample | None = None
        self.votes: dict[str, Mapping[str, Verdict]] = {}
        self.notes: dict[str, str] = {}
        self.noted: dict[str, tuple[str, str]] = {}
        self.named: dict[str, int] = {}
        self.reasons: list[str] = []
        self.criteria = self.reviewer = self.first_reviewer = ""
        try:
            for number, row in zip(self.numbers, self.rows, strict=True):
                self._take(number, row)
        except BaseException:
            self.close()
            raise

    def append(self, rows: Iterable[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Append lines, all of them with one write, each with the time; they are on disk when this returns. Raises as `AppendedFile`."""
        timed = super().append(rows)
        for number, row in zip(self.numbers[-len(timed) :], timed, strict=False):
            self._take(number, row)
        return timed

    def _take(self, number: int, row: Mapping[str, Any]) -> None:
        """Take in what one line says. Raises InvalidRequest."""
        if number == 1 or not self.start:
            match row:
                case {"screening": int(version)} if number == 1:
                    if version != FORMAT:
                        raise InvalidRequest(f"{self.path} has format {version}, and this version of sciretrieve reads {FORMAT}")
                    self.start = row
                case _:
                    raise InvalidRequest(f"{self.path}, line 1: not the first line of a screening session; name another file")
            return
        time = row["time"] if isinstance(row.get("time"), str) else ""
        reason, note, by = row.get("reason", ""), row.get("note", ""), row.get("by", self.reviewer)
        match row:
            case {"id": str(id), "relevant": bool() | "maybe" as relevant} if all(isinstance(text, str) for text in (reason, note, by)):
                self.decisions.append(Decision(id, _verdict(relevant), reason, (by,) if by else (), time, "by" in row))
            case {"id": str(id), "votes": dict(votes)} if votes and all(_is_vote(vote) for vote in votes.values()):
                given = {name: _verdict(vote) for name, vote in votes.items()}
                verdicts = set(given.values())
                verdict = verdicts.pop() if len(verdicts) == 1 else None
                self.votes[id] = given
                self.decisions.append(Decision(id, verdict, str(reason), tuple(filter(None, given)), time, is_foreign=True))
            case {"id": str(id), "note": str()}:
                pass
            case {"seed": int(seed)} if self.sample is None:
                self.sample = RandomSample(seed, len(self.decisions), time)
            case {"reasons": list(reasons)} if all(isinstance(one, str) for one in reasons):
                self.reasons += [one for one in reasons if one not in self.reasons]
            case {"criteria": str(criteria)}:
                self.criteria = criteria
            case {"reviewer": str(reviewer)}:
                self.reviewer, self.first_reviewer = reviewer, self.first_reviewer or reviewer
            case _:
                example = '{"id": "…", "relevant": true}'
                raise InvalidRequest(f"{self.path}, line {number}: not a decision such as {example}; correct the line, or remove it")
        if "id" in row:
            self.named.setdefault(row["id"], number)
            if "note" in row:
                self.notes[row["id"]], self.noted[row["id"]] = str(note), (str(by), time)


def decided(verdict: Verdict, reason: str = "", note: str = "", by: str = "") -> dict[str, Any]:
    """What a line says of a decision, beside the paper's id. Raises InvalidRequest for a text that is not Unicode."""
    texts = {"reason": reason, "note": note.strip(), "by": by}
    return {"relevant": WRITTEN[verdict]} | {name: checked_text(text, name) for name, text in texts.items() if text.strip()}


def _verdict(relevant: bool | str) -> Verdict:
    return "maybe" if isinstance(relevant, str) else "include" if relevant else "exclude"


def _is_vote(value: Any) -> bool:
    return isinstance(value, bool) or value == "maybe"
