"""The file of a session: a JSON object a line, which are only ever appended, each on disk before the next paper is shown.

    {"screening": 1, "time": "2026-11-22T09:00:00+00:00", "query": "graph networks", "papers": 5000, …}   how it began, first
    {"time": "…", "id": "kipf2017semi", "relevant": true}                   a decision; the last one on a paper counts
    {"time": "…", "seed": 1234567}                                         from here on, a random sample of what is unread is read

One process at a time has it open for writing. A line that a crash cut short was never acknowledged, and is dropped.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import IndexBusy, InvalidRequest, NotFound
from ..files.writing import make_folder, sync_file
from ..papers.corpora import delimited
from ..wording import unguarded

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Decision:
    """A line that says of a paper whether it is relevant; `number` is the line's."""

    id: str
    relevant: bool
    number: int


class DecisionFile:
    """A session's file, open for one process.

    Attributes:
        path: where it is.
        start: its first line, how the session began; empty for a new file.
        decisions: all decisions, in their order, also those that were changed later.
        sample: the seed of the random sample, and after how many decisions it began; None before that.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or a new one, which appears with its first line.

        Raises:
            InvalidRequest: a line is no line of such a file; it is named.
            IndexBusy: another process has it open.
        """
        self.path = path
        self.start: Mapping[str, Any] = {}
        self.decisions: list[Decision] = []
        self.sample: tuple[int, int] | None = None
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
        start = {"screening": FORMAT, "time": _now(), **facts}
        self._append([start])
        sync_file(self.path.parent)
        self.start = start

    def decide(self, decisions: Iterable[tuple[str, bool]]) -> None:
        """Append decisions, all of them with one write; they are on disk when this returns."""
        made, time = list(decisions), _now()
        if made:
            first = self._lines + 1
            self._append([{"time": time, "id": id, "relevant": relevant} for id, relevant in made])
            self.decisions += [Decision(id, relevant, first + place) for place, (id, relevant) in enumerate(made)]

    def begin_sample(self, seed: int) -> None:
        """Append that the random sample begins here."""
        self._append([{"time": _now(), "seed": seed}])
        self.sample = seed, len(self.decisions)

    def _append(self, rows: Iterable[Mapping[str, Any]]) -> None:
        assert self._handle is not None
        lines = [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows]
        data = self._missing + b"".join(lines)
        os.ftruncate(self._handle, self._length)  # away with what a crash, or a full disk, left of a line
        written = 0
        while written < len(data):
            written += os.pwrite(self._handle, data[written:], self._length + written)
        os.fsync(self._handle)
        self._length += len(data)
        self._missing = b""
        self._lines += len(lines)

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
            self._take(number, line)
        if lines and not self.start:
            raise InvalidRequest(f"{self.path}, line 1: not the first line of a screening session; name another file")
        if not lines:
            raise InvalidRequest(f"{self.path} is empty; remove it, or name another file")

    def _take(self, number: int, line: bytes) -> None:
        """Read one line. Raises InvalidRequest."""
        row = _object(line)
        match row:
            case {"screening": int(version)} if number == 1 and row is not None:
                if version != FORMAT:
                    raise InvalidRequest(f"{self.path} has format {version}, and this version of sciretrieve reads {FORMAT}")
                self.start = row
            case {"id": str(id), "relevant": bool(relevant)} if self.start:
                self.decisions.append(Decision(id, relevant, number))
            case {"seed": int(seed)} if self.start and self.sample is None:
                self.sample = seed, len(self.decisions)
            case None if not line.strip():
                pass
            case _ if number == 1:
                raise InvalidRequest(f"{self.path}, line 1: not the first line of a screening session; name another file")
            case _:
                example = '{"id": "…", "relevant": true}'
                raise InvalidRequest(f"{self.path}, line {number}: not a decision such as {example}; correct the line, or remove it")


def labels_of(path: Path) -> list[tuple[str, bool]]:
    """Decisions made elsewhere: those of another session's file, or a table with a column of ids and one of 0 and 1, yes and no.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: it has no such columns, or another value in them; the line is named.
    """
    if not path.is_file():
        raise NotFound(f"there is no file {path}")
    if path.suffix.lower() == ".jsonl":
        other = DecisionFile(path)
        other.close()
        return [(decision.id, decision.relevant) for decision in other.decisions]
    labels: list[tuple[str, bool]] = []
    batches = list(delimited.read(path))
    for batch in batches:
        if batch.rejected:
            raise InvalidRequest(f"{path}, row {batch.rejected[0].row}: {batch.rejected[0].reason}; correct the row, or remove it")
        columns = {name.strip().lower(): batch.table[name].to_pylist() for name in batch.table.column_names}
        ids = next((columns[name] for name in ("id", "paper_id", "doi") if name in columns), None)
        words = next((columns[name] for name in ("relevant", "included", "label", "decision") if name in columns), None)
        if ids is None or words is None:
            raise InvalidRequest(f"{path} needs a column id and a column relevant (or included, label, decision)")
        for row, id, word in zip(batch.rows, ids, words, strict=True):
            word = str(word or "").strip().lower()
            if word and word not in WORDS:
                raise InvalidRequest(f"{path}, row {row}: {word!r} is no decision; write 1 or 0, yes or no, or leave it empty")
            if word:  # else it is not decided yet
                labels.append((unguarded(str(id or "").strip()), WORDS[word]))
    if not batches:
        raise InvalidRequest(f"{path} has no rows; give a .csv or .tsv file with a header and decisions")
    return labels


WORDS = {
    **dict.fromkeys(("1", "1.0", "yes", "y", "true", "include", "included", "relevant"), True),
    **dict.fromkeys(("0", "0.0", "no", "n", "false", "exclude", "excluded", "irrelevant"), False),
}
"""What tables say for a decision."""


def _object(line: bytes) -> dict[str, Any] | None:
    """The JSON object that a line is, or None."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
