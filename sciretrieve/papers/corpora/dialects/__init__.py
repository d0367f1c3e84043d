"""How a record becomes a paper: records of the great sources and programs, in the columns that `columns` recognises.

Each dialect has its own file with `fits(row)`, whether a record is of its source, and `paper(row)`, the record with what it means in
plain columns. What a dialect does not understand stays in the record's own columns, as everything does in a record of no dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..raw import Row
from . import answers, arxiv, csl, openalex, semantic_scholar, zotero


@dataclass(frozen=True, slots=True)
class Dialect:
    """The records of one source. Each has one of the columns `signs`: other records are not looked at, of which there are millions."""

    name: str
    signs: Iterable[str]
    fits: Callable[[Row], bool]
    paper: Callable[[Row], Row]


DIALECTS = (
    Dialect("OpenAlex", openalex.SIGNS, openalex.fits, openalex.paper),
    Dialect("arXiv", arxiv.SIGNS, arxiv.fits, arxiv.paper),
    Dialect("Semantic Scholar", semantic_scholar.SIGNS, semantic_scholar.fits, semantic_scholar.paper),
    Dialect("Zotero's items", ("itemType", "data"), answers.is_zotero, answers.zotero),
    Dialect("Europe PMC", answers.EUROPE_PMC, answers.is_europe_pmc, answers.europe_pmc),
    Dialect("ADS", answers.ADS, answers.is_ads, answers.ads),
    Dialect("DBLP", ("info",), answers.is_dblp, answers.dblp),
    Dialect("Scopus", answers.SCOPUS, answers.is_scopus, answers.scopus),
    Dialect("CSL-JSON or Crossref", csl.SIGNS, csl.fits, csl.paper),
    Dialect("Zotero's CSV", zotero.COLUMNS, zotero.fits, zotero.paper),
)
"""In the order in which they are asked: the most telling first."""
SIGNS = frozenset(sign for dialect in DIALECTS for sign in dialect.signs)


def plain(row: Row) -> Row:
    """A record in plain columns, whatever its dialect."""
    if SIGNS.isdisjoint(row):
        return row
    return next((dialect.paper(row) for dialect in DIALECTS if dialect.fits(row)), row)
