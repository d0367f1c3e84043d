"""The file of a session: a JSON object a line, which are only ever appended, each on disk before the next paper is shown.

    {"screening": 2, "time": "2026-11-22T09:00:00+00:00", "query": "graph networks", "papers": 5000, …}   how it began, first
    {"time": "…", "reviewer": "Ada"}                           who decides from here on
    {"time": "…", "reasons": ["no graphs", "a review"]}        more reasons for exclusion; they add up
    {"time": "…", "criteria": "Include papers that …"}         what is shown while somebody reads; the last one counts
    {"time": "…", "id": "kipf2017semi", "relevant": true}      a decision: true, false or "maybe"; the last one on a paper counts
    {"time": "…", "id": "kipf2017semi", "note": "section 3"}   a note; the last one on a paper counts
    {"time": "…", "seed": 1234567}                             from here on, a random sample of what is unread is read
    {"time": "…", "id": "li2018", "votes": {"Ada": true, "Ben": false}}   what each of several people decided: a decision if all agree

A decision that excludes may have a `reason`, any a `note`, and `by` where somebody else decided. One process at a time has the file open
for writing. A line that a crash cut short was never acknowledged, and is dropped. Files of format 1 have no groups of near-identical
papers, and go on so.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ..errors import IndexBusy, InvalidRequest
from ..files.streams import checked_text
from ..files.writing import make_folder, sync_file

FORMAT = 2
"""Of new files. Those of format 1 are read and continued."""

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
    """

    id: str
    verdict: Verdict | None
    reason: str = ""
    by: tuple[str, ...] = ()
    time: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A random sample of what was unread: its seed, after how many decisions it began, and when."""

    seed: int
    after: int
    time: str


@dataclass(slots=True)
class _Said:
    """What the lines say, beside how the session began."""

    decisions: list[Decision] = field(default_factory=list)
    sample: Sample | None = None
    votes: dict[str, Mapping[str, Verdict]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    named: dict[str, int] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    criteria: str = ""
    reviewer: str = ""


class DecisionFile:
    """A session's file, open for one process.

    Attributes:
        path: where it is.
        start: its first line, how the session began; empty for a new file.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or a new one, which appears with its first line.

        Raises:
            InvalidRequest: a line is no line of such a file; it is named.
            IndexBusy: another process has it open.
        """
        self.path = path
        self.start: Mapping[str, Any] = {}
        self._said = _Said()
        self._handle: int | None = None
        self._length = self._lines = 0
        self._missing = b""  # the end of the last line
        with suppress(FileNotFoundError):
            self._handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        if self._handle is not None:
            try:
                self._lock()
                self._read()
            except BaseException:
                self.close()
                raise

    @property
    def decisions(self) -> Sequence[Decision]:
        """All decisions, in their order, also those that were changed later."""
        return self._said.decisions

    @property
    def sample(self) -> Sample | None:
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

    def close(self) -> None:
        """Let another process have the file. Closing twice does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Write the first line of a new file. Raises InvalidRequest if the file has appeared meanwhile."""
        make_folder(self.path.parent)
        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError as error:
            raise InvalidRequest(f"{self.path} has just been made by another process; run the command again to continue it") from error
        self._lock()
        self.append([{"screening": FORMAT, **facts}])
        sync_file(self.path.parent)

    def append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append lines, all of them with one write, each with the time; they are on disk when this returns."""
        assert self._handle is not None
        timed_rows = [{"time": now(), **row} for row in rows]
        lines = [as_line(row) for row in timed_rows]
        if not lines:
            return
        data = self._missing + b"".join(lines)
        os.ftruncate(self._handle, self._length)  # away with what a crash, or a full disk, left of a line
        written = 0
        while written < len(data):
            written += os.pwrite(self._handle, data[written:], self._length + written)
        os.fsync(self._handle)
        self._length += len(data)
        self._missing = b""
        for row in timed_rows:
            self._lines += 1
            self._take(self._lines, row)

    def _lock(self) -> None:
        assert self._handle is not None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise IndexBusy(str(self.path), "") from error
        except OSError:  # a file system without locks
            return

    def _read(self) -> None:
        assert self._handle is not None
        data = b""
        while block := os.pread(self._handle, 1 << 20, len(data)):
            data += block
        *lines, last = data.split(b"\n")
        if _object(last) is not None:  # somebody's editor left out the last line's end
            lines.append(last)
            self._missing, last = b"\n", b""
        self._length, self._lines = len(data) - len(last), len(lines)
        for number, line in enumerate(lines, start=1):
            if (row := _object(line)) is not None or line.strip():
                self._take(number, row or {})
        if lines and not self.start:
            raise self._not_first()
        if not lines:
            raise InvalidRequest(f"{self.path} is empty; remove it, or name another file")

    def _take(self, number: int, row: Mapping[str, Any]) -> None:
        """Take in what one line says. Raises InvalidRequest."""
        if number == 1 or not self.start:
            match row:
                case {"screening": int(version)} if number == 1:
                    if not 1 <= version <= FORMAT:
                        raise InvalidRequest(f"{self.path} has format {version}, and this version of sciretrieve reads 1 and {FORMAT}")
                    self.start = row
                case _:
                    raise self._not_first()
            return
        said, time = self._said, row.get("time")
        time = time if isinstance(time, str) else ""
        reason, note, by = row.get("reason", ""), row.get("note", ""), row.get("by", said.reviewer)
        match row:
            case {"id": str(id), "relevant": bool() | "maybe" as relevant} if all(isinstance(text, str) for text in (reason, note, by)):
                said.decisions.append(Decision(id, _verdict(relevant), reason, (by,) if by else (), time))
            case {"id": str(id), "votes": dict(votes)} if votes and all(_is_vote(vote) for vote in votes.values()):
                given = {name: _verdict(vote) for name, vote in votes.items()}
                verdicts = set(given.values())
                verdict = verdicts.pop() if len(verdicts) == 1 else None
                said.votes[id] = given
                said.decisions.append(Decision(id, verdict, str(reason), tuple(filter(None, given)), time))
            case {"id": str(id), "note": str()}:
                pass
            case {"seed": int(seed)} if said.sample is None:
                said.sample = Sample(seed, len(said.decisions), time)
            case {"reasons": list(reasons)} if all(isinstance(one, str) for one in reasons):
                said.reasons += [one for one in reasons if one not in said.reasons]
            case {"criteria": str(criteria)}:
                said.criteria = criteria
            case {"reviewer": str(reviewer)}:
                said.reviewer = reviewer
            case _:
                example = '{"id": "…", "relevant": true}'
                raise InvalidRequest(f"{self.path}, line {number}: not a decision such as {example}; correct the line, or remove it")
        if "id" in row:
            said.named.setdefault(row["id"], number)
            said.notes |= {row["id"]: str(note)} if "note" in row else {}

    def _not_first(self) -> InvalidRequest:
        return InvalidRequest(f"{self.path}, line 1: not the first line of a screening session; name another file")


def decided(verdict: Verdict, reason: str = "", note: str = "", by: str = "") -> dict[str, Any]:
    """What a line says of a decision, beside the paper's id. Raises InvalidRequest for a text that is not Unicode."""
    texts = {"reason": reason, "note": note.strip(), "by": by}
    return {"relevant": WRITTEN[verdict]} | {name: checked_text(text, name) for name, text in texts.items() if text.strip()}


def as_line(row: Mapping[str, Any]) -> bytes:
    """A line of a session's file."""
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def now() -> str:
    """The time, to the second, as lines have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _verdict(relevant: bool | str) -> Verdict:
    return "maybe" if isinstance(relevant, str) else "include" if relevant else "exclude"


def _is_vote(value: Any) -> bool:
    return isinstance(value, bool) or value == "maybe"


def _object(line: bytes) -> dict[str, Any] | None:
    """The JSON object that a line is, or None."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
