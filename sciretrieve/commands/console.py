"""Where output goes: results to stdout, notes and progress bars to stderr, and the bars only on a terminal."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

BETWEEN_LINES = 30.0
"""Seconds between two lines of progress where there is no terminal for a bar: in a log."""


def say(lines: Iterable[str]) -> None:
    """Print result lines to stdout. A reader that stops early, as in `| head`, ends the printing without an error."""
    try:
        for line in lines:
            print(line)  # noqa: T201
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def interruptible(console: Console, what_is_kept: str = "") -> Iterator[None]:
    """Long work, which Ctrl-C ends with a note on what is kept. Its progress bar ends with it in any case."""
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
    """Prints notes and progress for the person at the terminal, unless quiet."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        if not quiet:
            logging.basicConfig(format="%(message)s")
            logging.getLogger("sciretrieve").setLevel(logging.INFO)
        self._bar: Any = None
        self._log: _ProgressLog | None = None
        self.done = 0

    def note(self, text: str) -> None:
        """Print a line to stderr, above a progress bar if there is one."""
        if self._quiet:
            return
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            print(text, file=sys.stderr)  # noqa: T201

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Start a progress bar with rate and remaining time, or, without a terminal, lines of that; one that runs ends."""
        self.close()
        self.done = 0
        if self._quiet:
            return
        if not sys.stderr.isatty():
            self._log = _ProgressLog(total, done, unit)
            return
        from tqdm import tqdm

        scaled = unit == "bytes"  # these are shown in thousands and millions
        self._bar = tqdm(total=total, initial=done, unit=f" {unit}", unit_scale=scaled, file=sys.stderr, dynamic_ncols=True, smoothing=0.1)

    def advance(self, count: int) -> None:
        """Move the progress bar."""
        self.done += count
        if self._bar is not None:
            self._bar.update(count)
        elif self._log is not None and (line := self._log.line(self.done)):
            self.note(line)

    def close(self) -> None:
        """End the progress bar."""
        self._log = None
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _ProgressLog:
    """What is said of progress in a log: a line now and then."""

    def __init__(self, total: int | None, before: int, unit: str) -> None:
        self._total, self._before, self._unit = total, before, unit
        self._began = self._said = time.monotonic()

    def line(self, done: int) -> str | None:
        """How far the work is, its rate and the time left, once `done` more are done; None if that was said just now."""
        now = time.monotonic()
        if now - self._said < BETWEEN_LINES or not done:
            return None
        self._said = now
        so_far, rate = self._before + done, done / (now - self._began)
        share = f" of {self._total:,}" if self._total else ""
        left = f", {in_words((self._total - so_far) / rate)} left" if self._total and self._total > so_far else ""
        return f"{so_far:,}{share} {self._unit}, {rate:,.{0 if rate >= 10 else 1}f} a second{left}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: 1 paper, 1,200 papers, 2 queries."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def in_words(seconds: float) -> str:
    """A duration for people: 0.4 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, remaining_seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {remaining_seconds} s" if minutes else f"{remaining_seconds} s"
    return f"{minutes // 60} h {minutes % 60} min"


def in_bytes(size: int) -> str:
    """A size for people: 812 B, 3.2 MB, 1.4 GB."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
