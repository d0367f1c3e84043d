"""Unfinished work: new shards that no manifest names yet, and the mark that describes them.

A mark is written before the first shard is cut, and again when all are cut; from then on the corpus is not needed. Only work that can be
resumed has a mark. A deletion, for example, is a single commit.

There are two kinds of work, each with its own mark: a new index, `pending.*`, which is independent of existing files, and a change of the
existing index, `change.*`. New work replaces interrupted work of its kind where it needs the mark, with a note. Encoded vectors are only
dropped for work that also encodes. A merge, for example, runs beside such work, without a mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from ..base.errors import CorruptData, NotFound
from ..base.types import Rows, Vectors
from ..base.wording import counted
from ..files.writing import folder_entries, read_array, read_sealed, remove, sync_file, write_array, write_sealed
from ..matching.late import Packing, read_packing
from ..matching.sharding import ALL, Share
from ..protocols import Progress
from .manifest import FORMAT, SHARDS, Manifest, named_shards, read_manifest

KINDS: Mapping[str, tuple[str, ...]] = {"pending": ("index",), "change": ("add", "merge", "reindex", "repair", "sync")}
"""File name prefix of each kind, and the commands of this kind."""


@dataclass(frozen=True)
class Pending:
    """Unfinished work in a directory.

    Attributes:
        directory: the index's directory.
        plan: what determines its shards.
        first_shard: number of its first shard.
        state: facts known so far, as plain JSON values. `cut` is present once all shards are cut.
        id: identifies the work; the log stores it at the commit.
    """

    directory: Path
    plan: Mapping[str, Any]
    first_shard: int
    state: Mapping[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid4().hex)

    @classmethod
    def read(cls, directory: Path, kind: str = "pending") -> Pending | None:
        """Unfinished work of this kind; None if there is none.

        Work is finished if the log has its id, or if the current generation has its shards. Then only the mark was left, and is removed.
        Raises CorruptData if the mark is damaged or of another version.
        """
        path = directory / f"{kind}.json"
        if not path.exists():
            return None
        match read_sealed(path):
            case {"id": str(id), "plan": {"command": str(command)} as plan, "first_shard": int(first_shard), "state": dict(state)} if (
                command in KINDS[kind] and plan.get("format") == FORMAT
            ):
                pending = cls(directory, plan, first_shard, state, id)
            case _:
                raise CorruptData(f"{path} is of another version; run the command that was interrupted again, which starts over")
        with suppress(CorruptData, NotFound):  # an unreadable manifest names no shards
            manifest = read_manifest(directory)
            if any(record.work == pending.id for record in manifest.log) or any(pending.has(facts.name) for facts in manifest.shards):
                pending.end()
                return None
        return pending

    @classmethod
    def found(cls, directory: Path, progress: Progress, kind: str = "pending") -> Pending | None:
        """Like `read`, for a command that continues in any case. An unreadable mark is removed with a note."""
        try:
            return cls.read(directory, kind)
        except CorruptData as error:
            progress.note(f"dropped unfinished work, since nothing says what it was for: {str(error).partition(';')[0]}")
            _remove_mark(directory, kind)
            return None

    @classmethod
    def begin(cls, directory: Path, plan: Mapping[str, Any], progress: Progress) -> Pending:
        """Mark new work, replacing the present mark. Its shards are numbered after all others."""
        return cls.beside(directory, plan, progress).write()

    @classmethod
    def beside(cls, directory: Path, plan: Mapping[str, Any], progress: Progress) -> Pending:
        """New work without a mark. Its shards are numbered after all existing shards and those that interrupted work will make."""
        first = 0
        for kind in KINDS:
            if (other := cls.found(directory, progress, kind)) is not None:
                if other.count is None:  # it was still reading its corpus
                    other.give_way(plan, progress)
                else:
                    first = max(first, other.end_number)
        numbers = [int(folder.name.removesuffix(".partial")) for folder in folder_entries(directory / SHARDS, "[0-9]*")] + named_shards(
            directory
        )
        (directory / SHARDS).mkdir(exist_ok=True)
        sync_file(directory / SHARDS)  # otherwise a removed shard may reappear after a power failure and be mistaken for a new one
        return cls(directory, plan, max([first, *(number + 1 for number in numbers)]))

    @classmethod
    def take_up(cls, directory: Path, plan: Mapping[str, Any], progress: Progress, *, resume: bool = True) -> Pending:
        """Resume an interrupted change of an index with the same plan if possible. Else begin anew, dropping other work if necessary."""
        pending = cls.found(directory, progress, "change") if resume else None
        if pending is None:
            return cls.begin(directory, plan, progress)
        if pending.plan == plan and pending.is_whole:
            return pending
        if pending.is_worth_keeping and pending.is_whole and "encoder" not in plan:
            return cls.beside(directory, plan, progress)
        pending.give_way(plan, progress)
        return cls.begin(directory, plan, progress)

    def give_way(self, plan: Mapping[str, Any], progress: Progress) -> None:
        """Drop it for other work, with a note."""
        if not self.is_whole:
            why = "some of its files are missing or damaged"
        elif plan["command"] == self.plan["command"]:
            why = "it belongs to other papers, other settings, or another generation of the index"
        else:
            why = f"{plan['command']} takes its place"
        self.drop(progress, why)

    def fits(self, manifest: Manifest) -> bool:
        """Whether it can be resumed on a generation. Vectors encoded by add and sync fit any, see `lifecycle.updating`."""
        names = {facts.name for facts in manifest.shards}
        return names.issuperset(self.plan.get("shards", ())) and (
            self.plan.get("base", manifest.generation) == manifest.generation or self.is_worth_keeping
        )

    @property
    def is_whole(self) -> bool:
        """Whether all files that it needs are present. A power failure may have lost some."""
        try:
            self.packing()
            if "deleted" in (self.cut or {}):
                self.deleted()
        except CorruptData:
            return False
        return all(self.folder(place).is_dir() or (self.partial(place) / "ids.arrow").exists() for place in self.places)

    @property
    def kind(self) -> str:
        """The kind, see `KINDS`."""
        return next(kind for kind, commands in KINDS.items() if self.plan["command"] in commands)

    def _file(self, name: str) -> Path:
        return self.directory / f"{self.kind}.{name}"

    def write(self) -> Pending:
        """Write the mark."""
        write_sealed(self._file("json"), {"id": self.id, "plan": self.plan, "first_shard": self.first_shard, "state": self.state})
        return self

    def noting(self, **facts: Any) -> Pending:
        """The same work with further facts, written to its mark."""
        return replace(self, state={**self.state, **facts}).write()

    @property
    def cut(self) -> Mapping[str, Any] | None:
        """The result of cutting the corpus: `shards`, the number of papers in each, and other facts."""
        return self.state.get("cut")

    @property
    def count(self) -> int | None:
        """Number of shards that it makes; None until it is known."""
        if self.cut is not None:
            return len(self.cut["shards"])
        parts = self.plan.get("shards", self.plan.get("groups"))
        return None if parts is None else len(parts)

    @property
    def end_number(self) -> int:
        """Number after the last shard that it is known to make."""
        return self.first_shard + (self.count or 0)

    def has(self, name: str) -> bool:
        """Whether a folder holds one of its shards, finished or not."""
        number = int(name.removesuffix(".partial"))
        return self.first_shard <= number and (self.count is None or number < self.end_number)

    @property
    def share(self) -> Share:
        """The share of its shards that are built here."""
        return Share(*self.plan.get("share", (1, 1)))

    @property
    def places(self) -> list[int]:
        """Numbers of the shards that are built here, from 0; empty before the corpus is cut."""
        cut = self.cut or {"shards": ()}
        return list(self.share.places(cut["ends"] if "ends" in cut and self.share != ALL else [len(cut["shards"])]))

    @property
    def rejected(self) -> Path:
        """File of the corpus's rejected rows, until the commit."""
        return self._file("rejected.jsonl")

    @property
    def late(self) -> Path:
        """File with the packing of token vectors, if it is decided that there are any."""
        return self._file("late.npy")

    def packing(self) -> Packing | None:
        """How token vectors are packed; None if there are none. Raises CorruptData."""
        if not self.state.get("late"):
            return None
        try:
            return read_packing(self.late, int(self.plan["encoder"]["dim"]))
        except FileNotFoundError as error:
            raise CorruptData(f"{self.late} is missing; run the command again") from error

    def folder(self, place: int) -> Path:
        """Folder of its shard with this number, from 0, once it is full."""
        return self.directory / SHARDS / f"{self.first_shard + place:06d}"

    def partial(self, place: int) -> Path:
        """Folder of this shard until it is full."""
        return self.folder(place).with_name(self.folder(place).name + ".partial")

    def save_deleted(self, rows: Rows) -> None:
        """Save the rows of the current generation that the commit will delete."""
        write_array(self._file("deleted.npy"), rows)

    def deleted(self) -> Rows:
        """The rows from `save_deleted`. Raises CorruptData."""
        path = self._file("deleted.npy")
        try:
            rows: Rows = read_array(path, "run the command again")
        except FileNotFoundError as error:
            raise CorruptData(f"{path} is missing; run the command again") from error
        return rows.astype(np.int64)

    @property
    def golden(self) -> Vectors | None:
        """The probe's vectors at its start. The encoder must reproduce them when it resumes."""
        golden = self.state.get("golden")
        return None if golden is None else np.array(golden, np.float32)

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it has encoded anything. Other work is quickly redone."""
        return "encoder" in self.plan and any(
            (folder / "vectors.npy").exists() or not folder.name.endswith(".partial") for folder in self._folders
        )

    @property
    def _folders(self) -> list[Path]:
        """Folders of its shards, finished or not."""
        return [folder for folder in folder_entries(self.directory / SHARDS, "[0-9]*") if self.has(folder.name)]

    def end(self) -> None:
        """Remove its mark, after the commit or if it needed none."""
        _remove_mark(self.directory, self.kind)

    def drop(self, progress: Progress, why: str) -> None:
        """Remove it with all its shards, with a note that gives the reason."""
        folders = self._folders
        finished = sum(not folder.name.endswith(".partial") for folder in folders)
        of = f" of {', '.join(self.plan['corpus'][:3])}" if "corpus" in self.plan else ""
        done = f" ({finished} of {counted(self.count, 'shard')} done)" if self.count else ""
        progress.note(f"dropped an interrupted {self.plan['command']}{of}{done}: {why}")
        self.clear()

    def clear(self) -> None:
        """Remove it with all its shards, without a note."""
        for folder in self._folders:
            remove(folder, later=True)
        self.end()
        sync_file(self.directory)


def _remove_mark(directory: Path, kind: str) -> None:
    for path in reversed(folder_entries(directory, f"{kind}.*")):
        remove(path)
