"""A BEIR directory: corpus.jsonl with `_id`, `title`, `text` and a `metadata` object, whose keys become columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from . import jsonl
from .raw import RawBatch, Rejected, Row, batches_of_rows

NAMES = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst")


def corpus_file(directory: Path) -> Path | None:
    """The corpus file of a BEIR directory, or None if this is not one."""
    return next((directory / name for name in NAMES if (directory / name).is_file()), None)


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the papers of a BEIR corpus file in batches."""
    return batches_of_rows(str(path), ((number, _flat(row)) for number, row in jsonl.rows(path)))


def _flat(row: Row | Rejected) -> Row | Rejected:
    if isinstance(row, Rejected) or not isinstance(row.get("metadata"), dict):
        return row
    other_fields = {name: value for name, value in row.items() if name != "metadata"}
    return {**row["metadata"], **other_fields}
