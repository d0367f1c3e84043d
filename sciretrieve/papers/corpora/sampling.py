"""A sample of a corpus, spread over it, for estimates.

A corpus of up to 64 MB is read to its end, and so is what one with a limit takes in: then all is known of its papers. Of a larger one,
up to 16 files are read, and of Parquet and plain JSON Lines only some rows at up to 16 places; other formats cannot be entered in the
middle, so such files are read to their end. Rows that were not read are counted where that is cheap, else files are taken to have
as many per byte as those that were read.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ...files.schema import concat, integers
from ...files.streams import is_compressed, size_of
from . import parquet
from .corpus import Corpus
from .formats import BEIR, JSON_LINES, PARQUET, format_of
from .papers import Batch, papers
from .raw import BATCH_ROWS, RawBatch, Rejected

WHOLE = 64 << 20
"""Bytes of files up to which all of a corpus is read."""
PLACES = 16
"""Files, or places in files, that are read of a larger one."""
PLACE_ROWS, PLACE_BYTES = BATCH_ROWS, 1 << 20
"""What is read at a place: rows of Parquet, bytes of JSON Lines."""
LINES = (JSON_LINES, BEIR)
COUNTED = (PARQUET, *LINES)
"""Formats whose rows are counted without parsing them, in files that are not compressed."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Some papers of a corpus, in its order, and what is known of all.

    Attributes:
        papers: the sample.
        rows: how many rows the corpus has, or, with a limit, those up to it.
        read: how many of these were read; all, unless the corpus is large.
        accepted: how many of the rows that were read are papers.
        bytes: what these papers take in memory.
        seconds: how long reading all rows takes, going by those that were read.
        first_rejected: the first row that is none.
    """

    papers: pa.Table
    rows: int
    read: int
    accepted: int
    bytes: int
    seconds: float
    first_rejected: Rejected | None

    @property
    def expected(self) -> int:
        """How many papers the corpus has: known if all of it was read, else taken to be as many per row as in what was."""
        return round(self.rows * self.accepted / self.read) if self.read else 0


def sampled(corpus: Corpus, most: int, limit: int | None, listen: Callable[[Batch], None]) -> Sample:
    """Take a sample of at most `most` papers of a corpus, of its first `limit` papers if there is a limit.

    `listen` is called with each batch of papers that is read.

    Raises:
        InvalidRequest, NotFound: the corpus cannot be read.
    """
    start = time.perf_counter()
    raw = _Counted(corpus, whole=limit is not None or sum(map(size_of, corpus.files)) <= WHOLE)
    batches = corpus.batches() if raw.whole else papers(iter(raw), corpus.columns, corpus.textless)
    thinned = _Thinned(most)
    rows = size = 0
    first_rows, first_seconds = 0, 0.0  # the first batch also takes what is done once: imports
    first_rejected: Rejected | None = None
    for batch in batches:
        table = batch.papers if limit is None else batch.papers.slice(0, limit - thinned.seen)
        listen(Batch(batch.source, table, batch.fields, batch.rejected))
        rows += len(table) + len(batch.rejected)
        size += table.nbytes
        first_rejected = first_rejected or next(iter(batch.rejected), None)
        thinned.add(table)
        if not first_rows:
            first_rows, first_seconds = rows, time.perf_counter() - start
        if limit is not None and thinned.seen >= limit:
            break
    seconds = time.perf_counter() - start
    all_rows = rows if raw.whole else raw.rows()
    if rows:
        per_row = (seconds - first_seconds) / (rows - first_rows) if rows > first_rows else seconds / rows
        seconds += per_row * (all_rows - rows)
    return Sample(thinned.table(), all_rows, rows, thinned.seen, size, seconds, first_rejected)


class _Thinned:
    """Keeps evenly spaced rows of tables, however many come: whenever there are too many, every other one is dropped."""

    def __init__(self, most: int) -> None:
        self._most, self._step = most, 1
        self._tables: list[pa.Table] = []
        self._kept = 0
        self.seen = 0

    def add(self, table: pa.Table) -> None:
        """See the next rows."""
        rows = np.arange(-self.seen % self._step, len(table), self._step)
        self._tables.append(table.take(integers(rows)))
        self._kept += len(rows)
        self.seen += len(table)
        while self._kept > self._most:
            kept = concat(self._tables)
            self._tables = [kept.take(integers(np.arange(0, len(kept), 2)))]
            self._kept = len(self._tables[0])
            self._step *= 2

    def table(self) -> pa.Table:
        """The rows that are kept."""
        return concat(self._tables).combine_chunks() if self._tables else pa.table({})


class _Counted:
    """The rows of a sample of a large corpus; and, when they were read, how many rows all of it has."""

    def __init__(self, corpus: Corpus, *, whole: bool) -> None:
        self.whole = whole
        self._files = corpus.files
        places = np.linspace(0, len(corpus.files) - 1, min(PLACES, len(corpus.files))).astype(int)
        self._read = [corpus.files[place] for place in places]
        self._rows: dict[Path, int] = {}
        """Of the files that were read to their end."""

    def __iter__(self) -> Iterator[RawBatch]:
        places = PLACES // len(self._read)
        for file in self._read:
            format = format_of(file)
            if format is PARQUET:
                yield from parquet.heads(file, places, PLACE_ROWS)
            elif format in LINES and not is_compressed(file) and size_of(file) > 2 * places * PLACE_BYTES:
                yield from _lines_at(file, places)
            else:
                self._rows[file] = 0
                for batch in format.read(file):
                    self._rows[file] += batch.table.num_rows + len(batch.rejected)
                    yield batch

    def rows(self) -> int:
        """How many rows the corpus has: counted, or, of files that cannot be counted without reading, by their size."""
        counts = {file: format.count(file) for file in self._files if (format := format_of(file)) in COUNTED and not is_compressed(file)}
        others = [file for file in self._files if file not in counts]
        read = [file for file in others if file in self._rows]
        rows_per_byte = sum(self._rows[file] for file in read) / max(sum(map(size_of, read)), 1)
        return sum(count or 0 for count in counts.values()) + round(rows_per_byte * sum(map(size_of, others)))


def _lines_at(file: Path, places: int) -> Iterator[RawBatch]:
    """The rows of some blocks of whole lines, spread over a file, each read as if it were a file."""
    with tempfile.TemporaryDirectory() as folder, file.open("rb") as source:
        block = Path(folder) / file.name
        for place in range(places):
            source.seek(place * size_of(file) // places)
            if place:
                source.readline()  # it begins before the place
            block.write_bytes(b"".join(source.readlines(PLACE_BYTES)))
            yield from format_of(file).read(block)
