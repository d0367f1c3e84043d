"""JSON Lines: one JSON object a line, plain, gzipped or zstandard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..streams import json_lines
from .raw import RawBatch, Rejected, Row, batches_of_rows


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the objects of a JSONL source in batches; lines that hold none are rejected by line number."""
    return batches_of_rows(str(path), rows(path))


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield (line number, object or rejection) for each line that is not blank."""
    for number, row in json_lines(path):
        yield number, Rejected(str(path), number, row) if isinstance(row, str) else row
