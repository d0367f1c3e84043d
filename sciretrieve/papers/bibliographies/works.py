"""A paper as all bibliographies see it: a `Publication`, made of its fields and its corpus's further columns, whatever these are called."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...base.types import Paper
from ...files.schema import letters
from .. import identifiers
from ..dates import date_in
from .author_names import MORE_AUTHORS, Name, names_of
from .further_columns import columns_of, first_text, line, text_of
from .keywords import keywords_of
from .page_ranges import Pages, article_number, pages_between, pages_in


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of publication: its types in BibTeX, RIS, CSL and EndNote, the BibTeX field and the CSL variable for its venue, and what tells
    it from others of the same type."""

    bibtex: str
    ris: str
    csl: str
    endnote: str
    venue: str
    csl_venue: str = "container-title"
    genre: str = ""


ARTICLE = Kind("article", "JOUR", "article-journal", "Journal Article", "journal")
PAPER = Kind("inproceedings", "CONF", "paper-conference", "Conference Paper", "booktitle")
BOOK = Kind("book", "BOOK", "book", "Book", "series", "collection-title")
CHAPTER = Kind("incollection", "CHAP", "chapter", "Book Section", "booktitle")
PHD_THESIS = Kind("phdthesis", "THES", "thesis", "Thesis", "school", "publisher")
MASTERS_THESIS = Kind("mastersthesis", "THES", "thesis", "Thesis", "school", "publisher", "Master's thesis")
REPORT = Kind("techreport", "RPRT", "report", "Report", "institution", "publisher")
PREPRINT = Kind("misc", "UNPB", "article", "Unpublished Work", "howpublished", "publisher", "preprint")
DATASET = Kind("misc", "DATA", "dataset", "Dataset", "howpublished", "publisher", "dataset")
SOFTWARE = Kind("misc", "COMP", "software", "Computer Program", "howpublished", "publisher", "software")
PATENT = Kind("misc", "PAT", "patent", "Patent", "howpublished", "publisher", "patent")
PAGE = Kind("misc", "ELEC", "webpage", "Web Page", "howpublished", genre="webpage")
OTHER = Kind("misc", "GEN", "document", "Generic", "howpublished", "publisher")
SERIAL = (ARTICLE, PAPER, CHAPTER)
"""Kinds that are parts of something; the number of one is an issue's, the number of any other its own."""

KINDS: Mapping[str, Kind] = {
    name: kind
    for kind, names in (
        (ARTICLE, "article journalarticle articlejournal jour ejour mgzn news magazinearticle articlemagazine newspaperarticle"),
        (
            ARTICLE,
            "articlenewspaper electronicarticle review reviewarticle letter editorial erratum note shortsurvey datapaper ieeejournals",
        ),
        (ARTICLE, "ieeeearlyaccessarticles ieeemagazines suppperiodical journalelectronic j"),
        (BOOK, "bookwhole bookedited bookset"),
        (PAPER, "inproceedings conference conferencepaper paperconference proceedingsarticle proceedingspaper conf cpaper proceeding c"),
        (PAPER, "conferenceproceedings conferenceproceedingsarticle ieeeconferences chapterconferencepaper conferenceabstract"),
        (BOOK, "book ebook monograph collection proceedings editedbook edbook electronicbook wholebook booksediteds mvbook mvcollection b"),
        (CHAPTER, "incollection inbook booksection bookchapter chapter chap echap bookitem encyclopediaarticle dictionaryentry encyc dict"),
        (CHAPTER, "entryencyclopedia entrydictionary entry referenceentry suppbook suppcollection bookinbook inreference bookpart"),
        (PHD_THESIS, "phdthesis thesis dissertation thes dissertationthesis"),
        (MASTERS_THESIS, "mastersthesis mathesis masterthesis"),
        (REPORT, "techreport report rprt reportseries"),
        (PREPRINT, "preprint postedcontent unpublished unpb unpublishedwork manuscript unpd"),
        (DATASET, "dataset data"),
        (SOFTWARE, "software computerprogram comp"),
        (PATENT, "patent pat p"),
        (PAGE, "online webpage elec web electronic blog blogpost postweblog"),
        (OTHER, "misc document gen generic other"),
    )
    for name in names.split()
}
"""Kinds by their names in BibTeX, RIS, CSL, Zotero, Crossref, OpenAlex, Semantic Scholar, EndNote and databases."""

