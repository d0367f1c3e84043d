"""Ingesting a corpus: it is cut into new shards, which are then filled. Both can be interrupted anywhere and resumed.

Once a corpus is cut, its papers are on disk, and it is not read again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from ..base.choices import Device, Metric, Precision
from ..base.errors import InvalidRequest
from ..base.wording import counted
from ..encoders import check_golden, golden_vectors, reads_texts
from ..files.writing import remove, sync_file
from ..matching.late import Packing
from ..matching.lexical import Analyzer
from ..matching.sharding import ALL, divided
from ..papers.corpora import Batch, Corpus, Reading, Rejected, Rejections
from ..papers.corpora.papers import first
from ..papers.corpora.rejections import REJECTED
from ..protocols import Encoder, Progress, Workers
from ..storage.manifest import ShardFacts, encoder_file
from ..storage.pending import Pending
from ..storage.shards import Cutter, Filling, fill, finished_facts, store_vectors
from ..storage.shards.cutting import ANY
from .local_workers import LocalWorkers, processes_for


@dataclass(frozen=True)
class Ingest:
    """The inputs for ingesting a corpus.

    Attributes:
        pending: the work's mark.
        encoder, analyzer: fill the shards; None for shards without vectors or without terms.
        shard_size: papers per shard.
        progress: receives progress.
        workers: processes that fill shards; None to fill them here.
        precision, device: for the workers' encoders.
        packing: how token vectors are packed; None for shards without them.
    """

    pending: Pending
    encoder: Encoder | None
    analyzer: Analyzer | None
    shard_size: int
    progress: Progress
    workers: Workers | None = None
    precision: Precision = "auto"
    device: Device = "auto"
    packing: Packing | None = None

    def cut(
        self,
        corpus: Corpus,
        limit: int | None,
        strict: bool,
        chosen: Callable[[Batch], pa.Table],
        finished: Callable[[], Mapping[str, Any]] = dict,
    ) -> Ingest:
        """Read the corpus and cut its papers into shards, unless done.

        Args:
            corpus: the corpus.
            limit: most papers to read.
            strict: stop at the first bad row.
            chosen: selects the papers to ingest from each batch.
            finished: called after the last batch; returns further facts for the mark.

        Raises:
            BadPaper: a bad row, if strict.
            InvalidRequest, NotFound: the corpus cannot be read.
        """
        if self.pending.cut is not None:
            return self
        reading = Reading(self.progress.note if corpus.has_columns else lambda _: None)
        rejections = Rejections(self.pending.rejected, strict)
        share = self.pending.share
        # shares are known once the corpus's papers are counted
        cutter = Cutter(self.pending.partial, self.shard_size, places=ANY if share == ALL else ())
        papers_read = 0
        count = corpus.count()
        self.progress.start(min(count, limit) if count is not None and limit is not None else count, unit="papers read")
        for batch in first(corpus.batches(), limit):
            rejections(batch.rejected)
            reading(batch)
            papers_read += len(batch.papers)
            cutter.add(chosen(batch))
            self.progress.advance(len(batch.papers))
        shards, ends = cutter.finish(), {}
        if share != ALL and shards:
            shards, ends["ends"] = divided(shards, share.of)
            mine = share.places(ends["ends"])
            start, stop = sum(shards[: mine.start]), sum(shards[: mine.stop])
            self.progress.note(f"part {share} gets the papers {start + 1:,} to {stop:,} of {sum(shards):,}")
            self._cut_part(corpus, papers_read, chosen, Cutter(self.pending.partial, 0, shards, mine))
        if corpus.has_columns and papers_read:
            self.progress.note(str(reading))
        if rejections.count:
            sync_file(self.pending.rejected)
            sync_file(self.pending.rejected.parent)  # otherwise the mark below, which counts them, may survive without their list
        cut = {
            "shards": shards,
            **ends,
            "papers": papers_read,
            "rejected": rejections.count,
            "first_rejected": [asdict(row) for row in rejections.first],
            **finished(),
        }
        return replace(self, pending=self.pending.noting(cut=cut))

    def _cut_part(self, corpus: Corpus, papers: int, chosen: Callable[[Batch], pa.Table], cutter: Cutter) -> None:
        """Read the corpus again up to its first `papers` papers, and cut the shards of this part.

        Raises InvalidRequest if the corpus has changed since it was counted.
        """
        self.progress.start(papers, unit="papers divided")
        read = 0
        for batch in first(corpus.batches(), papers):
            read += len(batch.papers)
            cutter.add(chosen(batch))
            self.progress.advance(len(batch.papers))
        if read < papers:
            raise InvalidRequest("the corpus has changed while it was read; run the command again")
        cutter.finish()

    def fill(self, source: int) -> Pending:
        """Encode the papers of all shards and count their terms, unless done. Returns the work's mark, see `shards_of`."""
        cut = self.pending.cut
        assert cut is not None
        unfilled = [place for place in self.pending.places if not self.pending.folder(place).is_dir()]
        total = sum(cut["shards"][place] for place in self.pending.places)
        done = total - sum(cut["shards"][place] for place in unfilled)
        if done:
            self.progress.note(f"resuming after {counted(done, 'paper')} of finished shards")
        self.progress.start(total, done, unit="papers")
        if self.encoder is not None:
            self.encoder.expect(sum(cut["shards"]))
        if self.workers is not None:
            return self._fill_by_workers(self.workers, [self._filling(place, source) for place in unfilled])
        processes = processes_for(cut["shards"][place] for place in unfilled)
        if processes > 1 and self.analyzer is not None and not reads_texts(self.encoder):
            with LocalWorkers(processes) as workers:
                return self._fill_by_workers(workers, self._looked_up(unfilled, source))
        for place in unfilled:
            fill(self.pending.partial(place), source, self.encoder, self.analyzer, self.progress.advance, self.packing)
        return self.pending

    def _looked_up(self, places: Sequence[int], source: int) -> Iterator[Filling]:
        """Tasks for local processes, which count the words of these shards while their vectors are looked up here."""
        without_encoder = replace(self, encoder=None, packing=None)
        for place in places:
            if self.encoder is not None:
                store_vectors(self.pending.partial(place), self.encoder)
            yield without_encoder._filling(place, source)

    def _fill_by_workers(self, workers: Workers, tasks: Iterable[Filling]) -> Pending:
        """Have other processes fill shards."""
        pending = self.pending
        for _, (precision, runtimes) in workers.run(pending.directory, tasks, self.progress.advance):
            if precision is not None:
                all_runtimes = dict.fromkeys([*pending.state.get("ran_in", ()), *runtimes])
                pending = pending.noting(ran_in=list(all_runtimes), precision=precision)
        return pending

    def _filling(self, place: int, source: int) -> Filling:
        """A task for another process that fills a shard."""
        cut = self.pending.cut
        assert cut is not None
        return Filling(
            self.pending.partial(place).absolute(),
            source,
            None if self.encoder is None else self.pending.plan["encoder"],
            self.precision,
            self.device,
            self.pending.golden,
            None if self.analyzer is None else self.analyzer.form,
            sum(cut["shards"]),
            self.packing,
        )


