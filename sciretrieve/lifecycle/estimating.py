"""What an index will cost, going by a sample of its papers: they are read, cut, encoded, and their terms counted, as a build does it.

Everything is written to a temporary folder. Sizes and times grow with papers, tokens and postings; terms by Heaps' law; FAISS indexes
as `matching.dense.costs` says. docs/performance.md compares estimates with builds.
"""

from __future__ import annotations

import math
import os
import resource
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from ..choices import Metric
from ..encoders import has_tokens, packing_of, reads_texts
from ..errors import InvalidRequest
from ..files.schema import integers, texts_of
from ..files.writing import HEADER, read_array
from ..matching.dense import ADDED_ROWS, ann_costs
from ..matching.late import Packing
from ..matching.lexical import FIELDS_FILE, Analyzer, Postings
from ..options import BuildKeywords, BuildSettings, changed
from ..papers.corpora import ColumnMap, Corpus, Reading, Sources, open_corpus
from ..papers.corpora.papers import Batch
from ..papers.corpora.sampling import Sample, sampled
from ..progress import shown
from ..protocols import Encoder, Progress, unheard
from ..storage.shards import cut_shard, fill
from ..storage.shards.cutting import SHARD_BYTES, contents
from ..types import Vectors
from .building import BuildComponents, chosen_dense, keeps_tokens
from .local_workers import processes_for

SAMPLE = 4096
"""Papers of a sample, at most, unless the encoder encodes more at once; at least half as many, if there are so many."""
COLD, WARM = 16, 64
"""Papers that are encoded before time is taken, since an encoder compiles when it is first used, and in the first trial after that."""
LONG_ENOUGH = 5.0
"""Seconds of encoding that tell the speed of an encoder: a shorter trial is repeated with twice as many papers."""
POSTING_BYTES = 7
"""A posting on disk: row, count, count in the title."""
POSTING_MEMORY, TERM_MEMORY = 57, 300
"""Bytes in memory while a shard's postings are written, for each posting and each term, by tracemalloc."""
COUNT_BYTES = 4
"""The number of a paper's token vectors on disk."""
INDEX_MEMORY = 1.65
"""Of a FAISS index, what it takes in memory while it is made."""
ID_MEMORY = 32
"""Bytes in memory for each id of a corpus that is read: its digest, and a copy while new ones are put in."""
BUSY = 0.5
"""Of the processor's cores, the share that other programs may keep busy without a word about it."""
PROCESS_MEMORY = 120_000_000
"""Bytes that a process of `LocalWorkers` has before it fills a shard."""
MANIFEST_BYTES, SHARD_ENTRY_BYTES = 6_000, 3_000
"""Bytes of the two copies of the manifest, and of a shard's entries in them and in its own file."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What building an index will take.

    Attributes:
        rows: how many rows of the corpus would be read.
        papers: how many of them are papers.
        sampled: how many papers it was estimated from.
        tokens: how many tokens the encoder would read; None if it has none, or if there is no encoder.
        truncated: how many papers are longer than the encoder reads; None as `tokens`.
        shards: how many shards there would be.
        encoder: the encoder's `name`, `dim`, `precision`, and the runtimes that it `ran_in`; None without one.
        metric: how vectors would be compared; None without an encoder.
        dense: how they would be searched: flat, hnsw, ivf, a FAISS factory string, or none.
        seconds_of: of each step, reading, cutting, encoding, terms and dense, the seconds.
        bytes_of: of each kind of file, papers, ids, vectors, tokens, postings, dense and manifests, the bytes on disk.
        memory: the most bytes that the process, with those that it starts, would have in memory at a time, without a GPU's.
    """

    rows: int
    papers: int
    sampled: int
    tokens: int | None
    truncated: int | None
    shards: int
    encoder: Mapping[str, Any] | None
    metric: Metric | None
    dense: str
    seconds_of: Mapping[str, float]
    bytes_of: Mapping[str, int]
    memory: int

    @property
    def seconds(self) -> float:
        """The time of all steps."""
        return sum(self.seconds_of.values())

    @property
    def bytes(self) -> int:
        """The size on disk of all files."""
        return sum(self.bytes_of.values())


