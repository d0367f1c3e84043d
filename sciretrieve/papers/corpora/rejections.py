"""A corpus's rejected rows, written to a file at once: a corpus of millions may have many."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from ...errors import BadPaper
from .raw import Rejected


class Rejections:
    """Is called with a corpus's bad rows.

    Attributes:
        path: the file that they are written to, one JSON object per line; created with the first.
        count: how many there were.
        first: the first of them.
    """

    def __init__(self, path: Path, strict: bool) -> None:
        self.path, self._strict = path, strict
        self.count = 0
        self.first: Rejected | None = None

    def __call__(self, rejected: list[Rejected]) -> None:
        """Write them to the file. Raises BadPaper for the first if the run is strict."""
        if not rejected:
            return
        if self._strict:
            raise BadPaper(rejected[0].source, rejected[0].row, rejected[0].reason)
        # ids, reasons and paths may hold bytes that are not UTF-8 as lone surrogates, which such escapes stand for in JSON, too
        if not self.count:
            self.path.unlink(missing_ok=True)  # which may be a link to another file
        with self.path.open("a" if self.count else "x", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rejected)
        self.count += len(rejected)
        self.first = self.first or rejected[0]
