"""JSON Lines: one JSON object per line. BEIR's corpora are such files, with a `metadata` object, whose keys become columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...files.streams import json_lines
from .dialects import plain
from .raw import Rejected, Row

BEIR_NAMES = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst")
"""What the corpus of a BEIR directory is called."""


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the objects, whatever their dialect."""
    return ((number, row if isinstance(row, Rejected) else plain(row)) for number, row in objects(path))


def beir_rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the papers of a BEIR corpus file."""
    for number, row in objects(path):
        if not isinstance(row, Rejected) and isinstance(row.get("metadata"), dict):
            yield number, {**row["metadata"], **{name: value for name, value in row.items() if name != "metadata"}}
        else:
            yield number, row


def objects(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield (line number, object or rejection) for each line that is not blank."""
    for number, row in json_lines(path):
        yield number, Rejected(str(path), number, row) if isinstance(row, str) else row
