"""JSON Lines: one JSON object per line, plain, gzipped or zstandard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...files.streams import json_lines
from .dialects import plain
from .raw import RawBatch, Rejected, Row, batches_of_rows


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the objects of a JSONL source in batches; other lines are rejected by line number."""
    return batches_of_rows(str(path), ((number, row if isinstance(row, Rejected) else plain(row)) for number, row in rows(path)))


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield (line number, object or rejection) for each line that is not blank."""
    for number, row in json_lines(path):
        yield number, Rejected(str(path), number, row) if isinstance(row, str) else row
