"""Changing the papers of an index: adding a corpus to it, making it equal to one, and deleting papers.

A paper is the same if it has the same id and says the same; then it is skipped. If it says something else, the new one takes its
place. Papers, vectors and postings change in one commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..choices import Device, Filter
from ..commits import Change, Spanning, commit, next_generation, with_deleted
from ..corpora import ColumnMap, Corpus, Sources, open_corpus
from ..encoders import late, reopen_encoder
from ..errors import CorruptData, InvalidRequest, SciretrieveError
from ..files import write_lock
from ..manifest import FORMAT, ShardFacts, Source, library_versions
from ..once import once
from ..pending import Pending
from ..progress import shown
from ..protocols import Encoder, Progress
from ..queries import QueryEncoder
from ..schema import booleans
from ..sharding import by_shard
from ..shards import Shard
from ..shards.cutting import contents
from ..snapshot import Snapshot, as_ids
from ..sweeping import sweep
from ..types import Mask, Rows
from ..verified import Verified
from ..wording import counted
from .building import LIBRARIES
from .intake import Intake, probed, publish_rejections, ran_in, shards_of

MANY_SHARDS = 10
"""Small shards from which on a merge is proposed."""


@dataclass(frozen=True, slots=True)
class Update:
    """What a change of an index's papers did.

    Attributes:
        papers: how many papers it has now.
        added, replaced, unchanged, deleted: how many of the corpus were new, were there with other contents, and were there;
            and how many of the index were removed.
        rejected: how many rows of the corpus were not indexed.
        generation: the index's generation now.
    """

    papers: int
    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    deleted: int = 0
    rejected: int = 0
    generation: int = 0


def add(
    corpus: Sources | Corpus,
    index: str | Path,
    *,
    columns: ColumnMap | None = None,
    encoder: Encoder | None = None,
    device: Device = "auto",
    strict: bool = False,
    resume: bool = True,
    progress: Progress | bool = True,
) -> Update:
    """Add a corpus's papers to an index: those that are new or say something else than the one with their id.

    Args:
        corpus: as in `build`.
        index: the index's directory.
        columns: which columns of the corpus are which; by default recognised by name.
        encoder: what encodes the papers, where the one that filled the index is not to be found again by itself; `vectors:FILE` for
            vectors made elsewhere.
        device: where it runs: "cpu", "cuda", or "auto".
        strict: stop at the first bad row, instead of listing it in rejected.jsonl.
        resume: go on with an interrupted run; False drops it.
        progress: what is told how far it is; by default a bar where a person looks, False for none.

    Raises:
        NotFound: there is no such index or corpus.
        InvalidRequest, EncoderMismatch: the corpus cannot be read, or the encoder is another.
        IndexBusy: another process is writing the index.
    """
    return _update("add", corpus, index, columns, encoder, device, strict, resume, progress)


def sync(
    corpus: Sources | Corpus,
    index: str | Path,
    *,
    columns: ColumnMap | None = None,
    encoder: Encoder | None = None,
    device: Device = "auto",
    strict: bool = False,
    resume: bool = True,
    progress: Progress | bool = True,
) -> Update:
    """Make an index equal to a corpus: as `add`, and papers that the corpus does not have are deleted.

    Arguments and errors as in `add`; InvalidRequest also if the corpus has no paper.
    """
    return _update("sync", corpus, index, columns, encoder, device, strict, resume, progress)


def delete(index: str | Path, ids: str | Sequence[str] = (), *, filter: Filter = None, progress: Progress | bool = True) -> Update:
    """Delete the papers with the given ids, or that pass a filter. Their space is used until `merge`.

    Raises:
        NotFound: there is no such index, or an id is not in it.
        InvalidRequest: nothing to delete was named, or no paper would be left.
        IndexBusy: another process is writing the index.
    """
    directory = Path(index)
    ids = as_ids(ids)
    if bool(ids) == (filter is not None):
        raise InvalidRequest("name the papers to delete by their ids, or by --filter, and not by both")
    Snapshot(directory).close()  # before there is a lock file in a directory that is no index
    with shown(progress) as listener, write_lock(directory):
        with Snapshot(directory) as snapshot:
            rows = np.unique(snapshot.named_rows(ids)) if ids else snapshot.narrower.passing(filter).places
            old = snapshot.manifest
            if not len(rows):
                return Update(old.papers, generation=old.generation)
            if len(rows) == len(snapshot):
                raise InvalidRequest("that would leave no paper; to be rid of the whole index, remove its directory")
            shards = _thinned(snapshot, rows, next_generation(directory))
            change = Change("delete", deleted=len(rows))
            new = commit(directory, old, replace(old, shards=shards, whole=None), Spanning.of(old), change, listener)
        sweep(directory, listener)
    return Update(new.papers, deleted=len(rows), generation=new.generation)


def _thinned(snapshot: Snapshot, rows: Rows, generation: int) -> tuple[ShardFacts, ...]:
    """The shards of a snapshot, of which the given rows are deleted too."""
    facts = {shard.facts.name: shard.facts for shard in snapshot.shards}
    for shard, _, shard_rows in by_shard(rows, snapshot.shards):
        facts[shard.facts.name] = with_deleted(snapshot.path, shard.facts, shard_rows, generation)
    return tuple(facts.values())


def _update(
    command: Literal["add", "sync"],
    corpus: Sources | Corpus,
    index: str | Path,
    columns: ColumnMap | None,
    encoder: Encoder | None,
    device: Device,
    strict: bool,
    resume: bool,
    progress: Progress | bool,
) -> Update:
    directory = Path(index)
    Snapshot(directory).close()  # before the corpus is read, and before there is a lock file in a directory that is no index
    opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
    with shown(progress) as listener:
        with write_lock(directory):
            if resume:
                with Snapshot(directory) as snapshot:
                    _Update(command, opened_corpus, snapshot, encoder, device, listener).finish_earlier()
            else:
                with suppress(CorruptData):  # a damaged mark is written over
                    if pending := Pending.read(directory, "change"):
                        pending.clear()
            with Snapshot(directory) as snapshot:
                update = _Update(command, opened_corpus, snapshot, encoder, device, listener).run(strict, resume)
            sweep(directory, listener)
        return update


class _Update:
    """One add or sync: what its steps share."""

    def __init__(
        self,
        command: Literal["add", "sync"],
        corpus: Corpus,
        snapshot: Snapshot,
        given: Encoder | None,
        device: Device,
        progress: Progress,
    ) -> None:
        self.command, self.corpus, self.snapshot, self.progress = command, corpus, snapshot, progress
        self.directory, self.old = snapshot.path, snapshot.manifest
        self.encoder = self._encoder(given, device)
        self.analyzer = snapshot.analyzer if self.old.lexical is not None else None
        self.seen: Mask = np.zeros(snapshot.scope.rows, bool)
        self.replaced_rows: list[Rows] = []
        self.unchanged = 0

    def _encoder(self, given: Encoder | None, device: Device) -> Encoder | None:
        built = self.old.encoder
        if built is None:
            return None
        if given is not None:
            encoder = QueryEncoder(self.directory, built, None, given).encoder
        else:
            encoder = reopen_encoder(built, "fp32" if built.get("precision") == "fp32" else "auto", device)
        return late(encoder) if self.old.late else encoder

    @once
    def fingerprint(self) -> str:
        """The corpus's."""
        return self.corpus.fingerprint()

    @property
    def plan(self) -> dict[str, Any]:
        """What determines the new shards."""
        return {
            "command": self.command,
            "format": FORMAT,
            "corpus": list(self.corpus.sources),
            "fingerprint": self.fingerprint,
            "base": self.old.generation,
            "encoder": self.old.encoder and {**self.old.encoder, "ran_in": None},
        }

    def finish_earlier(self) -> None:
        """Finish and commit another add or sync that was interrupted, or this one if something else was committed since.

        What it encoded is kept, and needs its corpus no more; what it was going to delete is left for whoever asks for it again.
        """
        pending = Pending.found(self.directory, self.progress, "change")
        if pending is None or pending.plan["command"] not in ("add", "sync") or pending.plan == self.plan:
            return
        if pending.cut is None or not pending.is_whole or not pending.is_worth_keeping or pending.plan["encoder"] != self.plan["encoder"]:
            return
        self.progress.note(f"first finishing the interrupted {pending.plan['command']} of {', '.join(pending.plan['corpus'][:3])}")
        shards = shards_of(self._intake(probed(pending, self.encoder, self.snapshot.golden)).fill(len(self.old.sources)))
        verified = Verified(self.directory)
        rows = self.snapshot.find([id for facts in shards for id in Shard(verified, facts, 0).ids.to_pylist()])
        cut = {**pending.cut, "replaced": len(rows), "deleted": 0, "unchanged": 0, "is_whole": False}
        # nothing of this is written: if it stops before the commit, the earlier run can still be taken up as it was
        replaced_rows = np.sort(np.array(list(rows.values()), np.int64))
        update = self._commit(replace(pending, state={**pending.state, "cut": cut}), shards, replaced_rows)
        self.progress.note(f"that added {counted(update.added, 'paper')} and replaced {update.replaced:,}")

    def _intake(self, pending: Pending) -> Intake:
        shard_size = self.old.build["settings"]["shard_size"]
        return Intake(pending, self.encoder, self.analyzer, shard_size, self.progress, packing=self.snapshot.packing)

    def run(self, strict: bool, resume: bool) -> Update:
        """Take in what is new, delete what is to go, and commit."""
        if self.fingerprint == self.old.whole:
            self.progress.note(f"{self.directory} is up to date: it has the papers of this corpus")
            return Update(self.old.papers, unchanged=self.old.papers, generation=self.old.generation)
        pending = Pending.take_up(self.directory, self.plan, self.progress, resume=resume)
        try:
            pending = probed(pending, self.encoder, self.snapshot.golden)
            intake = self._intake(pending).cut(self.corpus, None, strict, self._chosen, self._finished)
            pending = intake.pending
            cut = pending.cut or {}
            if not cut["papers"] and self.command == "sync":
                raise InvalidRequest("the corpus has no paper, so the index is left as it is")
            shards = shards_of(intake.fill(len(self.old.sources)))
        except SciretrieveError:
            pending = Pending.read(self.directory, "change") or pending
            if not pending.is_worth_keeping:
                pending.clear()
            raise
        return self._commit(pending, shards)

    def _chosen(self, papers: pa.Table) -> pa.Table:
        """The papers of a batch that the index does not have, or has otherwise."""
        ids, hashes = papers["id"], contents(papers)
        taken = np.ones(len(papers), bool)
        for shard in self.snapshot.shards:
            places = pc.index_in(ids, value_set=shard.ids).combine_chunks()
            positions = np.flatnonzero(places.is_valid().to_numpy(zero_copy_only=False))
            shard_rows = places.take(pa.array(positions)).to_numpy().astype(np.int64)
            live = shard.scope.has(shard_rows)
            positions, shard_rows = positions[live], shard_rows[live]
            if not len(positions):
                continue
            same = pc.equal(hashes.take(pa.array(positions)), shard.contents.take(pa.array(shard_rows))).to_numpy(zero_copy_only=False)
            taken[positions[same]] = False
            self.unchanged += int(same.sum())
            self.replaced_rows.append(shard_rows[~same] + shard.first)
            self.seen[shard_rows + shard.first] = True
        return papers.filter(booleans(taken))

    def _finished(self) -> dict[str, Any]:
        """What reading the corpus told, which is not read again when the work is resumed."""
        replaced = np.concatenate([np.empty(0, np.int64), *self.replaced_rows])
        unseen = self.snapshot.scope.passing(~self.seen).places
        deleted = unseen if self.command == "sync" else np.empty(0, np.int64)
        pending = Pending.read(self.directory, "change")
        assert pending is not None
        pending.save_deleted(np.sort(np.concatenate([replaced, deleted])))
        return {
            "replaced": len(replaced),
            "unchanged": self.unchanged,
            "deleted": len(deleted),
            "is_whole": self.command == "sync" or not len(unseen),
        }

    def _commit(self, pending: Pending, shards: list[ShardFacts], deleted_rows: Rows | None = None) -> Update:
        """Commit new shards, and the deletion of the given rows; by default of those that were found when the corpus was cut."""
        cut = pending.cut or {}
        new_papers = sum(facts.papers for facts in shards)
        update = Update(
            self.old.papers + new_papers - cut["replaced"] - cut["deleted"],
            added=new_papers - cut["replaced"],
            replaced=cut["replaced"],
            unchanged=cut["unchanged"],
            deleted=cut["deleted"],
            rejected=publish_rejections(pending),
        )
        whole = self.fingerprint if cut["is_whole"] else None
        generation = next_generation(self.directory)
        sources = self.old.sources
        if shards:
            sources = (*sources, Source(tuple(pending.plan["corpus"]), pending.plan["fingerprint"], generation))
        elif not cut["deleted"] and whole is None:
            pending.clear()
            self.progress.note(f"{self.directory} has all papers of this corpus already")
            return replace(update, generation=self.old.generation)
        encoder = self.old.encoder and {
            **self.old.encoder,
            "ran_in": ran_in(pending, self.encoder if shards else None, self.old.encoder.get("ran_in", ())),
        }
        manifest = replace(
            self.old,
            shards=(*_thinned(self.snapshot, pending.deleted() if deleted_rows is None else deleted_rows, generation), *shards),
            sources=sources,
            whole=whole,
            rejected=update.rejected,
            encoder=encoder,
            versions=library_versions(LIBRARIES),
        )
        change = Change(pending.plan["command"], update.added, update.replaced, update.deleted)
        new = commit(self.directory, self.old, manifest, Spanning.of(self.old), change, self.progress)
        pending.end()
        small_shards = sum(2 * facts.papers < self.old.build["settings"]["shard_size"] for facts in new.shards)
        if small_shards > MANY_SHARDS:
            self.progress.note(f"{small_shards} shards are small: `sciretrieve merge` joins them, and searches get quicker")
        return replace(update, generation=new.generation)
