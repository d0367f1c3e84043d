"""Merging: small shards are joined and space is freed, and no answer and no score changes."""

from __future__ import annotations

import gc
import json
import math
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.errors import NotFound
from sciretrieve.lifecycle import merging, updating
from sciretrieve.lifecycle.merging import FLOOR, WIDTH, due, space
from sciretrieve.storage.manifest import generations
from tests.command_line import answer, sciretrieve
from tests.edited import edited_manifest
from tests.every_answer import every_answer, quick_answers
from tests.listeners import Stop, StopAfter
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import LetterEncoder

PAPERS = made_up_papers(100, seed=21)


def grown(folder: Path, **settings: Any) -> Path:
    """An index of 40 papers that became one of 90, five at a time, and lost some, in shards of 40: a copy of one that all tests share."""
    whole = folder.parents[1] / f"grown-{sorted(settings.items())}"
    if not whole.exists():
        sr.build(PAPERS[:40], whole, **{"encoder": "letters", "shard_size": 40, **settings}).close()
        with mock.patch.object(updating, "tidied", lambda snapshot, shards, progress: tuple(shards)):  # which would leave less to merge
            for first in range(40, 90, 5):
                sr.add(PAPERS[first : first + 5], whole)
            sr.delete(whole, ["p0003", "p0041", *(f"p{number:04d}" for number in range(50, 55))])
        gc.collect()  # whatever was opened here is let go of, as where processes end
    return Path(shutil.copytree(whole, folder))


def opened(folder: Path) -> sr.Index:
    return sr.open(folder, encoder=LetterEncoder())


def sizes(folder: Path) -> list[int]:
    """How many papers each shard has."""
    with sr.open(folder) as index:
        return [shard.papers for shard in index.snapshot.manifest.shards]


def everything(folder: Path, tmp_path: Path) -> dict[str, Any]:
    with opened(folder) as index:
        return every_answer(index, tmp_path)


_WHAT_GROWN_ANSWERS: dict[str, dict[str, Any]] = {}


def what_grown_answers(folder: Path, tmp_path: Path, **settings: Any) -> dict[str, Any]:
    """All that a copy of `grown` answers, found once."""
    key = str(sorted(settings.items()))
    if key not in _WHAT_GROWN_ANSWERS:
        _WHAT_GROWN_ANSWERS[key] = everything(folder, tmp_path)
    return _WHAT_GROWN_ANSWERS[key]


def quickly(folder: Path) -> dict[str, Any]:
    with opened(folder) as index:
        return quick_answers(index)


@pytest.mark.parametrize("settings", [{}, {"encoder": None}, {"lexical": None, "dense": "HNSW8", "metric": "l2"}], ids=str)
def test_merging_changes_no_answer(settings: dict[str, Any], tmp_path: Path, letters: LetterEncoder) -> None:
    folder = grown(tmp_path / "index", **settings)
    before = what_grown_answers(folder, tmp_path, **settings)
    letters.asked.clear()
    merged = sr.merge(folder)
    assert letters.asked == []
    assert (merged.shards_before, merged.shards_after) == (11, 3)
    after = everything(folder, tmp_path)
    assert before.keys() == after.keys()
    for name, expected in before.items():
        assert after[name] == expected, name


def test_small_shards_become_full_ones_and_full_ones_stay(tmp_path: Path) -> None:
    sr.build(PAPERS[:40], tmp_path / "index", encoder="letters", shard_size=40).close()
    for first in range(40, 100, 6):
        sr.add(PAPERS[first : first + 6], tmp_path / "index")
    full = (tmp_path / "index" / "shards" / "000000" / "papers.parquet").stat().st_ino
    assert sizes(tmp_path / "index") == [40, 24, 24, 6, 6]  # each four with the next
    result = sr.merge(tmp_path / "index")
    assert sizes(tmp_path / "index") == [40, 24, 24, 12]
    assert (tmp_path / "index" / "shards" / "000000" / "papers.parquet").stat().st_ino == full
    with sr.open(tmp_path / "index") as index:
        assert index.snapshot.live_ids() == [paper["id"] for paper in PAPERS]
        assert index.snapshot.manifest.truncated == 0
        assert index.snapshot.manifest.log[-1].command == "merge"
        assert index.snapshot.manifest.generation == result.generation == 12


