"""Work in progress: new shards that no manifest names yet, and the mark that says what they are for.

A mark is written before the first shard is cut, and again when all are cut: from then on the corpus is not needed any more.
Only what can be taken up again is marked; a delete, say, is a commit and nothing else.

There are two kinds of work, each with a mark of its own: a new index, `pending.*`, which depends on nothing that is there, and a
change of the index that is there, `change.*`. Work never waits for other work of its kind: what was interrupted is dropped where its
mark is needed, and a note says so. But what an encoder has made gives way only to what encodes, too: a merge, say, is done beside it,
without a mark.
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
from ..files.writing import listed, read_array, read_sealed, remove, sync_file, write_array, write_sealed
from ..matching.late import Packing, read_packing
from ..matching.sharding import ALL, Share
from ..protocols import Progress
from .manifest import FORMAT, SHARDS, Manifest, named_shards, read_manifest

KINDS: Mapping[str, tuple[str, ...]] = {"pending": ("index",), "change": ("add", "merge", "reindex", "repair", "sync")}
"""What the names of a kind's files begin with, and the commands that do such work."""


@dataclass(frozen=True)
class Pending:
    """Work in progress in a directory.

    Attributes:
        directory: the index's.
        plan: what determines its shards.
        first_shard: the number of its first shard.
        state: what is known of it so far, as plain JSON values; `cut` is there when all its shards are cut.
        id: what tells it from all other work; the log has that of what is committed.
    """

    directory: Path
    plan: Mapping[str, Any]
    first_shard: int
    state: Mapping[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid4().hex)

    @classmethod
    def read(cls, directory: Path, kind: str = "pending") -> Pending | None:
        """The work of a kind that is in progress; None if there is none.

        Work that the log has is done, whatever became of its shards, and so is work whose shards the current generation has: only its mark
        was left, and is removed. Raises CorruptData: its mark is damaged or of another version.
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
        with suppress(CorruptData, NotFound):  # a manifest that cannot be read names none of its shards
            manifest = read_manifest(directory)
            if any(record.work == pending.id for record in manifest.log) or any(pending.has(facts.name) for facts in manifest.shards):
                pending.end()
                return None
        return pending

    @classmethod
    def found(cls, directory: Path, progress: Progress, kind: str = "pending") -> Pending | None:
        """The same for a command that goes on whatever it finds: a mark that cannot be read is removed, and a note says so."""
        try:
            return cls.read(directory, kind)
        except CorruptData as error:
            progress.note(f"dropped unfinished work, since nothing says what it was for: {str(error).partition(';')[0]}")
            _remove_mark(directory, kind)
            return None

    @classmethod
    def begin(cls, directory: Path, plan: Mapping[str, Any], progress: Progress) -> Pending:
        """Mark new work in place of what was marked; its shards are numbered after all others."""
        return cls.beside(directory, plan, progress).write()

    @classmethod
    def beside(cls, directory: Path, plan: Mapping[str, Any], progress: Progress) -> Pending:
        """New work, without a mark, whose shards are numbered after all that are there or that interrupted work is still to make."""
        first = 0
        for kind in KINDS:
            if (other := cls.found(directory, progress, kind)) is not None:
                if other.count is None:  # it was still reading its corpus
                    other.give_way(plan, progress)
                else:
                    first = max(first, other.end_number)
        numbers = [int(folder.name.removesuffix(".partial")) for folder in listed(directory / SHARDS, "[0-9]*")] + named_shards(directory)
        (directory / SHARDS).mkdir(exist_ok=True)
        sync_file(directory / SHARDS)  # or a shard that was removed may be back after a power failure, and be taken for one of these
        return cls(directory, plan, max([first, *(number + 1 for number in numbers)]))

    @classmethod
    def take_up(cls, directory: Path, plan: Mapping[str, Any], progress: Progress, *, resume: bool = True) -> Pending:
        """The same change of an index, if it was interrupted and can go on; else a new one, for which another is dropped if it must be."""
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
        """Whether it can still be taken up on a generation. What add and sync have encoded can be on any, see `lifecycle.updating`."""
        names = {facts.name for facts in manifest.shards}
        return names.issuperset(self.plan.get("shards", ())) and (
            self.plan.get("base", manifest.generation) == manifest.generation or self.is_worth_keeping
        )

    @property
    def is_whole(self) -> bool:
        """Whether all that it goes on with is there still: a power failure may have taken it."""
        try:
            self.packing()
            if "deleted" in (self.cut or {}):
                self.deleted()
        except CorruptData:
            return False
        return all(self.folder(place).is_dir() or (self.partial(place) / "ids.arrow").exists() for place in self.places)

    @property
    def kind(self) -> str:
        """See `KINDS`."""
        return next(kind for kind, commands in KINDS.items() if self.plan["command"] in commands)

    def _file(self, name: str) -> Path:
        return self.directory / f"{self.kind}.{name}"

    def write(self) -> Pending:
        """Write the mark."""
        write_sealed(self._file("json"), {"id": self.id, "plan": self.plan, "first_shard": self.first_shard, "state": self.state})
        return self

    def noting(self, **facts: Any) -> Pending:
        """The same work with more that is known of it, written."""
        return replace(self, state={**self.state, **facts}).write()

    @property
    def cut(self) -> Mapping[str, Any] | None:
        """What cutting the corpus gave: `shards`, how many papers each has, and what else was noted then."""
        return self.state.get("cut")

    @property
    def count(self) -> int | None:
        """How many shards it makes; None as long as that is not known."""
        if self.cut is not None:
            return len(self.cut["shards"])
        parts = self.plan.get("shards", self.plan.get("groups"))
        return None if parts is None else len(parts)

    @property
    def end_number(self) -> int:
        """The number after that of the last shard that it is known to make."""
        return self.first_shard + (self.count or 0)

    def has(self, name: str) -> bool:
        """Whether a folder, finished or not, is of one of its shards."""
        number = int(name.removesuffix(".partial"))
        return self.first_shard <= number and (self.count is None or number < self.end_number)

    @property
    def share(self) -> Share:
        """Which of these shards are built here."""
        return Share(*self.plan.get("share", (1, 1)))

    @property
    def places(self) -> list[int]:
        """The numbers of the shards that are built here, counted from 0; none before the corpus is cut."""
        cut = self.cut or {"shards": ()}
        return list(self.share.places(cut["ends"] if "ends" in cut and self.share != ALL else [len(cut["shards"])]))

    @property
    def rejected(self) -> Path:
        """The file of the corpus's rejected rows, until the commit."""
        return self._file("rejected.jsonl")

    @property
    def late(self) -> Path:
        """The file that says how token vectors are packed, if it has been decided that there are any."""
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
        """The folder of its shard of this number, counted from 0, once it is full."""
        return self.directory / SHARDS / f"{self.first_shard + place:06d}"

    def partial(self, place: int) -> Path:
        """The folder of that shard until then."""
        return self.folder(place).with_name(self.folder(place).name + ".partial")

    def save_deleted(self, rows: Rows) -> None:
        """Save which rows of the current generation the commit will delete."""
        write_array(self._file("deleted.npy"), rows)

    def deleted(self) -> Rows:
        """What `save_deleted` saved. Raises CorruptData."""
        path = self._file("deleted.npy")
        try:
            rows: Rows = read_array(path, "run the command again")
        except FileNotFoundError as error:
            raise CorruptData(f"{path} is missing; run the command again") from error
        return rows.astype(np.int64)

    @property
    def golden(self) -> Vectors | None:
        """The probe's vectors at its start; the encoder must give the same ones when it goes on."""
        golden = self.state.get("golden")
        return None if golden is None else np.array(golden, np.float32)

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it has encoded anything; other work is quickly done again."""
        return "encoder" in self.plan and any(
            (folder / "vectors.npy").exists() or not folder.name.endswith(".partial") for folder in self._folders
        )

    @property
    def _folders(self) -> list[Path]:
        """The folders of its shards, finished or not."""
        return [folder for folder in listed(self.directory / SHARDS, "[0-9]*") if self.has(folder.name)]

    def end(self) -> None:
        """Remove its mark: its shards are committed, or it needed none."""
        _remove_mark(self.directory, self.kind)

    def drop(self, progress: Progress, why: str) -> None:
        """Remove it with all its shards; a note says why."""
        folders = self._folders
        finished = sum(not folder.name.endswith(".partial") for folder in folders)
        of = f" of {', '.join(self.plan['corpus'][:3])}" if "corpus" in self.plan else ""
        done = f" ({finished} of {counted(self.count, 'shard')} done)" if self.count else ""
        progress.note(f"dropped an interrupted {self.plan['command']}{of}{done}: {why}")
        self.clear()

    def clear(self) -> None:
        """Remove it with all its shards, which nobody misses."""
        for folder in self._folders:
            remove(folder, later=True)
        self.end()
        sync_file(self.directory)


def _remove_mark(directory: Path, kind: str) -> None:
    for path in reversed(listed(directory, f"{kind}.*")):
        remove(path)
