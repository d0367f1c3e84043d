"""MODS, the Library of Congress's records, which libraries' catalogues and Zotero export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from .raw import Row, filled
from .xml import first_text, plain_of, records, text_of

TAGS = frozenset({"mods"})
AUTHORS, EDITORS = ("author", "aut", "creator", "cre", ""), ("editor", "edt")
"""Roles, as words and as MARC's codes."""
HOST = "relatedItem[@type='host']"


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the records. Raises as `records`."""
    return ((number, _row(record)) for number, (record, _) in enumerate(records(path, TAGS), 1))


def _row(record: Element) -> Row:
    identifiers = [*record.iterfind(f"{HOST}/identifier"), *record.iterfind("identifier")]
    numbers = {number.get("type", ""): text_of(number) for number in identifiers}
    people = list(record.iterfind("name"))
    details = {detail.get("type", ""): first_text(detail, "number", "caption") for detail in record.iterfind(f"{HOST}/part/detail")}
    extent = record.find(f"{HOST}/part/extent")
    date = first_text(record, f"{HOST}/part/date", "originInfo/dateIssued", f"{HOST}/originInfo/dateIssued", "originInfo/copyrightDate")
    return filled(
        {
            "id": record.get("ID") or numbers.get("citekey") or numbers.get("doi") or first_text(record, "recordInfo/recordIdentifier"),
            "title": _title(record.find("titleInfo")),
            "abstract": plain_of(record.find("abstract")),
            "year": date,
            "date": date,
            "venue": _title(record.find(f"{HOST}/titleInfo")),
            "authors": [_name(person) for person in people if _role(person) in AUTHORS],
            "editors": [_name(person) for person in [*people, *record.iterfind(f"{HOST}/name")] if _role(person) in EDITORS],
            "doi": numbers.get("doi"),
            "isbn": numbers.get("isbn"),
            "issn": numbers.get("issn"),
            "url": first_text(record, "location/url"),
            "volume": details.get("volume"),
            "number": details.get("issue") or details.get("number"),
            "pages": "-".join(filter(None, (text_of(extent.find(part)) for part in ("start", "end")))) if extent is not None else "",
            "publisher": first_text(record, "originInfo/publisher", f"{HOST}/originInfo/publisher"),
            "address": first_text(record, "originInfo/place/placeTerm"),
            "edition": first_text(record, "originInfo/edition"),
            "keywords": [text for subject in record.iterfind("subject/topic") if (text := text_of(subject))],
            "language": first_text(record, "language/languageTerm"),
            "note": first_text(record, "note"),
            "type": first_text(record, "genre"),
        }
    )


def _title(info: Element | None) -> str:
    """A title with its article before it and its subtitle behind it."""
    if info is None:
        return ""
    title = " ".join(filter(None, (text_of(info.find("nonSort")), plain_of(info.find("title")))))
    return ": ".join(filter(None, (title, plain_of(info.find("subTitle")))))


def _role(person: Element) -> str:
    return first_text(person, "role/roleTerm").lower()


def _name(person: Element) -> dict[str, str]:
    parts = {part.get("type", ""): text_of(part) for part in person.iterfind("namePart")}
    if person.get("type") in ("corporate", "conference") or "family" not in parts:
        whole = parts.get("") or " ".join(filter(None, parts.values()))
        return {"literal": whole} if person.get("type") in ("corporate", "conference") else {"name": whole} if whole else {}
    given = " ".join(filter(None, (text_of(part) for part in person.iterfind("namePart") if part.get("type") == "given")))
    return {"family": parts["family"], "given": given, "suffix": parts.get("termsOfAddress", "")}
