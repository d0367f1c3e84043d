"""What differs between operating systems: locks, reading at a place, forcing files to disk, owners, limits, signals.

No other module asks which system it runs on, or names a part of Python that one of them lacks. The first half is the systems' own calls;
the second half is Windows, where a file that is open or mapped into memory cannot be removed, replaced or renamed, and neither can a
folder with such a file in it.
"""

from __future__ import annotations

import io
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
    """Whether files that are open can be neither removed nor replaced nor renamed."""
    INHERITS_DESCRIPTORS = True
    """Whether a process can be given open files by their numbers."""
    BINARY = 0
    """What `os.open` needs so that line breaks stay as they are."""
    read_at = os.pread
    """Reads bytes of an open file from a place on: `read_at(handle, size, place)`."""
    write_at = os.pwrite
    """Writes bytes to an open file from a place on, and says how many: `write_at(handle, data, place)`."""
    GPU_DRIVERS: tuple[str, ...] = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg")
    """Files of which one is there where a driver of CUDA is."""
    user = os.geteuid
    """Who runs this process, as `owner` says it of files."""

    def lock(handle: int, *, wait: bool = False) -> None:
        """Lock an open file. The lock goes when the descriptor is closed, or the process ends.

        Raises BlockingIOError where somebody else has the lock, unless it is waited for; another OSError: there are no locks here.
        """
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlock(handle: int) -> None:
        """Give the lock back."""
        fcntl.flock(handle, fcntl.LOCK_UN)

    def share(handle: int) -> None:
        """Keep an open file from being retired. Raises OSError: there are no locks here."""
        fcntl.flock(handle, fcntl.LOCK_SH)

    def retire(path: Path) -> bool:
        """Remove a file unless somebody shares it; says whether it is gone."""
        with path.open("rb") as file:
            try:
                lock(file.fileno())
            except OSError:
                return False
            path.unlink()  # while it is locked: who opened it meanwhile sees that it has gone
        return True

    def patiently(action: Callable[Arguments, Value], *arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
        """Do what fails on Windows while another process has the file open for a moment: read, replace or rename it."""
        return action(*arguments, **options)

    def sync_file(path: Path) -> None:
        """Force a file's, or a folder's, contents to disk."""
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def keep_rights(file: IO[Any], path: Path) -> None:
        """Let those read and write an open file who might read and write the one at `path`."""
        with suppress(OSError):  # there is none, or the file system has no rights
            os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)

    def owner(path: Path) -> int | None:
        """Who owns a file or folder, of a link the link; None if there is none, or it may not be looked at."""
        with suppress(OSError):
            return path.lstat().st_uid
        return None

    def allow_files() -> None:
        """Let the process have as many files and connections open as the system allows it."""
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def peak_memory() -> int:
        """The most bytes that this process has had in memory."""
        status = Path("/proc/self/status")
        if status.exists():  # getrusage also remembers the process that this one was forked from
            return 1024 * next(int(line.split()[1]) for line in status.read_bytes().splitlines() if line.startswith(b"VmHWM"))
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    def at_hangup(action: Callable[[], None]) -> None:
        """From now on do this when SIGHUP comes, which then does not end the process."""
        signal.signal(signal.SIGHUP, lambda *_: action())

    def hang_up(process: int) -> None:
        """Send SIGHUP to a process."""
        os.kill(process, signal.SIGHUP)

    def speak_utf8(stream: io.TextIOWrapper) -> None:
        """Have a standard stream from or to a file or another program be UTF-8, where the system has another encoding for these."""

else:
    import msvcrt

    OPEN_FILES_STAY = True
    INHERITS_DESCRIPTORS = False
    BINARY = os.O_BINARY
    GPU_DRIVERS = (os.path.expandvars(r"%SystemRoot%\System32\nvcuda.dll"),)
    PATIENCE = 1.0
    """Seconds for which something is tried again."""
    LOCKED_BYTE = 1 << 42
    """The byte that is locked, behind the end of any file: nobody else can read the bytes that are."""
    USUAL_MEMORY = 700 << 20
    """Bytes that a process takes on Linux. Python does not say here how many it takes."""
    _moving = Lock()
    """Held by whoever moves the place of an open file: reading at a place does."""

    def lock(handle: int, *, wait: bool = False) -> None:
        """See above."""
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
        """See above. A file that is open cannot be removed, and that is enough."""

    def retire(path: Path) -> bool:
        """See above."""
        try:
            path.unlink()
        except PermissionError:
            return False
        return True

    def patiently(action: Callable[Arguments, Value], *arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
        """See above."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return action(*arguments, **options)
            except PermissionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def read_at(handle: int, size: int, place: int) -> bytes:
        """See above. Nobody may read the file in another way at the same time."""
        with _moving:
            os.lseek(handle, place, os.SEEK_SET)
            return os.read(handle, size)

    def write_at(handle: int, data: bytes, place: int) -> int:
        """See above."""
        with _moving:
            os.lseek(handle, place, os.SEEK_SET)
            return os.write(handle, data)

    def sync_file(path: Path) -> None:
        """See above; nothing for a folder, whose names Windows writes by itself."""
        if not path.is_dir():
            handle = os.open(path, os.O_RDWR | BINARY)  # of what is open for reading alone it forces nothing
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def keep_rights(file: IO[Any], path: Path) -> None:
        """See above. A new file has the rights of its folder here."""

    def user() -> int:
        """See above."""
        return 1

    def owner(path: Path) -> int | None:
        """See above. Python does not say who it is; what is in the user's home or working directory counts as the user's."""
        with suppress(OSError, RuntimeError):
            path.lstat()
            places = (Path.cwd(), Path.home())
            return user() if any(path.absolute().is_relative_to(place) for place in places) else user() + 1
        return None

    def allow_files() -> None:
        """See above. There is no limit to be raised."""

    def peak_memory() -> int:
        """See above."""
        return USUAL_MEMORY

    def at_hangup(action: Callable[[], None]) -> None:
        """See above. There is no such signal."""

    def hang_up(process: int) -> None:
        """See above. There is no such signal."""

    def speak_utf8(stream: io.TextIOWrapper) -> None:
        """See above. Line breaks are those of other systems, too."""
        if not stream.isatty():
            stream.reconfigure(encoding="utf-8", newline="\n" if stream.writable() else None)


def cores() -> int:
    """How many cores this process may use, as far as the system says it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
