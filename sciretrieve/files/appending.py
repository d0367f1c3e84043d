"""Append-only files of JSON lines. Each line is on disk before its writer continues, and one process at a time has the file open."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from ..base import system
from ..base.errors import IndexBusy, InvalidRequest
from .strict_json import RepeatedKey, parsed
from .writing import forbids_writing, make_folder, sync_file


class AppendedFile:
    """An append-only file, opened by this process.

    A line truncated by a crash or a full disk was never acknowledged. It is dropped, and the next line replaces it.

    Attributes:
        path: the file's path.
        rows: the lines' objects, in order; empty for a missing file, which is created with its first line.
        numbers: the line number of each object, from 1; empty lines count.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, which may be missing.

        Raises:
            InvalidRequest: a line is no JSON object, or the file has only empty lines.
            IndexBusy: another process has it open.
        """
        self.path = path
        self.rows: list[Mapping[str, Any]] = []
        self.numbers: list[int] = []
        self._length = self._lines = 0
        self._missing = b""  # the end of the last line
        self._handle: int | None = None
        self._refusal: OSError | None = None
        with suppress(FileNotFoundError):
            self._handle = self._opened()
        if self._handle is not None:
            try:
                self._lock()
                self._read()
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file for other processes. Closing twice does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def append(self, rows: Iterable[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Append objects with the time, by a single write, and return them. They are on disk when this returns.

        Raises InvalidRequest if another process has just created the file.
        """
        time = now()
        timed = [{"time": time, **row} for row in rows]
        if not timed:
            return timed
        if self._refusal is not None:
            raise self._refusal
        if self._handle is None:
            self._make()
        handle = self._handle
        assert handle is not None
        data = self._missing + b"".join(map(as_line, timed))
        os.ftruncate(handle, self._length)
        written = 0
        while written < len(data):
            written += system.write_at(handle, data[written:], self._length + written)
        os.fsync(handle)
        if not self._length:
            sync_file(self.path.parent)
        self._length += len(data)
        self._missing = b""
        self.rows += timed
        self.numbers += range(self._lines + 1, self._lines + len(timed) + 1)
        self._lines += len(timed)
        return timed

    def _opened(self) -> int:
        """The file, open for reading alone where nothing may be written; `append` then raises the reason."""
        try:
            return os.open(self.path, os.O_RDWR | system.BINARY)
        except OSError as error:
            if not forbids_writing(error):
                raise
            self._refusal = error
            return os.open(self.path, os.O_RDONLY | system.BINARY)

    def _make(self) -> None:
        make_folder(self.path.parent)
        try:
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.BINARY, 0o666)
        except FileExistsError as error:
            raise InvalidRequest(f"{self.path} has just been made by another process; run the command again to continue it") from error
        self._lock()

    def _lock(self) -> None:
        assert self._handle is not None
        try:
            system.lock(self._handle)
        except BlockingIOError as error:
            raise IndexBusy(str(self.path), "") from error
        except OSError:  # the file system has no locks
            return

    def _read(self) -> None:
        assert self._handle is not None
        data = b""
        while block := system.read_at(self._handle, 1 << 20, len(data)):
            data += block
        *lines, last = data.split(b"\n")
        try:
            is_whole = _object(last) is not None
        except RepeatedKey:
            is_whole = True
        if is_whole:  # an editor may drop the last line's end
            lines.append(last)
            self._missing, last = b"\n", b""
        self._length, self._lines = len(data) - len(last), len(lines)
        for number, line in enumerate(lines, start=1):
            try:
                row = _object(line)
            except RepeatedKey as error:
                raise InvalidRequest(f"{self.path}, line {number}: {error}") from error
            if row is None and line.strip():
                raise InvalidRequest(f"{self.path}, line {number}: not a JSON object; correct the line, or name another file")
            if row is not None:
                self.rows.append(row)
                self.numbers.append(number)
        if not self.rows and self._length:
            raise InvalidRequest(f"{self.path} is empty; remove it, or name another file")


def as_line(row: Mapping[str, Any]) -> bytes:
    """An object as a line of such a file."""
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def now() -> str:
    """The current time in a file's format, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        row = parsed(line)
    except RepeatedKey:
        raise
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
