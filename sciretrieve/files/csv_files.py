"""Writing tables as CSV without formulas for spreadsheets, and as tab-separated lines for programs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
"""Beginnings of cells that spreadsheets compute, or that are already guarded."""
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def csv_lines(rows: Iterable[Sequence[Any]], separator: str = ",") -> Iterator[str]:
    """Rows as lines of CSV without line ends, with `guarded` texts."""
    writer = csv.writer(SimpleNamespace(write=str), delimiter=separator, lineterminator="\r\n")  # for the choice of characters to quote
    for row in rows:
        line: str = writer.writerow([guarded(value) if isinstance(value, str) else value for value in row])
        yield line.removesuffix("\r\n")


def csv_rows(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV text with the line ends of printed text."""
    return "".join(f"{line}\n" for line in csv_lines(rows))


def tsv_rows(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as tab-separated lines for programs, quoted as BEIR's reader and ours expect."""
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    return text.getvalue()


def guarded(text: str) -> str:
    """A text as a spreadsheet cell: an apostrophe precedes a possible formula. Numbers are unchanged.

    Source: OWASP, "CSV Injection", https://owasp.org/www-community/attacks/CSV_Injection.
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """The text in a cell from `guarded`."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
