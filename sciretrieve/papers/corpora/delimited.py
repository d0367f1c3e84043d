"""CSV and TSV with a header row, in any encoding, below whatever a database puts above it."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from typing import TextIO

from ...base.errors import InvalidRequest
from ...files.streams import LONGEST_LINE, beginning, open_binary
from . import embase
from .dialects.databases import is_web_of_science
from .encodings import ESCAPED, encoding_of
from .raw import Rejected, Row
from .tables import MOST_ABOVE, header_of, is_header, papers_of_rows

DELIMITERS = ",;\t|"
SEPARATOR = re.compile(r"\ufeff?sep=(.)\s*$", re.IGNORECASE)
"""Excel's own first line, which names the delimiter."""


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the rows of a delimited file, as texts; row 1 is the first after the header. Raises InvalidRequest: it cannot be read to its
    end."""
    csv.field_size_limit(sys.maxsize)
    number = 0
    encoding = encoding_of(path, beginning(path))
    try:
        with io.TextIOWrapper(open_binary(path), encoding=encoding, errors=ESCAPED, newline="") as text:
            lines = _Lines(text, path)
            delimiter, above = _layout(path, lines)
            deque(islice(lines.single(), above), maxlen=0)
            if embase.fits(lines.following):
                yield from embase.rows(path, _records(lines, delimiter))
                return
            records = _records(lines, delimiter)
            names = next(records, [])
            if isinstance(names, str):
                raise InvalidRequest(f"{path} cannot be read: {names}, and it is that of the columns' names")
            header = header_of(names)
            if is_web_of_science(header):  # its quotation marks are text
                records = (line.rstrip("\r\n").split("\t") for line in lines.single())
            for number, row in papers_of_rows(str(path), header, records, "fields"):
                yield number, row
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read after row {number}: {error}") from error


def _layout(path: Path, lines: _Lines) -> tuple[str, int]:
    """The delimiter of a table, and how many lines are above its header, which is the first line with the names of a table of papers, else
    the first that is not blank."""
    head = list(islice(lines.single(), MOST_ABOVE))
    lines.put_back(head)
    match = SEPARATOR.match(head[0]) if head else None
    delimiters, places = match[1] if match else DELIMITERS, [place for place, line in enumerate(head) if line.strip()][bool(match) :]
    for place, delimiter in product(places, delimiters):
        if is_header(_fields(head[place], delimiter), is_first=place == places[0]):
            return delimiter, place
    first = places[0] if places else len(head)
    line = head[first] if first < len(head) else ""
    counts = {delimiter: (len(_fields(line, delimiter)), line.count(delimiter)) for delimiter in delimiters}
    likeliest = max(delimiters, key=lambda delimiter: (max(counts[delimiter][0], 1), counts[delimiter][1]))
    return "\t" if ".tsv" in path.suffixes else likeliest, first


def _fields(line: str, delimiter: str) -> list[str]:
    """The fields of a line; none if its quotation marks do not fit the delimiter."""
    try:
        return next(csv.reader([line.removeprefix("\ufeff")], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


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
            if delimiter == "\t":  # where a quotation mark that nothing closes is text
                lines.put_back(lines.of_row[1:])
                yield lines.of_row[0].rstrip("\r\n").split(delimiter)
            elif len(lines.of_row) > 1 or lines.is_at_end:
                yield f"a quotation mark in line {line} is not closed"
                lines.put_back(lines.of_row[1:])
            else:  # a quotation mark within a field, or what follows one
                yield next(csv.reader(lines.of_row, delimiter=delimiter))


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

    def single(self) -> Iterator[str]:
        """The lines, each a row of its own."""
        self.begin_row()
        for line in self:
            yield line
            self.begin_row()

    @property
    def following(self) -> Sequence[str]:
        """Lines that were put back and are to be read."""
        return self._next

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
