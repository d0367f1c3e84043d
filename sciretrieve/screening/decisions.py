"""The file of a session: one JSON object per line. Lines are only appended, and are on disk before the next paper is shown.

    {"screening": 2, "time": "2026-11-22T09:00:00+00:00", "query": "graph networks", "papers": 5000, …}   the first line: settings
    {"time": "…", "reviewer": "Ada"}                           the reviewer from here on
    {"time": "…", "reasons": ["no graphs", "a review"]}        further reasons for exclusion
    {"time": "…", "criteria": "Include papers that …"}         the text shown while reading; the last one counts
    {"time": "…", "id": "kipf2017semi", "relevant": true}      a decision: true, false or "maybe"; the last one on a paper counts
    {"time": "…", "id": "kipf2017semi", "note": "section 3"}   a note; the last one on a paper counts
    {"time": "…", "seed": 1234567}                             from here on, a random sample of the unread papers is read
    {"time": "…", "id": "li2018", "votes": {"Ada": true, "Ben": false}}   several reviewers' verdicts: a decision if all agree

An excluding decision may have a `reason`, and any decision a `note`. It has `by` if another person decided; "" means an unknown person.
Only one process may have the file open for writing. A line truncated by a crash was never acknowledged, and is dropped.
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
"""A decision on a paper."""
WRITTEN: Mapping[Verdict, bool | str] = {"include": True, "exclude": False, "maybe": "maybe"}
"""Verdicts as stored in a file, under "relevant"."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a paper.

    Attributes:
        id: the paper's id.
        verdict: the verdict; None if reviewers disagree.
        reason: why the paper is excluded; empty if not given.
        by: who decided; empty if unnamed.
        time: when, in ISO 8601.
        is_foreign: whether it was imported. If so, an unnamed person is not the session's reviewer.
    """

    id: str
    verdict: Verdict | None
    reason: str = ""
    by: tuple[str, ...] = ()
    time: str = ""
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class RandomSample:
    """A random sample of the unread papers: its seed, the number of decisions before it, and when it began."""

    seed: int
    after: int
    time: str


class DecisionFile(AppendedFile):
    """A session's file, opened by this process.

    Attributes:
        start: the first line, with the session's settings; empty for a new file.
        decisions: all decisions, in order, including those changed later.
        sample: the random sample; None before it begins.
        votes: verdicts of several reviewers, by paper.
        notes: the last note, by paper.
        noted: author ("" if unnamed) and time of that note, by paper.
        named: all papers that a line mentions, with the number of the first such line.
        reasons: the known reasons for exclusion, in order of appearance.
        criteria: the text shown while reading; empty if there is none.
        reviewer: who decides; empty if unnamed.
        first_reviewer: the first named reviewer, to whom earlier decisions belong; empty if none was named.
    """

    def __init__(self, path: Path) -> None:
        """Open the file. A new file is created with its first line.

        Raises:
            InvalidRequest: a line is invalid; the message names it.
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
        """Append lines with the time, by a single write. They are on disk when this returns. Raises as `AppendedFile`."""
        timed = super().append(rows)
        for number, row in zip(self.numbers[-len(timed) :], timed, strict=False):
            self._take(number, row)
        return timed

    def _take(self, number: int, row: Mapping[str, Any]) -> None:
        """Apply a line. Raises InvalidRequest."""
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
    """The fields of a decision's line, besides the paper's id. Raises InvalidRequest for text that is not valid Unicode."""
    texts = {"reason": reason, "note": note.strip(), "by": by}
    return {"relevant": WRITTEN[verdict]} | {name: checked_text(text, name) for name, text in texts.items() if text.strip()}


def _verdict(relevant: bool | str) -> Verdict:
    return "maybe" if isinstance(relevant, str) else "include" if relevant else "exclude"


def _is_vote(value: Any) -> bool:
    return isinstance(value, bool) or value == "maybe"
