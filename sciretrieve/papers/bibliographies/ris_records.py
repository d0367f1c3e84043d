"""RIS: papers as records."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...base.types import Paper
from .author_names import Name, parsed
from .works import ARTICLE, BOOK, MASTERS_THESIS, Publication, publication_of

RECORD = "ris"
"""The column with a paper's original record from a RIS file, without its end."""

START = re.compile(r"TY  - \S")


def records(papers: Sequence[Paper]) -> Iterator[str]:
    """Papers as records, in order. Those read from RIS keep all their tags; others are made from the papers' fields."""
    for paper in papers:
        original = paper.extra.get(RECORD)
        lines = original.splitlines() if isinstance(original, str) and START.match(original) else _new_record(paper)
        yield "".join(f"{line}\n" for line in (*lines, "ER  - "))


def text(papers: Sequence[Paper]) -> str:
    """The same records as the text of a file."""
    return "\n".join(records(papers))


def _new_record(paper: Paper) -> Iterator[str]:
    """The lines of a record, without its end: a tag, two blanks, a hyphen, a blank and a text in one line."""
    work = publication_of(paper)
    first, last = _pages(work)
    is_book = work.kind == BOOK
    tags: list[tuple[str, str]] = [
        ("TY", work.kind.ris),
        ("ID", paper.id),
        *(("AU", _name(name)) for name in work.authors),
        *(("ED" if work.kind.ris == "THES" else "A2", _name(name)) for name in work.editors),
        ("TI", work.title),
        ("T2", work.series if is_book else work.container),
        ("JO", work.venue if work.kind == ARTICLE else ""),
        ("JF", work.container if is_book or work.kind.csl_venue == "publisher" else ""),
        ("J2", work.abbreviation),
        ("T3", "" if is_book else work.series),
        ("C3", work.event),
        ("PY", str(work.year or "")),
        ("DA", f"{work.date}-".replace("-", "/") + "/" * (not work.day) if work.month else ""),
        ("VL", work.volume),
        ("IS", work.number),
        ("SP", first),
        ("EP", last),
        ("C7", work.article),
        ("ET", work.edition),
        ("PB", work.source),
        ("CY", work.place),
        ("SN", ", ".join((*work.isbns, *work.issns))),
        ("LA", work.language),
        ("M3", work.kind.genre if work.kind == MASTERS_THESIS else ""),
        ("DO", work.doi),
        ("C2", work.pmcid),
        ("DB", work.archive),
        ("AN", work.archived),
        *(("N1", note) for note in work.notes),
        *(("KW", keyword) for keyword in work.keywords),
        ("AB", work.abstract),
        ("UR", work.url),
    ]
    return (f"{tag}  - {' '.join(text.split())}" for tag, text in tags if text)


def _name(name: Name) -> str:
    """A name as RIS has it; an institution's with a comma at its end where it would else be taken for a person's."""
    return name.inverted + "," * bool(name.literal and not parsed(name.literal).literal)


def _pages(work: Publication) -> tuple[str, str]:
    """The first and the last page; all of several ranges are the first."""
    pages = work.pages[:1] if len(work.pages) < 2 else ()
    return next(((only.first, only.last) for only in pages), (work.page_text("-"), ""))
