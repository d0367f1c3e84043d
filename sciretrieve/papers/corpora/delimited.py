"""CSV and TSV with a header row, in any encoding."""

from __future__ import annotations

import csv
import io
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from ...base.errors import InvalidRequest
from ...files.streams import LONGEST_LINE, beginning, open_binary
from .dialects import zotero
from .encodings import ESCAPED, encoding_of
from .raw import MOST_COLUMNS, Rejected, Row, free_name, too_many_columns

DELIMITERS = ",;\t|"


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the rows of a delimited file, as texts; row 1 is the first after the header. Raises InvalidRequest: it cannot be read to its
    end."""
    csv.field_size_limit(sys.maxsize)
    number = 0
    encoding = encoding_of(path, beginning(path))
    try:
        with io.TextIOWrapper(open_binary(path), encoding=encoding, errors=ESCAPED, newline="") as text:
            lines = _Lines(text, path)
            first = next((line for line in lines if line.strip()), "")
            delimiter = "\t" if ".tsv" in path.suffixes else max(DELIMITERS, key=first.count)
            lines.put_back([first])
            records = _records(lines, delimiter)
            names = next(records, [])
            if isinstance(names, str):
                raise InvalidRequest(f"{path} cannot be read: {names}, and it is that of the columns' names")
            header = header_of(names)
            is_zotero = zotero.fits(dict.fromkeys(header))
            for number, fields in enumerate(records, start=1):
                if isinstance(fields, str):
                    yield number, Rejected(str(path), number, fields)
                elif len(fields) == len(header):
                    row = {name: field or None for name, field in zip(header, fields, strict=True)}
                    yield number, zotero.paper(row) if is_zotero else row
                elif fields:
                    yield number, Rejected(str(path), number, f"{len(fields)} fields where the header has {len(header)}")
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read after row {number}: {error}") from error


def _records(lines: _Lines, delimiter: str) -> Iterator[list[str] | str]:
    """The fields of each row, or what is wrong with it.

    A row whose quotation mark is not closed would go on to the next one in another row. There it is followed by neither a delimiter nor
    the end of a line, which the strict reader tells; then the row is rejected, and the next begins in the next line.
    """
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = lines.begin_row()
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            if len(lines.of_row) > 1 or lines.is_at_end:
                yield f"a quotation mark in line {line} is not closed"
                lines.put_back(lines.of_row[1:])
            else:  # a quotation mark within a field, or what follows one
                yield next(csv.reader(lines.of_row, delimiter=delimiter))


def header_of(names: list[str]) -> list[str]:
    """The columns' names, each once. Raises InvalidRequest."""
    if len(names) > MOST_COLUMNS:
        raise too_many_columns(len(names))
    header: dict[str, None] = {}
    last: dict[str, str] = {}  # what a name that is repeated became
    for name in names:
        last[name] = free_name(last[name] + "_" if name in last else name, header)
        header[last[name]] = None
    return list(header)


class _Lines:
    """The lines of a text, which can be put back. A row may have several, but not without end: a quotation mark may never be closed.

    Attributes:
        of_row: those of the row at hand.
        is_at_end: whether there was no further line for the row at hand.
    """

    def __init__(self, text: TextIO, path: Path) -> None:
        self._text, self._path = text, path
        self._next: deque[str] = deque()
        self._number = 0
        self.begin_row()

    def begin_row(self) -> int:
        """Begin a row; returns the number of its first line."""
        self.of_row: list[str] = []
        self.is_at_end = False
        self._size = 0
        return self._number + 1

    def put_back(self, lines: Sequence[str]) -> None:
        """Lines that are read again."""
        self._next.extendleft(reversed(lines))
        self._number -= len(lines)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._next.popleft() if self._next else self._text.readline(LONGEST_LINE)
        self.is_at_end = not line
        if not line:
            raise StopIteration
        if len(line) >= LONGEST_LINE:
            raise InvalidRequest(f"{self._path}, line {self._number + 1}: more than {LONGEST_LINE >> 20} MB in one line")
        self._number += 1
        self.of_row.append(line)
        self._size += len(line)
        if self._size >= LONGEST_LINE:
            raise csv.Error("a row is too long")
        return line
