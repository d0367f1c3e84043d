"""CSL-JSON (Zotero, pandoc, doi.org) and Crossref's works, which have the same names and lists in place of texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...bibliographies.csl_items import ITEM
from ...bibliographies.keywords import listed
from ..markup import plain_text
from ..people import people_in
from ..raw import Row
from .csl_dates import dates_of

VENUE = "container-title"
ARTICLES = {"article-journal", "paper-conference", "chapter"}
"""Kinds whose number is not an issue's but the article's own."""
SIGNS = (VENUE, "issued", "author", "editor")


def fits(row: Row) -> bool:
    """Whether a record has a date in parts, names in parts, or the venue's name that no other format has."""
    if VENUE in row:
        return True
    dates, people = row.get("issued"), [*_list(row.get("author")), *_list(row.get("editor"))]
    is_date = isinstance(dates, Mapping) and not dates.keys().isdisjoint(("date-parts", "raw", "literal"))
    return is_date or any(isinstance(item, Mapping) and ("family" in item or "literal" in item) for item in people)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def paper(row: Row) -> Row:
    """Names as texts, one year, and title, abstract and venue without markup. Names and dates in parts stay beside that, and a whole item
    of CSL-JSON, so that it can be written unchanged."""
    plain_row = dict(row)
    if _is_item(row):
        plain_row[ITEM] = json.dumps(row, ensure_ascii=False)
    if not row.get("id") and isinstance(doi := row.get("DOI"), str):
        plain_row["id"] = doi  # Crossref's works have no other
    for name in ("title", "abstract"):
        if isinstance(text := _first(row.get(name)), str):
            plain_row[name] = text
    subtitle, title = _first(row.get("subtitle")), plain_row.get("title")
    if (
        isinstance(row.get("title"), list)
        and isinstance(title, str)
        and isinstance(subtitle, str)
        and subtitle.lower() not in title.lower()
    ):
        plain_row["title"] = f"{title.rstrip(' :')}: {subtitle}"
    if isinstance(titles := row.get("title"), list) and len(titles) > 1:
        plain_row["titles"] = titles
    if not row.get("venue") and (venue := _first(row.get(VENUE)) or _first(row.get("event-title"))):
        plain_row["venue"] = str(venue)
    if not row.get("year"):
        year, date = dates_of(row)
        plain_row |= {name: text for name, text in (("year", year), ("date", date)) if text and not row.get(name)}
    if not row.get("keywords") and isinstance(text := row.get("keyword"), str):
        plain_row["keywords"] = listed(plain_text(plain_row.pop("keyword")))
    if str(row.get("type")) in ARTICLES and row.get("number"):
        plain_row["article_number"] = plain_row.pop("number")
    for source, target in (("author", "authors"), ("editor", "editors")):
        if isinstance(people := row.get(source), list) and not row.get(target) and (names := people_in(people).rows):
            plain_row[target] = names
    return plain_row


def _is_item(row: Row) -> bool:
    """Whether a record is an item as CSL wants it: Crossref's works have lists where items have texts."""
    kinds: tuple[tuple[str, type], ...] = (("title", str), (VENUE, str), ("author", list), ("issued", dict))
    return bool(row.get("id") and row.get("type")) and all(isinstance(row.get(name, kind()), kind) for name, kind in kinds)


def _first(value: Any) -> Any:
    return next((item for item in value if item), None) if isinstance(value, list) else value
