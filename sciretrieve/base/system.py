"""Differences between operating systems: locks, positioned reads, syncing to disk, owners, limits, signals.

No other module asks which system it runs on, or names a part of Python that some systems lack. The first half uses POSIX calls. The second
half is for Windows, where an open or memory-mapped file, and a folder that contains one, cannot be removed, replaced or renamed.
"""

from __future__ import annotations

import io
import mmap
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")

if sys.platform != "win32":
    import fcntl
    import resource
    import signal

    OPEN_FILES_STAY = False
    """Whether open files cannot be removed, replaced or renamed."""
    INHERITS_DESCRIPTORS = True
    """Whether a child process can inherit open files by number."""
    BINARY = 0
    """Flag for `os.open` that keeps line breaks unchanged."""
    read_at = os.pread
    """Read bytes of an open file at a position: `read_at(handle, size, place)`."""
    write_at = os.pwrite
    """Write bytes to an open file at a position, and return their number: `write_at(handle, data, place)`."""
    GPU_DRIVERS: tuple[str, ...] = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg")
    """Files of the CUDA driver, one of which exists if it is installed."""
    user = os.geteuid
    """Id of the user who runs this process, comparable with `owner`."""
    DIVIDES_CONNECTIONS = sys.platform == "linux"
    """Whether connections to an address are divided among the sockets that share it."""

    def share_address(unbound: Any) -> None:
        """Let other sockets of this user have the address that a socket will be bound to."""
        import socket  # which a command does not need

        unbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)

    def read_scattered(mapped: mmap.mmap) -> None:
        """Do not read ahead in a mapped file, of which small parts are read from all over."""
        mapped.madvise(mmap.MADV_RANDOM)

    def lock(handle: int, *, wait: bool = False) -> None:
        """Lock an open file, until the descriptor is closed or the process ends.

        Raises BlockingIOError if another process has the lock and `wait` is false, and another OSError if there are no locks.
        """
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlock(handle: int) -> None:
        """Release a lock."""
        fcntl.flock(handle, fcntl.LOCK_UN)

    def share(handle: int) -> None:
        """Protect an open file from `retire`. Raises OSError if there are no locks."""
        fcntl.flock(handle, fcntl.LOCK_SH)

    def retire(path: Path) -> bool:
        """Remove a file unless it is shared. Returns whether it is gone."""
        with path.open("rb") as file:
            try:
                lock(file.fileno())
            except OSError:
                return False
            path.unlink()  # under the lock, so that whoever opened it meanwhile sees that it is gone
        return True

    def patiently(action: Callable[Arguments, Value], *arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
        """Read, replace or rename a file. On Windows this is retried while another process has the file open."""
        return action(*arguments, **options)

    def sync_file(path: Path) -> None:
        """Sync a file's or folder's contents to disk."""
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def keep_rights(file: IO[Any], path: Path) -> None:
        """Give an open file the permissions of the one at `path`."""
        with suppress(OSError):  # there is no such file, or the file system has no permissions
            os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)

    def owner(path: Path) -> int | None:
        """Owner of a file or folder, for a link the link's; None if it is missing or inaccessible."""
        with suppress(OSError):
            return path.lstat().st_uid
        return None

    def allow_files() -> None:
        """Raise this process's limit of open files and connections as far as allowed."""
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def limit_memory(most: int) -> None:
        """Let this process take this many bytes of memory beyond what it has, without what it maps from files, and leave no core."""
        for limit, value in ((resource.RLIMIT_DATA, most + _kilobytes("VmData") * 1024), (resource.RLIMIT_CORE, 0)):
            with suppress(ValueError, OSError):  # the system has a lower limit or none
                resource.setrlimit(limit, (value, value))

    def peak_memory() -> int:
        """Peak memory of this process in bytes."""
        if kilobytes := _kilobytes("VmHWM"):  # getrusage includes the process from which this one was forked
            return 1024 * kilobytes
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    def _kilobytes(name: str) -> int:
        """What Linux says of this process's memory; 0 elsewhere."""
        status = Path("/proc/self/status")
        lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
        return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)

    def at_hangup(action: Callable[[], None]) -> None:
        """Call this on SIGHUP, which then does not end the process."""
        signal.signal(signal.SIGHUP, lambda *_: action())

    def hang_up(process: int) -> None:
        """Send SIGHUP to a process."""
        os.kill(process, signal.SIGHUP)

    def speak_utf8(stream: io.TextIOWrapper) -> None:
        """Make a standard stream UTF-8 if it is a file or pipe and the system uses another encoding."""

