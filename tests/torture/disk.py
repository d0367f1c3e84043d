"""A recorder of all that is done to the files of a folder, and a model of a disk: what of it a killed process or a power failure leaves.

`recorded` notes what reaches the operating system, in order. When a process is killed, the system still has all of that. When the power
fails, POSIX promises little: what a file holds is certain as of the last fsync of that file, and which names a folder has as of the last
fsync of that folder. All that came later may have reached the disk, in any order, wholly, in part or not at all.
"""

# it stands in for functions of os
# ruff: noqa: PTH100, PTH102, PTH110, PTH112, PTH116, PTH123
from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeAlias
from unittest import mock

LEFT_OUT = ".lock"
"""A file whose contents mean nothing once its process has ended."""
ROOT = 0
"""The number of the recorded folder. Files and folders have numbers of their own here: a system uses its own again."""


@dataclass(frozen=True, slots=True)
class Named:
    """A folder has a name for a file or folder: a new one, another name of one, or the one that was named `before` in a folder."""

    folder: int
    name: str
    number: int
    is_folder: bool = False
    before: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A folder has that name no longer."""

    folder: int
    name: str


@dataclass(frozen=True, slots=True)
class Wrote:
    """A file has these bytes from there on."""

    number: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resized:
    """A file has so many bytes."""

    number: int
    size: int


@dataclass(frozen=True, slots=True)
class Synced:
    """A file, or a folder, was forced to disk."""

    number: int


Operation: TypeAlias = Named | Unnamed | Wrote | Resized | Synced


@dataclass
class Tree:
    """What a folder holds: each file's bytes by its number, and each folder's names, which stand for numbers."""

    files: dict[int, bytearray] = field(default_factory=dict)
    folders: dict[int, dict[str, int]] = field(default_factory=lambda: {ROOT: {}})

    def copy(self) -> Tree:
        """Another tree like it."""
        return Tree({number: data.copy() for number, data in self.files.items()}, {key: dict(names) for key, names in self.folders.items()})

    def do(self, operation: Operation) -> None:
        """What an operation changes, whether or not what led to it has happened here."""
        match operation:
            case Named(folder, name, number, is_folder, before):
                if before is not None:
                    self.folders.get(before[0], {}).pop(before[1], None)
                if is_folder:
                    self.folders.setdefault(number, {})
                else:
                    self.files.setdefault(number, bytearray())
                self.folders.setdefault(folder, {})[name] = number
            case Unnamed(folder, name):
                self.folders.setdefault(folder, {}).pop(name, None)
            case Wrote(number, offset, data):
                contents = self.files.setdefault(number, bytearray())
                contents.extend(bytes(max(offset - len(contents), 0)))
                contents[offset : offset + len(data)] = data
            case Resized(number, size):
                contents = self.files.setdefault(number, bytearray())
                del contents[size:]
                contents.extend(bytes(size - len(contents)))
            case Synced():
                pass

    def paths(self) -> dict[str, int]:
        """The number of every file and folder in it, by its path within it; a folder's path ends with a slash."""
        paths: dict[str, int] = {}
        folders = [("", ROOT)]
        while folders:
            path, folder = folders.pop()
            for name, number in self.folders[folder].items():
                if number in self.folders:
                    folders.append((f"{path}{name}/", number))
                    paths[f"{path}{name}/"] = number
                else:
                    paths[path + name] = number
        return paths

    def contents(self) -> dict[str, bytes | None]:
        """The bytes of every file, by its path; None for a folder."""
        return {path: bytes(self.files[number]) if number in self.files else None for path, number in self.paths().items()}

    def digest(self) -> bytes:
        """Equal for two trees with the same contents."""
        digest = hashlib.sha256()
        for path, data in sorted(self.contents().items()):
            digest.update(repr((path, data and len(data))).encode())
            digest.update(data or b"")
        return digest.digest()

    def put(self, folder: Path) -> None:
        """Make a folder of it: two names of a file are two names of a file."""
        os.mkdir(folder)
        path_of: dict[int, str] = {}
        for path, number in self.paths().items():
            if number in self.folders:
                os.mkdir(folder / path)
            elif number in path_of:
                os.link(folder / path_of[number], folder / path)
            else:
                path_of[number] = path
                with open(folder / path, "wb", buffering=0) as file:
                    file.write(self.files[number])


Survival: TypeAlias = Callable[[Operation], Operation | None]
"""What is left of an operation that was not forced to disk; None if nothing is."""

