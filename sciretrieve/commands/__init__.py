"""The command line: parse, call the library, print. Nothing here that the Python API cannot do.

Exit codes: 0 fine, also with no hits; 2 bad usage or input, or no such index or paper; 3 a damaged or incompatible
index; 4 a dependency or a lock is away; 130 stopped by Ctrl-C, with all finished work kept.
"""

from __future__ import annotations

import os
import sys
import traceback

from ..errors import SciretrieveError
from .app import app


def main() -> None:
    """Run the command line and exit with its code; errors are one line on stderr, or a traceback with --debug."""
    debug = "--debug" in sys.argv[1:]
    try:
        app(prog_name="sciretrieve")
    except SciretrieveError as error:
        if debug:
            traceback.print_exc()
        else:
            print(f"sciretrieve: {' '.join(str(error).split())}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # the reader has gone, as in `| head`: no error; keep Python from flushing into the closed pipe at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
