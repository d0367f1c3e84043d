"""Work in progress: new shards that no manifest names yet, and the mark that says what they are for.

A mark is written before the first shard is cut, and again when all are cut: from then on the corpus is not needed any more.
Only what can be taken up again is marked; a delete, say, is a commit and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CorruptData, IndexExists
from ..files.writing import listed, read_array, read_sealed, remove, sync_file, write_array, write_sealed
from ..matching.late import Packing, read_packing
from ..matching.sharding import Share
from ..types import Rows, Vectors
from .manifest import MANIFEST, PENDING, SHARDS, is_first_format, read_manifest

DELETED = "pending.deleted.npy"
INT8 = "pending.int8"
LATE = "pending.late.npy"
REJECTED = "pending.rejected.jsonl"
"""The corpus's rejected rows, until the commit."""


@dataclass(frozen=True)
class Pending:
    """Work in progress in a directory.

    Attributes:
        directory: the index's.
        plan: what determines its shards.
        first_shard: the number of its first shard.
        state: what is known of it so far, as plain JSON values; `cut` is there when all its shards are cut.
    """

    directory: Path
    plan: Mapping[str, Any]
    first_shard: int
    state: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path) -> Pending | None:
        """The work in progress; None if there is none.

        Work whose shards the current generation has is done: only its mark was left, and is removed.

        Raises:
            CorruptData: its mark, or the current manifest, is damaged.
        """
        path = directory / PENDING
        if not path.exists():
            return None
        value = read_sealed(path)
        try:
            pending = cls(directory, value["plan"], int(value["first_shard"]), value["state"])
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptData(f"{path} is damaged ({error}); start over with --no-resume") from error
        if (directory / MANIFEST).exists() and not is_first_format(directory):
            committed = read_manifest(directory).shards
            if any(int(facts.name) >= pending.first_shard for facts in committed):
                pending.end()
                return None
        return pending

    @classmethod
    def begin(cls, directory: Path, plan: Mapping[str, Any]) -> Pending:
        """Mark new work, whose shards are numbered after all others; what was in progress before is abandoned."""
        numbers = [int(folder.name.removesuffix(".partial")) for folder in listed(directory / SHARDS, "[0-9]*")]
        (directory / SHARDS).mkdir(exist_ok=True)
        sync_file(directory / SHARDS)  # or a shard that was removed may be back after a power failure, and be taken for one of these
        return cls(directory, plan, max(numbers, default=-1) + 1).write()

    @classmethod
    def take_up(cls, directory: Path, plan: Mapping[str, Any], *, resume: bool = True) -> Pending:
        """The same work on the same generation, `plan["base"]`, if it was interrupted; else new work.

        Raises:
            IndexExists: other work was interrupted, and would be lost.
        """
        pending = cls.read(directory) if resume else None
        if pending is not None and pending.plan == plan and pending.is_cut:
            return pending
        if pending is not None:
            if pending.is_worth_keeping:
                corpus = ", ".join(pending.plan["corpus"][:3])
                what = f"holds an interrupted `sciretrieve {pending.plan['command']}` of {corpus}"
                raise IndexExists(str(directory), what, "run that again to finish it, or drop it with --no-resume; else ")
            pending.drop()
        return cls.begin(directory, plan)

    @property
    def is_cut(self) -> bool:
        """Whether all that was cut is there still: a power failure may have taken it."""
        return all(self.folder(place).is_dir() or (self.partial(place) / "ids.arrow").exists() for place in self.places)

    def write(self) -> Pending:
        """Write the mark."""
        write_sealed(self.directory / PENDING, {"plan": self.plan, "first_shard": self.first_shard, "state": self.state})
        return self

    def noting(self, **facts: Any) -> Pending:
        """The same work with more that is known of it, written."""
        return replace(self, state={**self.state, **facts}).write()

    @property
    def cut(self) -> Mapping[str, Any] | None:
        """What cutting the corpus gave: `shards`, how many papers each has, and what else was noted then."""
        return self.state.get("cut")

    @property
    def share(self) -> Share:
        """Which of these shards are built here."""
        return Share(*self.plan.get("share", (1, 1)))

    @property
    def places(self) -> list[int]:
        """The numbers of the shards that are built here, counted from 0; none before the corpus is cut."""
        return [place for place in range(len((self.cut or {"shards": ()})["shards"])) if self.share.has(place)]

    @property
    def rejected(self) -> Path:
        """The file of rejected rows."""
        return self.directory / REJECTED

    @property
    def int8(self) -> Path:
        """The folder of the encoder's graph in int8, if papers are encoded in that."""
        return self.directory / INT8

    @property
    def late(self) -> Path:
        """The file that says how token vectors are packed, if it has been decided that there are any."""
        return self.directory / LATE

    def packing(self) -> Packing | None:
        """How token vectors are packed; None if there are none. Raises CorruptData."""
        if not self.state.get("late"):
            return None
        try:
            return read_packing(self.late, int(self.plan["encoder"]["dim"]))
        except FileNotFoundError as error:
            raise CorruptData(f"{self.late} is missing; start over with --no-resume") from error

    def folder(self, place: int) -> Path:
        """The folder of its shard of this number, counted from 0, once it is full."""
        return self.directory / SHARDS / f"{self.first_shard + place:06d}"

    def partial(self, place: int) -> Path:
        """The folder of that shard until then."""
        return self.folder(place).with_name(self.folder(place).name + ".partial")

    def save_deleted(self, rows: Rows) -> None:
        """Save which rows of the current generation the commit will delete."""
        write_array(self.directory / DELETED, rows)

    def deleted(self) -> Rows:
        """What `save_deleted` saved. Raises CorruptData."""
        path = self.directory / DELETED
        try:
            rows: Rows = read_array(path, "start over with --no-resume")
        except FileNotFoundError as error:
            raise CorruptData(f"{path} is missing; start over with --no-resume") from error
        return rows.astype(np.int64)

    @property
    def golden(self) -> Vectors | None:
        """The vectors of the probe that it began with, which it must go on with."""
        golden = self.state.get("golden")
        return None if golden is None else np.array(golden, np.float32)

    @property
    def is_worth_keeping(self) -> bool:
        """Whether it has encoded anything; other work is quickly done again."""
        return "corpus" in self.plan and any(
            (folder / "vectors.npy").exists() or not folder.name.endswith(".partial")
            for folder in listed(self.directory / SHARDS, "[0-9]*")
            if int(folder.name.removesuffix(".partial")) >= self.first_shard
        )

    def end(self) -> None:
        """Remove its mark: its shards are committed, or it needed none."""
        for path in reversed(listed(self.directory, "pending.*")):
            remove(path)

    def drop(self) -> None:
        """Remove it with all its shards."""
        for folder in listed(self.directory / SHARDS, "[0-9]*"):
            if int(folder.name.removesuffix(".partial")) >= self.first_shard:
                remove(folder)
        self.end()
        sync_file(self.directory)
