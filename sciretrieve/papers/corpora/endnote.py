"""EndNote's XML: records with styled texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from ..bibliographies.author_names import in_order
from .raw import RawBatch, Row, batches_of_rows
from .xml import records, text_of, tree_of

TAGS = frozenset({"record"})
RECORDS = re.compile(rb"<xml>\s*<records\b")
TEXTS = {
    "abstract": ("abstract",),
    "year": ("dates/year", "dates/pub-dates/date"),
    "venue": ("titles/secondary-title", "periodical/full-title", "titles/alt-title", "titles/tertiary-title"),
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


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the records in batches; row n is the n-th.

    Raises:
        InvalidRequest: the file cannot be read to its end.
    """
    return batches_of_rows(str(path), ((number, _row(record)) for number, (record, _) in enumerate(records(path, TAGS), 1)))


def _row(record: Element) -> Row:
    texts = {name: next(filter(None, (text_of(record.find(path)) for path in paths)), "") for name, paths in TEXTS.items()}
    kind = record.find("ref-type")
    row = {
        "id": text_of(record.find("label")) or _number(record),
        "title": text_of(record.find("titles/title")),
        **texts,
        "authors": [name for author in record.iterfind("contributors/authors/author") if (name := in_order(text_of(author)))],
        "editors": [name for editor in record.iterfind("contributors/secondary-authors/author") if (name := in_order(text_of(editor)))],
        "keywords": [text for word in record.iterfind("keywords/keyword") if (text := text_of(word))],
        "type": kind.get("name", "") if kind is not None else "",
    }
    return {**{name: value for name, value in row.items() if value}, "endnote": _rest(record)}


def _number(record: Element) -> str:
    """The record's number in its library, with the library's own id where there is one: two libraries have the same numbers."""
    key = record.find("foreign-keys/key")
    library = key.get("db-id", "") if key is not None else ""
    number = text_of(key) or text_of(record.find("rec-number"))
    return f"{library}:{number}" if library and number else number


def _rest(record: Element) -> str:
    """The whole record as JSON, without title, abstract and notes."""
    for parent, tags in ((record, ("abstract", "notes")), *((titles, ("title",)) for titles in record.findall("titles"))):
        for child in list(parent):
            if child.tag in tags:
                parent.remove(child)
    return json.dumps(tree_of(record), ensure_ascii=False)
