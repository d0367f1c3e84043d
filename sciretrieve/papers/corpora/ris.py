"""RIS as it is found: of Zotero, EndNote, Web of Science, Scopus, Embase, Ovid, EBSCO, ProQuest, JSTOR, Cochrane and many more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .. import identifiers
from ..bibliographies.ris_records import RECORD
from ..dates import publication
from . import tagged
from .raw import Rejected, Row
from .tagged import Record, Syntax
from .tagged_values import addresses, digest, doi_in, id_of, keywords, pages, people, serials

KNOWN = (
    "TY|A[1-6BDNUV]|B[PT]|C[1-8ANPTY]|D[ABOP]|E[DPT]|I[DS]|J[12AFO]|K[WY]|L[1-4ABK]|M[1-3]|N[12OTV]|OP|P[BGMPTUY]|R[INP]|S[EN-PT]|T[1-3AIT]"
    "|U[1-5RST]|V[LO]|Y[12R]|DOI|PMID|PMCID|ISSN|ISBN|URL"
)
SYNTAX = Syntax(
    "RIS",
    # what is no tag of RIS needs the two blanks that a tag of RIS has, as in a text a line may begin with "CI - "
    tag=re.compile(
        rf"(?:(?=[A-Z][A-Z0-9]  - )|\s*(?=(?:{KNOWN})\s|[A-Z][A-Z0-9]\s\s))"
        r"([A-Z][A-Z0-9]{1,4})\s+[-–](?:\s|$|(?<=\s\s.))\s*(.*)"
    ),
    first=frozenset({"TY"}),
    titles=frozenset({"TI", "T1"}),
    # not a line of a text that begins with "ER-positive"
    end=re.compile(r"\s*ER(?:\s*[-–]?\s*$|\s\s+[-–]\s*|\s+[-–]\s*(?=\ufeff?TY\s))(.*)"),
    between=re.compile(r"\s*(?:Record #?\d+ of \d+|<\d+\.\s*>)\s*$"),
)
LOOK = re.compile(rb"^[ \t]*TY[ \t]{1,4}-[ \t]*(?:[A-Z]{3}|\n)|\A\s*<\d+\. ?>\s*VN[ \t]+-", re.MULTILINE)
"""A record's first line, below whatever stands above it; or that of Ovid's format for EndNote, which has none."""
BOOKS = {"BOOK", "EBOOK", "EDBOOK", "RPRT"}
"""The kinds whose second title is that of a series."""
PARTS = {"CHAP", "ECHAP", "CONF", "CPAPER", "ENCYC", "DICT"}
"""The kinds whose second title is that of what they are in."""
CONFERENCES = {"CONF", "CPAPER"}
THESIS, REPORT, EDITED_BOOK = "THES", "RPRT", "EDBOOK"
SOURCE = re.compile(r"\s*(?:[.,;]\s*(?:Vol(?:ume)?\.?\s*)?|\s)\(?\d.*")
"""What Ovid has behind a journal's name: its volume, pages and date."""
NUMBER = re.compile(r"^\S*\d|^(?:suppl|spec|pt|part|no|iss)", re.IGNORECASE)
"""How the number of an issue begins; other tags have the name of a conference where some have it."""
PUBMED = re.compile(r"pubmed|medline|\bnlm\b", re.IGNORECASE)
EMBASES = re.compile(r"L\d+")
"""A number of Embase's."""
EMBASE = re.compile(r"embase", re.IGNORECASE)
OF_PUBMED = {"PM", "PMID", "AN", "ID", "UI", "C5", "U1", "N1", "C1"}
"""Tags that may have a PubMed id."""
PMID = re.compile(r"(?:PMID|PUBMED)\W*(\d{1,8})(?!\d)|(?<!\d)(\d{1,8})\s*\[pmid\]", re.IGNORECASE)
OWN_TAGS = {"DOI": "DO", "YR": "PY", "SO": "JO", "NO": "IS", "US": "UR", "URL": "UR", "KY": "KW", "ISSN": "SN", "ISBN": "SN"}
"""Cochrane's and others' own tags, and those of RIS with the same meaning."""
SIGNS = {"DOI", "YR", "KY", "URL", "ISSN", "ISBN"}
"""Tags that only their records have."""


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records. Raises as `tagged.rows`."""
    return tagged.rows(path, SYNTAX, _row)


def _row(record: Record) -> dict[str, object]:
    first, texts = record.first, record.texts
    kind = first("TY").upper()
    title, venue = _title(record, kind), _venue(record, kind)
    year, date = publication(record.ranked("PY", "YR", "DA", "Y1"))
    authors, editors = people(texts("A1", "AU")), people(texts("ED", *(() if kind == THESIS else ("A2",))))
    if kind == EDITED_BOOK and not editors:
        authors, editors = [], authors
    doi = first("DO", "DOI") or doi_in(texts("M3", "M1", "N1", "AN", "ID", "C3"), texts("UR", "US", "LK", "L2", "L3", "L1"))
    start, accession, pmid = first("SP", "BP", "PG"), first("AN", "UT") or next(filter(EMBASES.fullmatch, texts("U2")), ""), _pmid(record)
    abstracts = (record.paragraphs("AB"), record.paragraphs("N2"))
    links = addresses(record.lines("UR", "US", "URL") + record.lines("LK", "L2", "L1", "L3"))
    publisher = {THESIS: "school", REPORT: "institution"}.get(kind, "publisher")
    article = first("C7", "AR")
    return {
        "id": id_of(first("ID"), doi, accession, pmid) or digest("ris", title, year, *texts("A1", "AU")[:1], venue, start),
        "title": title,
        "abstract": max(abstracts, key=len),
        "year": year,
        "date": date,
        "venue": venue,
        "event": _event(record, kind),
        "authors": authors,
        "editors": editors,
        "series_editors": texts("A3") if kind != THESIS else [],
        "translators": texts("A4") if kind in (BOOKS | PARTS) else [],
        "advisors": texts("A2", "A3") if kind == THESIS else [],
        "doi": doi,
        **links,
        "pmid": pmid,
        "pmcid": next((text for text in texts("C2", "PMCID") if text.upper().startswith("PMC")), ""),
        "accession_number": accession,
        "keywords": keywords(record.lines("KW", "KY", "DE")),
        "type": kind,
        "publication_type": [text for text in texts("M3", "PT", "XT") if not identifiers.doi(text)],
        "volume": first("VL", "VO"),
        "number": next(
            (
                text
                for text in record.ranked("IS", "NO", "M1", *(() if kind in PARTS else ("CP",)))
                if NUMBER.search(text) and not identifiers.doi(text)
            ),
            "",
        ),
        "pages": pages(start, first("EP")) or article,
        "article_number": article,
        publisher: first("PB", "PU"),
        "address": next((text for text in record.ranked("CY", "PP", "PI") if text != year), ""),
        "edition": first("ET"),
        "series": first("T3", "T2") if kind in BOOKS else first("T3"),
        **serials(record.lines("SN", "BN", "ISSN", "ISBN"), is_book=kind in (BOOKS | PARTS) - {REPORT}),
        "language": first("LA", "LG"),
        "note": "; ".join(texts("N1")),
        "database": first("DB"),
        "journal_abbreviation": next((name for name in record.ranked("JA", "J2", "JO", "J1") if name != venue), ""),
        "translated_title": first("TT") if first("TT") != title else "",
        RECORD: _original(record, kind),
    }


def _title(record: Record, kind: str) -> str:
    """The title; the longer one of two of which one begins with the other."""
    title, other = record.first("TI"), record.first("T1")
    if other.lower().startswith(title.lower()):
        title = other
    return title or record.first("CT", *(("BT",) if kind in BOOKS else ()), "TT", "ST")


def _venue(record: Record, kind: str) -> str:
    """The full name of what a paper is in. Databases of journals have other things than the journal in T2."""
    if kind in BOOKS or kind == THESIS:
        return record.first("JF", "JO")
    order = ("T2", "BT", "C3", "JF", "JO", "JA") if kind in PARTS else ("JF", "T2", "JO", "JT", "BT", "JA", "J2", "J1", "NJ", "JN")
    return record.first(*order) or SOURCE.sub("", record.first("SO")) or (record.first("T3") if kind in PARTS else "")


def _event(record: Record, kind: str) -> str:
    """The conference's name, which C3 has beside the title of its proceedings in T2."""
    name = record.first("C3") if kind in CONFERENCES and record.first("T2") else ""
    return name if not identifiers.doi(name) else ""


