"""OpenAlex works (docs.openalex.org, "Work object"), from its API, snapshot and command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ... import identifiers
from ..columns import INVERTED, uninverted
from ..raw import Row

PREFIX = "https://openalex.org/"
SIGNS = (INVERTED, "authorships", "primary_location", "locations", "ids")


def fits(row: Row) -> bool:
    """Whether it is a work: its id is a URL at OpenAlex, or it has an inverted abstract."""
    id = row.get("id")
    return isinstance(row.get(INVERTED), dict) or (isinstance(id, str) and id.startswith(PREFIX))


def paper(row: Row) -> Row:
    """The abstract as text; the venue and the arXiv number out of the work's locations."""
    plain_row = dict(row)
    # as an object, its column would have a field for every word of the batch
    if isinstance(row.get(INVERTED), dict):
        plain_row[INVERTED] = uninverted(row[INVERTED])
    if not row.get("venue") and (venue := next(_venues(row), None)):
        plain_row["venue"] = venue
    if not row.get("arxiv") and (number := next(_arxiv_numbers(row), None)):
        plain_row["arxiv"] = number
    return plain_row


def _locations(row: Row) -> Iterator[Mapping[str, Any]]:
    """Where a work is: the best place first."""
    locations = row.get("locations")
    for location in (row.get("primary_location"), *(locations if isinstance(locations, list) else ())):
        if isinstance(location, Mapping):
            yield location


def _venues(row: Row) -> Iterator[str]:
    for location in _locations(row):
        source = location.get("source")
        if isinstance(source, Mapping) and isinstance(name := source.get("display_name"), str):
            yield name


def _arxiv_numbers(row: Row) -> Iterator[str]:
    for location in _locations(row):
        url = location.get("landing_page_url")
        if isinstance(url, str) and (number := identifiers.arxiv(url)):
            yield number