KIND_COLUMNS: tuple[str, ...] = (
    "type",
    "itemtype",
    "publicationtypes",
    "publicationtype",
    "documenttype",
    "typeofreference",
    "contenttype",
)
KIND_COLUMNS += ("documentidentifier", "genre", "thesistype", "worktype", "typeofwork", "pubstate", "subtype", "typecrossref")
SEPARATORS = re.compile(r"[;|]")
REPOSITORIES = re.compile(r"\w*r\s?xiv\b|\bcorr\b|ssrn|preprint|research square|\bosf\b|\bhal\b", re.IGNORECASE)
ARXIV_VENUE = re.compile(r"(?:arxiv|corr\b).*", re.IGNORECASE)
ARXIV = "arXiv"
VENUES = (
    (PREPRINT, REPOSITORIES),
    (PHD_THESIS, re.compile(r"\bthesis\b|dissertation", re.IGNORECASE)),
    (PAPER, re.compile(r"\bproc(eedings|\.)|conference|workshop|symposium|\bmeeting\b|advances in neural", re.IGNORECASE)),
)
DOI = re.compile(rf"{identifiers.REGISTRANT}/\S+")
ARXIV_CLASS = re.compile(r"[a-z-]+(?:\.[A-Za-z-]{2,20})?")

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "booktitle": ("booktitle", "containertitle", "journaltitle", "publicationtitle", "secondarytitle", "howpublished"),
    "school": ("school", "university", "institution", "howpublished", "repository", "degreegrantor"),
    "publisher": ("publisher", "publishername", "institution", "school"),
    "place": ("address", "place", "placepublished", "publisherplace", "publishercity", "location", "publisheraddress", "publocation"),
    "edition": ("edition", "versionofbook"),
    "series": ("series", "seriestitle", "bookseriestitle", "collectiontitle", "seriesname", "tertiarytitle"),
    "volume": ("volume", "vol", "journalvolume", "volumenumber"),
    "issue": ("issue", "issuenumber", "journalissue", "issueno", "no"),
    "number": ("number", "reportnumber", "patentnumber", "collectionnumber", "seriesnumber", "documentnumber"),
    "pages": ("pages", "page", "pagination", "pagerange", "pagenumbers", "medlinepgn"),
    "article": ("articlenumber", "artno", "articleno", "elocationid", "elocator", "eid"),
    "language": ("language", "langid", "languages", "languageoforiginaldocument", "articlelanguage"),
    "note": ("note", "notes"),
    "archive": ("database", "archive", "archivename", "nameofdatabase", "databasename"),
    "archived": ("accessionnumber", "archivelocation", "locinarchive", "utuniquewosid", "uniqueid", "archiveid", "wosid"),
    "event": ("event", "eventtitle", "conferencename", "conferencetitle", "eventname", "meetingname"),
    "abbreviation": ("journalabbreviation", "shortjournal", "containertitleshort", "shortcontainertitle", "abbreviatedsourcetitle")
    + ("isoabbreviation", "journalisoabbreviation", "sourceabbreviation"),
    "class": ("primaryclass", "eprintclass", "primarycategory", "arxivclass", "categories"),
}
"""What columns say, by their letters, best first."""
FIRST_AND_LAST = (
    *(("pagestart", "pageend"), ("startpage", "endpage"), ("firstpage", "lastpage"), ("beginningpage", "endingpage")),
    *(("spage", "epage"), ("bp", "ep"), ("sp", "ep"), ("pagefirst", "pagelast"), ("pagefrom", "pageto")),
)
"""Pairs of columns with the first page and the last."""
BOOK_NUMBERS = ("isbn", "isbns", "isbn13", "isbn10", "eisbn", "electronicisbn", "issnisbn", "serialnumber")
SERIAL_NUMBERS = (
    "issn",
    "issns",
    "issnl",
    "eissn",
    "printissn",
    "electronicissn",
    "onlineissn",
    "issnelectronic",
    "issnprint",
    "linkingissn",
)
DATES: tuple[str, ...] = (
    "date",
    "issued",
    "publicationdate",
    "published",
    "datepublished",
    "publisheddate",
    "pubdate",
    "publishtime",
    "coverdate",
)
DATES += ("publishedprint", "publishedonline", "publicationdatefull", "onlinepublicationdate", "dateofpublication", "earlyaccessdate")
MONTHS, DAYS = ("month", "publishedmonth", "publicationmonth", "pubmonth"), ("day", "publishedday", "publicationday", "pubday")
SCOPUS_ID = re.compile(r"2-s2\.0-\d+")
SEVERAL = re.compile(r"\s*[;,|]\s*|\s+(?=97[89][\d-]{10}|\d{4}-\d{3}[\dXx])|\s*\([^)]*\)\s*")
SAYS_ID = re.compile(r"(?:pmid|pmcid)\W*", re.IGNORECASE)
CLASS_IN_BRACKETS = re.compile(r"\[([a-z-]+(?:\.[A-Za-z-]+)?)\]")
NOTES = re.compile(r"\s*(?:\n|;\s)\s*")