def estimate(
    corpus: Sources | Corpus,
    settings: BuildSettings = BuildSettings(),
    *,
    columns: ColumnMap | None = None,
    progress: Progress | bool = True,
    **changes: Unpack[BuildKeywords],
) -> Estimate:
    """Estimate what `build` would take with the same arguments, on this machine as busy as it is now; nothing is built.

    The encoder is converted for this machine if it was not before, which is not part of the estimate, since the build finds it done.

    Args:
        corpus, settings, columns, changes: as in `build`.
        progress: what is told how far it is; by default a bar where a person looks, False for none.

    Raises:
        InvalidRequest, NotFound: the corpus or a setting is invalid, or there is no paper to index.
        Unavailable: the encoder's files cannot be downloaded or found.
    """
    settings = changed(settings, changes)
    opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
    with shown(progress) as listener:
        if (load := os.getloadavg()[0]) > BUSY * (cores := os.cpu_count() or 1):
            busy = f"other programs keep {load:.1f} of {cores} cores busy"
            listener.note(f"{busy}: times are for a machine that stays as busy, and alone a build takes less")
        components = BuildComponents.of(settings)
        reading = Reading(listener.note if opened_corpus.has_columns else lambda _: None)

        def read(batch: Batch) -> None:
            reading(batch)
            listener.advance(len(batch.papers))

        listener.start(None, unit="papers read")
        sample = sampled(opened_corpus, max(SAMPLE, components.encoder.window if components.encoder else 0), settings.limit, read)
        papers = min(sample.expected, settings.limit or sample.expected)
        if not papers:
            first = sample.first_rejected
            why = (
                f"rejected rows: {sample.read - sample.accepted:,}, the first (row {first.row}) for {first.reason}"
                if first
                else "it is empty"
            )
            raise InvalidRequest(f"the corpus has no paper to index; {why}")
        with tempfile.TemporaryDirectory(prefix="sciretrieve-") as folder:
            return _Estimation(sample, papers, settings, components, Path(folder), listener).run()


