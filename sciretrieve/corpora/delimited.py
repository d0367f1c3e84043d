"""CSV and TSV with a header row, in any encoding."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from ..errors import InvalidRequest
from ..streams import LONGEST_LINE, beginning, open_binary
from .dialects import zotero
from .raw import MOST_COLUMNS, RawBatch, Rejected, Row, batches_of_rows, free_name, too_many_columns

LOG = logging.getLogger(__name__)
DELIMITERS = ",;\t|"
UNICODE = {"utf-8-sig": codecs.BOM_UTF8, "utf-16": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
"""Encodings that are known for certain, and how files in them may begin."""
DEFAULT = "cp1252"
LEGACY = [DEFAULT, "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "mac_roman"]
LEGACY += ["shift_jis", "euc_jp", "gb18030", "big5", "cp949"]
"""The other encodings that programs write: of Windows and the Mac, of Russia, Japan, China and Korea."""


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the rows of a delimited file in batches, as texts; row 1 is the first after the header.

    Raises:
        InvalidRequest: the file cannot be read to its end.
    """
    return batches_of_rows(str(path), _rows(path), untyped=True)


def _rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    csv.field_size_limit(sys.maxsize)
    number = 0
    encoding = encoding_of(beginning(path))
    if encoding not in UNICODE:
        LOG.warning("%s is not UTF-8, and is read as %s; if its letters are wrong, convert it to UTF-8", path, encoding)
    # surrogateescape keeps broken bytes, so that one bad row does not stop the file
    with io.TextIOWrapper(open_binary(path), encoding=encoding, errors="surrogateescape", newline="") as text:
        try:
            lines = _Lines(text, path)
            first = next((line for line in lines if line.strip()), "")
            delimiter = "\t" if ".tsv" in path.suffixes else max(DELIMITERS, key=first.count)
            reader = csv.reader(itertools.chain([first], lines), delimiter=delimiter)
            header = _header(next(reader, []))
            is_zotero = zotero.fits(dict.fromkeys(header))
            for number, fields in enumerate(reader, start=1):
                lines.of_row = 0
                if len(fields) == len(header):
                    row = {name: field or None for name, field in zip(header, fields, strict=True)}
                    yield number, zotero.paper(row) if is_zotero else row
                elif fields:
                    yield number, Rejected(str(path), number, f"{len(fields)} fields where the header has {len(header)}")
        except (csv.Error, OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"{path} cannot be read after row {number}: {error}") from error


def encoding_of(head: bytes) -> str:
    """The encoding of a text that begins so: UTF-8 unless it has more broken bytes than letters beyond ASCII, else the likeliest one."""
    for encoding, mark in UNICODE.items():
        if head.startswith(mark):
            return "utf-16" if encoding == "utf-16-be" else encoding
    text = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape").decode(head)
    broken_count = sum("\ud800" <= char <= "\udfff" for char in text) if not text.isascii() else 0
    if broken_count <= sum(char > "\x7f" for char in text) - broken_count:
        return "utf-8-sig"
    from charset_normalizer import from_bytes

    matches = from_bytes(head, cp_isolation=LEGACY)
    best = matches.best()
    # where several make sense, the most common one
    good = [match.could_be_from_charset for match in matches if match.percent_chaos <= best.percent_chaos] if best else []
    return best.encoding if best and DEFAULT not in itertools.chain(*good) else DEFAULT


def _header(names: list[str]) -> list[str]:
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
    """The lines of a text. A row may have several, but not without end: a quotation mark may never be closed.

    Attributes:
        of_row: how many characters were read since this was set to 0.
    """

    def __init__(self, text: TextIO, path: Path) -> None:
        self._text, self._path = text, path
        self.of_row = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(LONGEST_LINE):
            self.of_row += len(line)
            if self.of_row >= LONGEST_LINE:
                raise InvalidRequest(
                    f"{self._path} has a row of more than {LONGEST_LINE >> 20} MB; look for a quotation mark without its other"
                )
            yield line
