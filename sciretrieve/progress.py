"""Progress bars, with rate and remaining time, for terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from .base.errors import InvalidRequest
from .base.wording import shortened

if TYPE_CHECKING:
    from .protocols import Progress


TICK = 1.0
"""Seconds between redraws of a bar, even if nothing was done."""


class ProgressBar:
    """A progress bar on stderr, with notes above it.

    The remaining time uses the mean rate so far. It keeps moving during a long silent step, where a recent rate would stand still.
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._ended = Event()

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Start a bar, and end a running one."""
        self.close()
        from tqdm.auto import tqdm

        scaled = unit == "bytes"  # large numbers, shown in thousands and millions
        self._bar = tqdm(total=total, initial=done, unit=f" {unit}", unit_scale=scaled, file=sys.stderr, dynamic_ncols=True, smoothing=0)
        self._ended = Event()
        Thread(target=_draw_on, args=(self._bar, self._ended), daemon=True).start()

    def advance(self, papers: int) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.update(papers)

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            sys.stderr.write(f"{text}\n")

    def close(self) -> None:
        """End the bar."""
        self._ended.set()
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _draw_on(bar: Any, ended: Event) -> None:
    """Redraw a bar until the event ends it."""
    while not ended.wait(TICK):
        with bar.get_lock():
            if not ended.is_set():
                bar.refresh(nolock=True)


class PositionalListener:
    """Passes all three arguments of `start` by position, so that the user's listener needs no defaults."""

    def __init__(self, listener: Progress) -> None:
        self._start, self.advance, self.note = listener.start, listener.advance, listener.note

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Pass the start on."""
        self._start(total, done, unit)


class Silent:
    """Ignores all progress."""

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """Ignore it."""

    def advance(self, papers: int) -> None:
        """Ignore it."""

    def note(self, text: str) -> None:
        """Ignore it."""


@contextmanager
def shown(progress: Progress | bool) -> Iterator[Progress]:
    """Yields the listener: the given one; for True a bar on a terminal or in a notebook; for False one that ignores everything.

    Raises:
        InvalidRequest: the given object lacks the methods of `Progress`.
    """
    if not isinstance(progress, bool):
        if isinstance(progress, type) or not all(callable(getattr(progress, name, None)) for name in ("start", "advance", "note")):
            raise InvalidRequest(
                f"progress is True, False, or has `start`, `advance` and `note` as `sr.Progress`; {shortened(progress)} lacks them"
            )
        yield PositionalListener(progress)
    elif progress and _is_watched():
        bar = ProgressBar()
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield Silent()


def _is_watched() -> bool:
    """Whether stderr is a terminal, or this is a notebook."""
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in shell.config
