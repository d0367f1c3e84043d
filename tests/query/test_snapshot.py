"""A snapshot answers as it did when it was opened, whatever others do to the index meanwhile, until it is closed."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, NotFound, Unavailable
from sciretrieve.files.writing import hold, write_lock
from sciretrieve.lifecycle import refit
from sciretrieve.progress import Silent
from sciretrieve.query import generation as snapshots
from sciretrieve.query.generation import Generation
from sciretrieve.storage.manifest import generation_file, generations
from sciretrieve.storage.sweeping import sweep
from tests.every_answer import every_answer, quick_answers
from tests.made_up import made_up_papers
from tests.toy_encoder import NAMED, LetterEncoder

PAPERS = made_up_papers(90, seed=31)
OTHERS = [{**paper, "id": f"other {paper['id']}", "title": f"Another {paper['title']}"} for paper in PAPERS[:30]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the first 70 papers, some deleted, in shards of 30."""
    folder = tmp_path_factory.mktemp("made") / "index"
    sr.build(PAPERS[:70], folder, encoder="letters", shard_size=30).close()
    sr.delete(folder, ["p0000", "p0040"])
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of that index, which nobody has open."""
    return Path(shutil.copytree(made, tmp_path / "index"))


def opened(folder: Path, generation: int | None = None) -> sr.Index:
    return sr.open(folder, encoder=LetterEncoder(), generation=generation)


def swept(folder: Path) -> None:
    with write_lock(folder):
        sweep(folder, Silent(), keep=0)


def overwritten(folder: Path) -> None:
    sr.build(OTHERS, folder, encoder="letters", overwrite=True).close()


CHANGES: dict[str, Callable[[Path], Any]] = {
    "add": lambda folder: sr.add([*PAPERS[70:], {**PAPERS[5], "title": "Another title"}], folder),
    "delete": lambda folder: sr.delete(folder, filter="year > 2012"),
    "sync": lambda folder: sr.sync(PAPERS[50:], folder, allow_deletions=True),
    "merge": lambda folder: sr.merge(folder),
    "reindex": lambda folder: sr.reindex(folder, dense="HNSW8", lexical={"k1": 0.5}),
    "refit": lambda folder: refit(folder, sr.Bm25Parameters(k1=0.3), sr.Fusion(alpha=0.9)),
    "overwrite": overwritten,
    "sweep": swept,
    "merge again": lambda folder: sr.merge(folder),
}
"""What others do to an index, one after the other."""


def test_a_snapshot_stays_as_it_is_while_others_change_the_index(folder: Path, tmp_path: Path) -> None:
    read, unread = opened(folder), opened(folder)
    expected = every_answer(read, tmp_path)
    quick = quick_answers(read)
    kept: list[tuple[sr.Index, dict[str, Any]]] = []
    for name, change in CHANGES.items():
        change(folder)
        assert quick_answers(read) == quick, name
        newer = opened(folder)
        kept.append((newer, quick_answers(newer)))
    for newer, answers in kept:
        assert quick_answers(newer) == answers
    assert every_answer(read, tmp_path) == expected
    assert every_answer(unread, tmp_path) == expected  # none of its files was read before
    assert [index.snapshot.manifest.generation for index, _ in kept] == [3, 4, 5, 6, 7, 8, 9, 9, 9]
    assert generations(folder) == [2, 3, 4, 5, 6, 7, 8, 9]


def test_a_snapshot_that_nobody_has_any_more_is_closed(folder: Path) -> None:
    index = opened(folder)
    assert quick_answers(index)["papers"] == 68
    del index
    gc.collect()
    sr.merge(folder)
    assert generations(folder) == [3]


def test_opening_and_closing_leaves_no_file_open(folder: Path) -> None:
    def open_files() -> int:
        gc.collect()
        return len(list(Path("/dev/fd").iterdir()))

    before = open_files()
    for _ in range(20):
        with opened(folder) as index:
            assert index.refreshed() is index
        with pytest.raises(NotFound):
            opened(folder, generation=77)
    del index
    assert open_files() <= before


def test_refreshed_gives_what_is_there_now_and_shares_the_encoder(folder: Path, letters: LetterEncoder) -> None:
    index = sr.open(folder)
    assert index.refreshed() is index
    before = quick_answers(index)
    assert index.reader.query_encoder.encoder is letters
    sr.delete(folder, "p0001")
    letters.asked.clear()
    newer = index.refreshed()
    assert newer is not index
    assert (len(index), len(newer)) == (68, 67)
    assert newer.reader.query_encoder is index.reader.query_encoder
    assert newer.reader.query_encoder.encoder is letters
    newer.search("galaxy", mode="dense")
    assert letters.asked == ["galaxy"]  # the probe was not encoded once more
    assert quick_answers(index) == before
    assert newer.refreshed() is newer
    assert index.refreshed().snapshot.manifest.generation == newer.snapshot.manifest.generation


def test_an_index_built_anew_under_an_open_one_is_another(tmp_path: Path) -> None:
    """Its generation has the same number."""
    papers, path = made_up_papers(12, seed=6), tmp_path / "index"
    index = sr.build(papers[:8], path, encoder=None)
    other = sr.build(papers[:2], tmp_path / "other", encoder=None)
    shutil.rmtree(path)
    with pytest.raises(NotFound):
        index.refreshed()
    for _ in range(2):
        with pytest.raises(Unavailable, match="was removed or built anew since it was opened; open it again"):
            index.search("graph")  # whose files were not read before
        if not path.exists():
            sr.build(papers[4:], path, encoder=None).close()
    newer = index.refreshed()
    assert (newer.snapshot.manifest.generation, len(index), len(newer)) == (1, 8, 8)
    assert set(newer.snapshot.live_ids()) == {paper["id"] for paper in papers[4:]}
    assert newer.refreshed() is newer
    with pytest.raises(NotFound, match="was rebuilt after it was opened"):  # by its number
        sr.open_many([other, index])
    assert len(sr.open_many([other, newer])) == 10


def test_another_encoder_is_not_shared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = sr.open(folder)
    index.search("galaxy", mode="dense")
    other = LetterEncoder("others", scale=3)
    monkeypatch.setitem(NAMED, "letters", other)
    monkeypatch.setitem(NAMED, "others", other)
    overwritten(folder)
    newer = index.refreshed()
    assert newer.reader.query_encoder is not index.reader.query_encoder
    assert newer.reader.query_encoder.encoder is other
    assert len(newer.search("galaxy", 100, mode="dense").rankings[0]) == 30


def test_an_older_generation_gives_way_to_the_newest_when_it_is_refreshed(folder: Path) -> None:
    with opened(folder, generation=1) as old:
        assert len(old) == 70
        assert len(old.refreshed()) == 68


def test_a_generation_that_is_swept_while_it_is_opened_gives_way_to_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between reading the manifest and holding its generation, a writer may commit and sweep."""
    deletions = ["p0001", "p0002"]

    def holding(path: Path) -> int:
        if deletions:
            with monkeypatch.context() as patch:
                patch.setattr(snapshots, "hold", hold)
                sr.delete(folder, deletions.pop())
                sr.merge(folder)
        return hold(path)

    monkeypatch.setattr(snapshots, "hold", holding)
    with opened(folder) as index:
        assert len(index) == 66
        assert index.snapshot.manifest.generation == 6


