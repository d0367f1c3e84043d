"""RIS: papers as records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...base.types import Paper
from .author_names import names_of
from .keywords import keywords_of
from .works import ARTICLE, details_of, doi_of, kind_of, url_of

RECORD = "ris"
"""The column with a paper's original record from a RIS file, without its end."""

START = re.compile(r"TY  - \S")
TAG = re.compile(r"[A-Z][A-Z0-9]  - ")


def records(papers: Sequence[Paper]) -> Iterator[str]:
    """Papers as records, in order. Those read from RIS keep all their tags; others are made from the papers' fields."""
    for paper in papers:
        original = paper.extra.get(RECORD)
        lines = original.splitlines() if isinstance(original, str) and START.match(original) else _new_record(paper)
        yield "".join(f"{line}\n" for line in (*lines, "ER  - "))


def text(papers: Sequence[Paper]) -> str:
    """The same records as the text of a file."""
    return "\n".join(records(papers))


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
    lists = {
        "authors": [name.inverted for name in names_of(paper)],
        "secondary_authors": [name.inverted for name in names_of(paper, "editors")],
        "urls": [url_of(paper) or ""],
        "notes": [details.get("note", "")],
        "keywords": keywords_of(paper),
    }
    record: dict[str, object] = {"type_of_reference": kind.ris}
    record |= {tag: text for tag, value in texts.items() if (text := _line(value))}
    record |= {tag: lines for tag, values in lists.items() if (lines := [line for value in values if (line := _line(value))])}
    # rispy also writes a number above each record
    return [line for line in rispy.dumps([record]).splitlines() if TAG.match(line) and not line.startswith("ER")]


def _line(text: str) -> str:
    return " ".join(text.split())
