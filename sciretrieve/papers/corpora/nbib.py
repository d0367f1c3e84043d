"""PubMed's .nbib, which is MEDLINE's format of tagged lines: four letters, a hyphen, and a text that indented lines go on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...files.streams import LONGEST_LINE, lines
from ..bibliographies.author_names import in_order
from .raw import RawBatch, Rejected, Row, batches_of_rows

TAG = re.compile(rb"([A-Z]{2,4}) *- ?(.*)")
START = re.compile(rb"\s*PMID- ?\d")
COLUMNS = {
    "id": "PMID",
    "title": "TI",
    "abstract": "AB",
    "year": "DP",
    "venue": "JT",
    "pmid": "PMID",
    "pmcid": "PMC",
    "volume": "VI",
    "number": "IP",
    "pages": "PG",
    "journal_abbreviation": "TA",
}
"""Columns with one text, and their tags; all other tags are columns by their own names, `nbib_au` and so on."""
LISTS = {"type": "PT", "keywords": "OT", "mesh": "MH", "language": "LA", "issn": "IS"}
DOI = re.compile(r"(10\.\S+) \[doi\]")


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the records in batches; row n is the n-th.

    Raises:
        InvalidRequest: the file cannot be decompressed.
    """
    return batches_of_rows(str(path), ((number, _row(path, number, tags)) for number, tags in enumerate(_records(path), 1)))


def _records(path: Path) -> Iterator[dict[str, list[str]] | str]:
    """Each record's texts by tag, or what is wrong with it. A record begins with its PMID, or after an empty line."""
    record = _Record()
    for line in lines(path):
        tag = TAG.match(line)
        if not line.strip() or (tag and tag[1] == b"PMID" and "PMID" in record.texts):
            if not record.is_empty:
                yield record.whole()
            record = _Record()
        if line.strip():
            record.add(tag, line)
    if not record.is_empty:
        yield record.whole()


class _Record:
    """The lines of a record so far."""

    def __init__(self) -> None:
        self.texts: dict[str, list[list[bytes]]] = {}
        self._wrong = ""
        self._size = 0
        self._parts: list[bytes] = []

    @property
    def is_empty(self) -> bool:
        """Whether no line was added."""
        return not self._size

    def add(self, tag: re.Match[bytes] | None, line: bytes) -> None:
        """Add a line that is not blank, with its tag if it has one."""
        self._size += len(line)
        if self._wrong:
            return
        if self._size > LONGEST_LINE:
            self._wrong = f"more than {LONGEST_LINE >> 20} MB in one record"
            self.texts.clear()
        elif tag:
            self._parts = [tag[2].strip()]
            self.texts.setdefault(tag[1].decode(), []).append(self._parts)
        elif line[:1] == b" " and self.texts:
            self._parts.append(line.strip())
        else:
            self._wrong = f"not a line of MEDLINE's format: {line[:60].decode(errors='replace')!r}"

    def whole(self) -> dict[str, list[str]] | str:
        """The texts by tag, or what is wrong."""
        if self._wrong:
            return self._wrong
        return {tag: [b" ".join(parts).decode(errors="surrogateescape") for parts in texts] for tag, texts in self.texts.items()}


def _row(path: Path, number: int, tags: Mapping[str, list[str]] | str) -> Row | Rejected:
    if isinstance(tags, str):
        return Rejected(str(path), number, tags)
    row: dict[str, object] = {name: " ".join(tags.get(tag, ())) for name, tag in COLUMNS.items()}
    row["title"] = row["title"] or " ".join(tags.get("TT", tags.get("BTI", ())))
    row["authors"] = [in_order(name) for name in tags.get("FAU", tags.get("AU", ()))] + list(tags.get("CN", ()))
    dois = (DOI.match(text) for tag in ("LID", "AID") for text in tags.get(tag, ()))
    row["doi"] = next((match[1] for match in dois if match), "")
    row |= {name: list(tags.get(tag, ())) for name, tag in LISTS.items()}
    used_tags = {*COLUMNS.values(), *LISTS.values(), "FAU", "CN"}
    row |= {f"nbib_{tag.lower()}": texts for tag, texts in tags.items() if tag not in used_tags}
    return {name: value for name, value in row.items() if value}
