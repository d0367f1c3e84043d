"""Writing files so that a crash never leaves half of one: temporary file, fsync, rename; checksums; the write lock."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from .errors import CorruptData, IndexBusy

LOCK = ".lock"
"""The file that a directory's one writer holds locked."""


def sync_file(path: Path) -> None:
    """Force a file's, or a directory's, contents to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that a reader, or a crash, sees the old file or the new one, never a mix."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_file(path.parent)


def settle(temporary: Path, target: Path) -> Path:
    """Force a temporary file to disk, and rename it to its final name durably. Returns `target`."""
    sync_file(temporary)
    temporary.replace(target)
    sync_file(target.parent)
    return target


def write_vectors(target: Path, blocks: Iterable[npt.NDArray[np.float32]], shape: tuple[int, int]) -> Path:
    """Write blocks of rows, together of `shape`, as a float32 .npy file, completely or not at all."""
    temporary = target.with_name(target.name + ".tmp")
    out = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float32, shape=shape)
    row = 0
    for block in blocks:
        out[row : row + len(block)] = block
        row += len(block)
    out.flush()
    return settle(temporary, target)


def write_lines(target: Path, texts: Iterable[str]) -> Path:
    """Write texts, one per line, completely or not at all."""
    temporary = target.with_name(target.name + ".tmp")
    with temporary.open("w", encoding="utf-8") as file:
        file.writelines(f"{text}\n" for text in texts)
    return settle(temporary, target)


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically."""
    write_whole(path, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object. Raises CorruptData if the file holds anything else, FileNotFoundError if it is absent."""
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise CorruptData(f"{path} is not valid JSON ({error}); rebuild the index with --overwrite") from error
    if not isinstance(value, dict):
        raise CorruptData(f"{path} holds no JSON object; rebuild the index with --overwrite")
    return value


def describe(path: Path) -> dict[str, Any]:
    """A manifest's facts on a file: its size in bytes and its SHA-256."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


@contextmanager
def write_lock(directory: Path) -> Iterator[None]:
    """Hold `directory`'s one write lock. The system drops it when the process ends, however it ends.

    Raises:
        IndexBusy: another process holds it.
    """
    file = _locked(directory)
    try:
        yield
    finally:
        # closing the file is not enough: a child that a library has just forked may still hold it open
        fcntl.flock(file, fcntl.LOCK_UN)
        file.close()


def _locked(directory: Path) -> IO[str]:
    """The directory's lock file, open and locked. Raises as `write_lock`."""
    path = directory / LOCK
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError), ExitStack() as open_files:  # the directory may be removed in between
            file = open_files.enter_context(path.open("w"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise IndexBusy(str(directory)) from error
            # the previous holder may have removed the file since it was opened here: then the lock is another file
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                open_files.pop_all()
                return file


def remove_lock(directory: Path) -> None:
    """Remove the lock that this process holds, and the directory if nothing else is in it. Then others may write there."""
    (directory / LOCK).unlink()
    with suppress(OSError):
        directory.rmdir()
