"""JSON Lines: one JSON object a line, plain, gzipped or zstandard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ..streams import lines
from .raw import RawBatch, Rejected, Row, batches_of_rows


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the objects of a JSONL source in batches; lines that hold none are rejected by line number."""
    return batches_of_rows(str(path), rows(path))


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield (line number, object or rejection) for each line that is not blank."""
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            yield number, Rejected(str(path), number, f"broken UTF-8 at byte {error.start}")
        except (ValueError, RecursionError) as error:
            yield number, Rejected(str(path), number, f"not valid JSON: {error}")
        else:
            if isinstance(row, dict) and row:
                yield number, row
            else:
                yield number, Rejected(str(path), number, "an empty object" if row == {} else "not a JSON object")
