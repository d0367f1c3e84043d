"""Atom as arXiv's API and its feeds have it: an entry a paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from .. import identifiers
from .raw import Row, filled
from .xml import plain_of, records, text_of

TAGS = frozenset({"entry"})


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the entries. Raises as `records`."""
    return ((number, _row(record)) for number, (record, _) in enumerate(records(path, TAGS), 1))


def _row(entry: Element) -> Row:
    address = text_of(entry.find("id"))
    dates = [text_of(entry.find(name))[:10] for name in ("published", "updated")]
    category = entry.find("primary_category")
    links = {link.get("title") or link.get("rel") or "": link.get("href", "") for link in entry.iterfind("link")}
    number = identifiers.arxiv(address)
    return filled(
        {
            "id": number or address,
            "title": plain_of(entry.find("title")),
            "abstract": plain_of(entry.find("summary")),
            "year": dates[0] or dates[1],
            "date": dates[0] or dates[1],
            "venue": text_of(entry.find("journal_ref")) or ("arXiv" if number else ""),
            "authors": [text_of(author.find("name")) for author in entry.iterfind("author")],
            "doi": text_of(entry.find("doi")) or links.get("doi", ""),
            "url": links.get("alternate", "") or address,
            "arxiv": number,
            "categories": [category.get("term", "") for category in entry.iterfind("category")],
            "primary_category": category.get("term", "") if category is not None else "",
            "comment": text_of(entry.find("comment")),
            "type": "preprint" if number else "",
        }
    )
