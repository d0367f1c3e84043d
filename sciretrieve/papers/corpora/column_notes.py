"""Notes on which columns of a corpus are read as what, so that no abstract is lost silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from ...base.wording import counted
from ...files.schema import FIELD_NAMES
from ..bibliographies.bibtex_entries import ENTRY
from ..bibliographies.csl_items import ITEM
from ..bibliographies.ris_records import RECORD
from .papers import Batch

LONG = 200
"""The mean length in characters above which a column's texts look like abstracts."""
ENTRIES = {ENTRY, RECORD, ITEM}
"""Columns with whole bibliography entries, which are long but not abstracts."""
LACKING: Mapping[str, Callable[[pa.Table], pa.ChunkedArray]] = {
    "abstract": lambda papers: pc.equal(papers["abstract"], ""),
    "year": lambda papers: pc.is_null(papers["year"]),
    "authors": lambda papers: pc.equal(pc.fill_null(pc.list_value_length(papers["authors"]), 0), 0),
}
"""What is worth saying that papers lack, and which of a table do."""


class Reading:
    """Is called with each batch of a corpus; as a text, it says how many papers there are, and what they lack."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._sources: set[str] = set()
        self._notes: set[str] = set()
        self._papers = 0
        self._lacking: Counter[str] = Counter()

    def __str__(self) -> str:
        counts = ", ".join(f"{self._lacking[name]:,} without {name}" for name in LACKING if self._lacking[name])
        papers = counted(self._papers, "paper")
        return f"of {papers}, {counts}" if counts else f"{papers}, all with abstract, year and authors"

    def __call__(self, batch: Batch) -> None:
        """Count its papers; for a new source, note how its columns are read, unless an earlier source had the same note."""
        self._papers += len(batch.papers)
        self._lacking.update({name: _count(lacking(batch.papers)) for name, lacking in LACKING.items()})
        if batch.source not in self._sources and len(batch.papers):
            self._sources.add(batch.source)
            for note in _notes(batch):
                if note not in self._notes:
                    self._notes.add(note)
                    self._note(note)


def _count(flags: pa.ChunkedArray) -> int:
    return int(pc.sum(flags).as_py() or 0)


def _notes(batch: Batch) -> list[str]:
    made = {} if "id" in batch.fields else {"id": ("a digest of the record (--columns id= names a column of ids)",)}
    mapping = ", ".join(f"{field} ← {' or '.join(columns)}" for field, columns in {**made, **batch.fields}.items())
    notes = [f"read as: {mapping}"]
    if (column := _like_abstracts(batch.papers)) is not None:
        notes.append(f"most papers have no abstract, but the column {column!r} looks like abstracts: name it with --columns abstract=")
    return notes


def _like_abstracts(papers: pa.Table) -> str | None:
    """The further column with the longest texts, if they are long and most papers have no abstract."""
    if 2 * _count(LACKING["abstract"](papers)) <= len(papers):
        return None
    names = [name for name in papers.column_names if name not in {*FIELD_NAMES, *ENTRIES} and pa.types.is_string(papers[name].type)]
    lengths = {name: pc.mean(pc.utf8_length(papers[name])).as_py() or 0 for name in names}
    longest_column = max(lengths, key=lambda name: lengths[name], default=None)
    return longest_column if longest_column is not None and lengths[longest_column] > LONG else None
