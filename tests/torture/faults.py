"""A system that says no: at one call of a kind, or from one on, an operation on a file fails with the error that a real system gives."""

import builtins
import errno
import io
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

NAMING = ("rename", "replace", "mkdir", "unlink", "rmdir", "link", "truncate")
LISTING = ("scandir", "listdir")


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Attributes:
        calls: which calls fail: "write", "fsync", "name" (what creates, renames or removes something), "open" (or list), "list", "read".
        code: the error's number.
        lasts: whether all later calls of the kind fail, too, as where a disk is full.
        torn: whether half of what is written gets there.
    """

    calls: str
    code: int
    lasts: bool = False
    torn: bool = False


KINDS = {
    "a full disk": Kind("write", errno.ENOSPC, lasts=True),
    "a disk that is full in the midst of a write": Kind("write", errno.ENOSPC, lasts=True, torn=True),
    "a write error": Kind("write", errno.EIO),
    "an fsync that fails": Kind("fsync", errno.EIO),
    "a missing permission": Kind("name", errno.EACCES),
    "a file system that becomes read-only": Kind("name", errno.EROFS, lasts=True),
    "no more file handles": Kind("open", errno.EMFILE),
    "a folder that may not be listed": Kind("list", errno.EACCES),
    "a read error": Kind("read", errno.EIO),
}


NONE = Kind("", 0)


class Faults:
    """Counts the calls on what is in a folder, and fails one of those of a fault's kind, or that and all later ones.

    Attributes:
        seen: how many calls of each kind there were.
        unseen: new files with contents that no call of `write` gave them, so that no failing one could have been noticed.
    """

    def __init__(self, folder: Path, kind: Kind = NONE, number: int = 0) -> None:
        """Fails the call of this number, from 1."""
        self.seen: Counter[str] = Counter()
        self.unseen: list[str] = []
        self._folder, self._kind, self._number = str(folder), kind, number

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """While the block runs."""
        opening = self._opening(io.open)
        with ExitStack() as stack:
            # Path.read_bytes and others open by Path.open; NumPy by the function
            stack.enter_context(mock.patch.object(Path, "open", lambda path, *args, **kwargs: opening(path, *args, **kwargs)))
            stack.enter_context(mock.patch.object(builtins, "open", opening))
            for kinds, names in ((("name",), NAMING), (("open", "list"), LISTING), (("open",), ("open",))):
                for name in names:
                    stack.enter_context(mock.patch.object(os, name, self._checking(getattr(os, name), kinds)))
            stack.enter_context(mock.patch.object(os, "fsync", self._syncing))
            yield

    def fails(self, calls: str) -> bool:
        """Counts a call; says whether it fails."""
        self.seen[calls] += 1
        number = self.seen[calls]
        return calls == self._kind.calls and (number == self._number or (self._kind.lasts and number > self._number))

    def error(self, path: Any) -> OSError:
        """What the system says. (Of the error numbers, Python makes the class: PermissionError, and so on.)"""
        return OSError(self._kind.code, os.strerror(self._kind.code), path)

    def write(self, data: memoryview, write: Callable[[memoryview], int]) -> int:
        """One call of `write`."""
        if not self.fails("write"):
            return write(data)
        if self._kind.torn and self.seen["write"] == self._number and len(data) > 1:
            return write(data[: len(data) // 2])  # the next one fails
        raise self.error(None)  # as it is in Python: a write that fails does not say where

    def _syncing(self, handle: int) -> None:
        if self.fails("fsync"):
            raise self.error(None)

    def _checking(self, call: Any, kinds: Sequence[str]) -> Any:
        """The call, checked for a path in the folder."""

        def checked(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
            if self._is_inside(path):
                failing = [calls for calls in kinds if self.fails(calls)]  # each is counted
                if failing:
                    raise self.error(path)
            return call(path, *args, **kwargs)

        return checked

    def _opening(self, real_open: Any) -> Any:
        """`open`, for a path in the folder with files whose calls are checked."""

        def opening(
            path: Any,
            mode: str = "r",
            buffering: int = -1,
            encoding: str | None = None,
            errors: str | None = None,
            newline: str | None = None,
        ) -> Any:
            if not self._is_inside(path):
                return real_open(path, mode, buffering, encoding, errors, newline)
            is_made = mode[0] in "wax" and not os.path.exists(path)  # noqa: PTH110 (Path.exists would do as well)
            if (is_made and self.fails("name")) or self.fails("open"):
                raise self.error(str(path))
            file = _File(path, mode.replace("b", "").replace("t", ""), self)
            wrapper = io.BufferedRandom if "+" in mode else io.BufferedReader if mode[0] == "r" else io.BufferedWriter
            buffered = wrapper(file)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

        return opening

    def _is_inside(self, path: Any) -> bool:
        return not isinstance(path, int) and os.path.abspath(path).startswith(self._folder)  # noqa: PTH100 (links stay as they are)


class _File(io.FileIO):
    """A file, under the buffer: its calls are those of the system."""

    def __init__(self, path: Any, mode: str, faults: Faults) -> None:
        super().__init__(path, mode)
        self._faults, self._is_new, self._written = faults, mode[0] == "w", 0

    def write(self, data: Any) -> int:
        written = self._faults.write(memoryview(data).cast("B"), super().write)
        self._written += written
        return written

    def close(self) -> None:
        if not self.closed and self._is_new and os.fstat(self.fileno()).st_size != self._written:
            self._faults.unseen.append(str(self.name))
        super().close()

    def readinto(self, buffer: Any) -> int:
        self._check()
        return super().readinto(buffer)

    def readall(self) -> bytes:
        self._check()
        return super().readall()

    def read(self, size: int | None = -1) -> bytes:
        self._check()
        return super().read(-1 if size is None else size)

    def _check(self) -> None:
        if self._faults.fails("read"):
            raise self._faults.error(None)
