"""Crash-safe writing of files: temporary file, fsync, rename; checksums; locks.

Every file of an index is written here through Python's own files, so that a full disk or a lost connection raises OSError and never crashes
a library. File names are created, changed and removed by `os`.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ..base import system
from ..base.errors import CorruptData, IndexBusy, InvalidRequest
from ..base.system import patiently, read_scattered

LOCK = ".lock"
"""Lock file of a directory's only writer."""
TEMPORARY = re.compile(r"\.sciretrieve-[0-9a-f]{16}\.tmp")
"""Name of a file before it gets its final name, see `replaced`."""
PATIENCE = 60.0
"""Seconds to wait for a process that lost its work to another. A cluster takes this long to stop the processes of a lost node."""

sync_file = system.sync_file
retire = system.retire
_locks: dict[Path, ExitStack] = {}
"""The files that this process has locked, each with the callbacks that unlock and close it."""


def forbids_writing(error: OSError) -> bool:
    """Whether an error says that nothing may be written in a place."""
    return error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)


def check_parent(path: Path) -> None:
    """Raise InvalidRequest if the folder of a file to be written is missing."""
    if not path.parent.is_dir():
        raise InvalidRequest(f"there is no directory {path.parent} to write {path.name} to")


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, and sync their names to disk."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_file(folder.parent)


