"""The command line: parse, call the library, print. Nothing here that the Python API cannot do.

Exit codes: 0 fine, also with no hits; 2 bad usage or input, or no such index or paper; 3 a damaged or incompatible
index; 4 a dependency or a lock is away; 130 stopped by Ctrl-C, with all finished work kept.
"""

from __future__ import annotations

import os
import sys
import traceback

from ..errors import SciretrieveError, Unavailable
from .app import app


def main() -> None:
    """Run the command line and end the process with its code; errors are one line on stderr, or a traceback with --debug."""
    code = 0
    try:
        app(prog_name="sciretrieve")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except SciretrieveError as error:
        if "--debug" in sys.argv[1:]:
            traceback.print_exc()
        else:
            print(f"sciretrieve: {' '.join(str(error).split())}", file=sys.stderr)  # noqa: T201
        code = error.exit_code
    except OSError as error:
        # a full disk, a directory that may not be written: the machine's trouble, told like the others
        if "--debug" in sys.argv[1:]:
            traceback.print_exc()
        else:
            print(f"sciretrieve: {error.filename or 'the system'}: {error.strerror or error}", file=sys.stderr)  # noqa: T201
        code = Unavailable.exit_code
    sys.stdout.flush()
    sys.stderr.flush()
    # nothing is left to save, and taking down the encoder's runtime in good order would add a fifth to every search
    os._exit(code)
