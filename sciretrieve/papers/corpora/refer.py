"""EndNote's .enw, which is the format of Unix's refer: a percent sign, a letter, and a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..dates import publication
from . import tagged
from .raw import Rejected, Row
from .tagged import Record, Syntax
from .tagged_values import addresses, digest, doi_in, id_of, keywords, people, serials

SYNTAX = Syntax(
    "EndNote's .enw", tag=re.compile(r"\s*%([0-9A-Z@!#$&()*+<=>?\[\]^~])(?:\s+(.*)|$)"), first=frozenset("0"), titles=frozenset("T")
)
LOOK = re.compile(rb"\A\s*(?:%[0-9A-Z@!+~] .*\n)*?%[0T] \S")
DETAILS = {
    "volume": "V",
    "number": "N",
    "pages": "P",
    "address": "C",
    "edition": "7",
    "language": "G",
    "accession_number": "M",
    "call_number": "L",
    "database": "~",
    "database_provider": "W",
    "translated_title": "Q",
    "short_title": "!",
    "work_type": "9",
    "volumes": "6",
    "section": "&",
    "original_publication": "(",
    "reprint_edition": ")",
    "reviewed_item": "*",
    "research_notes": "<",
    "access_date": "[",
}
"""Columns and their tags."""
USED = frozenset((*DETAILS.values(), *"0TABDEFHIJKORSUXYZ?8@>+"))


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records. Raises as `tagged.rows`."""
    return tagged.rows(path, SYNTAX, _row)


def _row(record: Record) -> dict[str, object]:
    first, texts = record.first, record.texts
    kind = first("0")
    year, date = publication([first("D"), first("8")])
    is_whole = kind.endswith("Book") or kind in ("Report", "Thesis")
    title, venue = first("T", "Q"), first("J") if is_whole else first("J", "B")
    authors, editors = people(texts("A")), people(texts("E"))
    if kind == "Edited Book" and not editors:
        authors, editors = [], authors
    doi = first("R") or doi_in(texts("M", "F", "3"), texts("U"))
    return {
        "id": id_of(first("F"), doi, first("M")) or digest("enw", title, year, *texts("A")[:1], venue, first("P")),
        "title": title,
        "abstract": record.paragraphs("X"),
        "year": year,
        "date": date,
        "venue": venue,
        "authors": authors,
        "editors": editors,
        "series_editors": texts("Y") if kind != "Thesis" else [],
        "advisors": texts("Y") if kind == "Thesis" else [],
        "translators": texts("?", "H"),
        "doi": doi,
        **addresses(record.lines("U", ">")),
        "pmid": first("M") if first("W", "~").lower() in ("nlm", "pubmed", "medline") and first("M").isdecimal() else "",
        "keywords": keywords(record.lines("K")),
        "type": kind,
        {"Thesis": "school", "Report": "institution"}.get(kind, "publisher"): first("I"),
        "series": first("S", "B") if is_whole else first("S"),
        **serials(record.lines("@"), is_book=is_whole or kind == "Book Section"),
        "note": "; ".join(texts("Z")),
        "author_address": "; ".join(text.rstrip("; ") for text in texts("+")),
        "journal_abbreviation": first("O"),
        **{column: first(tag) for column, tag in DETAILS.items()},
        **record.others("enw", USED),
    }
