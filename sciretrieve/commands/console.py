"""Output: results to stdout; notes and progress to stderr, as a bar on a terminal and as lines elsewhere."""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import typer

from ..base.errors import RowsRejected
from ..base.wording import as_json, duration_text, printable, without_controls
from ..progress import ProgressBar

BETWEEN_LINES = 30.0
"""Seconds between two lines of progress in a log, without a terminal for a bar."""


as_options: ContextVar[Callable[[str], str]] = ContextVar("as_options", default=str)
"""Rewrites a message of the library in terms of the running command's options."""


LONGEST_ERROR = 2000
"""The most characters of an error that are printed."""


def say_error(text: str) -> None:
    """Print an error as one line to stderr. Long ones, which quote the user's input, are cut in the middle."""
    half = LONGEST_ERROR // 2
    line = printable(" ".join(text.split()))  # file names may contain line breaks and control characters
    line = line if len(line) <= LONGEST_ERROR else f"{line[:half]} … {line[-half:]}"
    print(f"sciretrieve: {line}", file=sys.stderr)  # noqa: T201


def say(lines: Iterable[str], *, styled: bool = False) -> None:
    """Print lines to stdout; strip control characters unless `styled`.

    On a terminal, all that it would obey are stripped; files lose only unsafe ones, since a file may be shown on a terminal later. A reader
    that stops early, as in `| head`, ends the printing without an error.
    """
    shown = str if styled else printable if sys.stdout.isatty() else without_controls
    try:
        for line in lines:
            print(shown(line))  # noqa: T201
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_json(value: Any) -> None:
    """Print a value as JSON."""
    say([as_json(value, indent=1)])


def page(lines: Sequence[str]) -> None:
    """Print lines, which may be styled; in a pager if they exceed the rows of a terminal, as git does."""
    is_long = sys.stdout.isatty() and len(lines) >= shutil.get_terminal_size().lines
    pager = _pager() if is_long else []
    if not pager:
        say(lines, styled=True)
        return
    import subprocess

    ours = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for the pager
    try:
        text = "".join(line + "\n" for line in lines)
        environment = {"LESS": "FRX"} | os.environ
        subprocess.run(pager, input=text, encoding="utf-8", errors="backslashreplace", env=environment, check=False)
    finally:
        signal.signal(signal.SIGINT, ours)


def _pager() -> list[str]:
    """The words of the command in `$PAGER`; empty if there is no such program."""
    words: list[str] = []
    with suppress(ValueError):  # an open quotation mark
        words = shlex.split(os.environ.get("PAGER", "less"))
    return words if words and shutil.which(words[0]) else []


def given_ids(ids: Sequence[str] | None) -> list[str]:
    """The ids of a command line; for - those on stdin, one per line."""
    return [line.strip() for line in sys.stdin if line.strip()] if ids == ["-"] else list(ids or [])


@contextmanager
def interruptible(console: Console, what_is_kept: str = "") -> Iterator[None]:
    """A context for long work, which Ctrl-C ends with a note on the kept results. The progress bar ends in any case."""
    try:
        yield
    except KeyboardInterrupt:
        console.close()
        if what_is_kept:
            console.note(f"stopped; {what_is_kept}")
        raise typer.Exit(130) from None
    finally:
        console.close()


class Console:
    """Prints notes and progress for the user, unless quiet.

    Attributes:
        is_quiet: whether `-q` silences all consoles.
    """

    is_quiet = False

    def __init__(self, *, reports_rejected: bool = False) -> None:
        """`reports_rejected`: whether the command itself reports rejected rows, which are logged otherwise."""
        warnings.simplefilter("ignore", RowsRejected)  # they are logged, or reported
        if self.is_quiet or reports_rejected:
            logging.getLogger("sciretrieve.papers.corpora.rejections").setLevel(logging.ERROR)
        if not self.is_quiet:
            logging.basicConfig(format="%(message)s")
            logging.getLogger("sciretrieve").setLevel(logging.INFO)
        self._bar = ProgressBar()
        self._log: _ProgressLog | None = None
        self.done = 0

    def note(self, text: str) -> None:
        """Print a line to stderr, above a progress bar if there is one."""
        if not self.is_quiet:
            self._bar.note(printable(as_options.get()(text)))

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Start a progress bar with rate and remaining time, or lines of progress without a terminal; end a running one."""
        self.close()
        self.done = 0
        if self.is_quiet:
            return
        if sys.stderr.isatty():
            self._bar.start(total, done, unit)
        else:
            self._log = _ProgressLog(total, done, unit)

    def advance(self, count: int) -> None:
        """Move the progress bar."""
        self.done += count
        self._bar.advance(count)
        if self._log is not None and (line := self._log.line(self.done)):
            self.note(line)

    def close(self) -> None:
        """End the progress bar."""
        self._log = None
        self._bar.close()


class _ProgressLog:
    """Progress in a log: a line now and then."""

    def __init__(self, total: int | None, before: int, unit: str) -> None:
        self._total, self._before, self._unit = total, before, unit
        self._began = self._said = time.monotonic()

    def line(self, done: int) -> str | None:
        """Count `done` more, and return a line with progress, rate and remaining time; None if the last line is recent."""
        now = time.monotonic()
        if now - self._said < BETWEEN_LINES or not done:
            return None
        self._said = now
        so_far, rate = self._before + done, done / (now - self._began)
        share = f" of {self._total:,}" if self._total else ""
        left = f", {duration_text((self._total - so_far) / rate)} left" if self._total and self._total > so_far else ""
        return f"{so_far:,}{share} {self._unit}, {rate:,.{0 if rate >= 10 else 1}f} a second{left}"


def is_for_people() -> bool:
    """Whether a person reads stdout: it is a terminal, or FORCE_COLOR is set, as for `rich`."""
    return bool(os.environ["FORCE_COLOR"]) if "FORCE_COLOR" in os.environ else sys.stdout.isatty()