@dataclass(frozen=True, slots=True)
class Publication:
    """What a bibliography says of a paper. Texts and numbers that are not known are empty.

    Attributes:
        has_more: whether there are more authors than are known.
        venue: the journal, the book or the proceedings that it is in, or the school, institution or archive that it is from.
        number: of an issue for `SERIAL` kinds, else the work's own.
        article: the number of an article in a journal without pages.
        isbns, issns: in their one form, or as they were typed where that is none.
        arxiv: its number there, with its version if that is known.
        archive, archived: a database that has the work, and its number there.
    """

    kind: Kind
    title: str
    abstract: str
    authors: tuple[Name, ...]
    has_more: bool
    editors: tuple[Name, ...]
    year: int | None
    month: int
    day: int
    venue: str
    abbreviation: str
    event: str
    series: str
    volume: str
    number: str
    pages: tuple[Pages, ...]
    article: str
    edition: str
    publisher: str
    place: str
    isbns: tuple[str, ...]
    issns: tuple[str, ...]
    language: str
    note: str
    keywords: tuple[str, ...]
    doi: str
    url: str
    arxiv: str
    arxiv_class: str
    pmid: str
    pmcid: str
    archive: str
    archived: str

    @property
    def is_arxiv(self) -> bool:
        """Whether it is a preprint of arXiv, and no article that is there, too."""
        return self.kind == PREPRINT and bool(self.arxiv)

    @property
    def container(self) -> str:
        """What it is in: the venue, unless that is what it is from, and so stands in the publisher's place."""
        is_from = self.kind.csl_venue == "publisher" and not self.publisher and (self.venue == ARXIV or not self.is_arxiv)
        return "" if is_from else self.venue

    @property
    def source(self) -> str:
        """What stands in the publisher's place: the publisher, or a school, an institution or an archive."""
        return self.publisher or ("" if self.container else self.venue)

    @property
    def date(self) -> str:
        """The date as an ISO text, as far as it is known."""
        return "-".join([f"{self.year:04}", *(f"{part:02}" for part in (self.month, self.day) if part)]) if self.year else ""

    @property
    def notes(self) -> list[str]:
        """Its note, and the identifiers that RIS and EndNote have no place for, as notes that are recognised."""
        arxiv = self.arxiv and f"arXiv:{self.arxiv}" + f" [{self.arxiv_class}]" * bool(self.arxiv_class)
        return list(filter(None, (self.note, self.pmid and f"PMID: {self.pmid}", arxiv)))

    def page_text(self, dash: str) -> str:
        """All its pages, with a dash between first and last."""
        return ", ".join(pages.text(dash) for pages in self.pages)


def publication_of(paper: Paper) -> Publication:
    """A paper as bibliographies see it."""
    columns, kind = columns_of(paper), kind_of(paper)
    texts = {name: first_text(columns, names) for name, names in COLUMNS.items()}
    arxiv = arxiv_of(paper) or ""
    bare_arxiv = identifiers.arxiv(arxiv) or ""
    pmid, pmcid = identifiers.pmid(first_text(columns, ("pmid",))) or "", identifiers.pmcid(first_text(columns, ("pmcid",))) or ""
    note, noted_class = _note(columns, pmid, pmcid, bare_arxiv)
    arxiv_class = next(filter(ARXIV_CLASS.fullmatch, texts["class"].replace(",", " ").split()), noted_class)
    year, month, day = _date(paper, columns)
    pages, article = _pages(kind, columns, texts)
    venue, series, publisher = _venues(paper, kind, texts, bare_arxiv)
    number, article = ("", "") if kind == PREPRINT and arxiv else _numbers(kind, texts, bare_arxiv, article)
    event = texts["event"] if kind == PAPER else ""
    abbreviation = texts["abbreviation"] if kind in SERIAL else ""
    if kind in SERIAL:
        venue = venue or series or event or abbreviation
    own = {paper.doi or "", doi_of(paper) or "", pmid, pmcid, bare_arxiv, arxiv} if texts["archived"] else set()
    scopus_id = SCOPUS_ID.fullmatch(first_text(columns, ("eid",)))
    archived = texts["archived"] or (scopus_id[0] if scopus_id else "")
    return Publication(
        kind=kind,
        title=line(paper.title),
        abstract=line(paper.abstract),
        authors=tuple(names_of(paper)),
        has_more=bool(paper.extra.get(MORE_AUTHORS)),
        editors=tuple(names_of(paper, "editors")),
        year=year,
        month=month,
        day=day,
        venue=venue,
        abbreviation=abbreviation if abbreviation != venue else "",
        event=event if event != venue else "",
        series=series if series != venue else "",
        volume="" if bare_arxiv and bare_arxiv in texts["volume"] else texts["volume"],
        number=number,
        pages=pages,
        article=article,
        edition=texts["edition"],
        publisher=publisher,
        place=texts["place"],
        **_serials(columns),
        language=texts["language"],
        note=note,
        keywords=tuple(keywords_of(paper)),
        doi=doi_of(paper) or "",
        url=url_of(paper) or (f"https://arxiv.org/abs/{arxiv}" if arxiv else ""),
        arxiv=arxiv,
        arxiv_class=arxiv_class if arxiv else "",
        pmid=pmid,
        pmcid=pmcid,
        archive=texts["archive"] if not ARXIV_VENUE.fullmatch(texts["archive"]) else "",
        archived=archived if archived not in own and (not bare_arxiv or identifiers.arxiv(archived) != bare_arxiv) else "",
    )