KILLS = ("killed", "killed while it writes")
LOSSES = (
    *("nothing survives", "the last survives", "names survive", "new names survive", "removals survive"),
    *("data survives", "torn data survives", "some survives", "all survives"),
)
"""Ways to lose what was not forced to disk: the first is the harshest, the last the mildest."""
CRASHES = KILLS + LOSSES
CERTAIN = Random(0)
"""For those with nothing left to chance."""


def survival(loss: str, last: Operation | None, chance: Random) -> Survival:
    """One of LOSSES, where `last` was done last."""
    names_kept, data_kept = chance.random(), chance.random()

    def survives(operation: Operation) -> Operation | None:
        is_name = isinstance(operation, Named | Unnamed)
        match loss:
            case "the last survives":
                is_left = operation is last
            case "names survive":
                is_left = is_name
            case "new names survive":
                is_left = isinstance(operation, Named)
            case "removals survive":
                is_left = isinstance(operation, Unnamed)
            case "data survives":
                is_left = not is_name
            case "some survives":
                is_left = chance.random() < (names_kept if is_name else data_kept)
            case _:
                is_left = loss != "nothing survives"
        is_torn = loss == "torn data survives" or (loss == "some survives" and chance.random() < 1 / 3)
        return (torn(operation, chance) if is_torn else operation) if is_left else None

    return survives


def torn(operation: Operation, chance: Random) -> Operation:
    """A write of which only a beginning was done; the rest may be zeros, which some file systems leave."""
    if not isinstance(operation, Wrote):
        return operation
    length = len(operation.data) * chance.randrange(4) // 4
    zeros = bytes(len(operation.data) - length) if chance.randrange(3) == 0 else b""
    return replace(operation, data=operation.data[:length] + zeros)


