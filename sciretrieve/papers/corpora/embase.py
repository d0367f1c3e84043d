"""Embase's CSV, which has a field a line: its name, then its values; a record ends with an empty line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from .raw import Rejected, Row

COLUMNS = {
    "AUTHOR NAMES": "authors",
    "AUTHORS": "authors",
    "EDITOR NAMES": "editors",
    "EDITORS": "editors",
    "AUTHOR KEYWORDS": "keywords",
    "PUBLICATION YEAR": "year",
    "DATE OF PUBLICATION": "date",
    "SOURCE TITLE": "venue",
    "JOURNAL": "venue",
    "ISSUE": "number",
    "PAGES": "pages",
    "FIRST PAGE": "first_page",
    "LAST PAGE": "last_page",
    "MEDLINE PMID": "pmid",
    "PUI": "id",
    "PUBLICATION TYPE": "type",
    "LANGUAGE OF ARTICLE": "language",
}
"""Fields that have a column of another name; others have their own in lower case."""
LISTS = {"authors", "editors", "keywords"}
SOURCE = re.compile(r"(?P<venue>.+?) \((?P<year>\d{4})\)(?: (?P<volume>[\w.-]+)?(?::(?P<number>[^ (]+))?)?(?: \((?P<pages>[^)]+)\))?")
"""Embase's source: `Sleep Research (2020) 41:2 (5-9). Date of Publication: 1 Feb 2020`."""


def fits(lines: Iterable[str]) -> bool:
    """Whether lines begin with a record: its title, and below it another field."""
    names = [line.partition(",")[0].strip('\ufeff" \r\n') for line in islice(lines, 2)]
    return len(names) == 2 and names[0] == "TITLE" and (names[1] in COLUMNS or names[1] in ("SOURCE", "ABSTRACT", "DOI"))


def rows(path: Path, records: Iterable[Sequence[str] | str]) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records of a table's rows, each a field with its values."""
    number, fields = 0, dict[str, list[str]]()
    for cells in chain(records, ([],)):
        if isinstance(cells, str):
            number += 1
            yield number, Rejected(str(path), number, cells)
            fields = {}
        elif fields and (not any(cells) or cells[0] == "TITLE"):
            number += 1
            yield number, _row(fields)
            fields = {}
        if not isinstance(cells, str) and any(cells):
            fields.setdefault(cells[0], []).extend(filter(None, cells[1:]))


def _row(fields: dict[str, list[str]]) -> Row:
    row: dict[str, object] = {}
    for name, values in fields.items():
        column = COLUMNS.get(name, name.lower().replace(" ", "_"))
        row[column] = values if column in LISTS else " ".join(values)
    if match := SOURCE.match(str(row.get("source", ""))):
        row = {**{name: value for name, value in match.groupdict().items() if value}, **row}
    return row