@contextmanager
def created(path: Path, *, is_new: bool = False) -> Iterator[IO[bytes]]:
    """A file, open for writing, whose contents are on disk when the block ends. Its name is not, see `sync_file`. With `is_new`, an
    existing entry of this name, even a link, is an error."""
    with path.open("xb" if is_new else "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that becomes `path` when the block ends. Readers, and crashes, see the old file or the new one, never a mix.

    If the block fails, the old file stays. Until then the new file has an unguessable name, so that nobody can put a link there. It gets
    the old file's permissions. A path that is no regular file, such as /dev/null or a pipe, is written directly.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            yield file
        return
    temporary = path.with_name(f".sciretrieve-{token_hex(8)}.tmp")
    is_ours = False
    try:
        with created(temporary, is_new=True) as file:
            is_ours = True
            system.keep_rights(file, path)
            yield file
        _let_go(path)
        patiently(temporary.replace, path)
    except BaseException:
        with suppress(OSError):
            if is_ours:
                temporary.unlink()
        raise
    sync_file(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` to `path` atomically."""
    with replaced(path) as file:
        file.write(data)


def write_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an array as a .npy file, atomically."""
    with replaced(path) as file:
        put_array(file, array)


def put_array(file: IO[bytes], array: npt.NDArray[Any]) -> None:
    """Write an array in .npy format to an open file. NumPy itself would bypass Python's file and miss a full disk."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    file.write(buffer.getbuffer())


def write_vectors(target: Path, blocks: Iterable[npt.NDArray[np.float32]], shape: tuple[int, int]) -> Path:
    """Write blocks of rows, with `shape` in total, as a float32 .npy file, atomically."""
    with replaced(target) as file:
        file.write(array_header(shape))
        for block in blocks:
            file.write(np.ascontiguousarray(block, np.float32).tobytes())
    return target


ARRAY = re.compile(rb"\{'descr': '(<f4|<i4|<i8|\|u1)', 'fortran_order': False, 'shape': \((\d{1,15}), ?(\d{0,15})\), \} *\n")
"""Headers of the .npy files in an index."""


def read_array(path: Path, remedy: str = "try `sciretrieve verify --repair`", *, ahead: bool = True) -> npt.NDArray[Any]:
    """Memory-map the array of a .npy file that was written here. `ahead` says whether the system may read ahead; for rows from all over
    a file that exceeds the memory, this would read up to megabytes each.

    NumPy would also accept malicious headers, with impossible sizes or Python objects. Raises CorruptData for any other file, with advice
    in `remedy`.
    """
    with path.open("rb") as file:
        start = file.read(10)
        header = file.read(int.from_bytes(start[8:], "little"))
        match = ARRAY.fullmatch(header) if start[:8] == b"\x93NUMPY\x01\x00" else None
        if match is None:
            raise CorruptData(f"{path} cannot be read: it does not begin as an index's arrays do; {remedy}")
        kind, shape = np.dtype(match[1].decode()), tuple(int(part) for part in match.groups()[1:] if part)
        bytes_written = file.seek(0, os.SEEK_END) - len(start) - len(header)
        if bytes_written != math.prod(shape) * kind.itemsize:
            raise CorruptData(f"{path} cannot be read: it has {bytes_written} bytes for an array of {kind}{shape}; {remedy}")
        if not bytes_written:
            return np.empty(shape, kind)
        mapped: Any = np.memmap(file, kind, "r", len(start) + len(header), shape)
        if not ahead:
            read_scattered(mapped.base)
        return np.asarray(mapped)  # a plain array, since `memmap` runs Python code at every slice


HEADER = 128
"""Bytes before the rows of a growing .npy file."""


def array_header(shape: tuple[int, ...], kind: npt.DTypeLike = np.float32) -> bytes:
    """Header of a .npy file of this shape. It has 128 bytes for any number of rows, so that it can be overwritten."""
    description = f"{{'descr': '{np.dtype(kind).str}', 'fortran_order': False, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little") + description.ljust(HEADER - 11).encode() + b"\n"


def write_lines(target: Path, texts: Iterable[str]) -> Path:
    """Write texts, one per line, atomically."""
    with replaced(target) as file:
        for text in texts:
            file.write(f"{text}\n".encode())
    return target


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically. File names that are not UTF-8 survive."""
    write_whole(path, _json(value))


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object. Raises CorruptData if the file holds anything else, FileNotFoundError if it is missing."""
    with _as_json(path):
        value = json.loads(patiently(path.read_bytes))
    if not isinstance(value, dict):
        raise CorruptData(f"{path} holds no JSON object; rebuild the index with `sciretrieve index --overwrite`")
    return value


@contextmanager
def _as_json(path: Path) -> Iterator[None]:
    try:
        yield
    except (ValueError, RecursionError, IsADirectoryError) as error:
        raise CorruptData(f"{path} is not valid JSON ({error}); rebuild the index with `sciretrieve index --overwrite`") from error


def write_sealed(path: Path, value: dict[str, Any]) -> str:
    """Write `value` as JSON with its checksum, so that `read_sealed` detects any change. Returns the checksum."""
    data, checksum = sealed(value)
    write_whole(path, data)
    return checksum


def sealed(value: dict[str, Any]) -> tuple[bytes, str]:
    """The bytes that `write_sealed` writes, and their checksum, which identifies the value."""
    checksum = _checksum(value)
    return _json({"checksum": checksum, **value}), checksum


def read_sealed(path: Path) -> dict[str, Any]:
    """Read a file from `write_sealed`. Raises CorruptData for any other content, FileNotFoundError if it is missing."""
    value: dict[str, Any] = json.loads(sealed_bytes(path))
    del value["checksum"]
    return value


def sealed_bytes(path: Path) -> bytes:
    """Bytes of a file from `write_sealed`. Raises as `read_sealed`."""
    with _as_json(path):
        data = patiently(path.read_bytes)
        is_sealed = _is_sealed(data)
    if not is_sealed:
        raise CorruptData(
            f"{path} is damaged: its checksum does not match; restore it, or rebuild the index with `sciretrieve index --overwrite`"
        )
    return data


SEAL = re.compile(rb'\{\s*"checksum": "([0-9a-f]{64})"')


def seal_of(file: Path | int) -> str | None:
    """Checksum stored in a sealed file, given by path or open descriptor; None if there is none. The rest is not read."""
    try:
        handle = file if isinstance(file, int) else os.open(file, os.O_RDONLY | system.BINARY)
        try:
            match = SEAL.match(system.read_at(handle, 128, 0))
        finally:
            if handle is not file:
                os.close(handle)
    except OSError:
        return None
    return match[1].decode() if match else None


@lru_cache(maxsize=32)
def _is_sealed(data: bytes) -> bool:
    """Whether `write_sealed` writes these bytes. Cached, since a change of an index reads the same few files repeatedly, and a check takes
    about a millisecond per shard."""
    value = json.loads(data)
    # a changed byte may leave the value equal, so compare the layout, too; `_json` itself would take four times as long
    lines = [line.lstrip(b" ") for line in data.split(b"\n")]
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ": ")).encode("utf-8", "surrogatepass")
    is_as_written = all(lines[:-1]) and not lines[-1] and b"".join(lines) == plain
    return is_as_written and isinstance(value, dict) and bool(value.pop("checksum", None) == _checksum(value))


def _checksum(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def describe(path: Path) -> dict[str, Any]:
    """A manifest's entry on a file: its size in bytes and its SHA-256."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def folder_entries(folder: Path, pattern: str = "*") -> list[Path]:
    """Contents of a folder, by name; none if it does not exist. An unreadable folder is an error."""
    try:
        return sorted(path for path in folder.iterdir() if fnmatchcase(path.name, pattern))
    except (FileNotFoundError, NotADirectoryError):
        return []


def remove(path: Path, *, later: bool = False) -> None:
    """Remove a file, or a folder with its contents, if it exists. With `later`, files that the system cannot remove while they are open may
    stay."""
    _let_go(path)
    try:
        if path.is_dir() and not path.is_symlink():
            for inner in folder_entries(path):
                remove(inner, later=later)
            path.rmdir()
        else:
            path.unlink()
    except FileNotFoundError:
        pass
    except OSError:
        if not (later and system.OPEN_FILES_STAY):
            raise


def rename(source: Path, target: Path) -> None:
    """Rename a folder. An empty folder of the new name is replaced."""
    _let_go(source)
    if system.OPEN_FILES_STAY:
        with suppress(OSError):
            target.rmdir()  # other systems do so themselves
    patiently(source.rename, target)


def copy(source: Path, target: Path) -> None:
    """Give a file that never changes a second name: as a hard link if the file system has them, else as a copy."""
    remove(target)  # if it were a link to the source, writing it would empty the source
    try:
        os.link(source, target)
    except OSError:
        with source.open("rb") as original, created(target) as file:
            shutil.copyfileobj(original, file)
    else:
        sync_file(target)


@contextmanager
def write_lock(directory: Path) -> Iterator[None]:
    """Hold the only write lock of `directory`. The system releases it when the process ends, however it ends. Raises IndexBusy if another
    process holds it."""
    file = _locked(directory)
    with _until_let_go(directory / LOCK, file.fileno(), file.close):
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} on {socket.gethostname()}")  # shown to refused processes; the system holds the lock itself
        file.flush()
        # a power failure must not undo renames of a killed writer that this writer builds on
        with suppress(OSError):  # the folder above may belong to another user
            sync_file(directory.parent)
        sync_file(directory)
        yield


@contextmanager
def _until_let_go(path: Path, handle: int, close: Callable[[], object]) -> Iterator[None]:
    """Unlock and close a file when the block ends, or earlier, see `_let_go`."""
    with ExitStack() as lock:
        lock.callback(close)
        # closing the file does not suffice: a child just forked by a library may hold it open
        lock.callback(partial(_unlock, handle))
        _locks[path.absolute()] = lock
        try:
            yield
        finally:
            _locks.pop(path.absolute(), None)


def _unlock(handle: int) -> None:
    with suppress(OSError):
        system.unlock(handle)


def _let_go(path: Path) -> None:
    """Close files that this process has locked at or below a path to be removed, if the system cannot remove open files. If another process
    takes the lock meanwhile, the file stays."""
    if system.OPEN_FILES_STAY:
        for locked in [locked for locked in _locks if locked.is_relative_to(path.absolute())]:
            _locks.pop(locked).close()


@contextmanager
def work_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder of unfinished work, in order to resume or remove the work.

    Raises:
        InvalidRequest: the name belongs to something else, such as a user's folder or a link to one.
        IndexBusy: another process holds it.
    """
    is_other = folder.is_symlink() or (
        folder.exists() and (not folder.is_dir() or bool(folder_entries(folder))) and not (folder / LOCK).is_file()
    )
    if is_other:
        raise InvalidRequest(f"{folder} exists, and is not unfinished work; move it, or name another output")
    with write_lock(folder):
        yield


def _locked(directory: Path) -> IO[str]:
    """The directory's lock file, open and locked. Raises as `write_lock`."""
    path = directory / LOCK
    while True:
        make_folder(directory)
        with suppress(FileNotFoundError), ExitStack() as open_files:  # the directory may be removed meanwhile
            file = open_files.enter_context(path.open("a+", encoding="utf-8", newline="\n"))
            try:
                system.lock(file.fileno())
            except BlockingIOError as error:
                file.seek(0)
                raise IndexBusy(str(directory), file.read(200).strip()) from error
            # the previous holder may have removed the file, and then the lock is another file
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                open_files.pop_all()
                return file


def remove_lock(directory: Path) -> None:
    """Remove the lock that this process holds, and the directory if it is empty apart from unfinished files. Then others may write
    there."""
    for path in folder_entries(directory, ".*.tmp"):
        if TEMPORARY.fullmatch(path.name):
            remove(path)
    if system.OPEN_FILES_STAY:
        remove(directory / LOCK, later=True)
    else:
        (directory / LOCK).unlink()
    with suppress(OSError):
        directory.rmdir()


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Be the only process that works on what a file stands for. Waits for another process that is being stopped.

    Raises:
        FileNotFoundError: the file is gone.
        IndexBusy: the other process continues.
    """
    handle = os.open(path, os.O_RDWR | system.BINARY)  # for writing, since network file systems lock no other files
    with _until_let_go(path, handle, partial(os.close, handle)):
        _wait_for(handle, path)
        if not os.path.samestat(os.fstat(handle), path.stat()):
            raise FileNotFoundError(path)
        yield


def _wait_for(handle: int, path: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            system.lock(handle)
            return
        except BlockingIOError as error:
            if time.monotonic() > end:
                raise IndexBusy(str(path.parent), "") from error
            time.sleep(0.1)
        except OSError:  # the file system has no locks
            return


def hold(path: Path) -> int:
    """Open a file to mark that what it stands for is in use. Until the descriptor is closed, `retire` keeps the file, in any process.
    Raises FileNotFoundError if it is gone."""
    handle = patiently(os.open, path, os.O_RDONLY | system.BINARY)
    try:
        with suppress(OSError):  # the file system may have no locks
            system.share(handle)
        if not os.path.samestat(os.fstat(handle), path.stat()):
            raise FileNotFoundError(path)
    except BaseException:
        os.close(handle)
        raise
    return handle
