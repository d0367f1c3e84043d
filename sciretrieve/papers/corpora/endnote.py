"""EndNote's XML: records with styled texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from .. import identifiers
from ..dates import publication
from .raw import Row, filled
from .xml import first_text, records, rest_of, text_of

TAGS = frozenset({"record"})
RECORDS = re.compile(rb"<xml>\s*<records\b")
CONFERENCES = {"Conference Paper", "Conference Proceedings"}
"""Kinds whose third custom field has the conference's name, or another title of its proceedings."""
BOOKS = {"Book", "Edited Book", "Electronic Book"}
"""Kinds whose second title is that of a series."""
TEXTS = {
    "abstract": ("abstract",),
    "year": ("dates/year", "dates/pub-dates/date"),
    "series": ("titles/tertiary-title",),
    "journal_abbreviation": ("periodical/abbr-1", "alt-periodical/abbr-1"),
    "venue": ("titles/secondary-title", "periodical/full-title", "titles/alt-title"),
    "database": ("remote-database-name",),
    "article_number": ("custom7",),
    "work_type": ("work-type",),
    "doi": ("electronic-resource-num",),
    "url": ("urls/related-urls/url", "urls/web-urls/url"),
    "pages": ("pages",),
    "volume": ("volume",),
    "number": ("number",),
    "publisher": ("publisher",),
    "address": ("pub-location",),
    "edition": ("edition",),
    "isbn": ("isbn",),
    "language": ("language",),
    "notes": ("notes",),
    "label": ("label",),
    "accession_number": ("accession-num",),
}
"""Columns, and the elements that they come from: the first that has a text."""


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the records. Raises as `records`."""
    return ((number, _row(record)) for number, (record, _) in enumerate(records(path, TAGS), 1))


def _row(record: Element) -> Row:
    kind = record.find("ref-type")
    row: dict[str, Any] = {
        "id": text_of(record.find("label")) or _number(record),
        "title": text_of(record.find("titles/title")),
        **{name: first_text(record, *paths) for name, paths in TEXTS.items()},
        "authors": [name for author in record.iterfind("contributors/authors/author") if (name := text_of(author))],
        "editors": [name for editor in record.iterfind("contributors/secondary-authors/author") if (name := text_of(editor))],
        "keywords": [text for word in record.iterfind("keywords/keyword") if (text := text_of(word))],
        "type": kind.get("name", "") if kind is not None else "",
    }
    row["date"] = publication([str(row["year"]), first_text(record, "dates/pub-dates/date")])[1]
    if row["type"] in BOOKS:
        row |= {"series": row["venue"] or row["series"], "venue": first_text(record, "periodical/full-title")}
    if row["type"] in CONFERENCES:
        row["event"] = first_text(record, "custom3")
    row["pmcid"] = identifiers.pmcid(first_text(record, "custom2")) or ""
    return {**filled(row), "endnote": rest_of(record, "abstract", "notes", "titles/title")}


def _number(record: Element) -> str:
    """The record's number in its library, with the library's own id where there is one: two libraries have the same numbers."""
    key = record.find("foreign-keys/key")
    library = key.get("db-id", "") if key is not None else ""
    number = text_of(key) or text_of(record.find("rec-number"))
    return f"{library}:{number}" if library and number else number