def _pmid(record: Record) -> str:
    """The PubMed id: of its own tag, or of one that says that it is one, or of PubMed's records."""
    if not record.has(OF_PUBMED):
        return ""
    database = " ".join(record.texts("DB", "DP"))
    numbers = record.texts("PM", "PMID") + (record.texts("AN", "ID", "UI") if PUBMED.search(database) else [])
    numbers += record.texts("C5") if EMBASE.search(database + record.first("UR")) else []
    bare = next((text for text in numbers if text.isdecimal() and len(text) <= 8), "")
    said = filter(None, map(PMID.search, record.texts("PM", "PMID", "AN", "U1", "N1", "ID", "C1")))
    return bare or next((match[1] or match[2] for match in said), "")


def _original(record: Record, kind: str) -> str:
    """The record's lines in the one form of RIS: the type first, two blanks before the hyphen, no tags but RIS's where it has such."""
    lines = [f"TY  - {kind or 'GEN'}"]
    if not record.has(SIGNS):
        lines += [f"{tag[:2]}  - {text}".rstrip() for tag, text in record.parts if tag != "TY"]
        return "\n".join(lines)
    for tag, text in record.parts:
        name = OWN_TAGS.get(tag, tag)
        if tag == "KY" and not record.has({"KW"}):
            lines += [f"KW  - {word}" for word in keywords([text])]
        elif tag == "PG" and not record.has({"SP"}):
            lines += [f"{end}  - {page}" for end, page in zip(("SP", "EP"), re.split(r"\s*[-–]+\s*", text), strict=False)]
        elif tag != "TY":
            lines.append(f"{tag[:2] if record.has({name}) else name}  - {text}".rstrip())
    return "\n".join(lines)
