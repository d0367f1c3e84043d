"""Tables of databases whose columns say less than their names: Web of Science's two letters, PubMed's and Springer's CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..raw import Row, filled
from ..tagged import Record
from ..web_of_science import plain_row

PEOPLE = {"AU", "AF", "BA", "BF", "BE", "CA", "ED", "GP", "CR"}
"""Tags of Web of Science with several names between semicolons, which its plain text has in lines."""
CITATION = re.compile(
    r".+?\. (?P<date>\d{4}(?: \w{3}(?:-\w{3})?)?(?: \d{1,2})?);"
    r"(?P<volume>[^(:;]*)(?:\((?P<number>[^)]*)\))?(?::(?P<pages>[\w-]+))?"
)
"""PubMed's citation: `Nature. 2021 Aug;596(7873):583-589.`"""
GLUED = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z][^\W\d_]*[ .])")
"""Where one name ends and the next begins in Springer's CSV, which puts nothing between them."""


def is_web_of_science(names: Sequence[str]) -> bool:
    """Whether names are the tags of Web of Science."""
    return {"PT", "AU", "TI", "SO"} <= {*names}


def reader(header: Sequence[str]) -> Callable[[Row], Row] | None:
    """What makes papers of the rows of a table with such columns; None if their names say what they have."""
    names = {*header}
    if is_web_of_science(header):
        return web_of_science
    if {"PMID", "Citation", "Journal/Book"} <= names:
        return pubmed
    if {"Item Title", "Item DOI", "Authors"} <= names:
        return springer
    return publish_or_perish if {"GSRank", "Source", "Title"} <= names else None


def web_of_science(row: Row) -> Row:
    """A row of Web of Science's tabulated export as its plain text has it: a tag's names in lines."""
    parts = [(tag, str(text).replace("; ", "\n") if tag in PEOPLE else str(text)) for tag, text in row.items() if tag and text]
    return filled(plain_row(Record(0, parts)))


def pubmed(row: Row) -> Row:
    """A row of PubMed's CSV: its citation has volume, issue and pages, and its authors end with a full stop."""
    plain = {**row, "Authors": str(row.get("Authors") or "").removesuffix("."), "venue": row.get("Journal/Book")}
    if match := CITATION.match(str(row.get("Citation") or "")):
        plain |= {"volume": match["volume"].strip(), "number": match["number"], "pages": match["pages"], "date": match["date"]}
    return {name: value for name, value in plain.items() if value}


def springer(row: Row) -> Row:
    """A row of Springer's CSV, whose authors are glued together."""
    names: list[str] = []
    for part in GLUED.split(str(row.get("Authors") or "")):
        if names and (" " not in part or " " not in names[-1]):  # Ronald McDonald is one
            names[-1] += part
        else:
            names.append(part)
    return {**row, "Authors": names, "volume": row.get("Journal Volume"), "number": row.get("Journal Issue")}


def publish_or_perish(row: Row) -> Row:
    """A row of Publish or Perish, whose source is the journal."""
    return {**row, "venue": row.get("Source"), "authors": row.get("Authors")}
