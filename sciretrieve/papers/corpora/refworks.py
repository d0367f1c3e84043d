"""RefWorks' tagged format: two letters and a blank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..dates import publication
from . import tagged
from .raw import Rejected, Row
from .tagged import Record, Syntax
from .tagged_values import addresses, digest, doi_in, id_of, keywords, pages, people, serials

TAGS = (
    "RT|SR|ID|A[1-6]|T[1-3]|JF|JO|YR|FD|VO|IS|SP|OP|K1|AB|NO|ED|PB|PP|SN|AV|AD|AN|LA|CL|SF|OT|OL|L[LK]|UL|DO|PMID|PM|DB|DS|IP|R[DP]|ST"
    "|U[1-9]|U1[0-5]|W[PTV]|CN|CT|CR|SL|FR|C1|C2|GR"
)
SYNTAX = Syntax(
    "RefWorks' tagged format",
    tag=re.compile(rf"({TAGS})(?: (.*)|$)"),
    first=frozenset({"RT"}),
    titles=frozenset({"T1"}),
    end=re.compile(r"ER\s*$()"),
)
LOOK = re.compile(rb"^RT [A-Z].*\n(?:[A-Z][A-Z0-9]{1,3} .*\n){0,40}?(?:T1|A1|JF|YR|SR|ID) ", re.MULTILINE)
DETAILS = {
    "volume": "VO",
    "number": "IS",
    "address": "PP",
    "edition": "ED",
    "language": "LA",
    "accession_number": "AN",
    "database": "DB",
    "call_number": "CN",
    "short_title": "ST",
    "journal_abbreviation": "JO",
    "author_address": "AD",
}
"""Columns and their tags."""
USED = frozenset(DETAILS.values()) | frozenset(
    re.findall(r"\w+", "RT SR ID A1 A2 A3 A4 T1 T2 T3 OT JF YR FD SP OP K1 AB NO PB SN DO PMID PM UL LK LL")
)
WHOLE = re.compile(r"^Book, (?:Whole|Edited)|^Dissertation|^Thesis|^Report|^Monograph")


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records. Raises as `tagged.rows`."""
    return tagged.rows(path, SYNTAX, _row)


def _row(record: Record) -> dict[str, object]:
    first, texts = record.first, record.texts
    kind = first("RT")
    year, date = publication([first("YR"), first("FD")])
    is_whole, is_thesis = WHOLE.match(kind) is not None, kind.startswith(("Dissertation", "Thesis"))
    title, venue = first("T1", "OT"), first("JF", "JO") if is_whole else first("JF", "T2", "JO")
    doi = first("DO") or doi_in(texts("ID", "AN", "NO"), texts("UL", "LK"))
    pmid = first("PMID", "PM")
    return {
        "id": id_of(first("ID"), doi, first("AN"), pmid) or digest("refworks", title, year, *texts("A1")[:1], venue, first("SP")),
        "title": title,
        "abstract": record.paragraphs("AB"),
        "year": year,
        "date": date,
        "venue": venue,
        "authors": people(texts("A1")),
        "editors": people(texts("A2")) if not is_thesis else [],
        "advisors": texts("A2") if is_thesis else [],
        "series_editors": texts("A3"),
        "translators": texts("A4"),
        "doi": doi,
        **addresses(record.lines("UL", "LK", "LL")),
        "pmid": pmid,
        "keywords": keywords(record.lines("K1")),
        "type": kind,
        "pages": pages(first("SP"), first("OP")),
        "school" if is_thesis else "publisher": first("PB"),
        "series": first("T3", "T2") if is_whole else first("T3"),
        **serials(record.lines("SN"), is_book=kind.startswith("Book")),
        "note": "; ".join(texts("NO")),
        "original_title": first("OT") if first("OT") != title else "",
        **{column: first(tag) for column, tag in DETAILS.items()},
        **record.others("refworks", USED),
    }
