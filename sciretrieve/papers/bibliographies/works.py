"""What a bibliography says about a paper besides its fields: its kind, its identifiers, and its place in a volume."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...base.types import Paper
from ...files.schema import letters
from .. import identifiers


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of publication: its types in BibTeX, RIS and CSL, and the BibTeX field and the CSL variable for its venue."""

    bibtex: str
    ris: str
    csl: str
    venue: str
    csl_venue: str = "container-title"


ARTICLE = Kind("article", "JOUR", "article-journal", "journal")
PAPER = Kind("inproceedings", "CONF", "paper-conference", "booktitle")
BOOK = Kind("book", "BOOK", "book", "series", "collection-title")
CHAPTER = Kind("incollection", "CHAP", "chapter", "booktitle")
PHD_THESIS = Kind("phdthesis", "THES", "thesis", "school", "publisher")
MASTERS_THESIS = Kind("mastersthesis", "THES", "thesis", "school", "publisher")
REPORT = Kind("techreport", "RPRT", "report", "institution", "publisher")
PREPRINT = Kind("misc", "UNPB", "article", "howpublished", "publisher")
DATASET = Kind("misc", "DATA", "dataset", "howpublished", "publisher")
SOFTWARE = Kind("misc", "COMP", "software", "howpublished", "publisher")
PAGE = Kind("misc", "ELEC", "webpage", "howpublished")
OTHER = Kind("misc", "GEN", "document", "howpublished", "publisher")

KINDS: Mapping[str, Kind] = {
    name: kind
    for kind, names in (
        (ARTICLE, "article journalarticle articlejournal jour ejour review letter editorial"),
        (ARTICLE, "magazinearticle articlemagazine newspaperarticle articlenewspaper"),
        (PAPER, "inproceedings conference conferencepaper paperconference proceedingsarticle conf cpaper"),
        (BOOK, "book ebook monograph collection proceedings editedbook edbook"),
        (CHAPTER, "incollection inbook booksection bookchapter chapter chap echap entryencyclopedia entrydictionary"),
        (PHD_THESIS, "phdthesis thesis dissertation thes"),
        (MASTERS_THESIS, "mastersthesis"),
        (REPORT, "techreport report rprt"),
        (PREPRINT, "preprint postedcontent unpublished unpb manuscript"),
        (DATASET, "dataset data"),
        (SOFTWARE, "software computerprogram comp"),
        (PAGE, "online webpage elec"),
        (OTHER, "misc document gen"),
    )
    for name in names.split()
}
"""Kinds by their names in BibTeX, RIS, CSL, Zotero, Crossref, OpenAlex and Semantic Scholar."""

KIND_COLUMNS = ("type", "itemtype", "publicationtypes", "publicationtype", "documenttype", "typeofreference")
VENUES = (
    (PREPRINT, re.compile(r"arxiv|biorxiv|medrxiv|\bcorr\b|ssrn|preprint", re.IGNORECASE)),
    (PHD_THESIS, re.compile(r"\bthesis\b|dissertation", re.IGNORECASE)),
    (PAPER, re.compile(r"\bproc(eedings|\.)|conference|workshop|symposium|\bmeeting\b|advances in neural", re.IGNORECASE)),
)
DOI = re.compile(rf"{identifiers.REGISTRANT}/\S+")

DETAILS: Mapping[str, tuple[str, ...]] = {
    "editor": ("editors", "editor"),
    "booktitle": ("booktitle",),
    "publisher": ("publisher",),
    "school": ("school",),
    "institution": ("institution",),
    "address": ("address", "placepublished"),
    "edition": ("edition",),
    "volume": ("volume",),
    "number": ("number", "issue"),
    "pages": ("pages", "page"),
    "month": ("month",),
    "isbn": ("isbn",),
    "issn": ("issn",),
    "note": ("note",),
}
"""BibTeX's field -> the columns that may hold it."""
NESTED = ("biblio", "journal")
"""Objects in which OpenAlex and Semantic Scholar have such columns."""


def kind_of(paper: Paper) -> Kind:
    """The kind of a paper: from its corpus, else from its venue or its arXiv number."""
    columns = columns_of(paper)
    for name in KIND_COLUMNS:
        value = columns.get(name)
        for item in value if isinstance(value, list | tuple) else [value]:
            if (kind := KINDS.get(letters(str(item)))) is not None:
                return PREPRINT if kind == OTHER and arxiv_of(paper) else kind  # of BibTeX's types, @misc comes nearest
    if paper.venue:
        return next((kind for kind, pattern in VENUES if pattern.search(paper.venue)), ARTICLE)
    return PREPRINT if arxiv_of(paper) else OTHER


def doi_of(paper: Paper) -> str | None:
    """A paper's bare DOI, from its own column, or from an id or a URL that is one."""
    matches = (DOI.search(text) for text in (paper.doi, paper.id, paper.url) if text)
    return next((match[0] for match in matches if match), paper.doi)


def url_of(paper: Paper) -> str | None:
    """A paper's URL, unless it only repeats the DOI."""
    urls = (text for text in (paper.url, paper.id) if text and re.match(r"https?://", text))
    return next((url for url in urls if not re.match(identifiers.DOI_ADDRESS, url)), None)


def arxiv_of(paper: Paper) -> str | None:
    """A paper's number at arXiv, from an id or a URL that is one, with its version, else from its own column."""
    texts = (paper.id, paper.url, paper.extra.get("arxiv"))
    numbers = (identifiers.versioned_arxiv(text) for text in texts if isinstance(text, str))
    return next(filter(None, numbers), None)


def details_of(paper: Paper) -> dict[str, str]:
    """Fields of BibTeX from the corpus's further columns, in the order of `DETAILS`."""
    columns = columns_of(paper)
    texts = {field: next((text for name in names if (text := _text(field, columns.get(name)))), "") for field, names in DETAILS.items()}
    if not texts["pages"] and (first := _text("pages", columns.get("firstpage"))):
        last = _text("pages", columns.get("lastpage"))
        texts["pages"] = f"{first}-{last}" if last and last != first else first
    return {field: text for field, text in texts.items() if text}


def columns_of(paper: Paper) -> dict[str, Any]:
    """A paper's further columns by their letters only; those within `NESTED` yield to the others."""
    return {letters(name): value for name, value in [*_nested(paper), *paper.extra.items()]}


def _nested(paper: Paper) -> Iterator[tuple[str, Any]]:
    for name in NESTED:
        value = paper.extra.get(name)
        if isinstance(value, Mapping):
            yield from value.items()


def _text(field: str, value: Any) -> str:
    if isinstance(value, list | tuple):
        return (" and " if field == "editor" else ", ").join(str(item) for item in value if item)
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
