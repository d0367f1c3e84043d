"""Processes for test_concurrency that open, search and change an index when they are told to, and can be stopped at any step.

    python -m tests.torture.peers ADDRESS KEY

forks a peer for each one that is asked for. A step is a system call that forces something to disk (which is left out: it is slow,
and a kill loses nothing that was written), renames, removes or makes something; a change can be told to pause before any of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import faiss  # noqa: F401 (imported before a process is forked, not by each of them)

import sciretrieve as sr
from sciretrieve import lifecycle  # noqa: F401
from sciretrieve.base.errors import SciretrieveError
from sciretrieve.storage import verifying  # noqa: F401
from tests.toy_encoder import LetterEncoder, letters_by_name

ROOT = Path(__file__).parents[2]
STEPS = ("fsync", "rename", "replace", "unlink", "rmdir", "mkdir", "truncate", "link")
QUERIES = ("alpha gamma", "beta revised", "delta")
PATIENCE = 120
"""Seconds after which a peer that says nothing hangs."""

Answers = dict[str, list[tuple[list[str], bytes]]]
Papers = list[dict[str, Any]]


def quick_and_exact() -> None:
    """Every index of this process is encoded by counting letters, and nothing is forced to disk."""
    LetterEncoder.window = 2
    vars(os).update(fsync=lambda handle: None)


def answers(index: sr.Index) -> Answers:
    """Every query's ids and scores in every mode."""
    return {
        mode: [(list(ranking.ids), ranking.scores.tobytes()) for ranking in index.search(QUERIES, 100, mode=mode, group=False)]
        for mode in index.modes
    }


def change(path: Path, command: str, papers: Papers, ids: list[str], resume: bool = True) -> int:
    """Change an index; returns its generation then."""
    if command == "overwrite":
        with sr.build(papers, path, encoder="letters", shard_size=3, overwrite=True, resume=resume) as index:
            return index.snapshot.manifest.generation
    if command == "delete":
        return sr.delete(path, ids).generation
    if command == "merge":
        return sr.merge(path).generation
    if command == "sync":
        return sr.sync(papers, path, resume=resume, allow_deletions=True).generation
    return sr.add(papers, path, resume=resume).generation


class Peer:
    """What a peer does; each method is a request."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._index: sr.Index | None = None
        self._left = 0

    def serve(self) -> None:
        """Answer requests until there are no more."""
        self._pausable()
        while True:
            name, arguments = self._connection.recv()
            try:
                self._connection.send(("done", getattr(self, name)(*arguments)))
            except SciretrieveError as error:
                self._connection.send(("refused", error))
            except Exception:
                self._connection.send(("crashed", traceback.format_exc()))

    def open(self, path: Path, generation: int | None) -> int:
        self._index = sr.open(path, encoder=LetterEncoder(), generation=generation)
        return self._index.snapshot.manifest.generation

    def search(self) -> Answers:
        assert self._index is not None
        return answers(self._index)

    def refresh(self) -> int:
        assert self._index is not None
        old, self._index = self._index, self._index.refreshed()
        if self._index is not old:
            old.close()
        return self._index.snapshot.manifest.generation

    def close(self) -> None:
        assert self._index is not None
        self._index.close()

    def change(self, pause: int, *arguments: Any) -> int:
        self._left = pause
        try:
            return change(*arguments)
        finally:
            self._left = 0

    def _pausable(self) -> None:
        def counted(call: Callable[..., Any]) -> Callable[..., Any]:
            def step(*args: Any, **kwargs: Any) -> Any:
                self._left -= 1
                if self._left == 0:
                    self._connection.send(("paused", None))
                    self._connection.recv()
                return call(*args, **kwargs)

            return step

        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))


def serve(address: str, key: str) -> None:
    """Fork peers until the connection that asks for them is closed."""
    quick_and_exact()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    orders = Client(address, authkey=key.encode())
    with suppress(EOFError):
        while orders.recv():
            if not os.fork():
                orders.close()
                with suppress(EOFError, ConnectionError), Client(address, authkey=key.encode()) as connection:
                    connection.send(os.getpid())
                    Peer(connection).serve()
                os._exit(0)


@dataclass
class Remote:
    """A peer, seen from the test.

    Attributes:
        pid: its process.
        generation: the one that it has open, if it reads.
        paused: what it is in the midst of, if it writes.
        base: the index's generation when it began that.
    """

    connection: Connection
    pid: int
    generation: int | None = None
    paused: Any = None
    base: int = 0

    def tell(self, name: str, *arguments: Any) -> None:
        self.connection.send((name, arguments))

    def reply(self) -> tuple[str, Any]:
        """What it says next: ("done", result), ("refused", error) or ("paused", None)."""
        assert self.connection.poll(PATIENCE), "a process hangs"
        kind, value = self.connection.recv()
        assert kind != "crashed", value
        return kind, value

    def ask(self, name: str, *arguments: Any) -> Any:
        """The result of what must succeed."""
        self.tell(name, *arguments)
        kind, value = self.reply()
        assert kind == "done", value
        return value

    def kill(self) -> None:
        """End it with SIGKILL, and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        with suppress(EOFError, ConnectionError):  # its end of the connection closes when it has ended
            while True:
                self.connection.recv()
        self.connection.close()


class Stage:
    """The process that forks peers. It has no threads, so that they are sound."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        key = os.urandom(16).hex()
        self._listener = Listener(f"{self._folder.name}/socket", "AF_UNIX", authkey=key.encode())
        command = [sys.executable, "-m", "tests.torture.peers", str(self._listener.address), key]
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_NUM_THREADS": "1"}
        self._process = subprocess.Popen(command, cwd=ROOT, env=one_thread)
        self._orders = self._listener.accept()

    def peer(self) -> Remote:
        """Another process."""
        self._orders.send(True)
        connection = self._listener.accept()
        return Remote(connection, connection.recv())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._orders.close()
        self._process.wait(PATIENCE)
        self._listener.close()
        self._folder.cleanup()


if __name__ == "__main__":
    with letters_by_name():
        serve(sys.argv[1], sys.argv[2])
