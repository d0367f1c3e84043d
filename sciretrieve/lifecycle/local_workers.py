"""Running tasks in other processes of this machine. They end with their tasks, or with the program that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..base.errors import SciretrieveError, Unavailable
from ..base.system import INHERITS_DESCRIPTORS, threads
from ..protocols import Advance, Result, Task

PROGRAM = "from sciretrieve.lifecycle.local_workers import work; work()"
"""Code of a process. It does not import the parent's main script, which without `if __name__ == "__main__"` would start itself again."""
PAPERS_AT_ONCE = 500_000
"""Papers in the shards being filled at a time. A process takes some 6 kB for each paper of its shard."""
LEAST_PAPERS = 10_000
"""Fewest papers per process. Starting a process takes as long as counting the words of some thousands."""


def processes_for(shards: Iterable[int]) -> int:
    """Best number of processes for filling shards of these sizes; 1 if further processes would not help or cannot be given a connection."""
    if not (sys.executable and INHERITS_DESCRIPTORS):
        return 1
    sizes = list(shards)
    most = PAPERS_AT_ONCE // max(sizes, default=1)
    return max(1, min(threads(), len(sizes), most, sum(sizes) // LEAST_PAPERS))


class LocalWorkers:
    """Processes of this machine as `protocols.Workers`. As a context manager, it ends them."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._processes: dict[Any, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for connection, process in self._processes.items():
            process.kill()  # unfinished tasks are repeated
            process.wait()
            connection.close()
            assert process.stdin is not None
            process.stdin.close()
        self._processes = {}

    def run(self, directory: Path, tasks: Iterable[Task[Result]], advance: Advance) -> Iterator[tuple[int, Result]]:  # noqa: ARG002 - all see it
        """See `protocols.Workers`. A task is taken from `tasks` when a process is free. Raises Unavailable if a process dies."""
        waiting = enumerate(tasks)
        numbers: dict[Connection[Any, Any], int] = {}
        for number, task in waiting:
            connection = self._started()
            self._give(connection, task)
            numbers[connection] = number
            if len(numbers) == self._count:
                break
        while numbers:
            for connection in [connection for connection in wait(list(numbers)) if isinstance(connection, Connection)]:
                papers, outcome = self._receive(connection)
                advance(papers)
                if outcome is None:
                    continue
                yield numbers.pop(connection), outcome[0]
                if (following := next(waiting, None)) is not None:
                    numbers[connection] = following[0]
                    self._give(connection, following[1])

    def _started(self) -> Any:
        ours, theirs = Pipe()
        with theirs:
            self._processes[ours] = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, str(theirs.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        return ours

    def _give(self, connection: Connection[Any, Any], task: Task[Any]) -> None:
        try:
            connection.send(task)
        except OSError:
            raise self._death_error(connection) from None

    def _death_error(self, connection: Connection[Any, Any]) -> Unavailable:
        code = self._processes[connection].wait()
        return Unavailable(
            f"a process that fills shards died (status {code}), of too little memory perhaps; what is finished is kept, and the same "
            "command resumes it"
        )

    def _receive(self, connection: Connection[Any, Any]) -> tuple[int, tuple[Any] | None]:
        """Receive from a process: the number of papers just finished, and its task's result at the end. Raises what the task raised."""
        try:
            papers, outcome, error = connection.recv()
        except (EOFError, OSError):
            raise self._death_error(connection) from None
        if error is not None:
            raise error
        return papers, outcome


def work() -> None:
    """Run tasks that arrive over the connection whose number is this process's argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the waiting program, which then ends this process
    threading.Thread(target=_end_with_program, daemon=True).start()
    with Connection(int(sys.argv[1])) as connection:
        while True:
            try:
                task = connection.recv()
            except EOFError:
                return
            connection.send(_done(task, connection))


def _done(task: Task[Any], connection: Connection[Any, Any]) -> tuple[int, tuple[Any] | None, BaseException | None]:
    try:
        return 0, (task(lambda papers: connection.send((papers, None, None))),), None
    except Exception as error:
        return 0, None, _sendable(error)


def _sendable(error: Exception) -> Exception:
    """An error that can be pickled: ours and Python's unchanged, a library's by its text."""
    is_known = isinstance(error, SciretrieveError) or type(error).__module__ == "builtins"
    return error if is_known else RuntimeError(f"{type(error).__name__}: {error}")


def _end_with_program() -> None:
    """End with the program, however it ends: it holds the other end of the standard input."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)