class _Estimation:
    """One estimate: what its steps share, and add to.

    Attributes:
        seconds_of, bytes_of, memory: see `Estimate`; as far as it has come.
        tokens, truncated: the same.
        dense: how the vectors will be searched.
    """

    def __init__(
        self, sample: Sample, papers: int, settings: BuildSettings, components: BuildComponents, folder: Path, progress: Progress
    ) -> None:
        self.sample, self.papers, self.settings, self.components = sample, papers, settings, components
        self.packing: Packing | None = None
        self.folder, self.progress = folder, progress
        self.count = len(sample.papers)
        self.scale = papers / self.count
        self.paper_memory = sample.bytes / sample.accepted
        self.shard = min(settings.shard_size, math.ceil(SHARD_BYTES / self.paper_memory), papers)
        self.shards = math.ceil(papers / self.shard)
        self.last_shard = papers - (self.shards - 1) * self.shard
        counts_alone = components.analyzer is not None and not reads_texts(components.encoder)
        self.processes = processes_for([*[self.shard] * (self.shards - 1), self.last_shard]) if counts_alone else 1
        dim = components.encoder.dim if components.encoder else None
        self.dense = chosen_dense(settings.dense, dim, papers, settings.memory, settings.lexical is not None, progress)
        self.seconds_of = {"reading": sample.seconds}
        self.bytes_of: dict[str, float] = {}
        self.tokens: int | None = None
        self.truncated: int | None = None
        self.memory = 0.0

    def run(self) -> Estimate:
        """Try each step on the sample, and scale what it took."""
        encoder, metric, analyzer = self.components.encoder, self.components.metric, self.components.analyzer
        if has_tokens(encoder) and encoder is not None:
            if keeps_tokens(self.settings, encoder, self.papers, self.progress):
                self.packing = packing_of(encoder)
            else:
                encoder = BuildComponents.of(replace(self.settings, late=False)).encoder
        growth = self._cut_papers()
        if analyzer is not None:
            growth = max(growth, self._count_terms(analyzer))
        vectors = self._encode(encoder) if encoder is not None else None
        self.memory = _peak_memory() + ID_MEMORY * self.papers + growth * (self.shard - self.count)
        if self.processes > 1:
            self.memory += self.processes * (PROCESS_MEMORY + growth * self.shard)
        if vectors is not None and metric is not None and self.dense != "flat":
            self._make_ann(vectors, metric)
        self.bytes_of["manifests"] = MANIFEST_BYTES + SHARD_ENTRY_BYTES * self.shards
        return Estimate(
            rows=self.sample.rows,
            papers=self.papers,
            sampled=self.count,
            tokens=self.tokens,
            truncated=self.truncated,
            shards=self.shards,
            encoder=_facts(encoder) if encoder is not None else None,
            metric=metric,
            dense=self.dense,
            seconds_of=self.seconds_of,
            bytes_of={name: round(size) for name, size in self.bytes_of.items()},
            memory=round(self.memory),
        )

    def _cut_papers(self) -> float:
        """Cut the sample. Returns the bytes of memory that each paper of a shard takes meanwhile."""
        few = self.sample.papers.slice(0, WARM)
        parts = {"cold": few, "few": few, "sample": self.sample.papers}
        seconds = {name: _seconds(partial(self._cut, name, part)) for name, part in parts.items()}
        self.seconds_of["cutting"] = self._for_all(seconds)
        for kind, names in (("papers", ("papers.parquet",)), ("ids", ("ids.arrow", "names.arrow"))):
            self.bytes_of[kind] = sum((self.folder / "sample.partial" / name).stat().st_size for name in names) * self.scale
        tracemalloc.start()
        contents(self.sample.papers)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return self.paper_memory + most / self.count

    def _count_terms(self, analyzer: Analyzer) -> float:
        """Count the terms of the sample, which was cut. Returns as `_cut_papers`."""
        folder = self.folder / "sample"
        parts = ("cold", "few", "sample")
        seconds = {name: _seconds(partial(fill, self.folder / f"{name}.partial", 0, None, analyzer, unheard)) for name in parts}
        # two of a machine's cores are often one that does two things at a time
        self.seconds_of["terms"] = self._for_all(seconds) / ((1 + self.processes) / 2)
        postings = Postings(folder, self.count)
        count, terms = len(postings.rows), len(postings.terms)
        # by Heaps' law, the number of terms grows with a power of the papers', which every other paper of the sample tells
        term_of_posting = np.repeat(np.arange(terms), np.diff(postings.offsets))
        terms_of_half = len(np.unique(term_of_posting[postings.rows % 2 == 0]))
        power = math.log2(terms / terms_of_half) if terms_of_half else 0.0
        whole, last = (terms * math.pow(papers / self.count, power) for papers in (self.shard, self.last_shard))
        # a term has its name, its places, and how many papers of the index have it
        term_bytes = ((folder / "postings.arrow").stat().st_size - POSTING_BYTES * count) / max(terms, 1) + 4
        others = sum((folder / name).stat().st_size for name in ("lengths.arrow", FIELDS_FILE))
        paper_bytes = (POSTING_BYTES * count + others) / self.count
        self.bytes_of["postings"] = paper_bytes * self.papers + term_bytes * (whole * (self.shards - 1) + last)
        return POSTING_MEMORY * count / self.count + TERM_MEMORY * whole / self.shard

    def _encode(self, encoder: Encoder) -> Vectors:
        """Tokenise the sample, and encode enough of it to know the encoder's speed. Returns the vectors of that."""
        sizes, too_long = [], []
        encoder.expect(self.papers)
        for first in range(0, self.count, encoder.window):
            tokens = encoder.tokenise(texts_of(self.sample.papers.slice(first, encoder.window)))
            sizes.append(encoder.size(tokens))
            too_long.append(encoder.truncated(tokens))
        self.tokens, self.truncated = _sum(sizes, self.scale), _sum(too_long, self.scale)
        self.progress.note(f"trying {encoder.name} in {encoder.precision}")
        cold_seconds, cold_units, _ = self._encoded(encoder, COLD)
        count = WARM
        while True:
            seconds, units, vectors = self._encoded(encoder, count)
            if seconds >= LONG_ENOUGH or count >= min(self.count, encoder.window):
                break
            count *= 2
        start = max(cold_seconds - seconds / units * cold_units, 0.0)
        self.seconds_of["encoding"] = start + seconds / units * (self.tokens or self.papers)
        self.bytes_of["vectors"] = HEADER * self.shards + 4 * encoder.dim * self.papers
        return vectors

    def _encoded(self, encoder: Encoder, count: int) -> tuple[float, int, Vectors]:
        """Encode so many papers of the sample: the seconds, the tokens (papers, if there are no tokens), and the vectors."""
        rows = np.unique(np.linspace(0, self.count - 1, min(count, self.count)).astype(np.int64))
        papers = self.sample.papers.take(integers(rows)).combine_chunks()
        units = encoder.size(encoder.tokenise(texts_of(papers)))
        folder = self._cut(f"encoded-{count}", papers)
        seconds = _seconds(partial(fill, folder, 0, encoder, None, unheard, self.packing))
        full_folder, units = folder.with_suffix(""), units or len(papers)
        if self.packing is not None:
            rows_of_papers = COUNT_BYTES * self.papers + 2 * HEADER * self.shards
            per_unit = ((full_folder / "tokens.npy").stat().st_size - HEADER) / units
            self.bytes_of["tokens"] = rows_of_papers + per_unit * (self.tokens or self.papers)
        return seconds, units, np.array(read_array(full_folder / "vectors.npy"))

    def _make_ann(self, vectors: Vectors, metric: Metric) -> None:
        """Make a small FAISS index."""
        self.progress.note(f"trying a small {self.dense} index")
        memory, dim = _peak_memory(), vectors.shape[1]
        costs = ann_costs(vectors, self.dense, self.shard, metric)
        if costs is None:
            self.dense = "flat"
            return
        self.seconds_of["dense"] = costs.seconds * self.papers / self.shard
        self.bytes_of["dense"] = costs.bytes * self.papers / self.shard
        # the vectors, those that FAISS is given at a time, and its index, which grows by being copied
        given = min(self.shard, ADDED_ROWS) * (2 if metric == "cosine" else 1)
        self.memory = max(self.memory, memory + 4 * dim * (self.shard + given) + INDEX_MEMORY * costs.bytes)

    def _cut(self, name: str, papers: pa.Table) -> Path:
        """Cut papers into a folder of the temporary one."""
        folder = self.folder / f"{name}.partial"
        cut_shard(folder, papers, contents(papers))
        return folder

    def _for_all(self, seconds: Mapping[str, float]) -> float:
        """The seconds for all papers, going by those for a few and for the sample: some for each shard, the others for each paper."""
        if self.count < 2 * WARM:
            return seconds["sample"] * self.scale
        per_paper = max(seconds["sample"] - seconds["few"], 0.0) / (self.count - WARM)
        return per_paper * self.papers + max(seconds["few"] - per_paper * WARM, 0.0) * self.shards


def _seconds(work: Callable[[], object]) -> float:
    """How long something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _sum(counts: list[int | None], scale: float) -> int | None:
    """The sum of what was counted in the sample's windows, for all papers; None if nothing was counted."""
    known = [count for count in counts if count is not None]
    return round(sum(known) * scale) if known else None


def _facts(encoder: Encoder) -> dict[str, Any]:
    return {"name": encoder.name, "dim": encoder.dim, "precision": encoder.precision, "ran_in": [*encoder.ran_in]}


def _peak_memory() -> int:
    """The most bytes that this process has had in memory."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage also remembers the process that this one was forked from
        return 1024 * next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
