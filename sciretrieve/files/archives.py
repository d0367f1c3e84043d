"""Files within a .zip, by paths that go on in it: `export.zip/papers/old.bib`. Nothing is unpacked under a name of its own."""

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
"""Bytes that an archive may unpack to, and above that, how many times its own size. Texts make some ten, and the format allows a
thousand."""


def names(path: Path) -> Mapping[str, zipfile.ZipInfo]:
    """The files within a .zip: names without what could lead out of a folder or would not print, and where they are.

    Raises:
        OSError: it is no .zip, or a damaged one.
        InvalidRequest: it has too many files, two of one name, or unpacks to far more than such a file can hold.
    """
    return _opened(path).files


class _Archive:
    """An open .zip, whose directory was read and found sound. Several threads may open its files.

    Attributes:
        files: where they are, by name.

    Raises: as `names`.
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
        self._lock = threading.RLock()  # an archive counts its open files without one

    def open(self, name: str) -> IO[bytes]:
        """One of the files, decompressed."""
        with self._lock:
            return self._archive.open(self.files[name])

    def close(self, file: IO[bytes]) -> None:
        """Close what `open` gave."""
        with self._lock:
            file.close()


def _opened(path: Path) -> _Archive:
    """A .zip, which stays open as long as it is unchanged and few others are read: each of its thousands of files is opened several
    times, and reading their directory takes longer than reading most of them."""
    status = path.stat()
    # processes that share an open file also share their place in it
    return _opened_as_it_is(path, os.getpid(), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _opened_as_it_is(path: Path, *_: int) -> _Archive:
    return _Archive(path)


def _errors() -> tuple[type[Exception], ...]:
    """What is wrong with an archive, or with a file in it."""
    import zipfile

    return zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError


def _shown(name: str) -> str:
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")]
    return "/".join("".join(char if char.isprintable() else "\ufffd" for char in part) for part in parts)


def place(path: Path) -> tuple[Path, str] | None:
    """The archive of a path that goes on within one, and the rest of the path; None if it does not."""
    for folder in path.parents:
        if folder.suffix.lower() == SUFFIX and folder.is_file():
            return folder, path.relative_to(folder).as_posix()
    return None


class Stream(io.RawIOBase):
    """What a function reads, which gives at most so many bytes as it is asked for, and none at the end."""

    def __init__(self, read: Callable[[int], bytes], close: Callable[[], object] = lambda: None) -> None:
        self._read, self._close = read, close

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        block = self._read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close what it comes from."""
        if not self.closed:
            self._close()
        super().close()


def member(path: Path, name: str | None = None, stream: BinaryIO | None = None) -> Stream:
    """A file within a .zip. What is wrong with it is an OSError.

    Raises:
        InvalidRequest: no name was given and there are several files, or none.
        FileNotFoundError: there is no file of that name.
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
