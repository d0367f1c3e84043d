"""Reading text sources by name: plain, gzip, zstandard, or standard input; as a whole, by lines, by JSON objects."""

from __future__ import annotations

import atexit
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from .errors import InvalidRequest

STDIN = Path("-")
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
SIGNATURES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""How compressed files begin, whatever they are called."""
LONGEST_LINE = 64 << 20
"""Bytes that a line may have: a few kilobytes can expand to gigabytes of one."""
LARGEST_TEXT = 256 << 20
"""Bytes that a source may have that is read as a whole."""


def open_binary(path: Path) -> BinaryIO:
    """Open `path` for reading, decompressed if it is compressed; `-` is standard input, which can be opened again and again."""
    stream = io.BufferedReader(_FromStart(_spooled(sys.stdin.buffer)) if path == STDIN else path.open("rb", buffering=0))
    start = stream.peek(4)
    compression = next((name for signature, name in SIGNATURES.items() if start.startswith(signature)), None)
    compression = compression or COMPRESSIONS.get(path.suffix.lower())
    return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(stream, "r"), compression)) if compression else stream


def blocks(path: Path) -> Iterator[bytes]:
    """All of a source in blocks. Raises InvalidRequest if it cannot be decompressed."""
    with open_binary(path) as stream, _readable(path):
        while block := stream.read(1 << 20):
            yield block


def beginning(path: Path) -> bytes:
    """The first 64 KB of a source, b"" if it cannot be decompressed."""
    try:
        with open_binary(path) as stream:
            return stream.read(1 << 16)
    except OSError:
        return b""


def read_text(path: Path) -> str:
    """All of a source as text. Broken UTF-8 becomes lone surrogates, so that the rest can be used.

    Raises:
        InvalidRequest: the source cannot be decompressed, or is too large.
    """
    parts, size = [], 0
    for block in blocks(path):
        parts.append(block)
        size += len(block)
        if size > LARGEST_TEXT:
            raise InvalidRequest(f"{path} has more than {LARGEST_TEXT >> 20} MB, and such files are read as a whole; divide it")
    return b"".join(parts).removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="surrogateescape")


def lines(path: Path) -> Iterator[bytes]:
    """The lines of a source, without their ends.

    Raises:
        InvalidRequest: the source cannot be decompressed, or has a line that is too long.
    """
    partial_line = b""
    number = 1
    for block in blocks(path):
        first, *next_lines = block.split(b"\n")
        partial_line += first
        if len(partial_line) > LONGEST_LINE:
            raise InvalidRequest(f"{path}, line {number}: more than {LONGEST_LINE >> 20} MB in one line")
        for line in next_lines:
            yield partial_line.removesuffix(b"\r")
            partial_line = line
            number += 1
    if partial_line:
        yield partial_line.removesuffix(b"\r")


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """The lines of a JSON Lines source that are not blank, by number: an object, or what is wrong with the line.

    Raises:
        InvalidRequest: the source cannot be decompressed, or has a line that is too long.
    """
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            yield number, f"broken UTF-8 at byte {error.start}"
        except (ValueError, RecursionError) as error:
            yield number, f"not valid JSON: {error}"
        else:
            if isinstance(row, dict) and row:
                yield number, row
            else:
                yield number, "an empty object" if row == {} else "not a JSON object"


def checked_text(text: str, what: str) -> str:
    """`text` unchanged. Raises InvalidRequest if it has bytes that are not UTF-8, which arrive as lone surrogates."""
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    raise InvalidRequest(f"the {what} holds bytes that are not UTF-8; type it again, or convert the file it comes from")


@cache
def _spooled(stream: BinaryIO) -> BinaryIO:
    """All of a stream in an unnamed file, which disappears when the process ends in any way."""
    spool = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 (stays open for later readers)
    shutil.copyfileobj(stream, spool)
    atexit.register(spool.close)
    spool.flush()
    return spool


class _FromStart(io.RawIOBase):
    """An open file read from its start, independently of its other readers."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._place = file, 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        block = os.pread(self._file.fileno(), len(buffer), self._place)
        buffer[: len(block)] = block
        self._place += len(block)
        return len(block)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read to its end ({error}); it may be cut short or not {path.suffix}") from error
