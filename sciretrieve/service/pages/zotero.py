"""Metadata in pages for Zotero and other reference managers: COinS, Highwire Press tags, and unAPI.

Zotero takes the first of these that a page has: unAPI and COinS on a list of papers, from which a user chooses, and the tags on the page of
one paper, which therefore has neither of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import quote, unquote, urlencode
from xml.sax.saxutils import quoteattr

from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...base.types import Paper
from ...base.wording import without_controls
from ...papers import identifiers
from ...papers.bibliographies.addresses import address_of
from ...papers.bibliographies.bibtex_entries import entries
from ...papers.bibliographies.ris_records import records
from ...papers.bibliographies.works import (
    ARTICLE,
    BOOK,
    CHAPTER,
    MASTERS_THESIS,
    PAPER,
    PHD_THESIS,
    PREPRINT,
    REPORT,
    Kind,
    Publication,
    publication_of,
)
from ..failures import Refused
from ..service import service_of

router = APIRouter(include_in_schema=False)

OPENURL: Mapping[Kind, tuple[str, str, str, str]] = {
    ARTICLE: ("journal", "article", "atitle", "jtitle"),
    PAPER: ("journal", "proceeding", "atitle", "jtitle"),
    PREPRINT: ("journal", "preprint", "atitle", "jtitle"),
    BOOK: ("book", "book", "btitle", "series"),
    CHAPTER: ("book", "bookitem", "atitle", "btitle"),
    PHD_THESIS: ("dissertation", "", "title", "inst"),
    MASTERS_THESIS: ("dissertation", "", "title", "inst"),
}
"""Kinds of papers in OpenURL: the format, the genre, and the keys of title and venue."""
VENUES: Mapping[Kind, str] = {
    PAPER: "citation_conference_title",
    CHAPTER: "citation_book_title",
    BOOK: "citation_series_title",
    PHD_THESIS: "citation_dissertation_institution",
    MASTERS_THESIS: "citation_dissertation_institution",
    REPORT: "citation_technical_report_institution",
}
"""The tag with a paper's venue, which shows Zotero the kind; citation_journal_title for all others."""
FORMATS: Mapping[str, tuple[str, str]] = {
    "ris": ("application/x-research-info-systems", "https://en.wikipedia.org/wiki/RIS_(file_format)"),
    "bibtex": ("application/x-bibtex", "https://www.bibtex.org/Format/"),
}
"""The formats of unAPI, each with its type and the address of its description; Zotero takes the first."""


def coins(paper: Paper) -> str:
    """A paper as an OpenURL context object, for the title of a `span.Z3988`."""
    work = publication_of(paper)
    first, last = _pages(work)
    form, genre, title_name, venue_name = OPENURL.get(work.kind, ("journal", "unknown", "atitle", "jtitle"))
    doi = identifiers.doi(work.doi)
    pairs = [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", f"info:ofi/fmt:kev:mtx:{form}"),
        ("rft.genre", genre),
        (f"rft.{title_name}", work.title or work.abstract),
        (f"rft.{venue_name}", work.series if work.kind == BOOK else work.venue),
        ("rft.date", work.date),
        ("rft.volume", work.volume),
        ("rft.issue", work.number),
        ("rft.spage", first),
        ("rft.epage", last),
        ("rft.issn", next(iter(work.issns), "")),
        ("rft.isbn", next(iter(work.isbns), "")),
        ("rft.pub", work.publisher),
        *(("rft.au", name.inverted) for name in work.authors),
        ("rft_id", f"info:doi/{doi}" if doi else ""),
        ("rft_id", address_of(paper) or ""),
    ]
    return urlencode([(name, value) for name, value in pairs if value])


def tags(paper: Paper, address: str) -> Iterator[tuple[str, str]]:
    """The names and contents of the meta tags of a paper's page at `address`."""
    work = publication_of(paper)
    first, last = _pages(work)
    pairs = [
        ("citation_title", work.title or work.abstract),
        *(("citation_author", name.inverted) for name in work.authors),
        ("citation_publication_date", work.date.replace("-", "/")),
        (VENUES.get(work.kind, "citation_journal_title"), work.series if work.kind == BOOK else work.venue),
        ("citation_volume", work.volume),
        ("citation_issue", work.number),
        *(("citation_issn", number) for number in work.issns),
        *(("citation_isbn", number) for number in work.isbns),
        ("citation_firstpage", first),
        ("citation_lastpage", last),
        ("citation_publisher", work.publisher),
        ("citation_language", work.language),
        ("citation_doi", identifiers.doi(work.doi) or ""),
        ("citation_pmid", work.pmid),
        ("citation_arxiv_id", work.arxiv),
        ("citation_keywords", "; ".join(work.keywords)),
        ("citation_abstract", work.abstract),
        ("citation_public_url", address_of(paper) or address),
        ("citation_abstract_html_url", address),
    ]
    return ((name, value) for name, value in pairs if value)


def unapi_id(name: str) -> str:
    """An id for a paper's name that is the same whether or not a client encodes it, which Zotero does not."""
    return quote(name, safe="/:").replace("~", "%7E").replace("%", "~")


def named_by(id: str) -> str:
    """The paper's name in an id of `unapi_id`."""
    return unquote(id.replace("~", "%"))


@router.get("/unapi")
async def unapi(http: HttpRequest, id: str = "", format: str = "") -> Response:
    """unAPI, version 1: all formats, those of a paper, or a paper in one of them. Raises NotFound, Refused."""
    service = service_of(http)
    if not id:
        return _formats("")
    index = service.library.index()
    paper = await service.do(http, lambda: index.papers([named_by(id)])[0])
    if not format:
        return _formats(id, 300)
    if format not in FORMATS:
        raise Refused(406, f"there is no format {format[:100]!r} here", f"take one of {', '.join(FORMATS)}")
    lines = records([paper]) if format == "ris" else entries([paper])
    return Response("".join(lines), media_type=f"{FORMATS[format][0]}; charset=utf-8")


def _formats(id: str, status: int = 200) -> Response:
    lines = [f'<format name="{name}" type="{kind}" docs={quoteattr(docs)}/>' for name, (kind, docs) in FORMATS.items()]
    whose = f" id={quoteattr(without_controls(id))}" if id else ""
    text = '<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join([f"<formats{whose}>", *lines, "</formats>"]) + "\n"
    return Response(text, status, media_type="application/xml")


def _pages(work: Publication) -> tuple[str, str]:
    """The first page and the last, of several ranges those of the first."""
    return next(((pages.first, pages.last) for pages in work.pages), (work.article, ""))