else:
    import msvcrt

    OPEN_FILES_STAY = True
    INHERITS_DESCRIPTORS = False
    BINARY = os.O_BINARY
    GPU_DRIVERS = (os.path.expandvars(r"%SystemRoot%\System32\nvcuda.dll"),)
    PATIENCE = 1.0
    """Seconds for which an action is retried."""
    LOCKED_BYTE = 1 << 42
    """The locked byte, beyond the end of any file, since other processes cannot read locked bytes."""
    USUAL_MEMORY = 700 << 20
    """Memory of a process on Linux, since Python does not report it here."""
    _moving = Lock()
    """Held while the position of an open file is moved, as a positioned read does."""

    def lock(handle: int, *, wait: bool = False) -> None:
        """See the POSIX version."""
        while True:
            try:
                _lock(handle, msvcrt.LK_NBLCK)
                return
            except PermissionError as error:
                if not wait:
                    raise BlockingIOError(error.errno, "somebody else has locked the file") from error
                time.sleep(0.001)

    def unlock(handle: int) -> None:
        """See above."""
        with suppress(PermissionError):  # it was not locked
            _lock(handle, msvcrt.LK_UNLCK)

    def _lock(handle: int, mode: int) -> None:
        with _moving:
            place = os.lseek(handle, 0, os.SEEK_CUR)
            os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(handle, mode, 1)
            finally:
                os.lseek(handle, place, os.SEEK_SET)

    def share(handle: int) -> None:
        """See the POSIX version. An open file cannot be removed, which suffices."""

    def retire(path: Path) -> bool:
        """See the POSIX version."""
        try:
            path.unlink()
        except PermissionError:
            return False
        return True

    def patiently(action: Callable[Arguments, Value], *arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
        """See the POSIX version."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return action(*arguments, **options)
            except PermissionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def read_at(handle: int, size: int, place: int) -> bytes:
        """See the POSIX version. Nobody may read the file in another way at the same time."""
        with _moving:
            os.lseek(handle, place, os.SEEK_SET)
            return os.read(handle, size)

    def write_at(handle: int, data: bytes, place: int) -> int:
        """See the POSIX version."""
        with _moving:
            os.lseek(handle, place, os.SEEK_SET)
            return os.write(handle, data)

    def sync_file(path: Path) -> None:
        """See the POSIX version. Does nothing for a folder, whose names Windows writes itself."""
        if not path.is_dir():
            handle = os.open(path, os.O_RDWR | BINARY)  # a descriptor opened for reading alone syncs nothing
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def keep_rights(file: IO[Any], path: Path) -> None:
        """See the POSIX version. A new file has its folder's permissions here."""

    def user() -> int:
        """See the POSIX version."""
        return 1

    def owner(path: Path) -> int | None:
        """See the POSIX version. Python does not know the owner, so files in the user's home or working directory count as the user's."""
        with suppress(OSError, RuntimeError):
            path.lstat()
            places = (Path.cwd(), Path.home())
            return user() if any(path.absolute().is_relative_to(place) for place in places) else user() + 1
        return None

    def allow_files() -> None:
        """See the POSIX version. There is no limit to raise."""

    def limit_memory(most: int) -> None:
        """See the POSIX version. There are no such limits."""

    def peak_memory() -> int:
        """See the POSIX version."""
        return USUAL_MEMORY

    DIVIDES_CONNECTIONS = False

    def read_scattered(mapped: mmap.mmap) -> None:
        """See the POSIX version. Windows decides."""

    def share_address(unbound: Any) -> None:
        """See the POSIX version. Connections are not divided."""

    def at_hangup(action: Callable[[], None]) -> None:
        """See the POSIX version. There is no such signal."""

    def hang_up(process: int) -> None:
        """See the POSIX version. There is no such signal."""

    def speak_utf8(stream: io.TextIOWrapper) -> None:
        """See the POSIX version. Line breaks are those of other systems, too."""
        if not stream.isatty():
            stream.reconfigure(encoding="utf-8", newline="\n" if stream.writable() else None)


def cores() -> int:
    """Number of cores that this process may use, as far as the system reports it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_limit() -> int | None:
    """The number of threads that OMP_NUM_THREADS allows, the one setting that NumPy, FAISS and torch all respect; None if it is unset."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return int(limit) if limit.isdigit() and int(limit) else None


def threads() -> int:
    """Number of threads that compute."""
    count = cores()
    return min(count, thread_limit() or count)