@pytest.mark.parametrize(
    ("truncated", "deleted", "together"), [((1, 2), None, 3), ((1, None), None, None), ((1, 2), PAPERS[0]["id"], None)], ids=str
)
def test_how_many_papers_are_too_long_is_known_where_it_is_of_all(
    truncated: tuple[int | None, int | None], deleted: str | None, together: int | None, tmp_path: Path
) -> None:
    sr.build(PAPERS[:6], tmp_path / "index", encoder="letters", shard_size=40).close()
    sr.add(PAPERS[6:9], tmp_path / "index")
    if deleted is not None:
        sr.delete(tmp_path / "index", deleted)
    with edited_manifest(tmp_path / "index") as manifest:
        for shard, count in zip(manifest["shards"], truncated, strict=True):
            shard["truncated"] = count
    assert sr.merge(tmp_path / "index").shards_after == 1
    with sr.open(tmp_path / "index") as index:
        assert index.snapshot.manifest.shards[0].truncated == together


def test_a_second_merge_has_nothing_to_do(tmp_path: Path) -> None:
    folder = grown(tmp_path / "index")
    first = sr.merge(folder)
    files = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}
    second = sr.merge(folder)
    assert (second.generation, second.freed, second.shards_before, second.shards_after) == (first.generation, 0, 3, 3)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file() and path.name != ".lock"} == files


def test_space_is_freed_and_older_generations_go(tmp_path: Path) -> None:
    folder = grown(tmp_path / "index")
    assert generations(folder) == list(range(1, 13))
    before = space(folder)
    told = json.loads(answer("merge", "-i", folder, "--format", "json"))
    assert told["freed"] == before - space(folder) > 0
    assert generations(folder) == [13]
    with pytest.raises(NotFound, match="has no generation 12; there are: 13"):
        sr.open(folder, generation=12)
    with sr.open(folder) as index:
        named = {name for name, _ in index.snapshot.manifest.files()}
        assert not any(shard.deleted for shard in index.snapshot.manifest.shards)
        assert space(folder) - index.snapshot.manifest.bytes < 50_000
    on_disk = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    facts = {f"shards/{shard.name}/shard.json" for shard in (folder / "shards").iterdir()}
    assert on_disk == named | facts | {"manifest.json", "generations/000013.json", ".lock"}


def test_a_generation_that_is_open_stays_until_it_is_closed(tmp_path: Path) -> None:
    folder = grown(tmp_path / "index")
    old = sr.open(folder, encoder=LetterEncoder(), generation=5)
    sr.merge(folder)
    assert generations(folder) == [5, 13]
    before = every_answer(old, tmp_path)  # its files are first read now
    assert before["papers"] == 60
    old.close()
    freed = sr.merge(folder).freed
    assert generations(folder) == [13]
    assert freed > 0