def test_an_older_generation_that_is_swept_while_it_is_opened_is_not_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def holding(path: Path) -> int:
        with monkeypatch.context() as patch:
            patch.setattr(snapshots, "hold", hold)
            sr.merge(folder)
        return hold(path)

    monkeypatch.setattr(snapshots, "hold", holding)
    with pytest.raises(NotFound, match="has no generation 1; there are: 3"):
        opened(folder, generation=1)


def test_a_generation_without_its_own_manifest_is_damaged(folder: Path) -> None:
    generation_file(folder, 2).unlink()
    with pytest.raises(CorruptData, match=r"000002\.json is missing; try `sciretrieve verify --repair`"):
        opened(folder)


def test_an_index_that_changes_all_the_time_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifests = [opened(folder, generation=number).snapshot.manifest for number in (1, 2)] * 1000
    monkeypatch.setattr(snapshots, "read_manifest", lambda *_: manifests.pop())
    monkeypatch.setattr(snapshots, "check_sizes", lambda *_: (_ for _ in ()).throw(CorruptData("swept")))
    with pytest.raises(CorruptData, match="changes faster than it can be opened"):
        Generation(folder)


def test_a_directory_that_is_copied_while_it_is_open_is_an_index_of_its_own(folder: Path, tmp_path: Path) -> None:
    with opened(folder) as index:
        shutil.copytree(folder, tmp_path / "copy")
        sr.delete(tmp_path / "copy", "p0001")
        assert index.refreshed() is index
        assert len(opened(tmp_path / "copy")) == 67
