"""Logs without private data: errors keep their place and kind, but lose their text, which may contain queries."""

from __future__ import annotations

import logging
import os
import traceback
from types import TracebackType


class Discreet(logging.Formatter):
    """Formats our own messages unchanged, those of libraries without their arguments, and exceptions by kind."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as text."""
        if record.name.partition(".")[0] != "sciretrieve":
            record = logging.makeLogRecord({**vars(record), "msg": str(record.msg).partition("\n")[0], "args": None, "exc_text": None})
        return super().format(record)

    def formatException(self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]) -> str:  # noqa: N802
        """An exception and its causes, the first cause first."""
        parts, error = list[str](), ei[1]
        while error is not None:
            parts.insert(0, "".join(traceback.format_tb(error.__traceback__)) + kind_of(error))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n\n".join(parts)


def kind_of(error: BaseException) -> str:
    """The kind of an exception, without its text; an operating system's error keeps its own words."""
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    return f"{name}: {os.strerror(error.errno)}" if isinstance(error, OSError) and error.errno else name


def be_discreet() -> None:
    """Format all logs of this process so."""
    logging.basicConfig()
    for handler in logging.getLogger().handlers:
        handler.setFormatter(Discreet("%(message)s"))
