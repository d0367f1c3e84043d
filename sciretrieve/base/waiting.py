"""Cancellation of long work: it stops at its next step once nobody waits for the result.

Python cannot stop a thread from outside, so long work calls `raise_if_abandoned` between its steps. This costs little, and does nothing
where no caller set a limit, as on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event
from typing import Any, ParamSpec, TypeVar

from .errors import TimedOut

Asked = ParamSpec("Asked")
Result = TypeVar("Result")
_is_over: ContextVar[Callable[[], bool] | None] = ContextVar("is_over", default=None)


@contextmanager
def unless(is_over: Callable[[], bool]) -> Iterator[None]:
    """Make this thread's work stop at its next step once `is_over()` is true."""
    token = _is_over.set(is_over)
    try:
        yield
    finally:
        _is_over.reset(token)


def for_all(work: Callable[Asked, Result], *arguments: Asked.args, **named: Asked.kwargs) -> Result:
    """Do work that this thread finishes even if its caller stops waiting, since others need the result."""
    token = _is_over.set(None)
    try:
        return work(*arguments, **named)
    finally:
        _is_over.reset(token)


def raise_if_abandoned() -> None:
    """Raise TimedOut if nobody waits for this thread's work any more."""
    is_over = _is_over.get()
    if is_over is not None and is_over():
        raise TimedOut("nobody waits for this answer any more, or it took too long; ask for fewer papers, or leave out what takes long")


def awaited(work: Callable[Asked, Result], example: str) -> Callable[Asked, Coroutine[Any, Any, Result]]:
    """The same work for asyncio: in a thread, so that the event loop goes on. If the task is cancelled, the work stops at its next step."""

    async def start(*arguments: Asked.args, **named: Asked.kwargs) -> Result:
        import asyncio  # takes longer to import than a command may take to start

        is_abandoned = Event()

        def do() -> Result:
            with unless(is_abandoned.is_set):
                return work(*arguments, **named)

        try:
            return await asyncio.to_thread(do)
        finally:
            is_abandoned.set()

    start.__name__ = f"a{work.__name__}"
    start.__qualname__ = f"{work.__qualname__.rpartition('.')[0]}.{start.__name__}"
    start.__doc__ = (
        f"`{work.__name__}` for asyncio: in a thread, so that the event loop goes on. A cancelled task stops it.\n\n"
        f">>> import asyncio\n>>> found = asyncio.run({example})"
    )
    return start
