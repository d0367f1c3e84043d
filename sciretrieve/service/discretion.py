"""What the log says of faults: where they are and of which kind, and not what somebody looked for, which an exception's text may have."""

from __future__ import annotations

import logging
import os
import traceback
from types import TracebackType


class Discreet(logging.Formatter):
    """Messages of ours as they are, those of libraries without what they are about, and exceptions by their kinds."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as text."""
        if record.name.partition(".")[0] != "sciretrieve":
            record = logging.makeLogRecord({**vars(record), "msg": str(record.msg).partition("\n")[0], "args": None, "exc_text": None})
        return super().format(record)

    def formatException(self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]) -> str:  # noqa: N802
        """An exception, and what caused it, the cause first."""
        parts, error = list[str](), ei[1]
        while error is not None:
            parts.insert(0, "".join(traceback.format_tb(error.__traceback__)) + kind_of(error))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n\n".join(parts)


def kind_of(error: BaseException) -> str:
    """What an exception is, without its text; a system's error with the system's own words."""
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    return f"{name}: {os.strerror(error.errno)}" if isinstance(error, OSError) and error.errno else name


def be_discreet() -> None:
    """Have all of this process's logs written so."""
    logging.basicConfig()
    for handler in logging.getLogger().handlers:
        handler.setFormatter(Discreet("%(message)s"))
