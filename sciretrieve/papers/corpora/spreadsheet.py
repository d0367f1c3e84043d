"""Spreadsheets of Excel (.xlsx), read row by row by openpyxl."""

from __future__ import annotations

import logging
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import time, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ...files.streams import LARGEST_TEXT, as_file
from .raw import Rejected, Row
from .tables import MOST_ABOVE, header_of, is_header, papers_of_rows

LOG = logging.getLogger(__name__)
BEGINNING = b"PK\x03\x04"
TEXTS = "xl/sharedStrings.xml"
"""The part of a spreadsheet that has all its texts, and is read as a whole."""


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the rows of a spreadsheet; row n is the n-th below the header, which is the first row that is not empty.

    Cells keep their type: text, number, date; a formula is the value that was last computed. Further sheets are read if they have the
    header of the first; others are named in a warning.

    Raises:
        InvalidRequest: the file is no spreadsheet, is damaged, or has more text than memory should hold.
    """
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    number = 0
    try:
        with as_file(path) as file, file.open("rb") as stream:
            _check_texts(path, file)
            book = load_workbook(stream, read_only=True, data_only=True)
            header: list[str] = []
            for sheet in book.worksheets:
                sheet.reset_dimensions()  # what a file says of its size is often wrong
                cells_of_rows = ([_value(cell) for cell in row] for row in sheet.iter_rows(values_only=True))
                names, papers = _header(cells_of_rows)
                if not header:
                    header = names
                elif names and names != header:
                    LOG.warning("%s: the sheet %r is not read, because its header is not that of the first", path, sheet.title)
                    continue
                before = number
                for place, row in papers_of_rows(str(path), header, papers, "cells"):
                    number = before + place
                    yield number, replace(row, row=number) if isinstance(row, Rejected) else row
    except (InvalidFileException, zipfile.BadZipFile, zlib.error, OSError, KeyError, ValueError, TypeError, SyntaxError, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidRequest(f"{path} cannot be read as .xlsx after row {number}: {reason}") from error


def _check_texts(path: Path, file: Path) -> None:
    with zipfile.ZipFile(file) as parts:
        size = next((part.file_size for part in parts.infolist() if part.filename == TEXTS), 0)
    if size > LARGEST_TEXT:
        raise InvalidRequest(f"{path} has {size >> 20} MB of text, more than the {LARGEST_TEXT >> 20} MB that are read; save it as .csv")


def _value(cell: Any) -> Any:
    """A cell's value; empty texts are none, and a time of day or a duration is its text."""
    if isinstance(cell, time | timedelta):
        return str(cell)
    return (cell.strip() or None) if isinstance(cell, str) else cell


def _header(rows: Iterator[list[Any]]) -> tuple[list[str], Iterator[list[Any]]]:
    """The names of a sheet's columns, and the rows below them: those of the first row that is the header of a table of papers, else of the
    first that is not empty."""
    head = list(islice(rows, MOST_ABOVE))
    names = [[str(cell if cell is not None else "") for cell in cells[: _end(cells)]] for cells in head]
    filled = [place for place, row in enumerate(names) if row]
    first = next((place for place in filled if is_header(names[place], is_first=place == filled[0])), filled[0] if filled else 0)
    return (header_of(names[first]), chain(head[first + 1 :], rows)) if filled else ([], rows)


def _end(cells: Sequence[Any]) -> int:
    return max((place for place, cell in enumerate(cells, start=1) if cell is not None), default=0)
