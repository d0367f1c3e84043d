"""arXiv's metadata snapshot: a JSON object a line, with names in parts, and LaTeX in its texts."""

from __future__ import annotations

from typing import Any

from ..papers import YEAR
from ..people import people_in
from ..raw import Row

SIGNS = ("authors_parsed",)


def fits(row: Row) -> bool:
    """Whether it is a record of the snapshot: no other has names in such parts beside versions."""
    return "authors_parsed" in row and "versions" in row


def paper(row: Row) -> Row:
    """Names in their natural order and without LaTeX, texts without their line ends, the year of the first version."""
    plain_row = dict(row)
    for name in ("title", "abstract", "journal-ref"):
        if isinstance(text := row.get(name), str):
            plain_row[name] = " ".join(text.split())
    if isinstance(names := row["authors_parsed"], list) and names:
        plain_row["authors_"] = row.get("authors")
        plain_row["authors"] = people_in(names).rows
    if not row.get("year") and (year := _first_year(row["versions"])):
        plain_row["year"] = year
    plain_row["arxiv"] = row.get("id")
    return plain_row


def _first_year(versions: Any) -> int | None:
    first = versions[0] if isinstance(versions, list) and versions else None
    match = YEAR.search(str(first.get("created"))) if isinstance(first, dict) else None
    return int(match[1]) if match else None
