"""Builds that end too early, at any step: an index is as it was or as it will be, and the next run makes up for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve import indexing
from sciretrieve.errors import NotFound
from sciretrieve.fusion import Fusion
from sciretrieve.generations import refit
from sciretrieve.lexical import Bm25Parameters
from sciretrieve.protocols import Silent
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

ROOT = Path(__file__).parents[1]
SETTINGS: dict[str, Any] = {"encoder": "letters", "shard_size": 7, "dense": "hnsw"}


class Stop(Exception):
    """Stands for the power cut."""


class StopAfter(Silent):
    """Cuts the power after so many papers."""

    def __init__(self, papers: int) -> None:
        self.left = papers

    def advance(self, papers: int) -> None:
        self.left -= papers
        if self.left <= 0:
            raise Stop


@pytest.fixture(autouse=True)
def letters(monkeypatch: pytest.MonkeyPatch) -> LetterEncoder:
    """The encoder of every index here, with windows of four papers; it remembers what it encoded."""
    encoder = LetterEncoder()
    monkeypatch.setattr(indexing, "load_encoder", lambda *_, **__: encoder)
    monkeypatch.setattr(LetterEncoder, "window", 4)
    monkeypatch.setattr(indexing, "LIBRARIES", ())
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # slow, and no power is cut here
    return encoder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Eleven papers, in two shards and three windows, and a row that is none."""
    return write_jsonl(tmp_path / "papers.jsonl", [*made_up_papers(11, seed=3), {"id": "no text"}])


