"""A sample of a corpus, spread over it, for estimates.

A corpus of up to 64 MB is read to its end, and so is one with a limit, or one whose rows cannot be counted without reading them. Of
another one the first rows of up to 16 files are read, and all rows counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa

from ...files.schema import concat, integers
from ...files.streams import size_of
from .corpus import Corpus
from .formats import format_of
from .papers import Batch, papers
from .raw import RawBatch, Rejected

WHOLE = 64 << 20
"""Bytes of files up to which all of a corpus is read."""
PLACES = 16
"""Batches of rows that are read of a larger one, from as many files if there are so many."""


@dataclass(frozen=True, slots=True)
class CorpusSample:
    """Some papers of a corpus, in its order, and what is known of all.

    Attributes:
        papers: the sample.
        rows: how many rows the corpus has, or, with a limit, those up to it.
        expected: how many of them are papers, going by those that were read.
        seconds: how long reading all rows takes.
        rejected: how many of the rows that were read are no papers.
        first_rejected: the first of these.
    """

    papers: pa.Table
    rows: int
    expected: int
    seconds: float
    rejected: int
    first_rejected: Rejected | None


def sampled(corpus: Corpus, most: int, limit: int | None, listen: Callable[[Batch], None]) -> CorpusSample:
    """Take a sample of at most `most` papers of a corpus, of its first `limit` papers if there is a limit.

    `listen` is called with each batch of papers that is read.

    Raises:
        InvalidRequest, NotFound: the corpus cannot be read.
    """
    start = time.perf_counter()
    count = None if limit is not None or sum(map(size_of, corpus.files)) <= WHOLE else corpus.count()
    batches = corpus.batches() if count is None else papers(_beginnings(corpus), corpus.columns, corpus.textless)
    tables, step, seen, rejected, first = list[pa.Table](), 1, 0, 0, None
    for batch in batches:
        table = batch.papers if limit is None else batch.papers.slice(0, limit - seen)
        listen(Batch(batch.source, table, batch.fields, batch.rejected))
        rejected += len(batch.rejected)
        first = first or next(iter(batch.rejected), None)
        tables.append(table.take(integers(np.arange(-seen % step, len(table), step))))
        seen += len(table)
        while sum(map(len, tables)) > most:
            kept = concat(tables)
            tables, step = [kept.take(integers(np.arange(0, len(kept), 2)))], 2 * step
        if limit is not None and seen >= limit:
            break
    read = seen + rejected
    rows = read if count is None else count
    sample = concat(tables).combine_chunks() if tables else pa.table({})
    times = rows / max(read, 1)
    return CorpusSample(sample, rows, round(seen * times), (time.perf_counter() - start) * times, rejected, first)


def _beginnings(corpus: Corpus) -> Iterator[RawBatch]:
    """The first rows of files from all over the corpus."""
    files = [corpus.files[place] for place in np.unique(np.linspace(0, len(corpus.files) - 1, PLACES).astype(int))]
    for file in files:
        yield from islice(format_of(file).read(file), PLACES // len(files))
