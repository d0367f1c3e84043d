"""A training that two processes begin anew, as torchrun starts them; the first removes what was begun when the second has come to a stop.

`python -m tests.training.two_processes PIPE TARGET SET BASE`, with RANK and the like as torchrun sets them. The second process writes into
the named pipe when it waits for the first, or else when it has ended; the first reads it before it removes anything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from sciretrieve.training import train
from sciretrieve.training.learning import trainer
from sciretrieve.training.learning.devices import Processes
from tests.training.planted import SMALL


def main(pipe: Path, target: Path, triplets: Path, base: str) -> None:
    """Train as one of the processes."""
    is_first = os.environ["RANK"] == "0"
    meet = cache(pipe.read_text if is_first else lambda: pipe.write_text("here"))
    place, name = (sys.modules[train.__module__], "remove") if is_first else (Processes, "wait")
    function: Callable[..., Any] = getattr(place, name)

    def met(*arguments: Any) -> Any:
        meet()
        return function(*arguments)

    options = {**SMALL, "base": base, "steps": 2, "rate": 2e-2, "seed": 5}
    kept = mock.patch.object(sys.modules[train.__module__], "is_kept", return_value=True)  # few queries cannot tell a gain from chance
    with kept, mock.patch.object(place, name, met), mock.patch.object(trainer, "LEAST_GAIN", -2.0):
        try:
            train([triplets], target, overwrite=True, progress=False, **options)
        finally:
            meet()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
