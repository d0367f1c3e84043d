"""Answers of the tools that look papers up: records, bibliography entries, citations, and the list of indexes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from ...answers.profiles import citations_of
from ...base.types import Paper, Rows
from ...base.wording import as_json, plain
from ...papers.bibliographies import bibtex_entries, csl_items, ris_records
from ...papers.bibliographies.addresses import address_of
from ...papers.bibliographies.author_names import byline, names_of
from ...papers.bibliographies.reference_lists import markdown, reference
from ..facts import facts_of
from .paging import AnyResult, Ask, page
from .results import (
    DetailedPapers,
    Direction,
    Entries,
    Entry,
    Format,
    IndexList,
    Item,
    ListedIndex,
    Missing,
    PaperDetails,
    Work,
    Works,
    cut,
)
from .shelf import Shelf

LONGEST_TITLE = 300
LONGEST_VALUE = 500
LONGEST_ABSTRACT = 6000
"""The most characters of a paper's fields, so that a record fits into the usual budget."""
AUTHORS = 30
"""The most authors of a paper that are named."""
LISTED = 20
"""The most values of a list that are shown."""
NUMBER = re.compile(r"^\d+\. ")


def records(shelf: Shelf, names: Sequence[str], ask: Ask) -> DetailedPapers:
    """A page of papers by name, and of the unknown names."""
    rows, missing = shelf.named(names)

    def make(part: slice) -> list[PaperDetails]:
        return list(map(_record, shelf.names(rows[part]), shelf.index.snapshot.papers_at(rows[part])))

    return _named(shelf, rows, missing, ask, make, DetailedPapers(count=len(rows) + len(missing), papers=[], missing=[]))


def _named(
    shelf: Shelf, rows: Rows, missing: Sequence[Missing], ask: Ask, make: Callable[[slice], Sequence[Item]], frame: AnyResult
) -> AnyResult:
    """A page of items made from some papers, followed by the unknown names."""

    def items(places: range) -> list[Item]:
        start, stop = (max(place - len(rows), 0) for place in (places.start, places.stop))
        return [*make(slice(places.start, places.stop)), *missing[start:stop]]

    return page(ask, shelf.state, [*shelf.names(rows), *(item.name for item in missing)], items, frame)


def _record(name: str, paper: Paper) -> PaperDetails:
    authors = [cut(name.text, LONGEST_VALUE) for name in names_of(paper)]
    more = [f"and {len(authors) - AUTHORS} more"] * (len(authors) > AUTHORS)
    return PaperDetails(
        id=name,
        title=cut(paper.title, LONGEST_TITLE) or "(no title)",
        authors=[*authors[:AUTHORS], *more],
        year=paper.year,
        venue=cut(paper.venue or "", LONGEST_VALUE),
        address=address_of(paper) or "",
        abstract=cut(paper.abstract, LONGEST_ABSTRACT),
        others={key: _shortened(value) for key, value in plain(paper.extra).items() if value not in (None, "", [])},
    )


def _shortened(value: Any) -> Any:
    """A column's value as JSON; long texts and lists are cut."""
    if isinstance(value, str):
        return cut(value, LONGEST_VALUE)
    if isinstance(value, list):
        more = [f"and {len(value) - LISTED:,} more"] * (len(value) > LISTED)
        return [*map(_shortened, value[:LISTED]), *more]
    return cut(as_json(value), LONGEST_VALUE) if isinstance(value, dict) else value


def entries(shelf: Shelf, names: Sequence[str], format: Format, ask: Ask) -> Entries:
    """A page of bibliography entries, and of the unknown names."""
    rows, missing = shelf.named(names)
    entry_texts = _entries(shelf.index.snapshot.papers_at(rows), format)

    def make(part: slice) -> list[Entry]:
        return [Entry(id=name, key=key, entry=text) for name, (key, text) in zip(shelf.names(rows[part]), entry_texts[part], strict=True)]

    frame = Entries(format=format, count=len(rows) + len(missing), entries=[], missing=[])
    return _named(shelf, rows, missing, ask, make, frame)


def _entries(papers: Sequence[Paper], format: Format) -> list[tuple[str, str]]:
    """The key and the text of each paper's entry, without its abstract, which would take most of the room."""
    papers = [replace(paper, abstract="") if paper.title else paper for paper in papers]
    if format == "bibtex":
        return list(zip(bibtex_entries.keys(papers), (f"{entry}\n" for entry in bibtex_entries.entries(papers)), strict=True))
    if format == "csl-json":
        return [(str(item["id"]), as_json(item)) for item in csl_items.items(papers)]
    if format == "ris":
        return [("", record) for record in ris_records.records(papers)]
    if format == "markdown":
        return [("", NUMBER.sub("- ", line)) for line in markdown(papers)]
    return [("", reference(paper)) for paper in papers]


def works(shelf: Shelf, name: str, direction: Literal["both", "cites", "cited_by"], ask: Ask) -> Works:
    """A page of the works that a paper cites, and of papers that cite it. Raises as `answers.profiles.citations_of`."""
    row = shelf.index.named_rows([name])
    (paper,), (own_name,) = shelf.index.snapshot.papers_at(row), shelf.names(row)
    found = citations_of(shelf.index, own_name)
    cites = [_work("cites", *pair) for pair in zip(found.cites_names, found.cites, strict=True)]
    cited_by = [_work("cited_by", *pair) for pair in zip(found.cited_by_names, found.cited_by, strict=True)]
    shown = [work for work in (*cites, *cited_by) if direction in ("both", work.direction)]

    frame = Works(
        id=own_name,
        title=cut(paper.title, LONGEST_TITLE) or "(no title)",
        cites=len(cites),
        cites_indexed=sum(bool(work.id) for work in cites),
        cited_by=len(cited_by),
        works=[],
    )
    names = [f"{work.direction} {work.id or work.title}" for work in shown]
    return page(ask, shelf.state, names, lambda places: shown[places.start : places.stop], frame)


def _work(direction: Direction, name: str, work: object) -> Work:
    """A paper by its name in the index, or a reference to a work outside it."""
    if isinstance(work, Paper):
        title = cut(work.title, LONGEST_TITLE) or "(no title)"
        return Work(direction=direction, id=name, title=title, authors=cut(byline(work), LONGEST_TITLE), year=work.year)
    return Work(direction=direction, title=cut(str(work), LONGEST_TITLE))


def indexes(shelf: Shelf, ask: Ask) -> IndexList:
    """A page of the indexes."""
    names, members = shelf.index.names, shelf.index.members

    def items(places: range) -> list[ListedIndex]:
        return [ListedIndex(**facts_of(names[place], members[place])) for place in places]

    return page(ask, shelf.state, names, items, IndexList(count=len(names), indexes=[]))
