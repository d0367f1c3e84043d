"""Tables written as CSV, of which a spreadsheet computes nothing, and as lines with tabs, as programs read them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
"""How a cell begins that spreadsheets compute, or that was kept from it."""
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def csv_rows(rows: Iterable[Sequence[Any]], separator: str = ",") -> str:
    """Rows as CSV, whose texts are `guarded`."""
    return _written(([guarded(value) if isinstance(value, str) else value for value in row] for row in rows), separator, "\r\n")


def csv_lines(rows: Iterable[Sequence[Any]], separator: str = ",") -> Iterator[str]:
    """The same, row after row, without the ends of lines."""
    return (csv_rows([row], separator).removesuffix("\r\n") for row in rows)


def tsv_rows(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as lines with tabs, for programs: quoted as BEIR's reader, and ours, take for quoted."""
    return _written(rows, "\t", "\n")


def guarded(text: str) -> str:
    """A text as a cell of a table that spreadsheets open: an apostrophe is before what they would take for a formula. Numbers stay.

    Source: OWASP, "CSV Injection", https://owasp.org/www-community/attacks/CSV_Injection.
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """The text of which `guarded` made a cell."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def _written(rows: Iterable[Sequence[Any]], separator: str, end: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end).writerows(rows)  # which quotes the characters of its line terminator
    return text.getvalue()
