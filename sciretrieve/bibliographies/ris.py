"""RIS: papers as records, with their rank and score in a note."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..types import Hit, Paper
from .works import ARTICLE, details_of, doi_of, kind_of, url_of

RECORD = "ris"
"""The column with a paper's original record from a RIS file, without its end."""

NOTE = "N1  - sciretrieve "
START = re.compile(r"TY  - \S")
TAG = re.compile(r"[A-Z][A-Z0-9]  - ")


def records(hits: Sequence[Hit]) -> Iterator[str]:
    """Hits as records, in order. Those read from RIS keep all their tags; others are made from the papers' fields."""
    for hit in hits:
        record = hit.paper.extra.get(RECORD)
        lines = record.splitlines() if isinstance(record, str) and START.match(record) else _new_record(hit.paper)
        # the note of an earlier search is dropped
        yield from (line for line in lines if not line.startswith(NOTE))
        yield f"{NOTE}rank={hit.rank} score={hit.score:.6f}"
        yield "ER  - \n"


def _new_record(paper: Paper) -> list[str]:
    import rispy

    kind, details = kind_of(paper), details_of(paper)
    first, _, last = re.sub("[-–—]+", "-", details.get("pages", "")).partition("-")
    publishers = (details.get(field, "") for field in ("publisher", "school", "institution"))
    texts = {
        "id": paper.id,
        "title": paper.title,
        "year": str(paper.year or ""),
        "journal_name" if kind == ARTICLE else "secondary_title": paper.venue or details.get("booktitle", ""),
        "volume": details.get("volume", ""),
        "number": details.get("number", ""),
        "start_page": first,
        "end_page": last,
        "publisher": next(filter(None, publishers), ""),
        "place_published": details.get("address", ""),
        "edition": details.get("edition", ""),
        "issn": details.get("isbn", "") or details.get("issn", ""),
        "abstract": paper.abstract,
        "doi": doi_of(paper) or "",
    }
    lists = {"authors": paper.authors, "secondary_authors": details.get("editor", "").split(" and "), "urls": (url_of(paper) or "",)}
    record: dict[str, object] = {"type_of_reference": kind.ris}
    record |= {tag: text for tag, value in texts.items() if (text := _line(value))}
    record |= {tag: lines for tag, values in lists.items() if (lines := [line for value in values if (line := _line(value))])}
    # rispy also writes a number above each record
    return [line for line in rispy.dumps([record]).splitlines() if TAG.match(line) and not line.startswith("ER")]


def _line(text: str) -> str:
    return " ".join(text.split())
