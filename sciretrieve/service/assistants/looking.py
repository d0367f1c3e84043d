"""What tools that look papers up answer: records, entries for a bibliography, citations, and which indexes there are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow.compute as pc

from ...answers.cited import citations_of
from ...base.types import Paper
from ...base.wording import as_json, plain
from ...papers.bibliographies import bibtex_entries, csl_items, ris_records
from ...papers.bibliographies.addresses import address_of
from ...papers.bibliographies.author_names import byline, people
from ...papers.bibliographies.reference_lists import markdown, reference
from ...query.index import Index
from .paging import Ask, page
from .results import (
    Direction,
    Entries,
    Entry,
    Format,
    IndexFacts,
    IndexList,
    Item,
    Missing,
    PaperRecord,
    PaperRecords,
    Work,
    Works,
    cut,
)
from .shelf import Shelf

LONGEST_TITLE = 300
LONGEST_VALUE = 500
LONGEST_ABSTRACT = 6000
"""Characters of a paper's fields; a record has room in the usual budget then."""
AUTHORS = 30
"""Authors of a paper that are named."""
LISTED = 20
"""Values of a list that are shown."""
NUMBER = re.compile(r"^\d+\. ")


def records(shelf: Shelf, names: Sequence[str], ask: Ask) -> PaperRecords:
    """A page of papers by their names, and of the names that are none."""
    rows, missing = shelf.named(names)
    own_names = shelf.names(rows)

    def items(places: range) -> list[PaperRecord | Missing]:
        known = range(places.start, min(places.stop, len(rows)))
        papers = shelf.index.snapshot.papers_at(rows[known.start : max(known.stop, known.start)])
        found = [_record(own_names[place], paper) for place, paper in zip(known, papers, strict=True)]
        return [*found, *_part(missing, places, len(rows))]

    def result(shown: Sequence[Item]) -> PaperRecords:
        papers = [item for item in shown if isinstance(item, PaperRecord)]
        lost = [item for item in shown if isinstance(item, Missing)]
        return PaperRecords(count=len(rows) + len(missing), papers=papers, missing=lost)

    return page(ask, shelf.state, [*own_names, *(item.name for item in missing)], items, result)


def _part(missing: Sequence[Missing], places: range, first: int) -> Sequence[Missing]:
    """The names without a paper at some places of an answer in which they are the last, from `first` on."""
    return missing[max(places.start - first, 0) : max(places.stop - first, 0)]


def _record(name: str, paper: Paper) -> PaperRecord:
    authors = [cut(author, LONGEST_VALUE) for author in people(paper.authors)]
    more = [f"and {len(authors) - AUTHORS} more"] * (len(authors) > AUTHORS)
    return PaperRecord(
        id=name,
        title=cut(paper.title, LONGEST_TITLE) or "(no title)",
        authors=[*authors[:AUTHORS], *more],
        year=paper.year,
        venue=cut(paper.venue or "", LONGEST_VALUE),
        address=address_of(paper) or "",
        abstract=cut(paper.abstract, LONGEST_ABSTRACT),
        others={key: _shown(value) for key, value in plain(paper.extra).items() if value not in (None, "", [])},
    )


def _shown(value: Any) -> Any:
    """A value of a column, as JSON has it, of which a long text or list has only its beginning."""
    if isinstance(value, str):
        return cut(value, LONGEST_VALUE)
    if isinstance(value, list):
        more = [f"and {len(value) - LISTED:,} more"] * (len(value) > LISTED)
        return [*map(_shown, value[:LISTED]), *more]
    return cut(as_json(value), LONGEST_VALUE) if isinstance(value, dict) else value


def entries(shelf: Shelf, names: Sequence[str], format: Format, ask: Ask) -> Entries:
    """A page of entries for a bibliography, and of the names that are none of a paper."""
    rows, missing = shelf.named(names)
    own_names, made = shelf.names(rows), _entries(shelf.index.snapshot.papers_at(rows), format)

    def items(places: range) -> list[Entry | Missing]:
        shown = [Entry(id=own_names[place], key=made[place][0], entry=made[place][1]) for place in places if place < len(made)]
        return [*shown, *_part(missing, places, len(made))]

    def result(shown: Sequence[Item]) -> Entries:
        known = [item for item in shown if isinstance(item, Entry)]
        lost = [item for item in shown if isinstance(item, Missing)]
        return Entries(format=format, count=len(made) + len(missing), entries=known, missing=lost)

    return page(ask, shelf.state, [*own_names, *(item.name for item in missing)], items, result)


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
    """A page of what a paper cites, and what cites it. Raises as `answers.cited.citations_of`."""
    row = shelf.index.named_rows([name])
    (paper,), (own_name,) = shelf.index.snapshot.papers_at(row), shelf.names(row)
    found = citations_of(shelf.index, own_name)
    cites = [_work("cites", *pair) for pair in zip(found.cites_names, found.cites, strict=True)]
    cited_by = [_work("cited_by", *pair) for pair in zip(found.cited_by_names, found.cited_by, strict=True)]
    shown = [work for work in (*cites, *cited_by) if direction in ("both", work.direction)]

    def result(part: Sequence[Work]) -> Works:
        return Works(
            id=own_name,
            title=cut(paper.title, LONGEST_TITLE) or "(no title)",
            cites=len(cites),
            cites_indexed=sum(bool(work.id) for work in cites),
            cited_by=len(cited_by),
            works=list(part),
        )

    names = [f"{work.direction} {work.id or work.title}" for work in shown]
    return page(ask, shelf.state, names, lambda places: shown[places.start : places.stop], result)


def _work(direction: Direction, name: str, work: object) -> Work:
    """A paper by its name in the index, or a reference to a work that the index does not have."""
    if isinstance(work, Paper):
        title = cut(work.title, LONGEST_TITLE) or "(no title)"
        return Work(direction=direction, id=name, title=title, authors=cut(byline(work), LONGEST_TITLE), year=work.year)
    return Work(direction=direction, title=cut(str(work), LONGEST_TITLE))


def indexes(shelf: Shelf, ask: Ask) -> IndexList:
    """A page of what there is of each index."""
    names = shelf.index.names

    def items(places: range) -> list[IndexFacts]:
        return [_facts(names[place], shelf.index.members[place]) for place in places]

    def result(shown: Sequence[IndexFacts]) -> IndexList:
        return IndexList(count=len(names), indexes=list(shown))

    return page(ask, shelf.state, names, items, result)


def _facts(name: str, index: Index) -> IndexFacts:
    columns = {field.name: str(field.type) for field in index.snapshot.columns}
    years = [_years(table["year"]) for table in index.snapshot.tables(["year"]) if "year" in table.column_names]
    known = np.array([year for pair in years for year in pair if year is not None], np.int64)
    return IndexFacts(
        name=name,
        papers=len(index),
        columns=columns,
        first_year=int(known.min()) if len(known) else None,
        last_year=int(known.max()) if len(known) else None,
        modes=list(index.modes),
        references=index.snapshot.has_references,
    )


def _years(column: Any) -> tuple[int | None, int | None]:
    found = pc.min_max(column).as_py()
    return found["min"], found["max"]
