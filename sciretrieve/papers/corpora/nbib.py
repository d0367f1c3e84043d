"""MEDLINE's format, which PubMed calls .nbib and ERIC has a dialect of: four letters, a hyphen, and a text that indented lines go on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..dates import publication
from . import tagged
from .raw import Rejected, Row
from .tagged import Record, Syntax
from .tagged_values import addresses, group, medline_name, serials

SYNTAX = Syntax(
    "MEDLINE's format",
    tag=re.compile(r"([A-Z]{2,4}) *- ?(.*)"),
    first=frozenset({"PMID"}),
    titles=frozenset({"TI", "BTI"}),
    between=re.compile(r"(?:</?pre\b[^>]*>|\d+[.:])\s*$"),
    is_parted=True,
    is_indented=True,
)
LOOK = re.compile(rb"^(?:PMID- ?\d|OWN ?- [A-Z]|OID ?- E[DJ]\d)", re.MULTILINE)
DOI = re.compile(r"(10\.\S+) \[doi\]")
LAST_STOP = re.compile(r"(?<!\.)(?<!\b[A-Z]\.[A-Z])\.(?=\]?$)")
"""The full stop that PubMed ends each title with; not that of U.S."""
DETAILS = {
    "venue": "JT",
    "pmcid": "PMC",
    "volume": "VI",
    "number": "IP",
    "pages": "PG",
    "journal_abbreviation": "TA",
    "publisher": "PB",
    "edition": "EN",
    "series": "CTI",
    "accession_number": "OID",
}
"""Columns with one text, and their tags."""
LISTS = {"type": "PT", "keywords": "OT", "mesh": "MH"}
USED = frozenset({*DETAILS.values(), *LISTS.values(), "PMID", "TI", "TT", "BTI", "AB", "OAB", "FAU", "AU", "CN", "FED", "ED", "DP", "LA"})
USED |= {"IS", "ISBN", "ISSN"}
"""All other tags are columns by their own names, `nbib_ad` and so on."""


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records. Raises as `tagged.rows`."""
    return tagged.rows(path, SYNTAX, _row)


def bare_title(title: str) -> str:
    """A title without the full stop that PubMed puts behind it."""
    return LAST_STOP.sub("", title)


def _row(record: Record) -> dict[str, object]:
    first, texts = record.first, record.texts
    year, date = publication([first("DP")])
    book = bare_title(first("BTI"))
    title = bare_title(first("TI")) or book or bare_title(first("TT"))
    original = bare_title(first("TT"))
    ids = texts("LID", "AID")
    return {
        "id": first("PMID", "OID"),
        "title": title,
        "abstract": record.paragraphs("AB") or record.paragraphs("OAB"),
        "year": year,
        "date": date,
        "authors": _people(record, "FAU", "AU"),
        "editors": _people(record, "FED", "ED") if record.has({"FED", "ED"}) else [],
        "doi": next((match[1] for match in map(DOI.match, ids) if match), ""),
        **addresses(text for text in ids if "://" in text),
        "pmid": first("PMID"),
        "language": ", ".join(texts("LA")),
        "original_title": original if original != title else "",
        **serials(texts("IS", "ISSN", "ISBN"), is_book=False),
        **{column: first(tag) for column, tag in DETAILS.items()},
        **{column: texts(tag) for column, tag in LISTS.items()},
        **({"venue": book} if book and book != title and not first("JT") else {}),
        **record.others("nbib", USED),
    }


def _people(record: Record, full: str, short: str) -> list[str]:
    """Names in their order: the full ones, the short ones that have none before them, and those of groups among authors."""
    names, before = [], ""
    for tag, text in record.parts:
        if tag == "CN" and full == "FAU":
            names.append(group(text))
        elif tag == full or (tag == short and before != full):
            names.append(medline_name(" ".join(text.split())))
        before = tag if tag in (full, short) else before
    return names
