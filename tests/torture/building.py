"""A program for test_crashes: builds an index in shards of 280 papers and windows of 8, and says whenever it has got on.

python -m tests.torture.building CORPUS FOLDER
"""

import sys
from pathlib import Path
from unittest import mock

import sciretrieve as sr
from sciretrieve.progress import Silent
from sciretrieve.protocols import Progress
from tests.toy_encoder import LetterEncoder, letters_by_name


class Telling(Silent):
    """Prints a line whenever papers were done, and goes on when it is given a character."""

    def advance(self, papers: int) -> None:
        print(papers, flush=True)
        sys.stdin.read(1)


def build(corpus: Path, folder: Path, progress: Progress | bool = False) -> None:
    """Build the index, or go on with it."""
    with letters_by_name(), mock.patch.object(LetterEncoder, "window", 8):
        sr.build(corpus, folder, encoder="letters", shard_size=280, dense="flat", progress=progress).close()


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]), Telling())