def kind_of(paper: Paper) -> Kind:
    """The kind of a paper: from its corpus, else from its venue or its arXiv number."""
    names = list(_kind_names(paper))
    kinds = [KINDS[name] for name in names if name in KINDS]
    kind, venue = next(iter(kinds), None), paper.venue or ""
    if kind == PHD_THESIS and any("master" in name for name in names):
        return MASTERS_THESIS
    if kind == ARTICLE and PREPRINT in kinds:
        return PREPRINT
    if kind == OTHER and (more := next((other for other in kinds if other != OTHER), None)):
        return more
    is_free = kind in (OTHER, PAGE) or (kind in (ARTICLE, None) and (not venue or ARXIV_VENUE.match(venue)))
    if is_free and arxiv_of(paper):  # of BibTeX's types, @misc comes nearest
        return PREPRINT
    if kind == OTHER and REPOSITORIES.search(venue or first_text(columns_of(paper), ("howpublished", "publisher"))):
        return PREPRINT
    if kind is None and venue:
        return next((kind for kind, pattern in VENUES if pattern.search(venue)), ARTICLE)
    return kind or OTHER


def doi_of(paper: Paper) -> str | None:
    """A paper's bare DOI, from its own column, or from an id or a URL that is one."""
    matches = (DOI.search(text) for text in (paper.doi, paper.id, paper.url) if text)
    return next((match[0] for match in matches if match), paper.doi)


def url_of(paper: Paper) -> str | None:
    """A paper's URL, unless it only repeats the DOI."""
    urls = (re.split(r"\s+(?=https?://)", text)[0] for text in (paper.url, paper.id) if text and re.match(r"https?://", text))
    return next((url for url in urls if not re.match(identifiers.DOI_ADDRESS, url)), None)


def arxiv_of(paper: Paper) -> str | None:
    """A paper's number at arXiv, from an id or a URL that is one, with its version, else from its own column."""
    texts = (paper.id, paper.url, paper.extra.get("eprint"), paper.extra.get("number"), paper.extra.get("arxiv"))
    numbers = [number for text in texts if isinstance(text, str) and (number := identifiers.versioned_arxiv(text))]
    return max((number for number in numbers if number.startswith(re.sub(r"v\d+$", "", numbers[0]))), key=len, default=None)


def _kind_names(paper: Paper) -> Iterator[str]:
    """What a paper's columns call its kind, by letters."""
    columns = [(letters(name), value) for name, value in paper.extra.items()]
    for wanted in KIND_COLUMNS:
        for value in (value for name, value in columns if name == wanted):
            for item in value if isinstance(value, list | tuple) else [value]:
                yield from (letters(part) for part in SEPARATORS.split(str(item)))


def _venues(paper: Paper, kind: Kind, texts: Mapping[str, str], arxiv: str) -> tuple[str, str, str]:
    """What a paper is in or from, the series, and the publisher, where that is another."""
    venue, series, publisher = line(paper.venue or "") or texts["booktitle"], texts["series"], texts["publisher"]
    if kind.csl_venue == "publisher" or kind == PAGE:
        if kind == PREPRINT and arxiv and (not venue or ARXIV_VENUE.match(venue)):
            venue, publisher = ARXIV, "" if ARXIV_VENUE.match(publisher) else publisher
        venue = venue or texts["school"] or publisher
    elif kind == BOOK:
        venue, series = ("" if venue in (series, line(paper.title)) or not series else venue), series or venue
    return venue, series, publisher if publisher != venue else ""


