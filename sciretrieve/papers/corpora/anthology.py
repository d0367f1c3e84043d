"""The ACL Anthology's XML: a collection of volumes, each with facts about all of its papers (github.com/acl-org/acl-anthology)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from xml.etree.ElementTree import Element

from .raw import Row, filled
from .xml import records, rest_of, text_of

ROOT = "collection"
TAGS = frozenset({"meta", "frontmatter", "paper"})
SITE = "https://aclanthology.org/"
VOLUME = {
    "publisher": "publisher",
    "address": "address",
    "month": "month",
    "isbn": "isbn",
    "journal-issue": "number",
    "journal-volume": "volume",
}


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the papers, with their volumes' front matters where these have a title. Raises as `records`."""
    meta, numbers = Element("meta"), count(1)
    for record, (collection, *inner) in records(path, TAGS):
        if record.tag == "meta":
            meta = record
        elif record.tag == "paper" or record.find("title") is not None:
            volume = f"{collection.get('id', '')}-{inner[0].get('id', '') if inner else ''}"
            yield next(numbers), _row(record, volume, meta)


def _row(record: Element, volume: str, meta: Element) -> Row:
    id = text_of(record.find("url")) or _id(volume, record.get("id", "0"))
    row = {
        "id": id,
        "title": text_of(record.find("title")),
        "abstract": text_of(record.find("abstract")),
        "year": text_of(meta.find("year")),
        "venue": text_of(meta.find("journal-title")) or text_of(meta.find("booktitle")),
        "authors": [name for author in record.iterfind("author") if (name := _name(author))],
        "editors": [name for editor in [*record.iterfind("editor"), *meta.iterfind("editor")] if (name := _name(editor))],
        "doi": text_of(record.find("doi")),
        "url": id if id.startswith("http") else f"{SITE}{id}/",
        "pages": text_of(record.find("pages")),
        "key": text_of(record.find("bibkey")),
        "type": "article" if meta.find("journal-title") is not None else "inproceedings",
        "volume_id": volume,
        **{name: text_of(meta.find(tag)) for tag, name in VOLUME.items()},
    }
    # the rest has awards, revisions, attachments, affiliations, ids of authors, names in other scripts
    return {**filled(row), "anthology": rest_of(record, "title", "abstract")}


def _id(volume: str, number: str) -> str:
    """The id of a paper without a URL: 2020.acl-main.1, and of the old collections P18-1001."""
    return volume + number.zfill(3) if volume[:1].isalpha() else f"{volume}.{number}"


def _name(person: Element) -> dict[str, str]:
    name = {"family": text_of(person.find("last")), "given": text_of(person.find("first"))}
    return name if any(name.values()) else {}
