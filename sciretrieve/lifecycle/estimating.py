"""Estimating the cost of an index from a sample of its papers: a shard of the sample is built in a temporary folder.

A corpus is read completely if it has up to 64 MB, a limit, or rows that can only be counted by reading. Otherwise the first rows of up to
16 files are read, and all rows are counted.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa

from ..base.arguments import checked
from ..base.choices import Metric
from ..base.errors import InvalidRequest
from ..base.forms import AsJson
from ..base.system import peak_memory
from ..encoders import has_tokens, packing_of, reads_texts
from ..files.schema import concat, integers
from ..files.streams import size_of
from ..matching.dense.ann import NAMED
from ..matching.dense.choosing import resident_bytes
from ..matching.late import Packing
from ..matching.lexical import Analyzer
from ..options import BuildSettings, changed
from ..options.keywords import BuildKeywords
from ..papers.corpora import ColumnMap, Corpus, Reading, Sources, Tally, open_corpus
from ..papers.corpora.formats import format_of
from ..papers.corpora.papers import first
from ..papers.corpora.papers import papers as papers_of
from ..papers.corpora.raw import RawBatch
from ..progress import shown
from ..protocols import Encoder, Progress, ignore_advance
from ..storage.shards import cut_shard, fill
from ..storage.shards.cutting import SHARD_BYTES, contents
from .building import BuildComponents, chosen_dense, keeps_tokens
from .local_workers import processes_for

SAMPLE = 4096
"""Most papers in a sample, unless the encoder's window is larger."""
WHOLE = 64 << 20
"""Most bytes of files for which the whole corpus is read."""
PLACES = 16
"""Batches of rows read from a larger corpus, each from another file if possible."""
COLD, WARM = 16, 64
"""Papers in the first two trials."""
LONG_ENOUGH = 5.0
"""Seconds of a trial after which no larger one is made."""
MEMORY_OF_POSTINGS = 8
"""Memory for postings while a shard is filled, in multiples of their size on disk."""
MEMORY_OF_ANN = 1.65
"""Memory for a FAISS index while it is built, in multiples of its size on disk."""
WORDS = ("postings.arrow", "lengths.arrow", "fields.arrow")
ID_MEMORY = 32
"""Bytes of memory for each id of a corpus being read."""
PROCESS_MEMORY = 120_000_000
"""Bytes of memory of a `LocalWorkers` process before it fills a shard."""


@dataclass(frozen=True, slots=True)
class Estimate(AsJson):
    """Cost of building an index.

    Attributes:
        rows: number of corpus rows that would be read.
        papers: number of papers among them.
        sampled: number of papers in the sample.
        shards: number of shards.
        encoder: the encoder's `name`, `dim` and `precision`; None without one.
        metric: how vectors would be compared; None without an encoder.
        dense: the dense index type: flat, hnsw, ivf, a FAISS factory string, or none.
        seconds: for reading and filling the shards, without building FAISS indexes.
        bytes: on disk.
        memory: peak memory in bytes of the process and its children, without a GPU's.
    """

    rows: int
    papers: int
    sampled: int
    shards: int
    encoder: Mapping[str, Any] | None
    metric: Metric | None
    dense: str
    seconds: float
    bytes: int
    memory: int


@checked
def estimate(
    corpus: Sources | Corpus,
    settings: BuildSettings = BuildSettings(),
    *,
    columns: ColumnMap | None = None,
    progress: Progress | bool = True,
    **changes: Unpack[BuildKeywords],
) -> Estimate:
    """Estimate the cost of `build` with the same arguments, on this machine under its present load. Nothing is built.

    If the encoder has to be converted for this machine first, that is done now and not part of the estimate.

    Args:
        corpus, settings, columns, changes: as in `build`.
        progress: receives progress; by default a progress bar on a terminal.

    Raises:
        InvalidRequest, NotFound: the corpus or a setting is invalid, or there is no paper to index.
        Unavailable: the encoder's files cannot be downloaded or found.

    >>> cost = sr.estimate("papers.jsonl", encoder=None)
    >>> cost.papers
    100
    """
    settings = changed(settings, changes)
    opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
    with shown(progress) as listener:
        components = BuildComponents.of(settings)
        most = max(SAMPLE, components.encoder.window if components.encoder else 0)
        return _estimated(_sampled(opened_corpus, most, settings.limit, listener), settings, components, listener)


class _Sample(NamedTuple):
    """Sampled papers, in order and spread over the corpus; its numbers of rows and papers; and the cost of reading it."""

    papers: pa.Table
    rows: int
    expected: int
    seconds: float


