"""What a generation is: what the log of commits has. A commit that was killed is none, and what was committed stays done."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, NotFound
from sciretrieve.files.writing import read_sealed, write_sealed
from sciretrieve.lifecycle import restore
from sciretrieve.storage.commits import next_generation
from sciretrieve.storage.manifest import generation_file, generations, read_manifest
from sciretrieve.storage.repairing import repair
from sciretrieve.storage.verifying import verify
from tests.command_line import answer
from tests.made_up import made_up_papers

PAPERS = made_up_papers(16, seed=6)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of nine papers, in shards of four, four and one; generation 2."""
    sr.build(PAPERS[:8], tmp_path / "index", encoder=None, shard_size=4).close()
    sr.add(PAPERS[8:9], tmp_path / "index")
    return tmp_path / "index"


class Killed(BaseException):
    """Stands for SIGKILL."""


@contextmanager
def killed(target: str) -> Iterator[None]:
    """Stop for good where a file would get that name."""
    replace = os.replace

    def stop(source: Any, path: Any, **options: Any) -> None:
        if Path(path).name == target:
            raise Killed
        replace(source, path, **options)

    with mock.patch.object(os, "replace", stop), pytest.raises(Killed):
        yield


def ids(folder: Path, generation: int | None = None) -> set[str]:
    with sr.open(folder, generation=generation) as index:
        return set(index.snapshot.live_ids())


def test_a_manifest_that_is_in_no_log_is_nothing(folder: Path, tmp_path: Path) -> None:
    """One of another index, say, left when its folder was copied over."""
    sr.build(PAPERS[:4], tmp_path / "other", encoder=None).close()
    sr.add(PAPERS[4:5], tmp_path / "other")
    for number in (7, 9):
        manifest = read_sealed(tmp_path / "other" / "manifest.json")
        write_sealed(generation_file(folder, number), {**manifest, "generation": number})
    assert verify(folder).faults == ()
    assert answer("verify", "--repair", "-i", folder) == ""
    assert generations(folder) == [1, 2]
    shutil.copyfile(generation_file(tmp_path / "other", 1), generation_file(folder, 1))
    (fault,) = verify(folder).faults  # of a generation that the log does have, it is not the manifest
    assert (fault.file, "it differs from what was committed" in fault.what) == ("generations/000001.json", True)
    with pytest.raises(CorruptData, match=r"000001\.json is damaged"):
        sr.open(folder, generation=1)
    with pytest.raises(NotFound, match="that can be restored: none"):
        restore(folder, 1)
    assert repair(folder).faults == ()
    assert len(ids(folder)) == 9


def test_an_index_whose_log_has_no_checksums_is_as_it_was(folder: Path) -> None:
    """Those of earlier versions."""
    sr.delete(folder, PAPERS[0]["id"])
    for path in (folder / "manifest.json", *(folder / "generations").iterdir()):
        manifest = read_sealed(path)
        for record in manifest["log"]:
            del record["work"], record["checksum"]
        write_sealed(path, manifest)
    assert verify(folder).faults == ()
    assert restore(folder, 2).papers == 9
    assert [record.checksum is None for record in read_manifest(folder).log] == [True, True, False, True]
    assert restore(folder, 1).papers == 8
    assert verify(folder).faults == ()


def test_no_number_is_used_while_anything_names_it(folder: Path) -> None:
    shutil.rmtree(folder / "shards" / "000002")  # lost; only generation 1 is whole
    restore_to(folder, 1)
    sr.add(PAPERS[9:10], folder)
    assert read_manifest(folder).shards[-1].name == "000003"
    (folder / "shards" / "000000" / "deleted-000017.npy").write_bytes(b"")
    (folder / "lexical" / "000012").mkdir()
    assert next_generation(folder) == 5
    (folder / "manifest.json").unlink()
    assert next_generation(folder) == 18


def restore_to(folder: Path, generation: int) -> None:
    """Make a generation current by hand, as what was killed in `repair` leaves it."""
    older = read_sealed(generation_file(folder, generation))
    current = read_sealed(folder / "manifest.json")
    value = {**older, "generation": 3, "log": [*current["log"], {**current["log"][-1], "generation": 3, "papers": 8}]}
    for path in (generation_file(folder, 3), folder / "manifest.json"):
        write_sealed(path, value)


@pytest.mark.parametrize("is_first", [True, False])
def test_repair_takes_no_commit_that_can_be_done_again(folder: Path, tmp_path: Path, is_first: bool) -> None:
    """Neither of a first build nor of an add that was killed: their marks say that they are unfinished, even where the manifest is lost."""
    if is_first:
        folder = tmp_path / "new"
        with killed("manifest.json"):
            sr.build(PAPERS[:4], folder, encoder=None)
        with pytest.raises(NotFound, match="is not finished; run the same `sciretrieve index` command again to resume it"):
            repair(folder)
        assert len(sr.build(PAPERS[:4], folder, encoder=None)) == 4
    else:
        with killed("manifest.json"):
            sr.add(PAPERS[9:11], folder)
        (folder / "manifest.json").unlink()
        assert repair(folder).faults == ()
        assert (read_manifest(folder).generation, len(ids(folder))) == (2, 9)
        assert sr.add(PAPERS[11:12], folder).papers == 12  # with those that were encoded
    assert verify(folder).faults == ()


def test_the_newest_manifest_says_which_others_repair_may_take(folder: Path) -> None:
    with killed("manifest.json"):
        sr.add(PAPERS[9:11], folder)
    sr.delete(folder, PAPERS[0]["id"])
    write_sealed(generation_file(folder, 3), {**read_sealed(generation_file(folder, 2)), "generation": 3})  # in no log
    (folder / "manifest.json").write_text("{")
    shutil.rmtree(folder / "shards" / "000000")  # with the deleted papers of generation 4
    for left in folder.glob("shards/*/papers.parquet"):
        left.write_bytes(b"lost")
    repair(folder)
    assert read_manifest(folder).generation == 4


def test_a_damaged_manifest_that_says_its_number_is_not_overtaken_by_a_killed_commit(folder: Path) -> None:
    with killed("manifest.json"):
        sr.add(PAPERS[9:11], folder)
    value = read_sealed(folder / "manifest.json")
    (folder / "manifest.json").write_text(json.dumps({**value, "checksum": "0" * 64}))
    assert repair(folder).faults == ()
    assert (read_manifest(folder).generation, len(ids(folder))) == (2, 9)
