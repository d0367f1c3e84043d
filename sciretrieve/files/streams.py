"""Reading sources by name: plain or compressed files, or standard input; whole, by lines, or by JSON objects."""

from __future__ import annotations

import atexit
import io
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from ..base.errors import InvalidRequest
from ..base.system import read_at
from ..base.wording import shortened
from . import archives

STDIN = Path("-")
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".zip": "zip"}
SIGNATURES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "xz", b"PK\x03\x04": "zip"}
"""Signatures of compressed files, which count more than suffixes."""
OFFICE = re.compile(rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|xl/)", re.DOTALL)
"""Beginnings of spreadsheets, which are .zip files of parts and are not unpacked."""
XZ_MEMORY = 256 << 20
"""Most memory for decompressing .xz. The file itself states its need; `xz -9` needs a quarter of this."""
LONGEST_LINE = 64 << 20
"""Most bytes in a line. A few compressed kilobytes can expand to a line of gigabytes."""
LARGEST_COPY = 16 << 30
"""Most unpacked bytes of a source that must be copied for random access."""
LARGEST_TEXT = 256 << 20
"""Most bytes of a source that is read as a whole."""


def open_binary(path: Path) -> BinaryIO:
    """Open `path` for reading, decompressing it if necessary. `-` is standard input, which can be opened repeatedly."""
    stream = _open_raw(path)
    try:
        compression = _compression(path, stream)
    except OSError:
        stream.close()
        raise
    if compression == "xz":
        return io.BufferedReader(archives.Stream(_unxz(stream), stream.close))
    if compression == "zip":
        return io.BufferedReader(_only_member(path, stream))
    if compression is None:
        return stream
    if path == STDIN or archives.place(path):
        return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(stream, "r"), compression))
    stream.close()
    return cast(BinaryIO, pa.input_stream(str(path), compression=compression))


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """A source as a seekable file: the source itself, or a temporary copy. Raises InvalidRequest if it cannot be decompressed or is too
    large."""
    if path != STDIN and not is_compressed(path):
        yield path
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy, size = Path(folder) / "copy", 0
        with copy.open("wb") as target:
            for block in blocks(path):
                size += target.write(block)
                if size > LARGEST_COPY:
                    raise InvalidRequest(f"{path} unpacks to more than {LARGEST_COPY >> 30} GB; unpack it, and name the file")
        yield copy


def size_of(path: Path) -> int:
    """Size of a source in bytes, before decompression; 0 for standard input."""
    if path == STDIN:
        return 0
    within = archives.place(path)
    return archives.names(within[0])[within[1]].compress_size if within else path.stat().st_size


def is_compressed(path: Path) -> bool:
    """Whether a source is compressed, by its first bytes or its suffix, or lies within a .zip."""
    if path != STDIN and archives.place(path):
        return True
    with _open_raw(path) as stream:
        return _compression(path, stream) is not None


def bare_name(path: Path) -> str:
    """Name of a source's content: papers.csv for papers.csv.gz, and for a .zip with this file."""
    if path == STDIN or path.suffix.lower() not in COMPRESSIONS:
        return path.name
    if path.suffix.lower() == archives.SUFFIX and path.is_file():
        with suppress(OSError, InvalidRequest):
            (name,) = archives.names(path) if len(archives.names(path)) == 1 else (path.name,)
            return Path(name).name
    return path.stem


def _open_raw(path: Path) -> io.BufferedReader:
    if path != STDIN and (within := archives.place(path)):
        return io.BufferedReader(archives.member(*within))
    return io.BufferedReader(archives.Stream(_from_start(_spool(sys.stdin.buffer))) if path == STDIN else path.open("rb", buffering=0))


def _compression(path: Path, stream: io.BufferedReader) -> str | None:
    start = stream.peek(64)
    if OFFICE.match(start):
        return None
    compression = next((name for signature, name in SIGNATURES.items() if start.startswith(signature)), None)
    return compression or COMPRESSIONS.get(path.suffix.lower())


