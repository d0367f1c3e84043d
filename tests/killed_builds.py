"""A program for test_crashes: builds an index again and again, each time killed one step later, until one build is done.

    python -m tests.killed_builds CORPUS FOLDER SETTINGS [START]

A step is a system call that forces something to disk (which is left out: it is slow, and a kill loses nothing that was
written), renames, removes or makes something. Build number n is in FOLDER/n, which starts as a copy of the index START, and
is killed with SIGKILL just before its step number n. Prints how many were killed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import sciretrieve as sr
from sciretrieve import indexing
from tests.toy_encoder import LetterEncoder

FSYNC = os.fsync
STEPS = ("fsync", "rename", "replace", "unlink", "rmdir", "mkdir", "truncate")


def kill_before_step(number: int) -> None:
    """Have this process killed just before it takes a step for the `number`th time."""
    steps_left = number

    def counted(call: Any) -> Any:
        def step(*args: Any, **kwargs: Any) -> Any:
            nonlocal steps_left
            steps_left -= 1
            if not steps_left:
                os.kill(os.getpid(), signal.SIGKILL)
            return None if call is FSYNC else call(*args, **kwargs)

        return step

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))


def main(corpus: str, folder: Path, settings: dict[str, Any], start: Path | None) -> int:
    """How many builds were killed before one came to its end."""
    # looking up the versions of libraries would take half the time
    vars(indexing).update(load_encoder=lambda *_, **__: LetterEncoder(), LIBRARIES=())
    LetterEncoder.window = 4
    sr.build(corpus, folder / "0", **settings)  # whatever is imported on first use is imported
    number = 0
    while True:
        number += 1
        if start is not None:
            shutil.copytree(start, folder / str(number))
        child = os.fork()
        if not child:
            kill_before_step(number)
            sr.build(corpus, folder / str(number), **settings)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            assert status == 0, "the build failed"
            return number - 1


if __name__ == "__main__":
    print(main(sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]), Path(sys.argv[4]) if sys.argv[4:] else None))
