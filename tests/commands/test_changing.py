"""`sync --watch`: no change of the corpus is passed over, whatever happens to the index meanwhile."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.files.writing import write_lock
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers, write_jsonl

PAPERS = made_up_papers(12, seed=6)
LOOKS = 40
"""After so many looks that change nothing a watch has missed something."""


class Watched:
    """A corpus of ten papers that is watched, and its index."""

    def __init__(self, folder: Path) -> None:
        self.corpus, self.index = folder / "papers.jsonl", folder / "index"
        self.write(10)
        self.build(10)

    def write(self, papers: int) -> None:
        write_jsonl(self.corpus, PAPERS[:papers])

    def build(self, papers: int) -> None:
        sr.build(PAPERS[:papers], self.index, encoder=None, progress=False).close()

    @property
    def papers(self) -> int:
        with sr.open(self.index) as index:
            return len(index)


def changed_by_another_command(watched: Watched) -> Iterator[Any]:
    """The change comes while another command writes, which takes a while."""
    watched.write(12)
    with write_lock(watched.index):
        for _ in range(6):
            yield


def built_anew(watched: Watched) -> Iterator[Any]:
    """The index is removed, and later built anew of fewer papers: its generation has the number of the one before."""
    shutil.rmtree(watched.index)
    for _ in range(4):
        yield
    watched.build(11)
    watched.write(12)


def built_anew_unchanged(watched: Watched) -> Iterator[Any]:
    """The same, and the corpus stays as it is."""
    watched.write(12)
    while watched.papers < 12:
        yield
    shutil.rmtree(watched.index)
    yield
    watched.build(11)


def missing_when_the_change_comes(watched: Watched) -> Iterator[Any]:
    """The index is away when the corpus changes, and comes back."""
    shutil.move(watched.index, watched.index.with_name("away"))
    watched.write(12)
    for _ in range(6):
        yield
    shutil.move(watched.index.with_name("away"), watched.index)


@pytest.mark.parametrize("story", [changed_by_another_command, built_anew, built_anew_unchanged, missing_when_the_change_comes])
def test_a_watch_passes_over_nothing(story: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(tmp_path)

    def steps() -> Iterator[Any]:
        for _ in range(4):  # until it watches
            yield
        yield from story(watched)
        for _ in range(LOOKS):
            if watched.papers == 12:
                break
            yield
        raise KeyboardInterrupt

    going = steps()
    monkeypatch.setattr("time.sleep", lambda seconds: next(going))
    result = sciretrieve("sync", watched.corpus, "-i", watched.index, "--watch")
    assert result.returncode == 130
    assert watched.papers == 12
    with ExitStack() as free:
        free.enter_context(write_lock(watched.index))
    if story is changed_by_another_command:
        assert result.stderr.count("trying until it has ended") == 1


def test_what_others_add_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit on top of its own is no other index, and is left until the corpus changes."""
    watched = Watched(tmp_path)

    def steps() -> Iterator[Any]:
        for _ in range(4):
            yield
        sr.add(PAPERS[10:], watched.index, progress=False)
        for _ in range(6):
            yield
        raise KeyboardInterrupt

    going = steps()
    monkeypatch.setattr("time.sleep", lambda seconds: next(going))
    assert sciretrieve("sync", watched.corpus, "-i", watched.index, "--watch").returncode == 130
    assert watched.papers == 12
