"""CSV and TSV with a header row."""

from __future__ import annotations

import csv
import io
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import InvalidRequest
from ..streams import open_binary
from .raw import RawBatch, Rejected, Row, batches_of_rows, free_name

DELIMITERS = ",;\t|"


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the rows of a delimited file in batches, as texts; row 1 is the first after the header.

    Raises:
        InvalidRequest: the file cannot be read to its end.
    """
    return batches_of_rows(str(path), _rows(path), untyped=True)


def _rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    csv.field_size_limit(sys.maxsize)
    number = 0
    # surrogateescape keeps broken bytes, so that one bad row does not stop the file
    with io.TextIOWrapper(open_binary(path), encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        try:
            first = next((line for line in text if line.strip()), "")
            delimiter = "\t" if ".tsv" in path.suffixes else max(DELIMITERS, key=first.count)
            reader = csv.reader(itertools.chain([first], text), delimiter=delimiter)
            header: list[str] = []
            for name in next(reader, []):
                header.append(free_name(name, header))
            for number, fields in enumerate(reader, start=1):
                if len(fields) == len(header):
                    yield number, {name: field or None for name, field in zip(header, fields, strict=True)}
                elif fields:
                    yield number, Rejected(str(path), number, f"{len(fields)} fields where the header has {len(header)}")
        except (csv.Error, OSError) as error:
            raise InvalidRequest(f"{path} cannot be read after row {number}: {error}") from error
