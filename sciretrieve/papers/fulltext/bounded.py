"""Reading full texts in other processes, of which each has its limits and may die: a file that PDFium crashes on, or that unpacks to more
than there is memory, costs its own paper a line, and nothing else.

The processes are started by their code, not from the program's main script, and talk through pipes, as all systems have them. What comes
back is JSON: whoever takes over such a process by a file has no objects to send.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from ...base.errors import SciretrieveError
from ...base.system import limit_memory
from .document import Block, Document, Section
from .reading import read_document

PROGRAM = "from sciretrieve.papers.fulltext.bounded import serve; serve()"
SECONDS, MEMORY, PROCESSES = 60.0, 1 << 30, 2
"""Limits of a file: seconds, and bytes of memory beyond what the system maps from files; and how many are read at once."""
PLAIN, MOST_PLAIN = (".txt", ".text", ".md"), 10 << 20
"""Suffixes of texts that are read here, and their most bytes: starting a process takes longer."""
AHEAD = 2
"""Files for each process that are given out before the first of them is taken: documents that wait are in memory."""
GRACE = 5.0
"""Seconds in which a process that says no more must have ended."""
LAST_WORD = 2.0
"""How many times its seconds a process lives at most, should nobody be left to end it."""


def read_all(
    paths: Iterable[Path], *, seconds: float = SECONDS, memory: int = MEMORY, processes: int = PROCESSES
) -> Iterator[tuple[Path, Document | str]]:
    """Read full texts in other processes, which are used again for the next files while they live.

    Args:
        paths: the files, which are taken as they are needed.
        seconds: how long one may take.
        memory: how many bytes of memory it may take, where the system has such limits.
        processes: how many are read at once.

    Yields:
        The path and the document, or the reason in one line why there is none, in the order of the paths.
    """
    free: deque[ReadingProcess] = deque(ReadingProcess(seconds, memory) for _ in range(processes))
    readers = list(free)
    waiting: deque[tuple[Path, Future[Document | str]]] = deque()

    def read(path: Path) -> Document | str:
        reader = free.popleft()  # there are as many as threads
        try:
            return reader.read(path)
        finally:
            free.append(reader)

    with ThreadPoolExecutor(processes, thread_name_prefix="full-text") as threads:
        try:
            for path in paths:
                waiting.append((path, threads.submit(read_here if _is_plain(path) else read, path)))
                if len(waiting) >= AHEAD * processes:
                    first, future = waiting.popleft()
                    yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:  # also where nobody asks for the rest
            threads.shutdown(wait=False, cancel_futures=True)
            for reader in readers:
                reader.close()


def _is_plain(path: Path) -> bool:
    """Whether a file is a text of no great size, which no library unpacks or parses."""
    try:
        return path.suffix.lower() in PLAIN and path.stat().st_size <= MOST_PLAIN
    except OSError:
        return False


def read_here(path: Path) -> Document | str:
    """Read a file in this process: the document, or the reason in one line why there is none."""
    try:
        return read_document(path)
    except SciretrieveError as error:
        return " ".join(str(error).split())


class ReadingProcess:
    """A process that reads one file after the other. As a context manager, it ends it. It is started, and started again, when needed."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds, self._memory = seconds, memory
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process, also in the midst of a file."""
        self._is_closed = True
        self._end()

    def read(self, path: Path) -> Document | str:
        """Read a file: the document, or the reason in one line why there is none."""
        process = self._running()
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            process.kill()

        timer = threading.Timer(self._seconds, end)
        timer.daemon = True
        timer.start()
        try:
            _send(stdin, str(path.absolute()))
            answer = _received(stdout)
        except (OSError, ValueError):
            answer = None
        finally:
            timer.cancel()
        if answer is None:
            return self._death(path, process, is_late=is_late.is_set())
        if answer["document"] is not None:
            return _document(answer["document"])
        if answer["is_last"]:
            self._end()
        return str(answer["reason"]).replace(str(path.absolute()), str(path))

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, str(self._seconds), str(self._memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            if self._is_closed:
                self._end()
                raise RuntimeError("the reader is closed")
        return self._process

    def _death(self, path: Path, process: subprocess.Popen[bytes], *, is_late: bool) -> str:
        if is_late:
            self._end()
            return f"{path} takes more than {self._seconds:g} s to be read, and is left out"
        try:
            code = process.wait(GRACE)
        except subprocess.TimeoutExpired:  # it answers nonsense, and lives
            code = -int(signal.SIGABRT)
        self._end()
        end = signal.Signals(-code).name if -code in set(signal.Signals) else f"exit code {code}"
        return f"{path} ends the process that reads it ({end}): it is damaged, or needs more than {self._memory >> 20:,} MB of memory"

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for stream in filter(None, (process.stdin, process.stdout)):
                with suppress(OSError):  # what it was sent last did not arrive
                    stream.close()
            process.wait()


def serve() -> None:
    """Read the files whose paths arrive, and answer each with its document. The arguments are seconds and bytes of memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the waiting program, which then ends this process
    seconds, memory = float(sys.argv[1]), int(sys.argv[2])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not be among the answers
    limit_memory(memory)
    while (path := _received(sys.stdin.buffer)) is not None:
        faulthandler.dump_traceback_later(seconds * LAST_WORD, exit=True)
        answer: dict[str, Any] = {"document": None, "reason": "", "is_last": False}
        try:
            answer["document"] = asdict(read_document(Path(path)))
        except SciretrieveError as error:
            answer["reason"] = " ".join(str(error).split())
        except (MemoryError, RecursionError):
            answer |= {"reason": f"{path} needs more than {memory >> 20:,} MB of memory to be read, and is left out", "is_last": True}
        except Exception as error:  # what a damaged file can cause in any library
            answer |= {"reason": f"{path} cannot be read ({type(error).__name__}: {' '.join(str(error).split())})", "is_last": True}
        faulthandler.cancel_dump_traceback_later()
        _send(answers, answer)
        if answer["is_last"]:
            return


def _send(stream: IO[bytes], value: Any) -> None:
    data = json.dumps(value).encode()
    stream.write(len(data).to_bytes(8, "big") + data)
    stream.flush()


def _received(stream: IO[bytes]) -> Any:
    """The next value; None where the other end is closed. Raises ValueError: it is cut off."""
    head = stream.read(8)
    return json.loads(stream.read(int.from_bytes(head, "big"))) if head else None


def _document(value: dict[str, Any]) -> Document:
    sections = (
        Section(section["head"], section["level"], tuple(Block(**block) for block in section["blocks"])) for section in value["sections"]
    )
    return Document(
        title=value["title"],
        text=value["text"],
        sections=tuple(sections),
        page_starts=tuple((start, page) for start, page in value["page_starts"]),
        references=tuple(value["references"]),
        front=value["front"],
        page_count=value["page_count"],
    )