@dataclass
class Recording:
    """A folder as it was, forced to disk, and what was done to it since, in order."""

    start: Tree = field(default_factory=Tree)
    operations: list[Operation] = field(default_factory=list)

    @property
    def tree(self) -> Tree:
        """The folder as it is now, for all that are running."""
        tree = self.start.copy()
        for operation in self.operations:
            tree.do(operation)
        return tree

    def crashed(self, kind: str, count: int, chance: Random = CERTAIN) -> Recording:
        """The folder after one of CRASHES when so many operations were done."""
        operations = self.operations[:count]
        if kind not in KILLS:
            return Recording(self.without_power(count, survival(kind, operations[-1] if operations else None, chance)))
        if kind == "killed while it writes" and operations and isinstance(operations[-1], Wrote):
            operations[-1] = replace(operations[-1], data=operations[-1].data[: len(operations[-1].data) // 2])
        return Recording(self.start, operations)

    def without_power(self, count: int, survives: Survival) -> Tree:
        """What a disk may hold if the power fails after so many operations: what is certain, and what survives of the rest."""
        forced_at = {operation.number: place for place, operation in enumerate(self.operations[:count]) if isinstance(operation, Synced)}
        tree = self.start.copy()
        for place, operation in enumerate(self.operations[:count]):
            owner = operation.folder if isinstance(operation, Named | Unnamed) else operation.number
            left = operation if forced_at.get(owner, -1) > place else survives(operation)
            if left is not None:
                tree.do(left)
        return tree


@contextmanager
def recorded(folder: Path, earlier: Recording | None = None) -> Iterator[Recording]:
    """Record what this process does below a folder, through `os` and `Path.open`.

    The folder has what `earlier` says, which is then gone on with; without it, it is empty.
    """
    recorder = _Recorder(folder, earlier or Recording())
    with ExitStack() as stack:
        for (module, name), call in recorder.calls.items():
            stack.enter_context(mock.patch.object(module, name, partial(call, getattr(module, name))))
        yield recorder.recording


class _Recorder:
    """What recording needs. Each of its `calls` does what the system's own does, and notes what was done once it is done."""

    def __init__(self, folder: Path, earlier: Recording) -> None:
        self.recording = Recording(earlier.start, list(earlier.operations))
        self._root = os.path.abspath(folder)
        numbers = earlier.tree.paths()
        self._numbers = {os.stat(folder / path).st_ino: number for path, number in numbers.items()} | {os.stat(folder).st_ino: ROOT}
        """The numbers here of files and folders, by those of the system."""
        named = [operation.number for operation in earlier.operations if isinstance(operation, Named)]
        self._last = max([ROOT, *earlier.start.files, *earlier.start.folders, *named])
        self.calls: dict[tuple[Any, str], Callable[..., Any]] = {
            (io, "open"): self._open,
            (os, "fsync"): self._fsync,
            (os, "truncate"): self._truncate,
            (os, "rename"): self._rename,
            (os, "replace"): self._rename,
            (os, "link"): self._link,
            (os, "unlink"): self._unlink,
            (os, "rmdir"): self._unlink,
            (os, "mkdir"): self._mkdir,
        }

    def note(self, operation: Operation) -> None:
        """Something was done."""
        self.recording.operations.append(operation)

    def _is_ours(self, path: Any, options: Any = None) -> bool:
        """Whether a path is below the folder; one that counts from an open folder, which `options` name, is not of ours."""
        if isinstance(path, int) or options:
            return False
        folder, name = os.path.split(os.path.abspath(path))
        return f"{folder}/".startswith(f"{self._root}/") and name != LEFT_OUT

    def _number(self, path: Any) -> int:
        return self._numbers[os.stat(path).st_ino]

    def _new_number(self, path: Any) -> int:
        """The number of what was just made. The system may have given it the number of something that is gone."""
        self._last += 1
        self._numbers[os.stat(path).st_ino] = self._last
        return self._last

    def _place(self, path: Any) -> tuple[int, str]:
        folder, name = os.path.split(os.path.abspath(path))
        return self._number(folder), name

    def _open(self, real: Any, file: Any, mode: str = "r", buffering: int = -1, *texts: Any, **options: Any) -> Any:
        if not set(mode) & set("wxa+") or not self._is_ours(file):
            return real(file, mode, buffering, *texts, **options)
        is_new = not os.path.exists(file)
        raw = _RawFile(file, mode.replace("b", "").replace("t", ""), self.note)
        if is_new:
            raw.number = self._new_number(file)
            self.note(Named(*self._place(file), raw.number))
        else:
            raw.number = self._number(file)
            if "w" in mode:
                self.note(Resized(raw.number, 0))
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return _File(buffered if "b" in mode else io.TextIOWrapper(buffered, *texts, **options))

    def _fsync(self, real: Any, handle: int) -> None:
        real(handle)
        number = self._numbers.get(os.fstat(handle).st_ino)
        if number is not None:
            self.note(Synced(number))

    def _truncate(self, real: Any, path: Any, length: int) -> None:
        real(path, length)
        if self._is_ours(path):
            self.note(Resized(self._number(path), length))

    def _rename(self, real: Any, source: Any, target: Any, **options: Any) -> None:
        if not self._is_ours(target, options):
            real(source, target, **options)
            return
        before, after, number, is_folder = self._place(source), self._place(target), self._number(source), os.path.isdir(source)
        assert before[0] == after[0], "the model knows of no move from one folder to another, which is forced to disk with both"
        real(source, target)
        self.note(Named(*after, number, is_folder, before))

    def _link(self, real: Any, source: Any, target: Any, **options: Any) -> None:
        real(source, target, **options)
        if self._is_ours(target, options):
            self.note(Named(*self._place(target), self._number(source)))

    def _unlink(self, real: Any, path: Any, **options: Any) -> None:
        real(path, **options)
        if self._is_ours(path, options):
            self.note(Unnamed(*self._place(path)))

    def _mkdir(self, real: Any, path: Any, *mode: Any, **options: Any) -> None:
        real(path, *mode, **options)
        if self._is_ours(path, options):
            self.note(Named(*self._place(path), self._new_number(path), is_folder=True))


class _RawFile(io.FileIO):
    """A file without a buffer: what it is given is what the system is given."""

    def __init__(self, path: Any, mode: str, note: Callable[[Operation], None]) -> None:
        super().__init__(path, mode)
        self.number, self._note, self._appends = -1, note, "a" in mode

    def write(self, data: Any) -> int:
        """Write at the position, or at the end."""
        offset = os.fstat(self.fileno()).st_size if self._appends else self.tell()
        count = super().write(data)
        self._note(Wrote(self.number, offset, bytes(data[:count])))
        return count

    def truncate(self, size: int | None = None) -> int:
        """Cut the file off, or make it longer."""
        length = super().truncate(size)
        self._note(Resized(self.number, length))
        return length


class _File:
    """A file as `open` gives it, in all but its type: into a file of Python's own NumPy writes without asking it."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
