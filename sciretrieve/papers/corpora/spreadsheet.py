"""Spreadsheets of Excel (.xlsx), read row by row by openpyxl, which is an extra."""

from __future__ import annotations

import logging
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from datetime import time, timedelta
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ...files.streams import LARGEST_TEXT, as_file
from .delimited import header_of
from .dialects import zotero
from .raw import Rejected, Row

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
                names = _trimmed(next((row for row in cells_of_rows if _trimmed(row)), []))
                if not header:
                    header = header_of([str(name or "") for name in names])
                    is_zotero = zotero.fits(dict.fromkeys(header))
                elif names and header_of([str(name or "") for name in names]) != header:
                    LOG.warning("%s: the sheet %r is not read, because its header is not that of the first", path, sheet.title)
                    continue
                for number, row in enumerate(cells_of_rows, start=number + 1):  # noqa: B020 (counts on over all sheets)
                    cells = _trimmed(row)
                    if len(cells) > len(header):
                        yield number, Rejected(str(path), number, f"{len(cells)} cells where the header has {len(header)}")
                    elif cells:
                        values = dict(zip(header, cells, strict=False))
                        yield number, zotero.paper({name: value and str(value) for name, value in values.items()}) if is_zotero else values
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


def _trimmed(row: Sequence[Any]) -> list[Any]:
    """A row without the empty cells at its end."""
    end = max((place for place, cell in enumerate(row, start=1) if cell is not None), default=0)
    return list(row[:end])
