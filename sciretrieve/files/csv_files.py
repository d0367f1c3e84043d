"""Tables written as CSV, of which a spreadsheet computes nothing, and as lines with tabs, as programs read them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
"""How a cell begins that spreadsheets compute, or that was kept from it."""
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def csv_lines(rows: Iterable[Sequence[Any]], separator: str = ",") -> Iterator[str]:
    """Rows as lines of CSV without their ends, whose texts are `guarded`."""
    writer = csv.writer(SimpleNamespace(write=str), delimiter=separator, lineterminator="\r\n")  # whose characters it puts in quotes
    for row in rows:
        line: str = writer.writerow([guarded(value) if isinstance(value, str) else value for value in row])
        yield line.removesuffix("\r\n")


def csv_rows(rows: Iterable[Sequence[Any]]) -> str:
    """The same as a text, whose lines end as those that are printed do."""
    return "".join(f"{line}\n" for line in csv_lines(rows))


def tsv_rows(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as lines with tabs, for programs: quoted as BEIR's reader, and ours, take for quoted."""
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    return text.getvalue()


def guarded(text: str) -> str:
    """A text as a cell of a table that spreadsheets open: an apostrophe is before what they would take for a formula. Numbers stay.

    Source: OWASP, "CSV Injection", https://owasp.org/www-community/attacks/CSV_Injection.
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """The text of which `guarded` made a cell."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
