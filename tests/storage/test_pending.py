"""The marks of work in progress: one that cannot be read is in nobody's way, and what must give way is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.files.writing import read_sealed, write_sealed
from sciretrieve.progress import Silent
from sciretrieve.storage.manifest import read_manifest
from sciretrieve.storage.pending import Pending
from sciretrieve.storage.verifying import verify
from tests.made_up import made_up_papers, write_jsonl

PAPERS = made_up_papers(12, seed=6)


class Notes(Silent):
    """Keeps what is told; stops after so many papers, as Ctrl-C does."""

    def __init__(self, papers: int | None = None) -> None:
        self.left, self.notes = papers, list[str]()

    def advance(self, papers: int) -> None:
        if self.left is not None:
            self.left -= papers
            if self.left <= 0:
                raise KeyboardInterrupt

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of eight papers in two shards."""
    return sr.build(PAPERS[:8], tmp_path / "index", encoder=None, shard_size=4).path


def interrupted(folder: Path, corpus: Path, papers: int = 5) -> None:
    """Leave an add that was stopped after so many papers were read and analysed: of the four new ones, at least one."""
    with pytest.raises(KeyboardInterrupt):
        sr.add(corpus, folder, progress=Notes(papers))


def halved(mark: Path) -> None:
    mark.write_bytes(mark.read_bytes()[: mark.stat().st_size // 2])


def changed(**plan: Any) -> Callable[[Path], None]:
    """Makes a mark that is well written and says something else."""

    def change(mark: Path) -> None:
        value = read_sealed(mark)
        write_sealed(mark, {**value, "plan": {**value["plan"], **plan}})

    return change


MARKS: dict[str, Callable[[Path], object]] = {
    "half-written": halved,
    "empty": lambda mark: mark.write_bytes(b""),
    "not JSON": lambda mark: mark.write_bytes(bytes(range(256))),
    "of a list": lambda mark: mark.write_text("[]"),
    "with a wrong checksum": lambda mark: mark.write_text(json.dumps({**json.loads(mark.read_text()), "first_shard": 0})),
    "of nothing": lambda mark: write_sealed(mark, {}),
    "of an unknown command": changed(command="transmogrify"),
    "of no command": changed(command=["add"]),
    "of another version": changed(format=99),
    "without an id": lambda mark: write_sealed(mark, {name: value for name, value in read_sealed(mark).items() if name != "id"}),
}
CHANGES: dict[str, Callable[[Path, Silent], object]] = {
    "add": lambda folder, heard: sr.add(PAPERS[8:10], folder, progress=heard),
    "sync": lambda folder, heard: sr.sync(PAPERS[:10], folder, progress=heard),
    "delete": lambda folder, heard: sr.delete(folder, "p0001", progress=heard),
    "merge": lambda folder, heard: sr.merge(folder, progress=heard),
    "reindex": lambda folder, heard: sr.reindex(folder, lexical={"k1": 0.5}, progress=heard),
    "repair": lambda folder, heard: sr.repair(folder, progress=heard),
    "index": lambda folder, heard: sr.build(PAPERS[:8], folder, encoder=None, shard_size=3, overwrite=True, progress=heard),
}


@pytest.mark.torture
@pytest.mark.parametrize(
    ("mark", "change"), [*((mark, "add") for mark in MARKS), *(("half-written", change) for change in CHANGES if change != "add")]
)
def test_a_mark_that_cannot_be_read_is_in_nobodys_way(folder: Path, tmp_path: Path, mark: str, change: str) -> None:
    interrupted(folder, write_jsonl(tmp_path / "more.jsonl", PAPERS))
    MARKS[mark](folder / "change.json")
    heard = Notes()
    CHANGES[change](folder, heard)
    (told,) = [note for note in heard.notes if "dropped" in note]
    assert told.startswith(f"dropped unfinished work, since nothing says what it was for: {folder / 'change.json'}")
    assert verify(folder).faults == ()
    assert not list(folder.glob("change.*"))
    assert {path.name for path in (folder / "shards").iterdir()} >= {shard.facts.name for shard in sr.open(folder).snapshot.shards}
    assert sr.add(PAPERS, folder).papers == 12


def test_a_first_build_with_a_mark_that_cannot_be_read_starts_over(tmp_path: Path) -> None:
    corpus, folder, heard = write_jsonl(tmp_path / "papers.jsonl", PAPERS), tmp_path / "index", Notes()
    with pytest.raises(KeyboardInterrupt):
        sr.build(corpus, folder, encoder=None, shard_size=4, progress=Notes(18))
    halved(folder / "pending.json")
    assert len(sr.build(corpus, folder, encoder=None, shard_size=4, progress=heard)) == 12
    assert [note for note in heard.notes if "dropped" in note]
    assert not list((folder / "shards").glob("*.partial"))


@pytest.mark.parametrize(
    ("plan", "is_encoded", "fits"),
    [
        ({"command": "merge", "base": 1}, False, True),
        ({"command": "merge", "base": 2}, False, False),
        ({"command": "merge", "base": 0}, False, False),
        ({"command": "reindex", "shards": ["000000"]}, False, True),
        ({"command": "reindex", "shards": ["000000", "000001"], "base": 1}, False, True),
        ({"command": "reindex", "shards": ["000000"], "base": 2}, False, False),
        ({"command": "reindex", "shards": ["000000", "000002"]}, False, False),
        ({"command": "reindex", "shards": ["000002"], "encoder": None}, True, False),
        ({"command": "add", "base": 2, "encoder": None}, True, True),
        ({"command": "add", "base": 2, "encoder": None}, False, False),
        ({"command": "add", "base": 1, "encoder": None}, True, True),
        ({"command": "add", "base": 1, "encoder": None}, False, True),
    ],
    ids=str,
)
def test_which_work_can_go_on(folder: Path, plan: dict[str, Any], is_encoded: bool, fits: bool) -> None:
    """On generation 1, which has the shards 0 and 1: as long as these are there, and nothing was committed, or it has encoded something."""
    if is_encoded:
        (folder / "shards" / "000007").mkdir()
    assert Pending(folder, plan, 7).fits(read_manifest(folder)) == fits


def test_a_mark_stays_as_long_as_nothing_is_committed(folder: Path, tmp_path: Path) -> None:
    sr.delete(folder, "p0004")
    with pytest.raises(KeyboardInterrupt):
        sr.merge(folder, progress=Notes(1))
    for idle in (lambda: sr.reindex(folder, progress=False), lambda: sr.repair(folder, progress=False)):
        idle()
        assert (folder / "change.json").exists()
    sr.delete(folder, "p0005")
    assert not (folder / "change.json").exists()


def test_what_gives_way_is_told(folder: Path, tmp_path: Path) -> None:
    """A merge has nothing that is worth keeping, and goes when an add needs the mark, or when the index has changed."""
    for change, why in (("add", "add takes its place"), ("delete", "the index has changed since")):
        sr.delete(folder, "p0004" if change == "add" else "p0000")
        with pytest.raises(KeyboardInterrupt):
            sr.merge(folder, progress=Notes(1))
        heard = Notes()
        CHANGES[change](folder, heard)
        (told,) = [note for note in heard.notes if "dropped" in note]
        assert re.fullmatch(rf"dropped an interrupted merge \(0 of \d shards? done\): {why}", told)
    assert not list(folder.glob("change.*"))


def test_a_build_over_an_index_drops_what_was_to_change_it(folder: Path, tmp_path: Path) -> None:
    interrupted(folder, corpus := write_jsonl(tmp_path / "more.jsonl", PAPERS), 14)
    heard = Notes()
    CHANGES["index"](folder, heard)
    (told,) = [note for note in heard.notes if "dropped" in note]
    assert told.startswith(f"dropped an interrupted add of {corpus} (")
    assert told.endswith("the index is replaced")
    assert sr.add(PAPERS[11:], folder).papers == 9
