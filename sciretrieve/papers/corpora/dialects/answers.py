"""Records of bibliographic services as they answer: Europe PMC, NASA's ADS, DBLP, Scopus, and Zotero's items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..people import people_in
from ..raw import Row, filled, free_name
from ..zotero_library import FIELDS, PARTS

EUROPE_PMC = ("abstractText", "authorString", "journalInfo")
ADS = ("bibcode",)
SCOPUS = ("dc:title",)


def is_zotero(row: Row) -> bool:
    """Whether it is an item of Zotero, by its API or from Better BibTeX."""
    data = row.get("data")
    return ("itemType" in row and ("creators" in row or "key" in row)) or (isinstance(data, Mapping) and "itemType" in data)


def zotero(row: Row) -> Row:
    """An item's fields, its people by their roles, its tags. Of a note or an attachment, its key alone: it is no paper."""
    data = row.get("data")
    item: Mapping[str, Any] = data if isinstance(data, Mapping) else row
    key = item.get("key") or item.get("itemKey") or row.get("key")
    if item.get("itemType") in PARTS:
        return {"id": key}
    plain: dict[str, Any] = {"id": key, "type": item["itemType"]}
    for column, names in FIELDS.items():
        plain[column] = next((item[name] for name in names if item.get(name)), None)
    creators = item.get("creators")
    for creator in creators if isinstance(creators, list) else ():
        if isinstance(creator, Mapping):
            plain.setdefault(f"{creator.get('creatorType') or 'author'}s", []).append(creator)
    tags = item.get("tags")
    plain["tags"] = [tag.get("tag") if isinstance(tag, Mapping) else tag for tag in tags if tag] if isinstance(tags, list) else None
    used_names = {"key", "itemKey", "itemType", "creators", "tags", "version", *(names[0] for names in FIELDS.values())}
    for name, value in item.items():
        if name not in used_names:
            plain[free_name(name, plain)] = value
    return filled(plain | {role: people_in(plain[role]).rows for role in ("authors", "editors") if role in plain})


def is_europe_pmc(row: Row) -> bool:
    """Whether it is a result of Europe PMC."""
    return "source" in row and ("authorString" in row or "authorList" in row or "pubYear" in row)


def europe_pmc(row: Row) -> Row:
    """The journal, its volume and issue, authors and keywords out of their objects."""
    info = _object(row.get("journalInfo"))
    names = _object(row.get("authorList")).get("author")
    return filled(
        {
            **row,
            "title": str(row.get("title") or "").removesuffix("."),
            "abstract": row.get("abstractText"),
            "authors": people_in(names or str(row.get("authorString") or "").removesuffix(".")).rows,
            "venue": row.get("journalTitle") or _object(info.get("journal")).get("title"),
            "issn": _object(info.get("journal")).get("issn"),
            "volume": row.get("journalVolume") or info.get("volume"),
            "number": row.get("issue") or info.get("issue"),
            "pages": row.get("pageInfo"),
            "year": row.get("pubYear"),
            "date": row.get("firstPublicationDate") or info.get("printPublicationDate"),
            "keywords": _object(row.get("keywordList")).get("keyword"),
            "type": _object(row.get("pubTypeList")).get("pubType") or row.get("pubType"),
        }
    )


def is_ads(row: Row) -> bool:
    """Whether it is a document of NASA's Astrophysics Data System."""
    return "bibcode" in row and ("pub" in row or "author" in row)


def ads(row: Row) -> Row:
    """Lists of one as what they hold; an arXiv number from among the identifiers."""
    numbers = (str(name) for name in row.get("identifier") or () if "arxiv" in str(name).lower())
    return filled(
        {
            **row,
            "id": row["bibcode"],
            "title": ": ".join(map(str, row["title"])) if isinstance(row.get("title"), list) else row.get("title"),
            "authors": people_in(row.get("author")).rows,
            "venue": row.get("pub"),
            "doi": _first(row.get("doi")),
            "pages": _first(row.get("page_range") or row.get("page")),
            "number": row.get("issue"),
            "date": row.get("pubdate"),
            "keywords": row.get("keyword"),
            "type": row.get("doctype"),
            "arxiv": next(numbers, None),
            "doi_": None,
            "author": None,
        }
    )


def is_dblp(row: Row) -> bool:
    """Whether it is a hit of DBLP's search."""
    return isinstance(row.get("info"), Mapping) and "title" in row["info"]


def dblp(row: Row) -> Row:
    """The record within a hit, its names without the numbers that tell namesakes apart."""
    info = row["info"]
    people = people_in(info.get("authors"))
    people.names = [name.rstrip("0123456789 ") if isinstance(name, str) else name for name in people.names]
    return filled(
        {
            **info,
            "id": info.get("key"),
            "title": str(info["title"]).removesuffix("."),
            "authors": people.rows,
            "has_more": None,
            "doi": info.get("doi"),
            "url": info.get("ee") or info.get("url"),
        }
    )


def is_scopus(row: Row) -> bool:
    """Whether it is an entry of Scopus' search."""
    return "dc:title" in row


def scopus(row: Row) -> Row:
    """Names with their prefixes as plain columns."""
    return filled(
        {
            **row,
            "id": row.get("eid") or row.get("dc:identifier"),
            "title": row["dc:title"],
            "abstract": row.get("dc:description"),
            "authors": people_in(row.get("author") or row.get("dc:creator")).rows,
            "venue": row.get("prism:publicationName"),
            "doi": row.get("prism:doi"),
            "volume": row.get("prism:volume"),
            "number": row.get("prism:issueIdentifier"),
            "pages": row.get("prism:pageRange"),
            "issn": row.get("prism:issn"),
            "year": row.get("prism:coverDate"),
            "date": row.get("prism:coverDate"),
            "keywords": [word.strip() for word in str(row.get("authkeywords") or "").split("|") if word.strip()],
            "type": row.get("subtypeDescription"),
            "author": None,
        }
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first(value: Any) -> Any:
    return next(_items(value), None) if isinstance(value, list) else value


def _items(values: list[Any]) -> Iterator[Any]:
    return (value for value in values if value)
