"""The rows of a corpus that were refused, noted in a file as they come: in a corpus of millions they may be many."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from ..errors import BadPaper
from .raw import Rejected


class Rejections:
    """Hears of a corpus's bad rows.

    Attributes:
        path: the file that they are noted in, one JSON object a line; it is there once there is one.
        count: how many there were.
        first: the first of them.
    """

    def __init__(self, path: Path, strict: bool) -> None:
        self.path, self._strict = path, strict
        self.count = 0
        self.first: Rejected | None = None

    def __call__(self, rejected: list[Rejected]) -> None:
        """Note some. Raises BadPaper for the first if the run is strict."""
        if not rejected:
            return
        if self._strict:
            raise BadPaper(rejected[0].source, rejected[0].row, rejected[0].reason)
        with self.path.open("a" if self.count else "w", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rejected)
        self.count += len(rejected)
        self.first = self.first or rejected[0]
