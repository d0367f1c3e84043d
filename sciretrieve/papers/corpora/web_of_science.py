"""Web of Science's plain text, which EndNote's .ciw is, too: two letters, and a text that indented lines go on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..dates import publication
from . import tagged
from .raw import Rejected, Row
from .tagged import Record, Syntax
from .tagged_values import digest, group, keywords, medline_name, pages, people, serials

SYNTAX = Syntax(
    "Web of Science's plain text",
    tag=re.compile(r"([A-Z][A-Z0-9])(?: (.*)|$)"),
    first=frozenset({"PT"}),
    titles=frozenset({"TI"}),
    end=re.compile(r"(?:ER|EF)\s*(?:$|(?=\ufeff|FN |PT ))(.*)"),
    ends=frozenset({"ER", "EF"}),
)
LOOK = re.compile(rb"\A\s*(?:FN .*\n\s*VR |PT [A-Z]\s*\n[A-Z][A-Z0-9] )")
KINDS = {"J": ["Article"], "B": ["Book"], "P": ["Patent"]}
"""What a record is whose document type is missing."""
_USED = "FN VR PT AU AF BA BF CA BE ED TI FT SO SE AB DE ID VL IS BP EP AR DI D2 PM PY PD EA EY UT SN EI BN PU PI LA DT CR JI J9 CT CL CY"
USED = frozenset(re.findall(r"\w+", _USED))
"""All other tags are columns by their own names, `wos_c1` and so on."""


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records. Raises as `tagged.rows`."""
    return tagged.rows(path, SYNTAX, plain_row)


def plain_row(record: Record) -> dict[str, object]:
    """A record as a row, in plain columns."""
    first = record.first
    year, date = publication([first("PY"), first("PD"), *(() if first("PY") else (first("EA"), first("EY")))])
    authors = people(_fuller(record, "AF", "AU")) or people(_fuller(record, "BF", "BA"))
    groups = [group(name) for name in people(record.lines("CA") or ([] if authors else record.lines("GP")))]
    title, venue = first("TI"), first("SO")
    article = first("AR")
    return {
        "id": first("UT") or first("DI", "PM") or digest("wos", title, year, *authors[:1], venue, first("BP")),
        "title": title,
        "abstract": record.paragraphs("AB"),
        "year": year,
        "date": date,
        "venue": venue if venue != title else "",
        "authors": authors + [name for name in groups if name[:-1] not in authors],
        "editors": people(record.lines("BE", "ED")),
        "doi": first("DI") or (first("D2") if first("PT") == "B" and title == venue else ""),
        "book_doi": first("D2"),
        "pmid": first("PM"),
        "keywords": keywords(record.texts("DE")),
        "keywords_plus": keywords(record.texts("ID")),
        "type": keywords(record.texts("DT")) or KINDS.get(first("PT"), []),
        "volume": first("VL"),
        "number": first("IS"),
        "pages": pages(first("BP"), first("EP")) or article,
        "article_number": article,
        "publisher": first("PU"),
        "address": first("PI"),
        "series": first("SE"),
        **serials(record.lines("SN", "EI", "BN"), is_book=False),
        "language": first("LA"),
        "journal_abbreviation": first("JI", "J9"),
        "original_title": first("FT"),
        "conference_name": first("CT"),
        "conference_place": first("CL"),
        "conference_date": first("CY"),
        "cited_references": record.lines("CR"),
        **record.others("wos", USED),
    }


def _fuller(record: Record, full: str, short: str) -> list[str]:
    """Full names, where each of the short ones has one."""
    names, others = record.lines(full), record.lines(short)
    return list(map(medline_name, names if len(names) >= len(others) else others))
