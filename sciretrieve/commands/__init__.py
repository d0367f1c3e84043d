"""The command line: parses arguments, calls the library, prints. The Python API can do all of it.

Exit codes: 0 fine, also with no hits; 1 a fault, a difference, or a paper that is not there; 2 bad usage or input, or no such index or
paper; 3 a damaged or incompatible index; 4 a dependency or a lock is unavailable; 130 stopped by Ctrl-C, with all finished work kept.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import NoReturn

from ..base.errors import SciretrieveError, Unavailable
from ..base.system import speak_utf8
from .app import app
from .command import CommandFailure
from .console import say_error


def main() -> None:
    """Run the command line and end the process with its code."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            speak_utf8(stream)
            if stream is not sys.stdin:  # print unprintable characters as numbers, instead of failing
                stream.reconfigure(errors="backslashreplace")
    sys.meta_path.insert(0, WithoutPandas())
    code = run(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # nothing is left to save, and shutting down the encoder's runtime would take a fifth of a search's time
    os._exit(code)


class WithoutPandas(MetaPathFinder, Loader):
    """An import finder that hides pandas. No command needs it, but Arrow imports an installed one, for a fifth of a second."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """A spec, so that `find_spec("pandas")` still succeeds."""
        return ModuleSpec(name, self) if name == "pandas" else None

    def create_module(self, spec: ModuleSpec) -> NoReturn:
        """Raises ModuleNotFoundError."""
        raise ModuleNotFoundError("commands do without pandas", name=spec.name)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors are one line on stderr, or a traceback with --debug."""
    try:
        app(list(arguments), prog_name="sciretrieve")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except CommandFailure as failure:
        _print_error(str(failure), arguments)
        return failure.exit_code
    except SciretrieveError as error:  # from the command line itself, before a command runs
        _print_error(str(error), arguments)
        return error.exit_code
    except OSError as error:
        # a full disk or a missing permission is the machine's fault, reported like other errors
        _print_error(f"{error.filename or 'the system'}: {error.strerror or error}", arguments)
        return Unavailable.exit_code
    return 0


def _print_error(text: str, arguments: Sequence[str]) -> None:
    """Print the current error."""
    if "--debug" in arguments:
        traceback.print_exc()
    else:
        say_error(text)
