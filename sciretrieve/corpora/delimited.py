"""CSV and TSV with a header row. Fields are typed per column: whole numbers, decimals, otherwise text."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InvalidRequest
from .raw import RawBatch, Rejected, Row, batches_of_rows
from .streams import open_binary

DELIMITERS = ",;\t|"


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the rows of a delimited file in batches; row 1 is the first after the header."""
    for batch in batches_of_rows(str(path), _rows(path)):
        columns = {name: _typed(batch.table[name]) for name in batch.table.column_names}
        yield RawBatch(batch.source, pa.table(columns), batch.rows, batch.rejected)


def _rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    csv.field_size_limit(sys.maxsize)
    # surrogateescape keeps broken bytes apart, so that one bad row does not stop the file
    with io.TextIOWrapper(open_binary(path), encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        first = text.readline()
        delimiter = "\t" if ".tsv" in path.suffixes else max(DELIMITERS, key=first.count)
        header = next(csv.reader([first], delimiter=delimiter), [])
        if not header:
            return
        reader = csv.reader(text, delimiter=delimiter)
        number = 0
        try:
            for number, fields in enumerate(reader, start=1):
                if fields:
                    yield number, _row(str(path), number, header, fields)
        except (csv.Error, OSError) as error:
            raise InvalidRequest(f"{path} cannot be read after row {number}: {error}") from error


def _row(source: str, number: int, header: list[str], fields: list[str]) -> Row | Rejected:
    if len(fields) != len(header):
        return Rejected(source, number, f"{len(fields)} fields where the header has {len(header)}")
    if any(not field.isascii() and any("\udc80" <= char <= "\udcff" for char in field) for field in fields):
        return Rejected(source, number, "broken UTF-8")
    return {name: field or None for name, field in zip(header, fields, strict=True)}


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text as integers or decimals where every value is one and, for integers, prints the same (007 stays text)."""
    if column.type != pa.string() or column.null_count == len(column):
        return column
    for kind in (pa.int64(), pa.float64()):
        try:
            typed = column.cast(kind)
        except pa.ArrowInvalid:
            continue
        if kind == pa.float64() or pc.all(pc.equal(typed.cast(pa.string()), column)).as_py():
            return typed
        return column
    return column
