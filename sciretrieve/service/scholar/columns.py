"""Facts of papers in Semantic Scholar's terms, from the columns of a corpus: identifiers, dates, kinds, fields of study, open access.

Columns are recognised by the letters of their names, as in corpora of Semantic Scholar, OpenAlex, PubMed, arXiv, Crossref and
bibliographies. Each function declares its columns, so that only these are read for all papers.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ...base.types import Paper
from ...files.schema import letters
from ...papers import identifiers
from ...papers.bibliographies.works import ARTICLE, arxiv_of, doi_of, publication_of

Columns: TypeAlias = Mapping[str, Any]
"""A paper's further columns, by the letters of their names."""

OBJECTS = ("externalids", "ids")
"""Columns of objects with identifiers."""
IDENTIFIERS: Mapping[str, tuple[str, ...]] = {
    "PubMed": ("pmid", "pubmed", "pubmedid"),
    "PubMedCentral": ("pmcid", "pubmedcentral", "pmc"),
    "MAG": ("mag", "magid"),
    "ACL": ("acl", "aclid", "anthologyid"),
    "DBLP": ("dblp", "dblpid"),
    "CorpusId": ("corpusid", "s2corpusid"),
}
"""Kinds of identifiers besides DOIs and arXiv numbers, with the letters of their columns, or fields of such objects."""
DATES = ("publicationdate", "published", "publisheddate", "pubdate", "publishtime", "date")
TYPES = ("publicationtypes", "publicationtype", "type", "itemtype", "documenttype", "typeofreference")
STUDIES = ("fieldsofstudy", "s2fieldsofstudy", "fieldofstudy", "topics", "primarytopic", "concepts", "categories", "fields", "field")
ACCESS = ("isopenaccess", "openaccess", "openaccesspdf", "bestoalocation", "primarylocation", "arxiv", "pdfurl")
INFLUENTIAL = "influentialcitationcount"
REFERENCED = ("referencecount", "referencescount", "referencedworkscount", "numciting", "outcitationscount")

ARXIV_PDF = "https://arxiv.org/pdf/"
FULL_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?![\d-])")
CATEGORY = re.compile(r"[a-z-]+(?:\.[A-Za-z-]+)?")
"""A category of arXiv; a text may have several."""
KINDS: Mapping[str, str] = {
    name: kind
    for kind, names in {
        "JournalArticle": "journalarticle article articlejournal jour ejour magazinearticle newspaperarticle",
        "Conference": "conference conferencepaper inproceedings proceedingsarticle paperconference conf cpaper",
        "Review": "review systematicreview reviewarticle",
        "Book": "book ebook monograph proceedings editedbook edbook collection",
        "BookSection": "booksection bookchapter incollection inbook chapter chap echap",
        "CaseReport": "casereport casereports",
        "ClinicalTrial": "clinicaltrial randomizedcontrolledtrial",
        "Dataset": "dataset data",
        "Editorial": "editorial",
        "LettersAndComments": "lettersandcomments letter comment",
        "MetaAnalysis": "metaanalysis",
        "News": "news",
        "Study": "study comparativestudy observationalstudy",
    }.items()
    for name in names.split()
}
"""Semantic Scholar's names of kinds of publications, by the names in other sources."""


def columns_of(paper: Paper) -> Columns:
    """A paper's further columns, by the letters of their names."""
    return {letters(name): value for name, value in paper.extra.items()}


def external_ids(paper: Paper, columns: Columns) -> dict[str, Any]:
    """A paper's identifiers by kind, in Semantic Scholar's form: texts, except for the corpus id."""
    found: dict[str, Any] = {}
    if doi := identifiers.doi(doi_of(paper) or ""):
        found["DOI"] = doi
    if number := identifiers.arxiv(arxiv_of(paper) or ""):
        found["ArXiv"] = number
    places = [columns, *(_fields(columns.get(name)) for name in OBJECTS)]
    for kind, names in IDENTIFIERS.items():
        values = (normal(kind, place.get(name)) for place in places for name in names)
        if (value := next((value for value in values if value), None)) is not None:
            found[kind] = int(value) if kind == "CorpusId" else value
    return found


