"""Whether anybody still waits for what is being computed: long work looks at each of its steps, and stops where nobody does.

Python cannot stop a thread from outside, so what takes long calls `raise_if_abandoned` between its steps. It costs next to nothing,
and where nobody said who waits, as on the command line, it does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .errors import TimedOut

_is_over: ContextVar[Callable[[], bool] | None] = ContextVar("is_over", default=None)


@contextmanager
def unless(is_over: Callable[[], bool]) -> Iterator[None]:
    """Work of this thread, which stops at its next step once `is_over()` is true."""
    token = _is_over.set(is_over)
    try:
        yield
    finally:
        _is_over.reset(token)


@contextmanager
def for_all() -> Iterator[None]:
    """Work of this thread that others will need, too, and that is therefore ended, whoever has stopped waiting."""
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
