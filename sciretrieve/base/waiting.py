"""Cancellation of long work: it stops at its next step once nobody waits for the result.

Python cannot stop a thread from outside, so long work calls `raise_if_abandoned` between its steps. This costs little, and does nothing
where no caller set a limit, as on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .errors import TimedOut

_is_over: ContextVar[Callable[[], bool] | None] = ContextVar("is_over", default=None)


@contextmanager
def unless(is_over: Callable[[], bool]) -> Iterator[None]:
    """Make this thread's work stop at its next step once `is_over()` is true."""
    token = _is_over.set(is_over)
    try:
        yield
    finally:
        _is_over.reset(token)


@contextmanager
def for_all() -> Iterator[None]:
    """Let this thread's work finish even if its caller stops waiting, since others need the result."""
    token = _is_over.set(None)
    try:
        yield
    finally:
        _is_over.reset(token)


def raise_if_abandoned() -> None:
    """Raise TimedOut if nobody waits for this thread's work any more."""
    is_over = _is_over.get()
    if is_over is not None and is_over():
        raise TimedOut("nobody waits for this answer any more, or it took too long; ask for fewer papers, or leave out what takes long")
