"""Processes of this machine fill shards: the index is the one that a single process builds, whatever ends meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import NotFound, Unavailable
from sciretrieve.lifecycle import local_workers
from sciretrieve.lifecycle.estimating import PROCESS_MEMORY
from sciretrieve.lifecycle.local_workers import LocalWorkers, processes_for
from sciretrieve.protocols import Advance
from tests.lifecycle.test_building import contents
from tests.made_up import made_up_papers, write_jsonl

PAPERS = 300
SHARD_SIZE = 70


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Papers, and their vectors beside them."""
    folder = tmp_path_factory.mktemp("corpus")
    np.save(folder / "vectors.npy", np.random.default_rng(0).standard_normal((PAPERS, 8), np.float32))
    rows = made_up_papers(PAPERS)
    (folder / "vectors.ids.txt").write_text("".join(f"{row['id']}\n" for row in rows))
    return write_jsonl(folder / "corpus.jsonl", rows)


@pytest.fixture
def two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with two cores, for few papers."""
    monkeypatch.setattr(local_workers, "LEAST_PAPERS", 1)
    monkeypatch.setattr(local_workers, "threads", lambda: 2)


def vectors_of(corpus: Path) -> str:
    return f"vectors:{corpus.with_name('vectors.npy')}"


def double(advance: Advance) -> int:
    advance(2)
    advance(3)
    return os.getpid()


def missing(_: Advance) -> None:
    raise NotFound("there is no such thing")


class Stubborn(Exception):
    """An error that no other process can have."""

    def __reduce__(self) -> str:
        raise TypeError("no")


def stubborn(_: Advance) -> None:
    raise Stubborn("stays here")


def dies(_: Advance) -> None:
    os._exit(7)


@pytest.mark.parametrize("with_vectors", [True, False])
@pytest.mark.usefixtures("two_processes")
def test_the_index_is_that_of_one_process(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_vectors: bool) -> None:
    encoder = vectors_of(corpus) if with_vectors else None
    several = sr.build(corpus, tmp_path / "several", encoder=encoder, shard_size=SHARD_SIZE)
    monkeypatch.setattr(local_workers, "threads", lambda: 1)
    monkeypatch.setattr(subprocess, "Popen", None)  # no process is started
    alone = sr.build(corpus, tmp_path / "alone", encoder=encoder, shard_size=SHARD_SIZE)
    assert contents(several) == contents(alone)
    assert len(several.snapshot.manifest.shards) == 5
    assert not sr.verify(several.path).faults


def test_processes_are_as_many_as_cores_shards_and_memory_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_workers, "threads", lambda: 8)
    assert processes_for([100_000] * 10) == 5
    assert processes_for([100_000, 7]) == 2
    assert processes_for([10_000] * 3) == 3
    assert processes_for([100] * 20) == processes_for([100_000]) == processes_for([]) == 1
    assert processes_for([1_000_000] * 10) == 1
    monkeypatch.setattr(local_workers, "threads", lambda: 1)
    assert processes_for([100_000] * 10) == 1


def test_tasks_are_done_by_so_many_processes_which_then_end(tmp_path: Path) -> None:
    told: list[int] = []
    with LocalWorkers(2) as workers:
        outcomes = dict(workers.run(tmp_path, [double] * 5, told.append))
    assert sorted(outcomes) == list(range(5))
    processes = set(outcomes.values())
    assert len(processes) in (1, 2)
    assert os.getpid() not in processes
    assert sum(told) == 25
    assert not any(Path(f"/proc/{process}").exists() for process in processes)


@pytest.mark.parametrize(
    ("task", "error", "message"),
    [(missing, NotFound, "no such thing"), (stubborn, RuntimeError, "Stubborn: stays here"), (dies, Unavailable, "status 7")],
)
def test_what_a_task_raises_is_raised_here(tmp_path: Path, task: Callable[[Advance], None], error: type[Exception], message: str) -> None:
    with LocalWorkers(2) as workers, pytest.raises(error, match=message):
        list(workers.run(tmp_path, [task, double], lambda _: None))


def test_a_process_that_does_not_start_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_workers, "PROGRAM", "raise SystemExit(9)")
    with LocalWorkers(2) as workers, pytest.raises(Unavailable, match="status 9"):
        list(workers.run(tmp_path, [double] * 4, lambda _: None))


@pytest.mark.usefixtures("two_processes")
def test_an_estimate_knows_of_them(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(local_workers, "threads", lambda: 1)
        alone = sr.estimate(corpus, encoder=None, shard_size=SHARD_SIZE)
    several = sr.estimate(corpus, encoder=None, shard_size=SHARD_SIZE)  # the second, since this process's own peak only rises
    assert several.memory > alone.memory + 2 * PROCESS_MEMORY
    assert several.bytes == alone.bytes


SCRIPT = """
import sys
import sciretrieve as sr
from sciretrieve.lifecycle import local_workers
local_workers.LEAST_PAPERS, local_workers.threads = 1, lambda: 2
index = sr.build(sys.argv[1], sys.argv[2], encoder=sys.argv[3], shard_size=int(sys.argv[4]))
print(len(index))
"""
"""What a user may write: without `if __name__ == "__main__"`."""


def script(folder: Path, corpus: Path) -> list[str]:
    path = folder / "script.py"
    path.write_text(SCRIPT)
    return [sys.executable, str(path), str(corpus), str(folder / "index"), vectors_of(corpus), str(SHARD_SIZE)]


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def soon(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc to see other processes in")
def test_a_program_that_is_killed_leaves_no_process_and_goes_on_when_it_is_run_again(corpus: Path, tmp_path: Path) -> None:
    program = subprocess.Popen(script(tmp_path, corpus))
    assert soon(lambda: len(children(program.pid)) == 2)
    processes = children(program.pid)
    program.send_signal(signal.SIGKILL)
    program.wait()
    assert soon(lambda: not any(Path(f"/proc/{process}").exists() for process in processes))
    subprocess.run(script(tmp_path, corpus), check=True)
    whole = sr.build(corpus, tmp_path / "whole", encoder=vectors_of(corpus), shard_size=SHARD_SIZE)
    assert contents(sr.open(tmp_path / "index")) == contents(whole)
