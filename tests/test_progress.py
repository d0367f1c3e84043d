"""Progress in Python: a bar where a person looks, nothing where nobody does, and none that outlives the work."""

from __future__ import annotations

import inspect
import io
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tqdm.std

import sciretrieve as sr
from sciretrieve import progress
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.evaluation import builders, evaluate_modes, evaluate_suite
from sciretrieve.progress import shown


class Screen(io.StringIO):
    """What a terminal was sent."""

    def isatty(self) -> bool:
        return True


def looked_at(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """A terminal in place of stderr, from here on: pytest sets its own before each part of a test."""
    terminal = Screen()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def build(corpus: Path, into: Path, **options: object) -> sr.Index:
    return sr.build(corpus, into, encoder=None, **options)  # type: ignore[arg-type]


def test_a_build_on_a_terminal_shows_a_bar_and_what_was_read(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = looked_at(monkeypatch)
    build(corpus, tmp_path / "index")
    sent = screen.getvalue()
    assert "300/300" in sent
    assert "read as: id ← id" in sent
    assert sent.endswith("\n")


def test_it_is_turned_off_by_one_argument(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = looked_at(monkeypatch)
    build(corpus, tmp_path / "index", progress=False)
    assert screen.getvalue() == ""


def test_nothing_is_shown_where_nobody_looks(corpus: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    build(corpus, tmp_path / "index")
    assert sr.verify(tmp_path / "index").faults == ()
    assert capfd.readouterr() == ("", "")


def test_a_notebook_is_looked_at(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    config: dict[str, object] = {}
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(config=config)))
    for expected in ("", "a note\n"):
        with shown(True) as progress:
            progress.note("a note")
        assert capsys.readouterr().err == expected
        config["IPKernelApp"] = {}


def test_what_is_given_is_told(tmp_path: Path) -> None:
    """With a `start` as docs/python.md has it, without defaults."""

    class Listener:
        def __init__(self) -> None:
            self.told: list[object] = []

        def start(self, total: int | None, done: int, unit: str) -> None:
            self.told.append((total, done, unit))

        def advance(self, papers: int) -> None:
            self.told.append(papers)

        def note(self, text: str) -> None:
            self.told.append(text)

    listener: Any = Listener()
    with shown(listener) as progress:
        progress.start(10)
        progress.start(None, unit="bytes")
        progress.advance(3)
        progress.note("done")
    assert listener.told == [(10, 0, "papers"), (None, 0, "bytes"), 3, "done"]
    with sr.build([{"id": "a", "title": "Graph networks"}], tmp_path / "index", encoder=None, progress=listener):
        assert (1, 0, "papers") in listener.told
    with pytest.raises(InvalidRequest, match="has `start`, `advance`"), shown(Listener):  # type: ignore[arg-type]
        pass


def test_a_bar_ends_with_work_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = looked_at(monkeypatch)

    def fail() -> None:
        with shown(True) as progress:
            progress.start(10)
            progress.advance(3)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert "3/10" in screen.getvalue()
    assert screen.getvalue().endswith("\n")


def test_the_time_left_moves_while_a_long_step_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = looked_at(monkeypatch)
    monkeypatch.setattr(progress, "TICK", 0.01)
    now = time.time()
    monkeypatch.setattr(tqdm.std, "time", lambda: now)
    bar = progress.ProgressBar()
    bar.start(10)
    now += 60
    bar.advance(1)
    bar.advance(0)
    for left in ("09:00", "18:00", "27:00"):  # nine steps of one, two and three minutes
        deadline = time.monotonic() + 60
        while left not in screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert f"<{left}" in screen.getvalue()
        now += 60
    bar.close()
    assert screen.getvalue().endswith("\n")


def test_what_cannot_be_told_is_refused_before_anything_is_made(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="progress is True, False, or has `start`"):
        build(corpus, tmp_path / "index", progress="yes")
    assert not (tmp_path / "index").exists()


def test_one_default_everywhere() -> None:
    functions = [getattr(sr, name) for name in sr.__all__ if inspect.isfunction(getattr(sr, name))]
    functions += [evaluate_modes, evaluate_suite, builders.build_cite, builders.build_scidocs_like, builders.build_published]
    signatures = {function.__name__: inspect.signature(function).parameters for function in functions}
    told = {name for name, parameters in signatures.items() if "progress" in parameters}
    long = {"add", "bench", "build", "build_part", "delete", "encode", "estimate", "evaluate", "index_parts", "merge", "reindex", "repair"}
    assert {*long, "robustness", "sync", "tune", "verify", "evaluate_modes", "evaluate_suite", "build_cite"} <= told
    assert {signatures[name]["progress"].default for name in told} == {True}