def test_shards_whose_papers_are_all_deleted_go(tmp_path: Path) -> None:
    folder = sr.build(PAPERS[:60], tmp_path / "index", encoder="letters", shard_size=20).path
    for gone in ([0], [0, 2], [0, 1, 2]):
        sr.sync([paper for number, paper in enumerate(PAPERS[:60]) if number // 20 not in gone] + PAPERS[60:], folder, allow_deletions=True)
        gc.collect()
        before = quickly(folder)
        sr.merge(folder)
        assert quickly(folder) == before
        assert sizes(folder) == [20] * (3 - len(gone)) + [20, 20]
    assert sr.merge(folder).freed == 0


def test_shards_of_whole_texts_are_full_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.storage.shards.cutting.SHARD_BYTES", 100_000)
    monkeypatch.setattr("sciretrieve.lifecycle.merging.SHARD_BYTES", 100_000)
    monkeypatch.setattr("sciretrieve.papers.corpora.raw.BATCH_BYTES", 30_000)
    texts = [
        {"id": f"t{number}", "topic": "texts", "title": f"Text {number}", "abstract": f"word{number} graph " * 1000} for number in range(20)
    ]
    folder = sr.build(write_jsonl(tmp_path / "texts.jsonl", texts), tmp_path / "index", encoder="letters").path
    assert len(sizes(folder)) > 2
    before = quickly(folder)
    for _ in range(2):
        sr.merge(folder)
        assert quickly(folder) == before
        assert len(sizes(folder)) > 2
    with sr.open(folder) as index:
        assert max(shard.bytes for shard in index.snapshot.shards) < 200_000


@pytest.mark.torture
@pytest.mark.parametrize("papers", [1, 45, 70])
def test_an_interrupted_merge_goes_on_and_searches_do_not_notice(papers: int, tmp_path: Path) -> None:
    folder = grown(tmp_path / "index")
    before, briefly = what_grown_answers(folder, tmp_path), quickly(folder)
    with pytest.raises(Stop):
        sr.merge(folder, progress=StopAfter(papers))
    assert quickly(folder) == briefly
    finished = {path.name: path.stat().st_ino for path in (folder / "shards").glob("0000[0-9][0-9]")}
    kept_count = len(finished) - 11
    assert kept_count == {1: 0, 45: 1, 70: 1}[papers]
    sr.merge(folder)
    assert everything(folder, tmp_path) == before
    now = {path.name: path.stat().st_ino for path in (folder / "shards").iterdir()}
    assert len(now.items() & finished.items()) == 1 + kept_count  # a full shard, and those that were merged
    assert not list(folder.rglob("*.partial"))
    assert not list(folder.glob("pending.*"))


@given(st.lists(st.integers(1, 3 * FLOOR), min_size=1, max_size=400))
def test_however_often_papers_are_added_shards_are_few_and_papers_seldom_copied(added: list[int]) -> None:
    """Each change joins what is due and then adds a shard, as `tidied` does."""
    sizes: list[int] = []
    copied = 0
    for papers in added:
        places = due(sizes)
        joined = sum(sizes[place] for place in places)
        sizes = [size for place, size in enumerate(sizes) if place not in places] + [joined] * bool(places) + [papers]
        copied += joined
    tiers = 1 + math.ceil(math.log(max(sum(added) / FLOOR, 1), WIDTH))
    assert len(sizes) <= (WIDTH - 1) * tiers + 1
    # once a tier; and those of the lowest, which rise only when they are more than a floor, once in so many changes
    assert copied <= tiers * sum(added) + len(added) * FLOOR * WIDTH / (WIDTH - 1)


def test_an_index_kept_for_years_is_as_one_that_was_built_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "FLOOR", 4)
    folder = tmp_path / "index"
    sr.build(PAPERS[:20], folder, encoder=None).close()
    left = {paper["id"] for paper in PAPERS[:20]}
    for number in range(20, 60, 2):
        new, gone = PAPERS[number : number + 2], PAPERS[number - 5]["id"]
        sr.add(new, folder)
        left |= {paper["id"] for paper in new}
        if number % 8 == 0:
            sr.delete(folder, gone)
            left.discard(gone)
        assert len(sizes(folder)) <= 9
    sr.build([paper for paper in PAPERS if paper["id"] in left], tmp_path / "new", encoder=None).close()
    assert quickly(folder) == quickly(tmp_path / "new")
    assert sr.verify(folder).faults == ()
    with sr.open(folder) as index, sr.open(folder, generation=generations(folder)[0]) as earlier:
        assert set(index.snapshot.live_ids()) == left
        before = earlier.snapshot.live_ids()
    sr.restore(folder, generations(folder)[0])
    with sr.open(folder) as index:
        assert index.snapshot.live_ids() == before


def test_a_shard_of_which_more_than_half_is_deleted_is_rewritten_with_the_deletion(tmp_path: Path) -> None:
    folder = sr.build(PAPERS[:60], tmp_path / "index", encoder="letters", shard_size=20).path
    sr.delete(folder, [paper["id"] for paper in PAPERS[:10]])
    assert sizes(folder) == [20, 20, 20]
    sr.delete(folder, PAPERS[10]["id"])
    assert sizes(folder) == [20, 20, 9]
    sr.delete(folder, [paper["id"] for paper in PAPERS[20:40]])
    assert sizes(folder) == [20, 9]
    with opened(folder) as index:
        assert sorted(index.snapshot.live_ids()) == sorted(paper["id"] for paper in [*PAPERS[11:20], *PAPERS[40:60]])
    assert sr.verify(folder, encoder=LetterEncoder()).faults == ()


def test_merge_says_what_it_did(tmp_path: Path) -> None:
    folder = grown(tmp_path / "index")
    stderr = sciretrieve("merge", "-i", folder).stderr
    assert stderr.splitlines()[-1].startswith(f"{folder}: 11 shards before, 3 now; ")
    assert stderr.splitlines()[-1].endswith(" freed")
    assert sciretrieve("merge", "-i", folder, "--quiet").stderr == ""
    commits = json.loads(answer("info", "log", "-i", folder, "--format", "json"))["commits"]
    assert [commits[0][name] for name in ("command", "papers", "added", "replaced", "deleted")] == ["merge", 83, 0, 0, 0]