def normal(kind: str, value: Any) -> str | None:
    """An identifier in the form for comparisons; None if it is invalid."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if kind == "PubMed":
        return identifiers.pmid(text)
    if kind == "PubMedCentral":
        text = text.rstrip("/").rpartition("/")[2].upper().removeprefix("PMC")
    if kind in ("PubMedCentral", "MAG", "CorpusId"):
        return text.lstrip("0") if text.isascii() and text.isdigit() and len(text) < 19 and text.strip("0") else None
    return text or None


def publication_date(columns: Columns) -> str | None:
    """The day of publication, 2020-05-31; None if only the month or the year is known."""
    for name in DATES:
        value = columns.get(name)
        text = value.isoformat() if isinstance(value, datetime.date) else value
        if isinstance(text, str) and (match := FULL_DATE.match(text)):
            try:
                return datetime.date.fromisoformat(match[1]).isoformat()
            except ValueError:
                continue
    return None


def publication_types(columns: Columns) -> list[str] | None:
    """The kinds of publication; a kind that Semantic Scholar does not know stays as in the corpus. None if unknown."""
    for name in TYPES:
        if texts := list(_texts(columns.get(name))):
            return list(dict.fromkeys(KINDS.get(letters(text), text) for text in texts))
    return None


def fields_of_study(columns: Columns) -> list[str] | None:
    """The fields of study: from the corpus, OpenAlex's fields, or arXiv's categories. None if unknown."""
    for name in STUDIES:
        if texts := list(dict.fromkeys(_studies(name, columns.get(name)))):
            return texts
    return None


def s2_fields_of_study(columns: Columns) -> list[dict[str, str]] | None:
    """The fields of study, each with its source."""
    own = columns.get("s2fieldsofstudy")
    if isinstance(own, Sequence) and not isinstance(own, str):
        items = [item for item in own if isinstance(item, Mapping) and isinstance(item.get("category"), str)]
        if items:
            return [{"category": item["category"], "source": str(item.get("source") or "external")} for item in items]
    fields = fields_of_study(columns)
    return None if fields is None else [{"category": text, "source": "external"} for text in fields]


def is_open_access(paper: Paper, columns: Columns) -> bool | None:
    """Whether the paper is open access; None if unknown."""
    flags = [columns.get("isopenaccess"), *(_fields(columns.get(name)).get("isoa") for name in ("openaccess", "bestoalocation"))]
    if (flag := next((flag for flag in flags if isinstance(flag, bool)), None)) is not None:
        return flag
    return True if open_access_pdf(paper, columns) is not None else None


def open_access_pdf(paper: Paper, columns: Columns) -> dict[str, Any] | None:
    """The address of a public PDF, from the corpus or arXiv; None if unknown."""
    own = columns.get("openaccesspdf")
    best, primary, access = (_fields(columns.get(name)) for name in ("bestoalocation", "primarylocation", "openaccess"))
    addresses = [own if isinstance(own, str) else _fields(own).get("url"), best.get("pdfurl")]
    addresses += [primary.get("pdfurl") if primary.get("isoa") is not False else None, access.get("oaurl"), columns.get("pdfurl")]
    if (address := next((text for text in addresses if isinstance(text, str) and text.strip()), None)) is not None:
        statuses = _fields(own).get("status"), access.get("oastatus")
        return {"url": address, "status": next((text.upper() for text in statuses if isinstance(text, str) and text), None)}
    number = identifiers.arxiv(arxiv_of(paper) or "")
    return {"url": f"{ARXIV_PDF}{number}", "status": "GREEN"} if number else None


def journal(paper: Paper, columns: Columns) -> dict[str, str] | None:
    """The journal with volume and pages, as far as known; None for other kinds without these."""
    work = publication_of(paper)
    details = {name: text for name, text in (("volume", work.volume), ("pages", work.page_text("-") or work.article)) if text}
    name = _name(columns.get("journal")) or paper.venue
    if not name or not (details or columns.get("journal") or work.kind == ARTICLE):
        return details or None
    return {"name": name, **details}


def venue_of_publication(columns: Columns) -> dict[str, Any] | None:
    """The corpus's facts on the venue, if it has more than the name."""
    value = columns.get("publicationvenue")
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, Mapping) else None


def tldr(columns: Columns) -> dict[str, str] | None:
    """The corpus's summary, with the model that made it."""
    value = columns.get("tldr")
    text = _fields(value).get("text") if isinstance(value, Mapping) else value
    return {"model": str(_fields(value).get("model") or ""), "text": text} if isinstance(text, str) and text else None


def count(columns: Columns, *names: str) -> int | None:
    """The first column with a number that is not negative."""
    for name in names:
        value = columns.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return int(value)
    return None


def _fields(value: Any) -> Columns:
    """An object's fields, by the letters of their names; none for other values."""
    return {letters(name): item for name, item in value.items()} if isinstance(value, Mapping) else {}


def _name(value: Any) -> str | None:
    """A text, or the name of an object."""
    name = _fields(value).get("name", _fields(value).get("displayname")) if isinstance(value, Mapping) else value
    return name if isinstance(name, str) and name.strip() else None


def _texts(value: Any) -> Iterator[str]:
    """The texts of a list, or a single text."""
    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, str) and item.strip():
            yield item.strip()


def _studies(name: str, value: Any) -> Iterator[str]:
    """The fields of study in a column."""
    items = value if isinstance(value, list | tuple) else [value]
    for item in items:
        if isinstance(item, Mapping):
            fields = _fields(item)
            if name == "concepts" and fields.get("level") != 0:  # other levels are subjects within a field
                continue
            text = fields.get("category") or _name(fields.get("field")) or _name(item)
            if isinstance(text, str) and text.strip():
                yield text.strip()
        elif isinstance(item, str) and name == "categories" and all(map(CATEGORY.fullmatch, item.split())):
            yield from item.split()
        elif isinstance(item, str) and item.strip():
            yield item.strip()