def _only_member(path: Path, stream: io.BufferedReader) -> archives.Stream:
    """Open the only file within a .zip."""
    with stream:
        if path == STDIN:
            return archives.member(path, stream=io.BytesIO(stream.read()))
    if archives.place(path):
        raise InvalidRequest(f"{path} is a .zip within a .zip; unpack the outer one")
    return archives.member(path)


def blocks(path: Path) -> Iterator[bytes]:
    """A source in blocks. Raises InvalidRequest if it cannot be decompressed."""
    with readable(path), open_binary(path) as stream:
        while block := stream.read(1 << 20):
            yield block


def beginning(path: Path) -> bytes:
    """First 64 KB of a source; b"" if it cannot be decompressed."""
    try:
        with open_binary(path) as stream:
            return stream.read(1 << 16)
    except OSError:  # a later read reports the reason
        return b""


def read_text(path: Path) -> str:
    """A source as text. Invalid UTF-8 becomes lone surrogates, so that the rest can be used. Raises as `read_bytes`."""
    return read_bytes(path).removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="surrogateescape")


def read_bytes(path: Path) -> bytes:
    """A source's bytes. Raises InvalidRequest if it cannot be decompressed or is too large."""
    parts, size = [], 0
    for block in blocks(path):
        parts.append(block)
        size += len(block)
        if size > LARGEST_TEXT:
            raise InvalidRequest(f"{path} has more than {LARGEST_TEXT >> 20} MB, too much to be read as a whole; divide it")
    return b"".join(parts)


def lines(path: Path) -> Iterator[bytes]:
    """Lines of a source, without their ends. Raises InvalidRequest if it cannot be decompressed or has a line that is too long."""
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
    """Non-blank lines of a JSON Lines source, by number: an object, or what is wrong with the line. Raises InvalidRequest if it cannot be
    decompressed or has a line that is too long."""
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
    """`text` unchanged. Raises InvalidRequest if it is no string, or has lone surrogates, which stand for invalid UTF-8."""
    if not isinstance(text, str):
        raise InvalidRequest(f"the {what} must be a string, not {shortened(text)}")
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    raise InvalidRequest(f"the {what} holds bytes that are not UTF-8; type it again, or convert the file it comes from")


@cache
def _spool(stream: BinaryIO) -> BinaryIO:
    """Copy a stream to an unnamed file, which disappears with the process."""
    spool = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 (stays open for later readers)
    shutil.copyfileobj(stream, spool)
    atexit.register(spool.close)
    spool.flush()
    return spool


def _from_start(file: BinaryIO) -> Callable[[int], bytes]:
    """A function that reads an open file from its start, independently of other readers."""
    place = 0

    def read(size: int) -> bytes:
        nonlocal place
        block = read_at(file.fileno(), size, place)
        place += len(block)
        return block

    return read


def _unxz(stream: io.BufferedReader) -> Callable[[int], bytes]:
    """A function that reads a .xz file decompressed, within `XZ_MEMORY`. The file may have several streams. A damaged file raises
    OSError."""
    import lzma

    decompressor = lzma.LZMADecompressor(memlimit=XZ_MEMORY)

    def read(size: int) -> bytes:
        nonlocal decompressor
        block = rest = b""
        while not block:
            if decompressor.eof:
                rest = (decompressor.unused_data or stream.read(1 << 16)).lstrip(b"\0")  # padding to blocks of four bytes
                if not rest:
                    return b""
                decompressor = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            elif decompressor.needs_input and not (rest := stream.read(1 << 16)):
                raise OSError("the file ends within its compressed data")
            try:
                block, rest = decompressor.decompress(rest, max_length=size), b""
            except lzma.LZMAError as error:
                raise OSError(str(error)) from error
        return block

    return read


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Within it, a source that cannot be decompressed or read raises InvalidRequest."""
    try:
        yield
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read to its end ({error}); it may be cut short or not {path.suffix}") from error