def _numbers(kind: Kind, texts: Mapping[str, str], arxiv: str, article: str) -> tuple[str, str]:
    """A paper's number, of an issue or its own, and an article's."""
    issue, number = texts["issue"], texts["number"]
    if arxiv and identifiers.arxiv(number) == arxiv:
        number = ""
    if kind in SERIAL and issue and number and issue != number:
        if re.search(r"\d", issue):
            return issue, article or number
        return number, article
    return (issue or number if kind in SERIAL else number or issue), article


def _pages(kind: Kind, columns: Mapping[str, Any], texts: Mapping[str, str]) -> tuple[tuple[Pages, ...], str]:
    """A paper's pages, and its number in a journal without pages."""
    article = "" if SCOPUS_ID.fullmatch(texts["article"]) else texts["article"]
    in_pages = article_number(texts["pages"])
    article = article or in_pages
    pages = () if in_pages else pages_in(texts["pages"])
    for first, last in () if pages else FIRST_AND_LAST:
        pages = pages or pages_between(first_text(columns, (first,)), first_text(columns, (last,)))
    if kind not in SERIAL:
        return pages or pages_in(article), ""
    return (() if article and [page.text("-") for page in pages] == [article] else pages), article


def _serials(columns: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The numbers of books and of journals, each by its form; what has none by its column."""
    found: dict[str, dict[str, None]] = {"isbns": {}, "issns": {}}
    for kind, names in (("isbns", BOOK_NUMBERS), ("issns", SERIAL_NUMBERS)):
        for text in (part for name in names for part in SEVERAL.split(text_of(columns.get(name))) if part):
            isbn, issn = identifiers.isbn(text), identifiers.issn(text)
            if issn and kind == "isbns" and not re.search(r"\d-?\d{3}[\dXx]$", text):
                issn = None
            found["isbns" if isbn else "issns" if issn else kind][isbn or issn or text] = None
    return {name: tuple(numbers) for name, numbers in found.items()}


def _note(columns: Mapping[str, Any], pmid: str, pmcid: str, arxiv: str) -> tuple[str, str]:
    """A paper's note, without the parts of it that are one of its identifiers; and the class that it has at arXiv, if a part says it."""
    value = next((columns[name] for name in COLUMNS["note"] if columns.get(name)), "")
    parts = NOTES.split("\n".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
    of_arxiv = [part for part in parts if arxiv and identifiers.arxiv(part) == arxiv]
    known = (*of_arxiv, *(part for part in parts if SAYS_ID.match(part) and SAYS_ID.sub("", part) in (pmid, pmcid)))
    classes = (match[1] for part in of_arxiv if (match := CLASS_IN_BRACKETS.search(part)))
    return "; ".join(line(part) for part in parts if part and part not in known), next(classes, "")


def _date(paper: Paper, columns: Mapping[str, Any]) -> tuple[int | None, int, int]:
    """The year, the month and the day, as far as they are known: of the most exact date of the paper's year."""
    if paper.year is not None and paper.year < 0:
        return paper.year, 0, 0
    year = str(paper.year or "")
    dates = [date for name in DATES if (date := _iso(columns.get(name), year)) and (not year or date.startswith(year))]
    month = first_text(columns, MONTHS)
    month_date = f"{year}-{int(month):02}" if year and month.isdecimal() and 1 <= int(month) <= 12 else date_in(month, year) if year else ""
    if month_date.startswith(f"{year}-"):
        day = first_text(columns, DAYS)
        dates.insert(
            0, f"{month_date}-{int(day):02}" if month_date.count("-") == 1 and day.isdecimal() and 1 <= int(day) <= 31 else month_date
        )
    parts = [int(part) for part in max(dates, key=lambda date: date.count("-"), default=year).split("-") if part]
    month_number, day_number, *_ = [*parts[1:], 0, 0]
    return parts[0] if parts else paper.year, month_number, day_number


def _iso(value: Any, year: str) -> str:
    """A date as an ISO text, from one as CSL has it, as JSON, as Arrow's, or as a text."""
    if isinstance(value, str) and value.startswith("{"):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        parts = value.get("date-parts")
        first = parts[0] if isinstance(parts, list | tuple) and parts else None
        if not isinstance(first, list | tuple):
            return date_in(str(value.get("raw") or value.get("literal") or ""), year)
        value = "-".join(str(part) for part in first if part)
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    return date_in(value, year) if isinstance(value, str) else ""
