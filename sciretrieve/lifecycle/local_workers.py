"""Tasks in other processes of this machine, which end when their tasks do, or the program that started them."""

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
from ..base.system import INHERITS_DESCRIPTORS
from ..encoders.runtimes import threads
from ..protocols import Advance, Result, Task

PROGRAM = "from sciretrieve.lifecycle.local_workers import work; work()"
"""What a process runs. Nothing of the program that starts it: a script without `if __name__ == "__main__"` would start itself again."""
PAPERS_AT_ONCE = 500_000
"""Papers of all shards that are filled at a time: a process takes some 6 kB for each of its shard's."""
LEAST_PAPERS = 10_000
"""Papers that each process has at least: starting it takes as long as counting the words of some thousands."""


def processes_for(shards: Iterable[int]) -> int:
    """How many processes fill shards of so many papers best; 1 where others would gain nothing, or cannot be given a connection."""
    if not (sys.executable and INHERITS_DESCRIPTORS):
        return 1
    sizes = list(shards)
    most = PAPERS_AT_ONCE // max(sizes, default=1)
    return max(1, min(threads(), len(sizes), most, sum(sizes) // LEAST_PAPERS))


class LocalWorkers:
    """So many processes of this machine, as `protocols.Workers`. Use it as a context manager, so that they end."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._processes: dict[Any, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for connection, process in self._processes.items():
            process.kill()  # what it did not finish is done again
            process.wait()
            connection.close()
            assert process.stdin is not None
            process.stdin.close()
        self._processes = {}

    def run(self, directory: Path, tasks: Iterable[Task[Result]], advance: Advance) -> Iterator[tuple[int, Result]]:  # noqa: ARG002 - all see it
        """See `protocols.Workers`; a task is taken from `tasks` when a process is free for it. Raises Unavailable: a process died."""
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
                papers, outcome = self._heard(connection)
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
            raise self._died(connection) from None

    def _died(self, connection: Connection[Any, Any]) -> Unavailable:
        code = self._processes[connection].wait()
        return Unavailable(
            f"a process that fills shards died (status {code}), of too little memory perhaps; what is finished is kept, and the same "
            "command resumes it"
        )

    def _heard(self, connection: Connection[Any, Any]) -> tuple[int, tuple[Any] | None]:
        """What a process says: how many more papers are done, and its task's result when it has ended. Raises what the task raised."""
        try:
            papers, outcome, error = connection.recv()
        except (EOFError, OSError):
            raise self._died(connection) from None
        if error is not None:
            raise error
        return papers, outcome


def work() -> None:
    """What a process does: one task after the other that comes over the connection whose number is its argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program that waits, which then ends this process
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
    """An error as another process can have it: one of ours or Python's as it is, a library's by its text, for it may refuse to be sent."""
    is_known = isinstance(error, SciretrieveError) or type(error).__module__ == "builtins"
    return error if is_known else RuntimeError(f"{type(error).__name__}: {error}")


def _end_with_program() -> None:
    """End when the program does, however it ends: then nobody has the other end of the standard input."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)
