"""Commands as users type them, run in this process, which takes milliseconds; `process` starts one, which takes a second.

A test that is about a process needs one: signals, pipes, what starting imports, how `main` ends. All others take
`sciretrieve`, or `answer` where the command must succeed.
"""

import io
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from sciretrieve import commands

Result = subprocess.CompletedProcess[str]


def sciretrieve(*arguments: str | Path, stdin: str = "", **environment: str) -> Result:
    """Run a command to its end in this process and working directory, with `environment` besides its own."""
    words = [str(argument) for argument in arguments]
    out, err, into = _stream(), _stream(), _stream(stdin)
    streams = redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", into)
    with ExitStack() as stack:
        for context in (*streams, mock.patch.dict(os.environ, environment), _logging_as_at_the_start()):
            stack.enter_context(context)
        code = commands.run(words)
    return subprocess.CompletedProcess(words, code, _text(out), _text(err))


def answer(*arguments: str | Path, **options: Any) -> str:
    """What a command that must succeed prints."""
    result = sciretrieve(*arguments, **options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def process(*arguments: str | Path, **environment: str) -> Result:
    """Run a command to its end in a process of its own."""
    command = [sys.executable, "-m", "sciretrieve", *map(str, arguments)]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=300)


def hear_interrupts() -> None:
    """Let the process that is about to start be interrupted: a shell that runs the tests in the background has them, and their children,
    ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _stream(text: str = "") -> io.TextIOWrapper:
    """A stream like those that a process has: text over bytes, and no terminal; `main` makes them show what is no text, too."""
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", errors="backslashreplace")


def _text(stream: io.TextIOWrapper) -> str:
    """All that was written to a stream, as text or as bytes."""
    stream.seek(0)
    return stream.read()


@contextmanager
def _logging_as_at_the_start() -> Iterator[None]:
    """No handler that pytest, or a command before, has set up; and none is left behind."""
    ours = [logging.getLogger(name) for name in ("sciretrieve", "sciretrieve.papers.corpora.rejections")]
    levels = [logger.level for logger in ours]
    for logger in ours:
        logger.setLevel(logging.NOTSET)
    try:
        with mock.patch.object(logging.getLogger(), "handlers", []):
            yield
    finally:
        for logger, level in zip(ours, levels, strict=True):
            logger.setLevel(level)
