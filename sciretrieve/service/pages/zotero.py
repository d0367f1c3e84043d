"""Metadata in pages for Zotero and other reference managers: COinS, Highwire Press tags, and unAPI.

Zotero takes the first of these that a page has: unAPI and COinS on a list of papers, from which a user chooses, and the tags on the page of
one paper, which therefore has neither of the others.
"""

from __future__ import annotations

import re
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
from ...papers.bibliographies.author_names import names_of
from ...papers.bibliographies.bibtex_entries import entries
from ...papers.bibliographies.keywords import keywords_of
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
    arxiv_of,
    details_of,
    doi_of,
    kind_of,
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
DETAILS = {"volume": "citation_volume", "number": "citation_issue", "issn": "citation_issn", "isbn": "citation_isbn"}
FORMATS: Mapping[str, tuple[str, str]] = {
    "ris": ("application/x-research-info-systems", "https://en.wikipedia.org/wiki/RIS_(file_format)"),
    "bibtex": ("application/x-bibtex", "https://www.bibtex.org/Format/"),
}
"""The formats of unAPI, each with its type and the address of its description; Zotero takes the first."""


def coins(paper: Paper) -> str:
    """A paper as an OpenURL context object, for the title of a `span.Z3988`."""
    details = details_of(paper)
    first, last = _pages(details)
    form, genre, title_name, venue_name = OPENURL.get(kind_of(paper), ("journal", "unknown", "atitle", "jtitle"))
    doi = identifiers.doi(doi_of(paper) or "")
    pairs = [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", f"info:ofi/fmt:kev:mtx:{form}"),
        ("rft.genre", genre),
        (f"rft.{title_name}", _line(paper.title or paper.abstract)),
        (f"rft.{venue_name}", _line(paper.venue or "")),
        ("rft.date", str(paper.year or "")),
        ("rft.volume", details.get("volume", "")),
        ("rft.issue", details.get("number", "")),
        ("rft.spage", first),
        ("rft.epage", last),
        ("rft.issn", details.get("issn", "")),
        ("rft.isbn", details.get("isbn", "")),
        ("rft.pub", details.get("publisher", "")),
        *(("rft.au", name.inverted) for name in names_of(paper)),
        ("rft_id", f"info:doi/{doi}" if doi else ""),
        ("rft_id", address_of(paper) or ""),
    ]
    return urlencode([(name, value) for name, value in pairs if value])


def tags(paper: Paper, address: str) -> Iterator[tuple[str, str]]:
    """The names and contents of the meta tags of a paper's page at `address`."""
    details = details_of(paper)
    first, last = _pages(details)
    pairs = [
        ("citation_title", _line(paper.title or paper.abstract)),
        *(("citation_author", name.inverted) for name in names_of(paper)),
        ("citation_publication_date", str(paper.year or "")),
        (VENUES.get(kind_of(paper), "citation_journal_title"), _line(paper.venue or "")),
        *((tag, details.get(name, "")) for name, tag in DETAILS.items()),
        ("citation_firstpage", first),
        ("citation_lastpage", last),
        ("citation_publisher", details.get("publisher", "")),
        ("citation_doi", identifiers.doi(doi_of(paper) or "") or ""),
        ("citation_pmid", str(paper.extra.get("pmid") or "")),
        ("citation_arxiv_id", arxiv_of(paper) or ""),
        ("citation_keywords", "; ".join(keywords_of(paper))),
        ("citation_abstract", _line(paper.abstract)),
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


def _pages(details: Mapping[str, str]) -> tuple[str, str]:
    first, _, last = re.sub("[-–—]+", "-", details.get("pages", "")).partition("-")
    return first.strip(), last.strip()


def _line(text: str) -> str:
    return " ".join(text.split())