def shards_of(pending: Pending) -> list[ShardFacts]:
    """Entries of all shards of the work, once they are full."""
    return [finished_facts(pending.folder(place)) for place in pending.places]


def probed(pending: Pending, encoder: Encoder | None, known: Any = None) -> Pending:
    """Encode the probe texts for the manifest. Raises InvalidRequest if resumed work gives other vectors.

    `known` are the golden vectors of an existing index to be extended, (3, dim).
    """
    if encoder is None or not reads_texts(encoder):
        return pending
    golden = pending.golden if pending.golden is not None else known
    if golden is None:
        golden = golden_vectors(encoder)
    else:
        check_golden(golden, encoder, "paper")
    return pending.noting(golden=golden.tolist(), ran_in=ran_in(pending, encoder))


def ran_in(pending: Pending, encoder: Encoder | None, before: Iterable[str] = ()) -> list[str]:
    """Runtimes that encoded papers: `before`, those of earlier processes of this work, and this one's."""
    return list(dict.fromkeys([*before, *pending.state.get("ran_in", ()), *(encoder.ran_in if encoder else ())]))


def full(pending: Pending, encoder: Encoder | None, metric: Metric | None) -> Pending:
    """Record that all shards of a build are full, and the manifest's entry on the encoder."""
    if encoder is None:
        return pending.noting(is_full=True)
    precision = pending.state.get("precision", encoder.precision)
    return pending.noting(is_full=True, precision=precision, ran_in=ran_in(pending, encoder), metric=metric)


def encoder_facts(pending: Pending, generation: int) -> dict[str, Any] | None:
    """A new index's entry on its encoder, as recorded by `full`. Writes its golden vectors if it reads texts."""
    if pending.plan["encoder"] is None:
        return None
    facts: dict[str, Any] = {
        **pending.plan["encoder"],
        "precision": pending.state["precision"],
        "ran_in": ran_in(pending, None),
        "golden": None,
    }
    if pending.golden is not None:
        facts["golden"] = encoder_file(pending.directory, "golden", generation, pending.golden)
    if (packing := pending.packing()) is not None:
        facts["late"] = encoder_file(pending.directory, "late", generation, packing.array())
    return facts


def publish_rejections(pending: Pending) -> int:
    """Move the list of rejected rows to its place. Returns their number."""
    report = pending.directory / REJECTED
    count = int((pending.cut or {}).get("rejected", 0))
    if count and pending.rejected.exists():
        pending.rejected.replace(report)
    elif not count:
        remove(report)
    return count


def first_rejected(pending: Pending) -> tuple[Rejected, ...]:
    """The first rows rejected while the corpus was cut."""
    return tuple(Rejected(**row) for row in (pending.cut or {}).get("first_rejected", ()))


def why_none(pending: Pending) -> str:
    """Why a corpus gave no paper."""
    cut = pending.cut or {}
    if not (rejected := first_rejected(pending)):
        return "; it is empty"
    return f"; rejected rows: {cut['rejected']:,}, the first (row {rejected[0].row}) for: {rejected[0].reason}"


def plain_json(value: Any) -> Any:
    """A value as JSON returns it, with lists in place of tuples."""
    return json.loads(json.dumps(value))
