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
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class _Said:
    """What the lines say, beside how the session began."""

    decisions: list[Decision] = field(default_factory=list)
    sample: RandomSample | None = None
    votes: dict[str, Mapping[str, Verdict]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    noted: dict[str, tuple[str, str]] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    criteria: str = ""
    reviewer: str = ""
    first_reviewer: str = ""


class DecisionFile:
    """A session's file, open for one process.

    Attributes:
        start: its first line, how the session began; empty for a new file.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or a new one, which appears with its first line.

        Raises:
            InvalidRequest: a line is no line of such a file; it is named.
            IndexBusy: another process has it open.
        """
        self._file = AppendedFile(path)
        self.start: Mapping[str, Any] = {}
        self._said = _Said()
        try:
            self._take_from(0)
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._file.path

    @property
    def decisions(self) -> Sequence[Decision]:
        """All decisions, in their order, also those that were changed later."""
        return self._said.decisions

    @property
    def sample(self) -> RandomSample | None:
        """The random sample; None before it begins."""
        return self._said.sample

    @property
    def votes(self) -> Mapping[str, Mapping[str, Verdict]]:
        """By paper, what each of several people decided."""
        return self._said.votes

    @property
    def notes(self) -> Mapping[str, str]:
        """By paper, the last note on it."""
        return self._said.notes

    @property
    def noted(self) -> Mapping[str, tuple[str, str]]:
        """By paper, who wrote that note, "" if nobody was named, and when."""
        return self._said.noted

    @property
    def named(self) -> Mapping[str, int]:
        """All papers of which a line says something, and the number of the first that does."""
        return self._said.named

    @property
    def reasons(self) -> Sequence[str]:
        """The reasons for exclusion, in the order in which they came to be known."""
        return self._said.reasons

    @property
    def criteria(self) -> str:
        """What is shown while somebody reads; empty if nothing was said."""
        return self._said.criteria

    @property
    def reviewer(self) -> str:
        """Who decides; empty if nobody was named."""
        return self._said.reviewer

    @property
    def first_reviewer(self) -> str:
        """Who was named first, whose the decisions before are; empty if nobody was."""
        return self._said.first_reviewer

    def close(self) -> None:
        """Let another process have the file. Closing twice does nothing."""
        self._file.close()

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Write the first line of a new file. Raises InvalidRequest if the file has appeared meanwhile."""
        self.append([{"screening": FORMAT, **facts}])

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append lines, all of them with one write, each with the time; they are on disk when this returns."""
        known = len(self._file.rows)
        self._file.append(rows)
        self._take_from(known)

    def _take_from(self, first: int) -> None:
        for number, row in zip(self._file.numbers[first:], self._file.rows[first:], strict=True):
            self._take(number, row)

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
        said, time = self._said, row.get("time")
        time = time if isinstance(time, str) else ""
        reason, note, by = row.get("reason", ""), row.get("note", ""), row.get("by", said.reviewer)
        match row:
            case {"id": str(id), "relevant": bool() | "maybe" as relevant} if all(isinstance(text, str) for text in (reason, note, by)):
                said.decisions.append(Decision(id, _verdict(relevant), reason, (by,) if by else (), time, "by" in row))
            case {"id": str(id), "votes": dict(votes)} if votes and all(_is_vote(vote) for vote in votes.values()):
                given = {name: _verdict(vote) for name, vote in votes.items()}
                verdicts = set(given.values())
                verdict = verdicts.pop() if len(verdicts) == 1 else None
                said.votes[id] = given
                said.decisions.append(Decision(id, verdict, str(reason), tuple(filter(None, given)), time, is_foreign=True))
            case {"id": str(id), "note": str()}:
                pass
            case {"seed": int(seed)} if said.sample is None:
                said.sample = RandomSample(seed, len(said.decisions), time)
            case {"reasons": list(reasons)} if all(isinstance(one, str) for one in reasons):
                said.reasons += [one for one in reasons if one not in said.reasons]
            case {"criteria": str(criteria)}:
                said.criteria = criteria
            case {"reviewer": str(reviewer)}:
                said.reviewer, said.first_reviewer = reviewer, said.first_reviewer or reviewer
            case _:
                example = '{"id": "…", "relevant": true}'
                raise InvalidRequest(f"{self.path}, line {number}: not a decision such as {example}; correct the line, or remove it")
        if "id" in row:
            said.named.setdefault(row["id"], number)
            if "note" in row:
                said.notes[row["id"]], said.noted[row["id"]] = str(note), (str(by), time)


def decided(verdict: Verdict, reason: str = "", note: str = "", by: str = "") -> dict[str, Any]:
    """What a line says of a decision, beside the paper's id. Raises InvalidRequest for a text that is not Unicode."""
    texts = {"reason": reason, "note": note.strip(), "by": by}
    return {"relevant": WRITTEN[verdict]} | {name: checked_text(text, name) for name, text in texts.items() if text.strip()}


def _verdict(relevant: bool | str) -> Verdict:
    return "maybe" if isinstance(relevant, str) else "include" if relevant else "exclude"


def _is_vote(value: Any) -> bool:
    return isinstance(value, bool) or value == "maybe"
