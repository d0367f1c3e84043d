"""RIS, parsed by rispy: the export format of Zotero, EndNote, Web of Science and many library databases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ..bibliographies.ris_records import RECORD
from .encodings import read_text
from .raw import Rejected, Row

START = re.compile(r"^(?=TY  - )", re.MULTILINE)
END = re.compile(r"^ER  -", re.MULTILINE)


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records. Raises InvalidRequest: the file is not RIS."""
    preamble, *records = START.split(read_text(path))
    if preamble.strip() and not records:
        raise InvalidRequest(f"{path} cannot be read as RIS: no record begins with a line like `TY  - JOUR`")
    return ((number, _parsed(path, number, text)) for number, text in enumerate(records, 1))


def _parsed(path: Path, number: int, text: str) -> Row | Rejected:
    import rispy

    tags = END.split(text)[0].strip()
    try:
        # a record without its end would absorb the next one; so each is parsed separately, with an end
        (record,) = rispy.loads(f"{tags}\nER  - \n")
    except (OSError, ValueError, KeyError) as error:
        return Rejected(str(path), number, f"not a RIS record: {error}")
    return _row(record) | {RECORD: "\n".join(line.rstrip() for line in tags.splitlines())}


def _row(record: dict[str, Any]) -> dict[str, Any]:
    unknown_tags = record.get("unknown_tag", {})

    def first(*names: str) -> str:
        values = (record.get(name) or unknown_tags.get(name) for name in names)
        value = next((value for value in values if value), "")
        return str(value[0] if isinstance(value, list) else value)

    title = first("title", "primary_title", "translated_title", "BT")
    year = first("year", "publication_year", "date")
    # many exporters write no ID tag: a digest of title and year gives the same id on every export
    digest = blake2b(f"{title}\n{year}".encode(errors="replace"), digest_size=6).hexdigest()
    return {
        "id": first("id", "doi", "accession_number") or (f"ris:{digest}" if title else ""),
        "title": title,
        "abstract": first("abstract", "notes_abstract"),
        "year": year,
        "venue": first("journal_name", "secondary_title", "BT", *(f"alternate_title{number}" for number in (3, 2, 1))),
        "authors": record.get("authors") or record.get("first_authors") or [],
        "doi": first("doi"),
        "url": first("urls", "url"),
        "keywords": record.get("keywords") or [],
        "type": first("type_of_reference"),
        "editors": record.get("secondary_authors") or [],
        "volume": first("volume"),
        "number": first("number"),
        "pages": "-".join(page for page in (first("start_page"), first("end_page")) if page),
        "publisher": first("publisher"),
    }