@pytest.fixture
def other_source(tmp_path: Path) -> Path:
    """Nine other papers."""
    return write_jsonl(tmp_path / "others.jsonl", [{**paper, "id": f"other {paper['id']}"} for paper in made_up_papers(9, seed=4)])


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of an index but those that name shards and the lock, by its name without the generation; shards count from 0."""
    shards = sorted(path.name for path in (folder / "shards").iterdir())
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in ("manifest.json", "shard.json", ".lock"):
            name = re.sub(r"(lexical/|golden-|dense-)\d+", r"\1N", str(path.relative_to(folder)))
            files[re.sub(r"(?<=shards/)[^/]+", lambda match: str(shards.index(match[0])), name)] = path.read_bytes()
    return files


def ids_of(folder: Path) -> set[str]:
    """What an index answers with, by each way to search."""
    index = sr.open(folder, encoder=LetterEncoder())
    dense = index.search("graph networks", 100, mode="dense").rankings[0].ids
    assert index.search("graph networks", 100, mode="hybrid").rankings[0].ids
    assert set(index.search("graph star price vaccine", 100, mode="bm25").rankings[0].ids) <= set(dense)
    return set(dense)


def killed_builds(source: Path, folder: Path, settings: dict[str, Any], start: Path | None = None) -> list[Path]:
    """The folders of builds that were killed, each one step later than the one before."""
    command = [
        sys.executable,
        "-m",
        "tests.killed_builds",
        str(source),
        str(folder),
        json.dumps(settings),
        *([str(start)] if start else []),
    ]
    folder.mkdir()
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}  # FAISS's threads do not outlive a fork
    result = subprocess.run(command, cwd=ROOT, env=one_thread, capture_output=True, text=True, check=True)
    killed_count = int(result.stdout)
    assert killed_count > 20
    return [folder / str(number) for number in range(1, killed_count + 1)]


def test_a_build_killed_at_any_step_is_resumed_to_the_same_bytes(source: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    whole = contents(sr.build(source, tmp_path / "whole", **SETTINGS).path)
    all_texts = len(letters.asked)
    found_on_resuming = set()
    for folder in killed_builds(source, tmp_path / "killed", SETTINGS):
        if not (folder / "manifest.json").exists():
            with pytest.raises(NotFound):
                sr.open(folder)
        found_on_resuming |= {re.sub(r"\d+", "N", path.name) for path in folder.rglob("*")}
        letters.asked.clear()
        assert contents(sr.build(source, folder, **SETTINGS).path) == whole
        assert len(letters.asked) <= all_texts
    # the kills did fall in the midst of it
    assert found_on_resuming >= {"shard.json.tmp", "build.json", "N.partial", "vectors.npy", "dense-N.faiss.tmp", "manifest.json.tmp"}


def test_an_index_that_is_replaced_serves_until_the_other_is_whole(source: Path, other_source: Path, tmp_path: Path) -> None:
    old = sr.build(source, tmp_path / "old", **SETTINGS).path
    new = sr.build(other_source, tmp_path / "new", encoder="letters").path
    old_ids, new_ids, whole = ids_of(old), ids_of(new), contents(new)
    answers = []
    for folder in killed_builds(other_source, tmp_path / "killed", {"encoder": "letters", "overwrite": True}, old):
        answers.append(ids_of(folder))
        sr.build(other_source, folder, encoder="letters", overwrite=True)
        assert contents(folder) == whole
    replaced = answers.index(new_ids)
    assert answers == [old_ids] * replaced + [new_ids] * (len(answers) - replaced)
    assert 0 < replaced < len(answers)


def interrupted(source: Path, folder: Path, papers: int, **settings: Any) -> None:
    with pytest.raises(Stop):
        sr.build(source, folder, **{**SETTINGS, **settings}, progress=StopAfter(papers))


@pytest.mark.parametrize("lost", [b"", b"garbage", b"\0" * 4 * 4 * LetterEncoder.dim])
def test_a_last_window_that_is_not_wholly_on_disk_is_encoded_again(
    source: Path, tmp_path: Path, letters: LetterEncoder, lost: bytes
) -> None:
    settings = {"shard_size": 50}
    whole = contents(sr.build(source, tmp_path / "whole", **{**SETTINGS, **settings}).path)
    interrupted(source, tmp_path / "index", 8, **settings)
    vectors = tmp_path / "index" / "shards" / "000000.partial" / "vectors.npy"
    window = 4 * 4 * LetterEncoder.dim
    with vectors.open("r+b") as file:
        file.seek(-window, os.SEEK_END)
        file.write(lost)
        file.truncate()
    letters.asked.clear()
    assert contents(sr.build(source, tmp_path / "index", **{**SETTINGS, **settings}).path) == whole
    encoded = {text for text in letters.asked if "papers cite" not in text and "Citations" not in text}
    assert len(encoded) <= 11 - (4 if len(lost) == window else 0)


def test_all_is_on_disk_before_the_manifest_names_it(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[str, int]] = []
    replace, rename = os.replace, os.rename

    def fsync(handle: int) -> None:
        steps.append(("sync", os.fstat(handle).st_ino))

    def replacing(old: Any, new: Any) -> None:
        if Path(new).name == "manifest.json":
            steps.append(("commit", Path(old).stat().st_ino))
        replace(old, new)

    def renaming(old: Any, new: Any) -> None:
        rename(old, new)
        steps.append(("rename", Path(new).stat().st_ino))

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replacing)
    monkeypatch.setattr(os, "rename", renaming)
    index = sr.build(source, tmp_path / "index", **SETTINGS)

    manifest = (index.path / "manifest.json").stat().st_ino
    commit_step = steps.index(("commit", manifest))
    assert ("sync", manifest) in steps[:commit_step]
    assert ("sync", index.path.stat().st_ino) in steps[commit_step:]
    earlier_steps = steps[:commit_step]
    facts = index.manifest
    assert facts.lexical is not None
    assert facts.encoder is not None
    files = [f"shards/{shard.name}/{name}" for shard in facts.shards for name in shard.files]
    files += [f"{facts.lexical['folder']}/{name}" for name in facts.lexical["files"]] + [facts.encoder["golden"]["file"]]
    assert len(files) == 2 * 5 + 7 + 1
    for name in files:
        path = index.path / name
        write_step = earlier_steps.index(("sync", path.stat().st_ino))
        assert ("sync", path.parent.stat().st_ino) in earlier_steps[write_step:], f"the entry of {name} may be lost"
    renamed_inodes = [inode for step, inode in earlier_steps if step == "rename"]
    assert len(renamed_inodes) == 3
    for folder in [*(index.path / "shards").iterdir(), *(index.path / "lexical").iterdir()]:
        rename_step = earlier_steps.index(("rename", folder.stat().st_ino))
        assert ("sync", folder.parent.stat().st_ino) in earlier_steps[rename_step:], f"the name of {folder.name} may be lost"


def test_another_generation_leaves_an_unfinished_replacement_alone(
    source: Path, other_source: Path, tmp_path: Path, letters: LetterEncoder
) -> None:
    """Tuning, say, after `index --overwrite` was interrupted."""
    sr.build(source, tmp_path / "index", **SETTINGS)
    interrupted(other_source, tmp_path / "index", 9, overwrite=True)
    unfinished_files = {path: path.read_bytes() for path in (tmp_path / "index" / "shards").glob("00000[23]*/*")}
    assert len(unfinished_files) > 4
    refit(tmp_path / "index", Bm25Parameters(k1=0.9), Fusion())
    assert {path: path.read_bytes() for path in unfinished_files} == unfinished_files
    assert sr.open(tmp_path / "index").manifest.generation == 2
    letters.asked.clear()
    assert ids_of(sr.build(other_source, tmp_path / "index", **SETTINGS, overwrite=True).path) == {
        f"other p{number:04d}" for number in range(9)
    }
    assert len(letters.asked) <= 2 + 3  # the unfinished shard's papers and the probe


def test_what_abandoned_builds_left_goes_with_the_next_commit(source: Path, other_source: Path, tmp_path: Path) -> None:
    interrupted(other_source, tmp_path / "index", 9)
    folder = sr.build(source, tmp_path / "index", **SETTINGS, overwrite=True).path
    (folder / "shards" / "000005.partial").mkdir()
    (folder / "shards" / "000002" / "dense-000007.faiss.tmp").touch()
    (folder / "encoder" / "golden-000007.npy.tmp").touch()
    (folder / "lexical" / "000007.partial").mkdir()
    (folder / "rejected.jsonl.partial").touch()
    refit(folder, Bm25Parameters(k1=0.9), Fusion())
    assert contents(folder).keys() == contents(sr.build(source, tmp_path / "new", **SETTINGS).path).keys()
    assert [path.name for path in sorted((folder / "shards").iterdir())] == ["000002", "000003"]
    assert len(list((folder / "lexical").iterdir())) == 1
