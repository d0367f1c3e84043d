"""PubMed's .nbib, which is MEDLINE's format of tagged lines: four letters, a hyphen, and a text that indented lines go on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from ...files.streams import LONGEST_LINE, lines
from ..bibliographies.author_names import in_order
from .raw import Rejected, Row, filled

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


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records. Raises InvalidRequest: the file cannot be decompressed."""
    for number, (record, size) in enumerate(_records(path), 1):
        tags = _tags(record) if size <= LONGEST_LINE else f"more than {LONGEST_LINE >> 20} MB in one record"
        yield number, Rejected(str(path), number, tags) if isinstance(tags, str) else _row(tags)


def _records(path: Path) -> Iterator[tuple[list[bytes], int]]:
    """The lines of each record, which begins with its PMID or after an empty line, and their bytes; of too many bytes, a few lines."""
    record, size, has_id = list[bytes](), 0, False
    for line in chain(lines(path), [b""]):
        is_id = (tag := TAG.match(line)) is not None and tag[1] == b"PMID"
        if record and (not line.strip() or (is_id and has_id)):
            yield record, size
            record, size, has_id = [], 0, False
        if line.strip():
            size, has_id = size + len(line), has_id or is_id
            if size <= LONGEST_LINE:
                record.append(line)
            else:
                del record[1:]


def _tags(record: Sequence[bytes]) -> dict[str, list[str]] | str:
    """A record's texts by tag, or what is wrong with it."""
    texts: dict[str, list[list[bytes]]] = {}
    parts: list[bytes] = []
    for line in record:
        if tag := TAG.match(line):
            parts = [tag[2].strip()]
            texts.setdefault(tag[1].decode(), []).append(parts)
        elif line[:1] == b" " and texts:
            parts.append(line.strip())
        else:
            return f"not a line of MEDLINE's format: {line[:60].decode(errors='replace')!r}"
    return {tag: [b" ".join(parts).decode(errors="surrogateescape") for parts in of_tag] for tag, of_tag in texts.items()}


def _row(tags: Mapping[str, list[str]]) -> Row:
    row: dict[str, object] = {name: " ".join(tags.get(tag, ())) for name, tag in COLUMNS.items()}
    row["title"] = row["title"] or " ".join(tags.get("TT", tags.get("BTI", ())))
    row["authors"] = [in_order(name) for name in tags.get("FAU", tags.get("AU", ()))] + list(tags.get("CN", ()))
    dois = (DOI.match(text) for tag in ("LID", "AID") for text in tags.get(tag, ()))
    row["doi"] = next((match[1] for match in dois if match), "")
    row |= {name: list(tags.get(tag, ())) for name, tag in LISTS.items()}
    used_tags = {*COLUMNS.values(), *LISTS.values(), "FAU", "CN"}
    row |= {f"nbib_{tag.lower()}": texts for tag, texts in tags.items() if tag not in used_tags}
    return filled(row)
