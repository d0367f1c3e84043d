"""EndNote's XML: papers as records for EndNote and the programs that read its libraries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape  # as xml.sax.saxutils would import urllib.request into every search

from ...base.types import Paper
from ...base.wording import without_controls
from .author_names import Name
from .works import ARTICLE, BOOK, MASTERS_THESIS, Publication, publication_of

NUMBERS = {"Journal Article": 17, "Conference Paper": 47, "Book": 6, "Book Section": 5, "Thesis": 32, "Report": 27, "Unpublished Work": 34}
NUMBERS |= {"Dataset": 59, "Computer Program": 9, "Patent": 25, "Web Page": 12, "Generic": 13}
"""EndNote's number of each kind."""


def text(papers: Sequence[Paper]) -> str:
    """Papers as the text of a file."""
    records = "\n".join(_record(paper, number) for number, paper in enumerate(papers, 1))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<xml><records>\n{records}\n</records></xml>\n'


def _record(paper: Paper, number: int) -> str:
    work = publication_of(paper)
    kind = work.kind.endnote
    parts = [
        _text("rec-number", str(number)),
        f'<ref-type name="{escape(kind)}">{NUMBERS[kind]}</ref-type>',
        _element("contributors", _people("authors", work.authors) + _people("secondary-authors", work.editors)),
        *_facts(paper, work),
    ]
    return _element("record", "".join(parts))


def _facts(paper: Paper, work: Publication) -> Iterator[str]:
    is_book = work.kind == BOOK
    titles = (
        ("title", work.title),
        ("secondary-title", work.series if is_book else work.container),
        ("tertiary-title", "" if is_book else work.series),
    )
    yield _element("titles", "".join(_text(name, title) for name, title in titles))
    full_name = work.container if work.kind in (ARTICLE, BOOK) else ""
    yield _element("periodical", _text("full-title", full_name) + _text("abbr-1", work.abbreviation))
    yield _text("pages", work.page_text("-") or work.article)
    yield _text("volume", work.volume)
    yield _text("number", work.number)
    yield _text("edition", work.edition)
    yield _element("keywords", "".join(_text("keyword", keyword) for keyword in work.keywords))
    yield _element("dates", _text("year", str(work.year or "")) + _element("pub-dates", _text("date", work.date if work.month else "")))
    yield _text("pub-location", work.place)
    yield _text("publisher", work.source)
    yield _text("isbn", ", ".join((*work.isbns, *work.issns)))
    yield _text("accession-num", work.archived)
    yield _text("electronic-resource-num", work.doi)
    yield _text("abstract", work.abstract)
    yield _text("notes", "; ".join(work.notes))
    yield _text("work-type", work.kind.genre if work.kind == MASTERS_THESIS else "")
    yield _element("urls", _element("related-urls", _text("url", work.url)))
    yield _text("custom2", work.pmcid)
    yield _text("custom3", work.event)
    yield _text("custom7", work.article)
    yield _text("remote-database-name", work.archive)
    yield _text("language", work.language)
    yield _text("label", paper.id)


def _people(name: str, names: Sequence[Name]) -> str:
    # with a comma at its end, EndNote keeps an institution's name whole
    texts = (f"{person.literal}," if person.literal else person.inverted for person in names)
    return _element(name, "".join(_text("author", text) for text in texts))


def _text(name: str, text: str) -> str:
    return _element(name, escape(without_controls(" ".join(text.split())), quote=False))


def _element(name: str, content: str) -> str:
    """An element, unless it would be empty."""
    return f"<{name}>{content}</{name}>" if content else ""