def _sampled(corpus: Corpus, most: int, limit: int | None, progress: Progress) -> _Sample:
    """A sample of at most `most` papers of a corpus, or of its first `limit` papers. Raises as `estimate`."""
    start, reading = time.perf_counter(), Reading(progress.note if corpus.has_columns else lambda _: None)
    progress.start(None, unit="papers read")
    count = None if limit is not None or sum(map(size_of, corpus.files)) <= WHOLE else corpus.count()
    batches = corpus.batches() if count is None else papers_of(_beginnings(corpus), corpus.columns, corpus.textless)
    tables, step, seen, rejected = list[pa.Table](), 1, 0, Tally()
    for batch in first(batches, limit):
        reading(batch)
        progress.advance(len(batch.papers))
        rejected(batch.rejected)
        tables.append(batch.papers.take(integers(np.arange(-seen % step, len(batch.papers), step))))
        seen += len(batch.papers)
        while sum(map(len, tables)) > most:
            kept = concat(tables)
            tables, step = [kept.take(integers(np.arange(0, len(kept), 2)))], 2 * step
    if not seen:
        why = "it is empty"
        if rejected.count:
            why = f"rejected rows: {rejected.count:,}, the first (row {rejected.first[0].row}) for {rejected.first[0].reason}"
        raise InvalidRequest(f"the corpus has no paper to index; {why}")
    rows = seen + rejected.count if count is None else count
    times = rows / (seen + rejected.count)
    return _Sample(concat(tables).combine_chunks(), rows, round(seen * times), (time.perf_counter() - start) * times)


def _beginnings(corpus: Corpus) -> Iterator[RawBatch]:
    """First rows of files spread over the corpus."""
    files = [corpus.files[place] for place in np.unique(np.linspace(0, len(corpus.files) - 1, PLACES).astype(int))]
    for file in files:
        yield from islice(format_of(file).read(file), PLACES // len(files))


class _Trial(NamedTuple):
    """A shard built from some papers: the seconds it took, and the sizes of its files."""

    papers: int
    seconds: float
    files: Mapping[str, int]

    @property
    def bytes(self) -> int:
        return sum(self.files.values())


def _estimated(sample: _Sample, settings: BuildSettings, components: BuildComponents, progress: Progress) -> Estimate:
    papers, encoder, packing = sample.expected, components.encoder, None
    dim = encoder.dim if encoder else None
    dense = chosen_dense(settings.dense, dim, papers, settings.memory, settings.lexical is not None, progress)
    if encoder is not None and keeps_tokens(settings, encoder, papers, progress):
        packing = packing_of(encoder)
    elif has_tokens(encoder):
        encoder = BuildComponents.of(replace(settings, late=False)).encoder
    if encoder is not None:
        encoder.expect(papers)
        progress.note(f"trying {encoder.name} in {encoder.precision}")
    small, large = _trials(sample, encoder, components.analyzer, packing)
    more, beyond = papers - large.papers, large.papers - small.papers  # no difference if the sample is as small as the first trial
    per_paper = (large.seconds - small.seconds) / beyond if beyond and large.seconds > small.seconds else large.seconds / large.papers
    size = large.bytes + more * ((large.bytes - small.bytes) / beyond if beyond else large.bytes / large.papers)
    paper_bytes = sample.papers.nbytes / len(sample.papers)
    shard = min(settings.shard_size, math.ceil(SHARD_BYTES / paper_bytes), papers)
    shards = math.ceil(papers / shard)
    ann = resident_bytes(dense if dense in NAMED else "flat", shard, dim) if dim and dense != "flat" else 0
    growth = paper_bytes + MEMORY_OF_POSTINGS * sum(large.files.get(name, 0) for name in WORDS) / large.papers
    memory = peak_memory() + ID_MEMORY * papers + growth * (shard - large.papers) + MEMORY_OF_ANN * ann
    if components.analyzer is not None and not reads_texts(encoder) and (processes := processes_for([shard] * shards)) > 1:
        memory += processes * (PROCESS_MEMORY + growth * shard)
        per_paper *= 2 / (1 + processes)  # reading, and writing at the end, are not divided
    return Estimate(
        rows=sample.rows,
        papers=papers,
        sampled=len(sample.papers),
        shards=shards,
        encoder=None if encoder is None else {"name": encoder.name, "dim": encoder.dim, "precision": encoder.precision},
        metric=components.metric,
        dense=dense,
        seconds=sample.seconds + large.seconds + per_paper * more,
        bytes=round(size + ann * shards),
        memory=round(memory),
    )


def _trials(sample: _Sample, encoder: Encoder | None, analyzer: Analyzer | None, packing: Packing | None) -> tuple[_Trial, _Trial]:
    """The two largest shards built from the sample. Their size grows until the time suffices to tell the speed."""
    with tempfile.TemporaryDirectory(prefix="sciretrieve-", ignore_cleanup_errors=True) as folder:

        def made(name: str, papers: int) -> _Trial:
            rows = np.unique(np.linspace(0, len(sample.papers) - 1, papers).astype(np.int64))
            part = sample.papers.take(integers(rows)).combine_chunks()
            start = time.perf_counter()
            cut_shard(Path(folder) / f"{name}.partial", part, contents(part))
            facts = fill(Path(folder) / f"{name}.partial", 0, encoder, analyzer, ignore_advance, packing)
            return _Trial(len(rows), time.perf_counter() - start, {name: int(file["bytes"]) for name, file in facts.files.items()})

        made("first", COLD)  # also loads the encoder
        small, large = made("small", COLD), made("large", WARM)
        while large.seconds < LONG_ENOUGH and large.papers < len(sample.papers):
            small, large = large, made(str(large.papers), 4 * large.papers)
    return small, large
