"""Filters of papers: by year, date, venue, kind, field of study, open access, and number of citations.

The values of all papers are read once for each snapshot, by the same functions as a paper's fields, so that filters and fields agree. A
filter for which no paper has a value is rejected; ignoring it silently would answer another question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial, reduce
from itertools import chain
from typing import Annotated, TypeAlias

import numpy as np
from fastapi import Query
from pydantic import BaseModel, Field

from ...answers.citation_counts import citation_counts
from ...answers.remembering import once_for_each
from ...base.errors import InvalidRequest
from ...base.types import Paper, Rows
from ...files.schema import letters, papers_of
from ...papers.folding import fold
from ...query.index import Index
from ...query.narrowing.typed_names import typed_names
from . import columns

YEARS = re.compile(r"(?P<year>\d{4})|(?P<first>\d{4})?-(?P<last>\d{4})?")
DATE = r"\d{4}(?:-\d\d(?:-\d\d)?)?"
DATES = re.compile(rf"(?P<first>{DATE})?(?P<span>:)?(?P<last>{DATE})?")
IDENTIFYING = ("id", "doi", "url", "venue", "year")
"""Fields of papers that may be read besides columns."""

DATED = "Dates of publication: 2019-03-05, 2019-03, 2016-03-05:2020-06-06, 2015:, :2015-01."
Dates: TypeAlias = Annotated[str | None, Query(alias="publicationDateOrYear", description=DATED)]
ByValue: TypeAlias = Mapping[str, Rows]
"""By folded value: the ascending rows of the papers with it."""


class Filters(BaseModel):
    """Filters on papers."""

    year: str | None = Field(
        None,
        description="Years of publication: 2019, 2016-2020, 2010-, -2015.",
        json_schema_extra={"pattern": r"^(\d{4}|\d{4}-(\d{4})?|-\d{4})?$"},
    )
    venue: str | None = Field(None, description="Venues, with commas between; a paper has one of them.")
    studies: str | None = Field(None, alias="fieldsOfStudy", description="Fields of study, with commas between; a paper has one of them.")
    dates: str | None = Field(
        None, alias="publicationDateOrYear", description=DATED, json_schema_extra={"pattern": rf"^({DATE}|{DATE}:({DATE})?|:{DATE})?$"}
    )
    least_cited: int | None = Field(None, alias="minCitationCount", ge=0, description="The fewest citations of a paper.")


class PaperFilters(Filters):
    """Filters on papers of a search."""

    kinds: str | None = Field(
        None, alias="publicationTypes", description="Kinds of publications, with commas between; a paper is one of them."
    )
    pdf: str | None = Field(None, alias="openAccessPdf", description="With any value, only papers with a public PDF.")


def rows_of(index: Index, asked: Filters, *more: Iterable[Rows]) -> Rows | None:
    """The ascending rows of the papers that pass all filters and further sets of rows; None without any filter. Raises InvalidRequest."""
    passing = [*_passing(index, asked), *chain(*more)]
    return reduce(partial(np.intersect1d, assume_unique=True), passing) if passing else None


def by_authors(index: Index, names: Iterable[str]) -> Iterator[Rows]:
    """For each name as people type it, the rows of the papers with such an author."""
    for name in filter(None, map(str.strip, names)):
        if typed_names(name) == [[]]:
            raise InvalidRequest(f"{name[:60]!r} is not the name of an author; give names with commas between")
        quoted = name.replace('"', " ")
        yield index.matching(f'authors:"{quoted}"')


def _passing(index: Index, asked: Filters) -> Iterator[Rows]:
    """The rows that pass each of the filters."""
    if asked.year is not None and asked.year.strip():
        yield _in_years(index, asked.year.strip())
    if (dated := in_dates(index, asked.dates)) is not None:
        yield dated
    if asked.venue is not None and asked.venue.strip():
        yield _with_any(venues(index), asked.venue, "venue", "venue")
    if asked.studies is not None and asked.studies.strip():
        yield _with_any(studies(index), asked.studies, "fieldsOfStudy", "field of study")
    if asked.least_cited is not None:
        numbers = citation_counts(index).numbers
        if not (numbers >= 0).any():
            raise _unknown("minCitationCount", "how often it is cited")
        yield np.flatnonzero(numbers >= asked.least_cited)
    if isinstance(asked, PaperFilters) and asked.kinds is not None and asked.kinds.strip():
        yield _with_any(kinds(index), asked.kinds, "publicationTypes", "kind of publication")
    if isinstance(asked, PaperFilters) and asked.pdf is not None:
        if not (known := public(index)):
            raise _unknown("openAccessPdf", "whether everybody may read it")
        yield known.get("pdf", np.empty(0, np.int64))


def _with_any(rows_with: ByValue, text: str, parameter: str, what: str) -> Rows:
    """The rows of the papers with one of some values, separated by commas; the whole text may also be one value with commas."""
    if not rows_with:
        raise _unknown(parameter, f"its {what}")
    values = [text] if fold(text.strip()) in rows_with else text.split(",")
    found = [rows_with[value] for value in {fold(value.strip()) for value in values} if value in rows_with]
    return np.unique(np.concatenate([np.empty(0, np.int64), *found]))


def _unknown(parameter: str, what: str) -> InvalidRequest:
    return InvalidRequest(f"no paper of this index says {what}, so `{parameter}` cannot narrow it; leave it out")


def _in_years(index: Index, text: str) -> Rows:
    match = YEARS.fullmatch(text)
    if match is None or text == "-":
        raise InvalidRequest(f"`year` is a year or a range, such as 2019, 2016-2020, 2010- or -2015, not {text[:60]!r}")
    first, last = (match["year"] or match[name] for name in ("first", "last"))
    return _between(index, int(first or 0) * 10_000, int(last or 9999) * 10_000 + 9999)


def in_dates(index: Index, asked: str | None) -> Rows | None:
    """The ascending rows of the papers published in a range of dates; None without one. Raises InvalidRequest."""
    if not (text := (asked or "").strip()):
        return None
    match = DATES.fullmatch(text)
    if match is None or text == ":":
        example = "2019-03-05, 2019-03, 2016-03-05:2020-06-06, 2015: or :2015-01"
        raise InvalidRequest(f"`publicationDateOrYear` is a date or a range, such as {example}, not {text[:60]!r}")
    first, last = match["first"], match["last"] if match["span"] else match["first"]
    lower, upper = (first or "").replace("-", "").ljust(8, "0"), (last or "").replace("-", "").ljust(8, "9")
    return _between(index, int(lower), int(upper))


def _between(index: Index, first: int, last: int) -> Rows:
    days = dates(index)
    return np.flatnonzero((days >= max(first, 1)) & (days <= last))


@once_for_each
def dates(index: Index) -> Rows:
    """The dates of publication, (rows,), as numbers: 20200531; the first day of the year if the day is unknown, and 0 without a year."""
    days = np.zeros(sum(shard.papers for shard in index.snapshot.shards), np.int64)
    for row, paper in _papers(index, columns.DATES):
        day = columns.publication_date(columns.columns_of(paper))
        days[row] = int(day.replace("-", "")) if day else (paper.year or 0) * 10_000 + 101 if paper.year else 0
    return days


@once_for_each
def venues(index: Index) -> ByValue:
    """The papers of each venue."""
    return _by_value(index, (), lambda paper: [paper.venue] if paper.venue else [])


@once_for_each
def kinds(index: Index) -> ByValue:
    """The papers of each kind of publication."""
    return _by_value(index, columns.TYPES, lambda paper: columns.publication_types(columns.columns_of(paper)) or [])


@once_for_each
def studies(index: Index) -> ByValue:
    """The papers of each field of study."""
    return _by_value(index, columns.STUDIES, lambda paper: columns.fields_of_study(columns.columns_of(paper)) or [])


@once_for_each
def public(index: Index) -> ByValue:
    """The papers with a public PDF, under "pdf", and those known to have none, under "none"."""

    def read(paper: Paper) -> list[str]:
        own = columns.columns_of(paper)
        if columns.open_access_pdf(paper, own) is not None:
            return ["pdf"]
        return [] if columns.is_open_access(paper, own) is None else ["none"]

    return _by_value(index, columns.ACCESS, read)


def _by_value(index: Index, names: Collection[str], read: Callable[[Paper], Iterable[str]]) -> ByValue:
    """The papers of each value that `read` returns."""
    rows_with: dict[str, list[int]] = {}
    for row, paper in _papers(index, names):
        for value in {fold(text) for text in read(paper)}:
            rows_with.setdefault(value, []).append(row)
    return {value: np.array(rows, np.int64) for value, rows in rows_with.items()}


def _papers(index: Index, names: Collection[str]) -> Iterator[tuple[int, Paper]]:
    """All papers that are not deleted, by rising row, with the columns of some names, a few thousand at a time."""
    for shard in index.snapshot.shards:
        read = [name for name in shard.schema.names if name in IDENTIFYING or letters(name) in names]
        for rows, table in shard.read_at(shard.scope.places, read):
            yield from zip((rows + shard.first).tolist(), papers_of(table), strict=True)
