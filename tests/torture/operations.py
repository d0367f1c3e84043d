"""A small index whose every part is there, what changes it, and what it answers: for tests that do this again and again.

It is encoded by `tests.toy_encoder`, in windows of four papers, and has shards of seven.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import sciretrieve as sr
from sciretrieve import lifecycle
from sciretrieve.base.choices import MODES
from sciretrieve.base.errors import NotFound, SciretrieveError
from sciretrieve.files.writing import read_json
from sciretrieve.lifecycle.exporting import export
from sciretrieve.storage.manifest import MANIFEST
from sciretrieve.storage.repairing import repair
from sciretrieve.storage.verifying import Fault, Verification, verify
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder, letters_by_name

QUERY = "graph star market"
SHARD_SIZE = 7
KEPT = ["p0004", "p0010"]
"""Papers that no operation but `replace` removes."""


@contextmanager
def letters_for_all() -> Iterator[None]:
    """Whatever loads or reopens an encoder gets one that counts letters; and nothing is forced to disk, which is slow."""
    with (
        letters_by_name(),
        mock.patch("sciretrieve.lifecycle.merging.WIDTH", 2),  # small shards are joined with nearly every change
        mock.patch.object(LetterEncoder, "window", 4),
        mock.patch.object(os, "fsync"),
    ):
        yield


@dataclass(frozen=True)
class Corpora:
    """Three corpora: the second has papers of the first, some of them changed, and others; the third is another altogether."""

    first: Path
    second: Path
    other: Path

    @classmethod
    def write(cls, folder: Path) -> Corpora:
        papers = made_up_papers(18, seed=5)
        second_papers = [{**paper, "title": "star dust"} if number % 5 == 0 else paper for number, paper in enumerate(papers[4:])]
        others = [{**paper, "id": f"other {paper['id']}"} for paper in made_up_papers(9, seed=6)]
        return cls(
            write_jsonl(folder / "first.jsonl", papers[:12]),
            write_jsonl(folder / "second.jsonl", [*second_papers, {"id": "no text"}]),
            write_jsonl(folder / "other.jsonl", others),
        )


def build(corpora: Corpora, index: Path) -> None:
    """Two shards, of seven papers and of five."""
    sr.build(corpora.first, index, encoder="letters", shard_size=SHARD_SIZE, dense="hnsw").close()


def build_with_history(corpora: Corpora, index: Path) -> None:
    """The index that most operations start from: its first shard lacks a paper since its second generation."""
    build(corpora, index)
    lifecycle.delete(index, "p0002")


def build_damaged(corpora: Corpora, index: Path) -> None:
    """The same, with damage of every kind that can be repaired, in both shards and beside them."""
    build_with_history(corpora, index)
    for pattern in ("shards/000000/vectors.npy", "shards/000001/postings.arrow", "shards/000001/dense-*", "lexical/000002/000000.npy"):
        for path in index.glob(pattern):
            damaged = bytearray(path.read_bytes())
            damaged[-20] ^= 1
            path.write_bytes(damaged)


@dataclass(frozen=True)
class Operation:
    """Something that changes an index.

    Attributes:
        prepare: makes what it starts from.
        call: does it by the library.
        arguments: do it by the command line.
    """

    prepare: Callable[[Corpora, Path], None]
    call: Callable[[Corpora, Path], object]
    arguments: Callable[[Corpora, Path], list[str | Path]]


def _nothing(corpora: Corpora, index: Path) -> None:
    pass


BUILD: tuple[str | Path, ...] = ("--encoder", "letters", "--set", f"shard_size={SHARD_SIZE}", "--dense", "hnsw", "--quiet")
OPERATIONS: dict[str, Operation] = {
    "build": Operation(_nothing, build, lambda corpora, index: ["index", corpora.first, "-o", index, *BUILD]),
    "replace": Operation(
        build_with_history,
        lambda corpora, index: sr.build(
            corpora.other, index, encoder="letters", shard_size=SHARD_SIZE, dense="hnsw", overwrite=True
        ).close(),
        lambda corpora, index: ["index", corpora.other, "-o", index, *BUILD, "--overwrite"],
    ),
    "add": Operation(
        build_with_history,
        lambda corpora, index: lifecycle.add(corpora.second, index),
        lambda corpora, index: ["add", corpora.second, "-i", index, "--quiet"],
    ),
    "sync": Operation(
        build_with_history,
        lambda corpora, index: lifecycle.sync(corpora.second, index, allow_deletions=True),
        lambda corpora, index: ["sync", corpora.second, "-i", index, "--quiet", "--allow-deletions"],
    ),
    "delete": Operation(
        build_with_history,
        lambda corpora, index: lifecycle.delete(index, ["p0001", "p0009"]),
        lambda corpora, index: ["delete", "p0001", "p0009", "-i", index, "--quiet"],
    ),
    "merge": Operation(
        build_with_history, lambda corpora, index: lifecycle.merge(index), lambda corpora, index: ["merge", "-i", index, "--quiet"]
    ),
    "reindex": Operation(
        build_with_history,
        lambda corpora, index: lifecycle.reindex(index, metric="l2", lexical={"k1": 0.4}),
        lambda corpora, index: ["reindex", "-i", index, "--set", "metric=l2", "--set", "k1=0.4", "--quiet"],
    ),
    "repair": Operation(
        build_damaged, lambda corpora, index: repair(index), lambda corpora, index: ["verify", "--repair", "-i", index, "--quiet"]
    ),
}

Answers = dict[str, list[tuple[str, float]]]


def answers(index: Path) -> Answers:
    """What an index answers in every mode: the ids of all papers found, and their scores."""
    with sr.open(index) as opened_index:
        return {mode: [(hit.id, hit.score) for hit in opened_index.search(QUERY, 50, mode=mode).hits] for mode in opened_index.modes}


def answers_if_any(index: Path) -> Answers | None:
    """The same; None where there is no index, or none yet."""
    try:
        return answers(index)
    except NotFound:
        return None


def verified(index: Path) -> Verification:
    """What verifying an index tells, all of which could be checked."""
    verification = verify(index)
    assert verification.unchecked == ""
    return verification


def leftovers(index: Path) -> set[str]:
    """Files and folders of an index that stand for unfinished work, and shards that no generation names."""
    names = {path.relative_to(index).as_posix() for path in index.rglob("*")}
    named_shards = {shard["name"] for path in (index / "generations").glob("*.json") for shard in read_json(path)["shards"]}
    unnamed = {name for name in names if (match := re.fullmatch(r"shards/(\d+)", name)) and match[1] not in named_shards}
    return unnamed | {name for name in names if name.endswith((".tmp", ".partial")) or name.startswith("pending.")}


def actions(folder: Path) -> dict[str, Callable[[sr.Index], Any]]:
    """All ways to read an index, each with what it answers, which can be compared. Exports are written to `folder`."""

    def hits(run: sr.Run) -> list[tuple[str, float]]:
        return [(hit.id, hit.score) for hit in run.hits]

    def exported(index: sr.Index, name: str) -> list[bytes]:
        return [path.read_bytes() for path in export(index, folder / name)]

    modes: dict[str, Callable[[sr.Index], Any]] = {
        mode: lambda index, mode=mode: hits(index.search(QUERY, 50, mode=mode))  # type: ignore[misc]
        for mode in MODES
    }
    return modes | {
        "similar": lambda index: hits(index.similar(KEPT[0], 50, negatives=KEPT[1])),
        "explain": lambda index: sr.explain(index, QUERY, KEPT),
        "filter": lambda index: hits(index.search(QUERY, 50, filter='year >= 2005 and venue == "ACL"')),
        "demands": lambda index: hits(index.search('"graph" -star year:2010 markt', 50)),
        "papers": lambda index: index.papers(KEPT),
        "ids": lambda index: index.snapshot.live_ids(),
        "exported papers": lambda index: exported(index, "exported.parquet"),
        "exported vectors": lambda index: exported(index, "exported.npy"),
    }


@dataclass(frozen=True)
class Stage:
    """An operation with what it starts from and what it leads to.

    Attributes:
        folder: where copies of the start can be made.
        start: the index that it starts from, if there is one.
        before, after: what the index answers at the start, where that can be read, and at the end.
        start_faults: what verifying the start tells.
    """

    operation: Operation
    corpora: Corpora
    folder: Path
    start: Path
    before: Answers | None
    after: Answers
    start_faults: tuple[Fault, ...]

    @classmethod
    def of(cls, name: str, corpora: Corpora, folder: Path, during: AbstractContextManager[Any] | None = None) -> Stage:
        """The stage of an operation, which is done once, in a context."""
        operation, start, end = OPERATIONS[name], folder / name / "start", folder / name / "end"
        start.parent.mkdir()
        operation.prepare(corpora, start)
        faults = verified(start).faults if start.exists() else ()
        before = answers(start) if start.exists() and not faults else None
        if start.exists():
            shutil.copytree(start, end)
        with during or nullcontext():
            operation.call(corpora, end)
        assert not verified(end).faults
        assert not leftovers(end)
        return cls(operation, corpora, folder, start, before, answers(end), faults)

    def fresh(self) -> Path:
        """A copy of what the operation starts from."""
        index = self.folder / "index"
        if index.exists():
            shutil.rmtree(index)
        if self.start.exists():
            shutil.copytree(self.start, index)
        return index

    def check(self, index: Path, has_failed: bool) -> None:
        """After the operation, which may have failed: the index is as it was or as it will be; the operation completes when it is
        done again, and leaves nothing else behind."""
        faults = verified(index).faults if (index / MANIFEST).exists() else ()
        if self.start_faults:
            is_new = not faults
            assert set(faults) <= set(self.start_faults)  # older generations still have some when the current one is repaired
        else:
            now = answers_if_any(index)
            is_new = now == self.after
            assert faults == ()
            assert is_new or now == self.before
        assert is_new or has_failed
        try:
            self.operation.call(self.corpora, index)
        except NotFound:
            assert "delete" in self.operation.arguments(self.corpora, index)
            assert is_new  # and so these papers are gone already
        else:
            assert not leftovers(index)
        assert answers(index) == self.after
        assert verified(index).faults == ()


def failed_by_call(stage: Stage, index: Path) -> bool:
    """Do the operation by the library; says whether it failed, as it may."""
    try:
        result = stage.operation.call(stage.corpora, index)
    except (OSError, SciretrieveError):
        return True
    return bool(getattr(result, "faults", ()))


def failed_by_command(stage: Stage, index: Path) -> bool:
    """Do the operation by the command line; says whether it failed, which is said in one line, or, of faults that remain, in a list."""
    result = sciretrieve(*stage.operation.arguments(stage.corpora, index))
    if result.returncode == 1 and "--repair" in result.args:
        assert result.stdout
        assert result.stderr == ""
        return True
    assert result.returncode in (0, 2, 3, 4), result
    assert (result.stderr.count("\n"), result.stderr[:13]) == ((1, "sciretrieve: ") if result.returncode else (0, "")), result
    return result.returncode != 0
