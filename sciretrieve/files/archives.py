"""Files within a .zip, by paths that continue into it: `export.zip/papers/old.bib`. Nothing is unpacked to disk under its own name."""

from __future__ import annotations

import io
import os
import re
import threading
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from ..base.errors import InvalidRequest

if TYPE_CHECKING:
    import zipfile

SUFFIX = ".zip"
MOST_MEMBERS = 10_000
LARGEST, MOST_TIMES = 1 << 30, 250
"""Unpacked bytes above which an archive may only be this many times larger than packed. Texts reach some ten times; the format allows a
thousand."""


def names(path: Path) -> Mapping[str, zipfile.ZipInfo]:
    """Files within a .zip: their entries by name. Parts of a name that could lead out of a folder, or cannot be printed, are removed.

    Raises:
        OSError: it is no .zip, or damaged.
        InvalidRequest: it has too many files, two files of one name, or unpacks to an implausible size.
    """
    return _opened(path).files


class _Archive:
    """An open .zip with a valid directory. Threads may share it.

    Attributes:
        files: its entries, by name.

    Raises as `names`.
    """

    def __init__(self, path: Path, stream: BinaryIO | None = None) -> None:
        import zipfile

        try:
            self._archive = zipfile.ZipFile(stream or path)
        except _errors() as error:
            raise OSError(str(error)) from error
        infos = [info for info in self._archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
        if len(infos) > MOST_MEMBERS:
            raise InvalidRequest(f"{path} holds {len(infos):,} files, and at most {MOST_MEMBERS:,} are read of one .zip; unpack it")
        size, packed_size = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
        if size > LARGEST and size > MOST_TIMES * min(packed_size, path.stat().st_size if stream is None else packed_size):
            raise InvalidRequest(
                f"{path} would unpack to {size >> 20:,} MB, far more than its size suggests; if you trust it, unpack it first"
            )
        self.files = {_shown(info.filename): info for info in infos}
        if len(self.files) < len(infos):
            raise InvalidRequest(f"{path} holds several files of one name; unpack it, and rename them")
        self._lock = threading.RLock()  # zipfile counts its open files without a lock

    def open(self, name: str) -> IO[bytes]:
        """Open one of the files, decompressed."""
        with self._lock:
            return self._archive.open(self.files[name])

    def close(self, file: IO[bytes]) -> None:
        """Close a file from `open`."""
        with self._lock:
            file.close()


def _opened(path: Path) -> _Archive:
    """Open a .zip and cache it while it is unchanged. Each of its thousands of files is opened several times, and reading the directory
    takes longer than reading most files."""
    status = path.stat()
    # processes that share an open file also share its position
    return _opened_as_it_is(path, os.getpid(), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _opened_as_it_is(path: Path, *_: int) -> _Archive:
    return _Archive(path)


def _errors() -> tuple[type[Exception], ...]:
    """Errors for a damaged archive, or a damaged file in it."""
    import zipfile

    return zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError


def _shown(name: str) -> str:
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")]
    return "/".join("".join(char if char.isprintable() else "\ufffd" for char in part) for part in parts)


def place(path: Path) -> tuple[Path, str] | None:
    """Split a path that continues into an archive into the archive and the rest; None for other paths."""
    for folder in path.parents:
        if folder.suffix.lower() == SUFFIX and folder.is_file():
            return folder, path.relative_to(folder).as_posix()
    return None


class Stream(io.RawIOBase):
    """A stream over a function that returns at most as many bytes as asked for, and none at the end."""

    def __init__(self, read: Callable[[int], bytes], close: Callable[[], object] = lambda: None) -> None:
        self._read, self._close = read, close

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        block = self._read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close the source."""
        if not self.closed:
            self._close()
        super().close()


def member(path: Path, name: str | None = None, stream: BinaryIO | None = None) -> Stream:
    """Open a file within a .zip. A damaged file raises OSError.

    Raises:
        InvalidRequest: no name was given, and the archive does not have exactly one file.
        FileNotFoundError: there is no file of this name.
    """
    archive = _opened(path) if stream is None else _Archive(path, stream)
    if name is None and len(archive.files) != 1:
        raise InvalidRequest(f"{path} holds {len(archive.files)} files, and such a .zip is read only as a corpus, from a file; unpack it")
    if name is not None and name not in archive.files:
        raise FileNotFoundError(f"{path} holds no {name}")
    try:
        file = archive.open(name or next(iter(archive.files)))
    except _errors() as error:
        raise OSError(str(error)) from error

    def read(size: int) -> bytes:
        try:
            return file.read(size)
        except _errors() as error:
            raise OSError(str(error)) from error

    return Stream(read, lambda: archive.close(file))
