"""A format: cards, each of lines `title: …`, with an empty line between two."""

from collections.abc import Iterator
from typing import BinaryIO


def rows(file: BinaryIO) -> Iterator[dict[str, str]]:
    for card in file.read().decode().strip().split("\n\n"):
        if "{" in card.split(":")[0]:
            raise ValueError(f"{card[:20]!r} is no card")
        yield dict(line.split(": ", 1) for line in card.splitlines())


def never(file: BinaryIO) -> None:
    raise AssertionError
