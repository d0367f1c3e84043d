"""Verified reading: files are read only if they match their manifest, byte by byte.

Hashing a large index takes seconds. So this machine remembers large files that it has hashed, by inode, size and times of last change, as
Git does. An unchanged file is not hashed again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, TypeAlias

from ..base.errors import CorruptData, SciretrieveError, Unavailable
from ..config import cache_directory
from .writing import describe, write_json

LARGE = 1 << 20
"""Least size of a file whose hash is remembered. Smaller files are hashed in less than a millisecond."""
RECENT = 0.005
"""Seconds for which a check of all files counts, for files that are asked for by name."""
MANY, EACH = 200, 0.0001
"""Number of files from which a check of all counts for everything, and seconds for each file: checking takes a twentieth of that."""

Stamp: TypeAlias = list[Any]
Seen: TypeAlias = tuple[int, int, int]
"""A file's inode, size and modification time."""


class Verified:
    """Checks the files of an index before they are read. Thread-safe."""

    def __init__(self, directory: Path, is_there: Callable[[], bool] = lambda: True) -> None:
        """`is_there` says whether the index still is the one that these files belong to."""
        self.directory, self._is_there = directory, is_there
        digest = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:32]
        self._memory = cache_directory() / "verified" / f"{digest}.json"
        self._stamps: dict[str, Stamp] | None = None
        self._read: dict[str, tuple[str, Seen, Mapping[str, Any]]] = {}
        self._lock = Lock()
        self._all_checked = -RECENT

    def check(self, name: str, facts: Mapping[str, Any]) -> Path:
        """Path of a file, by its name within the index, after a check. Raises CorruptData, and Unavailable if the index was removed or
        replaced by another."""
        path = self.directory / name
        with self._lock:
            try:
                stamp = _stamp(path, facts)
                seen = stamp[0], stamp[1], stamp[2]
                if facts["bytes"] >= LARGE and self._known().get(name) == stamp:
                    self._read[name] = str(path), seen, facts
                    return path
                actual = describe(path) if stamp[1] == facts["bytes"] else None
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
                raise self._fault(f"{path} is missing") from error
            if actual != {"bytes": facts["bytes"], "sha256": facts["sha256"]}:
                raise self._fault(f"{path} is damaged: it is not as it was written")
            self._read[name] = str(path), seen, facts
            if facts["bytes"] >= LARGE:
                self._known()[name] = stamp
                self._save()
        return path

    def _fault(self, what: str) -> SciretrieveError:
        if self._is_there():
            return CorruptData(f"{what}; restore it, or try `sciretrieve verify --repair`")
        return Unavailable(f"{self.directory} was removed or built anew since it was opened; open it again")

    def check_again(self, names: Iterable[str] | None = None) -> None:
        """Raise CorruptData if a checked file, of all or of those named, was truncated or overwritten since. Mapped parts of it may be
        gone, and reading them would kill the process. A file that was removed or replaced is unchanged for whoever has it open. A check
        takes a few microseconds per file, so a check of all counts for a while."""
        now = monotonic()
        counts_for = EACH * len(self._read) if len(self._read) >= MANY else 0.0
        if now - self._all_checked < (counts_for if names is None else max(RECENT, counts_for)):
            return
        for name in tuple(self._read) if names is None else names:
            if name not in self._read:
                continue
            path, seen, facts = self._read[name]
            try:
                status = os.stat(path)  # noqa: PTH116 - three times as fast
            except OSError:
                continue
            if status.st_ino == seen[0] and (status.st_size, status.st_mtime_ns) != seen[1:]:
                self.check(name, facts)
        if names is None:
            self._all_checked = now

    def remember(self, written: Mapping[str, Mapping[str, Any]], named: Container[str]) -> None:
        """Remember files that were just written and hashed, by name. Forget files that are no longer `named`."""
        large_files = {name: facts for name, facts in written.items() if facts["bytes"] >= LARGE}
        with self._lock, suppress(OSError):
            known = {name: stamp for name, stamp in self._known().items() if name in named}
            self._stamps = known | {name: _stamp(self.directory / name, facts) for name, facts in large_files.items()}
            if large_files:
                self._save()

    def _known(self) -> dict[str, Stamp]:
        if self._stamps is None:
            self._stamps = {}
            with suppress(OSError, ValueError):
                stamps = json.loads(self._memory.read_bytes())
                self._stamps = stamps if isinstance(stamps, dict) else {}
        return self._stamps

    def _save(self) -> None:
        with suppress(OSError):  # without a cache, files are hashed again
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            write_json(self._memory, self._known())


def _stamp(path: Path, facts: Mapping[str, Any]) -> Stamp:
    status = path.stat()
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, facts["sha256"]]
