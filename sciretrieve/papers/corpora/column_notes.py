"""Notes on which columns of a corpus are read as what, so that no abstract is lost silently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import pyarrow as pa
import pyarrow.compute as pc

from ...files.schema import FIELD_NAMES
from ..bibliographies.bibtex_entries import ENTRY
from ..bibliographies.csl_items import ITEM
from ..bibliographies.ris_records import RECORD
from .papers import Batch

LONG = 200
"""The mean length in characters above which a column's texts look like abstracts."""
ENTRIES = {ENTRY, RECORD, ITEM}
"""Columns with whole bibliography entries, which are long but not abstracts."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many papers there are, and how many of them lack an abstract, a year or authors. Adds up over batches."""

    papers: int = 0
    abstract: int = 0
    year: int = 0
    authors: int = 0

    @classmethod
    def of(cls, papers: pa.Table) -> Coverage:
        """Count in a table with the columns of `files.schema.PAPER_FIELDS`."""
        lengths = pc.fill_null(pc.list_value_length(papers["authors"]), 0)
        blanks = (pc.equal(papers["abstract"], ""), pc.is_null(papers["year"]), pc.equal(lengths, 0))
        return cls(len(papers), *(pc.sum(blank).as_py() or 0 for blank in blanks))

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def __str__(self) -> str:
        missing_counts = {"abstract": self.abstract, "year": self.year, "authors": self.authors}
        counts = ", ".join(f"{count:,} without {name}" for name, count in missing_counts.items() if count)
        papers = f"{self.papers:,} paper{'s' * (self.papers != 1)}"
        return f"of {papers}, {counts}" if counts else f"{papers}, all with abstract, year and authors"


class Reading:
    """Is called with each batch of a corpus.

    Attributes:
        coverage: of the papers so far.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._sources: set[str] = set()
        self._notes: set[str] = set()
        self.coverage = Coverage()

    def __call__(self, batch: Batch) -> None:
        """Count its papers; for a new source, note how its columns are read, unless an earlier source had the same note."""
        self.coverage += Coverage.of(batch.papers)
        if batch.source not in self._sources and len(batch.papers):
            self._sources.add(batch.source)
            for note in _notes(batch):
                if note not in self._notes:
                    self._notes.add(note)
                    self._note(note)


def _notes(batch: Batch) -> list[str]:
    made = {} if "id" in batch.fields else {"id": ("a digest of the record (--columns id= names a column of ids)",)}
    mapping = ", ".join(f"{field} ← {' or '.join(columns)}" for field, columns in {**made, **batch.fields}.items())
    notes = [f"read as: {mapping}"]
    if (column := _like_abstracts(batch.papers)) is not None:
        notes.append(f"most papers have no abstract, but the column {column!r} looks like abstracts: name it with --columns abstract=")
    return notes


def _like_abstracts(papers: pa.Table) -> str | None:
    """The further column with the longest texts, if they are long and most papers have no abstract."""
    if 2 * Coverage.of(papers).abstract <= len(papers):
        return None
    names = [name for name in papers.column_names if name not in {*FIELD_NAMES, *ENTRIES} and pa.types.is_string(papers[name].type)]
    lengths = {name: pc.mean(pc.utf8_length(papers[name])).as_py() or 0 for name in names}
    longest_column = max(lengths, key=lambda name: lengths[name], default=None)
    return longest_column if longest_column is not None and lengths[longest_column] > LONG else None
