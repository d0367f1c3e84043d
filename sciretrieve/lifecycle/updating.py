"""Changing the papers of an index: adding a corpus to it, making it equal to one, deleting papers, and going back to how it was.

A paper is the same if it has the same id and says the same; then it is skipped. If it says something else, the new one takes its
place. Papers, vectors and postings change in one commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..base.choices import Device, Filter, conditions
from ..base.errors import CorruptData, InvalidRequest, NotFound, SciretrieveError
from ..base.once import once
from ..base.types import Rows
from ..base.wording import counted, listed
from ..encoders import late
from ..encoders.query_encoder import index_encoder
from ..files.schema import integers
from ..files.verified import Verified
from ..files.writing import write_lock
from ..matching.sharding import by_shard
from ..papers.corpora import ColumnMap, Corpus, Rejected, Sources, Tally, open_corpus, warn_of
from ..papers.corpora.rejections import REJECTED, SHOWN
from ..progress import shown
from ..protocols import AnyEncoder, Encoder, Progress
from ..query.narrowing.filters import comparisons, parse, value_of
from ..query.snapshot import Snapshot, as_ids
from ..storage.commits import Change, IndexSettings, commit, next_generation, publish, with_deleted
from ..storage.manifest import FORMAT, ShardFacts, Source, kept_generations, library_versions
from ..storage.pending import Pending
from ..storage.shards import Shard
from ..storage.sweeping import sweep
from .building import LIBRARIES
from .comparison import CorpusComparison, IdTable
from .ingest import Ingest, first_rejected, probed, publish_rejections, ran_in, shards_of
from .merging import tidied

NAMED = 5
"""Papers that are named of those that are deleted, or that stand in the way."""
MOST_DELETED = 10
"""One paper in so many may be deleted by `sync` without a question."""

NO_PAPER = "the corpus has no paper, so the index is left as it is"

Allowing = bool | Callable[[int, int], bool]
"""Whether `sync` may delete many papers; or what is asked, with how many are to be deleted, and of how many."""


@dataclass(frozen=True, slots=True)
class Update:
    """What a change of an index's papers did, or what a dry run says that it would do.

    Attributes:
        papers: how many papers it has now.
        added, replaced, unchanged, deleted: how many of the corpus were new, were there with other contents, and were there;
            and how many of the index were removed.
        rejected: how many rows of the corpus were not indexed; rejected.jsonl lists them.
        rejections: the first 100 of these: `source`, `row`, `reason`, and `id` where it is known.
        generation: the index's generation now.
        kept: how many papers `sync` found in no row of the corpus, and did not delete, since they may be in one that could not be read.
        examples: the ids of the first few papers that were `added`, `replaced`, `deleted` and `kept` by `add` or `sync`.
    """

    papers: int
    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    deleted: int = 0
    rejected: int = 0
    generation: int = 0
    kept: int = 0
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rejections: Sequence[Rejected] = ()


@dataclass(frozen=True, slots=True)
class Deletion(Update):
    """What deleting papers did, or would do.

    Attributes:
        dry_run: whether nothing was changed: `papers` and `deleted` are what they would be.
        first: the ids and titles of the first of the papers that are deleted, by id.
    """

    dry_run: bool = False
    first: Mapping[str, str] = field(default_factory=dict)


def add(
    corpus: Sources | Corpus,
    index: str | Path,
    *,
    columns: ColumnMap | None = None,
    encoder: AnyEncoder | None = None,
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
        encoder: what encodes papers, if the index's own encoder cannot be found: one of your own, which filled the index; a name; the
            vectors of the corpus's papers, {id: vector}, or `vectors:FILE`.
        device: where it runs: "cpu", "cuda", or "auto".
        strict: stop at the first bad row, instead of listing it in rejected.jsonl.
        resume: go on with an interrupted run; False drops it.
        progress: what is told how far it is; by default a bar where a person looks, False for none.

    Raises:
        NotFound: there is no such index or corpus.
        InvalidRequest, EncoderMismatch: the corpus cannot be read, or the encoder is another.
        IndexBusy: another process is writing the index.
    """
    return _update("add", corpus, index, columns, encoder, device, strict, resume, progress, False)


def sync(
    corpus: Sources | Corpus,
    index: str | Path,
    *,
    columns: ColumnMap | None = None,
    encoder: AnyEncoder | None = None,
    device: Device = "auto",
    strict: bool = False,
    resume: bool = True,
    progress: Progress | bool = True,
    allow_deletions: Allowing = False,
    dry_run: bool = False,
) -> Update:
    """Make an index equal to a corpus: as `add`, and papers that the corpus does not have are deleted.

    A paper stays whose row is there and could not be read. Where a row could not be read whose id is not known, no paper is deleted
    for lack of a row, since that row may be its.

    Args:
        allow_deletions: delete more than a tenth of the index's papers, too, and papers without a row also where rows could not be read
            whose ids are not known; or a function that is asked where it is more than a tenth, with how many are to be deleted, and of
            how many.
        dry_run: change nothing and encode nothing, and say what would be done.

    Other arguments and errors as in `add`; InvalidRequest also if the corpus has no paper, or lacks more than a tenth of the index's and
    that is not allowed.
    """
    if not callable(allow_deletions) and not isinstance(allow_deletions, bool):
        raise InvalidRequest(f"`allow_deletions` is True, False or a function that answers one of these, not {allow_deletions!r}")
    if dry_run:
        update = _dry_run(corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns), index, strict, progress, allow_deletions)
        warn_of(update.rejected, update.rejections, str(index))
        return update
    return _update("sync", corpus, index, columns, encoder, device, strict, resume, progress, allow_deletions)


def are_many(deleted: int, papers: int) -> bool:
    """Whether so many papers, of so many, are deleted by `sync` only if that is allowed: a file of the corpus may be missing."""
    return deleted * MOST_DELETED > papers


def _dry_run(corpus: Corpus, index: str | Path, strict: bool, progress: Progress | bool, allow_deletions: Allowing) -> Update:
    """What `sync` would do with the current generation."""
    with shown(progress) as listener, Snapshot.of(index) as snapshot:
        old = snapshot.manifest
        if corpus.fingerprint() == old.whole and not old.is_limited:
            return _up_to_date(snapshot, corpus)
        comparison, rejections = CorpusComparison(snapshot), Tally(strict=strict)
        listener.start(corpus.count(), unit="papers read")
        for batch in corpus.batches():
            rejections(batch.rejected)
            comparison.chosen(batch)
            listener.advance(len(batch.papers))
        replaced = len(comparison.replaced_rows)
        if not comparison.added + replaced + comparison.unchanged:
            raise InvalidRequest(NO_PAPER)
        gone_rows, kept_rows = comparison.missing_rows(allow_deletions is True)
        return Update(
            old.papers,
            comparison.added,
            replaced,
            comparison.unchanged,
            len(gone_rows),
            rejections.count,
            old.generation,
            len(kept_rows),
            comparison.examples(deleted=gone_rows, kept=kept_rows),
            rejections.first,
        )


def _up_to_date(snapshot: Snapshot, corpus: Corpus) -> Update:
    """What is said of a corpus that an index has whole. Its rejected rows are read again where the list of them is gone."""
    manifest, first = snapshot.manifest, snapshot.rejections
    if snapshot.rejected and not first:
        first = tuple(islice((row for batch in corpus.batches() for row in batch.rejected), SHOWN))
    return Update(manifest.papers, unchanged=manifest.papers, rejected=snapshot.rejected, generation=manifest.generation, rejections=first)


def delete(
    index: str | Path, ids: str | Sequence[str] = (), *, filter: Filter = None, dry_run: bool = False, progress: Progress | bool = True
) -> Deletion:
    """Delete the papers with the given ids, or that pass a filter. Their space is used until `merge`.

    With `dry_run` nothing is changed, and what is returned says what would be.

    Raises:
        NotFound: there is no such index, or an id is not in it.
        InvalidRequest: nothing to delete was named, or no paper would be left, or of some papers it cannot be told whether they pass.
        IndexBusy: another process is writing the index.
    """
    directory = Path(index)
    ids = as_ids(ids)
    if bool(ids) == (filter is not None):
        raise InvalidRequest("name the papers to delete by their ids, or by `filter`, and not by both")
    with Snapshot.of(directory) as snapshot:  # before there is a lock file in a directory that is no index
        if dry_run:
            return _deletion(snapshot, _to_delete(snapshot, ids, filter), dry_run)
    with shown(progress) as listener, write_lock(directory):
        with Snapshot.of(directory) as snapshot:
            rows = _to_delete(snapshot, ids, filter)
            deletion = _deletion(snapshot, rows, dry_run)
            if not len(rows):
                return deletion
            old = snapshot.manifest
            shards = tidied(snapshot, _thinned(snapshot, rows, next_generation(directory)), listener)
            change = Change("delete", deleted=len(rows))
            new = commit(directory, old, replace(old, shards=shards, whole=None), IndexSettings.of(old), change, listener)
        sweep(directory, listener)
    return replace(deletion, generation=new.generation)


def _to_delete(snapshot: Snapshot, ids: Sequence[str], filter: Filter) -> Rows:
    """The rows of the papers that are named, or that pass a filter. Raises as `delete`."""
    if ids:
        rows = np.unique(snapshot.named_rows(ids, strict=True))
    else:
        scope = snapshot.narrower.passing(filter)
        if len(scope.undecided):
            raise InvalidRequest(_undecided(snapshot, scope.undecided, filter))
        rows = scope.places
    if len(rows) == len(snapshot):
        raise InvalidRequest("that would leave no paper; to be rid of the whole index, remove its directory")
    return rows


def _undecided(snapshot: Snapshot, rows: Rows, filter: Filter) -> str:
    """Why papers are not deleted while it cannot be told of those at some rows whether they pass, and what to do."""
    columns = sorted({condition.column for expression in map(parse, conditions(filter)) for condition in comparisons(expression)})
    papers = snapshot.papers_at(rows[:NAMED])
    listed = [f"{paper.id} ({', '.join(f'{column}: {value_of(paper, column)}' for column in columns)})" for paper in papers]
    more = f" and {len(rows) - NAMED:,} more" * (len(rows) > NAMED)
    return (
        f"{counted(len(rows), 'paper')} cannot be compared as the filter asks, so nothing is deleted: {', '.join(listed)}{more}; "
        f"leave such values out, as in: (…) and not {columns[0]} in (VALUE, …), or delete these papers by their ids first"
    )


def _deletion(snapshot: Snapshot, rows: Rows, dry_run: bool) -> Deletion:
    first = {paper.id: paper.title for paper in snapshot.papers_at(rows[:NAMED])}
    old = snapshot.manifest
    return Deletion(old.papers - len(rows), deleted=len(rows), generation=old.generation, dry_run=dry_run, first=first)


def restore(index: str | Path, generation: int) -> Update:
    """Make an index what it was in an earlier generation, as a commit of its own: it undoes a delete, a sync and all other changes since.

    Raises:
        NotFound: there is no such index, or the generation is not there any more; the message says which ones are.
        IndexBusy: another process is writing the index.
    """
    directory = Path(index)
    Snapshot.of(directory).close()  # before there is a lock file in a directory that is no index
    with shown(True) as listener, write_lock(directory):
        with Snapshot.of(directory) as snapshot:
            old = snapshot.manifest
            others = [number for number in kept_generations(directory, old) if number != old.generation]
            if generation not in others:
                why = "is the current one" if generation == old.generation else "is not there, or not any more"
                there_are = ", ".join(map(str, others)) or "none"
                raise NotFound(f"generation {generation} of {directory} {why}; those that can be restored: {there_are}")
            with Snapshot.of(directory, generation) as earlier:
                added, replaced, deleted = _differences(earlier, snapshot)
                change = Change("restore", added, replaced, deleted, generation)
                new = publish(directory, old, earlier.manifest, change, next_generation(directory))
        sweep(directory, listener)
    return Update(new.papers, added, replaced, new.papers - added - replaced, deleted, generation=new.generation)


def _differences(new: Snapshot, old: Snapshot) -> tuple[int, int, int]:
    """How many papers of one generation are new, changed and missing, compared with the other."""
    gained, lost = _papers_beside(new, old), _papers_beside(old, new)
    both = gained.keys() & lost.keys()
    replaced = sum(gained[id] != lost[id] for id in both)
    return len(gained) - len(both), replaced, len(lost) - len(both)


def _papers_beside(snapshot: Snapshot, other: Snapshot) -> dict[str, bytes]:
    """The papers of a generation that are not in the same row of the same shard of the other: their ids, and hashes of what they say."""
    others = {shard.facts.name: shard for shard in other.shards}
    papers: dict[str, bytes] = {}
    for shard in snapshot.shards:
        other_shard = others.get(shard.facts.name)
        rows = shard.scope.places if other_shard is None else shard.scope.without(other_shard.scope.places).places
        papers |= zip(shard.ids_at(rows), shard.contents.take(integers(rows)).to_pylist(), strict=True)
    return papers


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
    encoder: AnyEncoder | None,
    device: Device,
    strict: bool,
    resume: bool,
    progress: Progress | bool,
    allow_deletions: Allowing,
) -> Update:
    directory = Path(index)
    Snapshot.of(directory).close()  # before the corpus is read, and before there is a lock file in a directory that is no index
    opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
    with shown(progress) as listener:
        with write_lock(directory):
            if resume:
                with Snapshot.of(directory) as snapshot:
                    _Update(command, opened_corpus, snapshot, encoder, device, listener, allow_deletions).finish_earlier()
            else:
                with suppress(CorruptData):  # a damaged mark is written over
                    if pending := Pending.read(directory, "change"):
                        pending.clear()
            with Snapshot.of(directory) as snapshot:
                update = _Update(command, opened_corpus, snapshot, encoder, device, listener, allow_deletions).run(strict, resume)
            sweep(directory, listener)
        warn_of(update.rejected, update.rejections, str(directory), directory / REJECTED)
        return update


class _Update:
    """One add or sync: what its steps share."""

    def __init__(
        self,
        command: Literal["add", "sync"],
        corpus: Corpus,
        snapshot: Snapshot,
        given: AnyEncoder | None,
        device: Device,
        progress: Progress,
        allow_deletions: Allowing,
    ) -> None:
        self.command, self.corpus, self.snapshot, self.progress = command, corpus, snapshot, progress
        self.directory, self.old = snapshot.path, snapshot.manifest
        self.encoder = self._encoder(given, device)
        self.analyzer = snapshot.analyzer if self.old.lexical is not None else None
        self.allow_deletions = allow_deletions

    def _encoder(self, given: AnyEncoder | None, device: Device) -> Encoder | None:
        built = self.old.encoder
        if built is None:
            return None
        encoder = index_encoder(self.directory, built, given, device)
        return late(encoder) if self.old.late else encoder

    @once
    def fingerprint(self) -> str:
        """The corpus's."""
        return self.corpus.fingerprint()

    @once
    def comparison(self) -> CorpusComparison:
        """The corpus beside the index."""
        return CorpusComparison(self.snapshot, keeps_others=self.command == "add")

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
            "allow_deletions": self.allow_deletions is True,
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
        shards = shards_of(self._ingest(probed(pending, self.encoder, self.snapshot.golden)).fill(len(self.old.sources)))
        verified = Verified(self.directory)
        rows = IdTable(self.snapshot).rows([id for facts in shards for id in Shard(verified, facts, 0).ids.to_pylist()])
        replaced_rows = np.sort(rows[rows >= 0])
        cut = {**pending.cut, "replaced": len(replaced_rows), "deleted": 0, "unchanged": 0, "is_whole": False}
        # nothing of this is written: if it stops before the commit, the earlier run can still be taken up as it was
        update = self._commit(replace(pending, state={**pending.state, "cut": cut}), shards, replaced_rows)
        self.progress.note(f"that added {counted(update.added, 'paper')} and replaced {update.replaced:,}")

    def _ingest(self, pending: Pending) -> Ingest:
        shard_size = self.old.build["settings"]["shard_size"]
        return Ingest(pending, self.encoder, self.analyzer, shard_size, self.progress, packing=self.snapshot.packing)

    def run(self, strict: bool, resume: bool) -> Update:
        """Take in what is new, delete what is to go, and commit."""
        if self.fingerprint == self.old.whole and not self.old.is_limited:
            self.progress.note(f"{self.directory} is up to date: it has the papers of this corpus")
            return _up_to_date(self.snapshot, self.corpus)
        pending = Pending.take_up(self.directory, self.plan, self.progress, resume=resume)
        try:
            pending = probed(pending, self.encoder, self.snapshot.golden)
            ingest = self._ingest(pending).cut(self.corpus, None, strict, lambda batch: self.comparison.chosen(batch), self._finished)
            pending = ingest.pending
            cut = pending.cut or {}
            if not cut["papers"] and self.command == "sync":
                raise InvalidRequest(NO_PAPER)
            self._check_missing(cut)
            shards = shards_of(ingest.fill(len(self.old.sources)))
        except SciretrieveError:
            pending = Pending.read(self.directory, "change") or pending
            if not pending.is_worth_keeping:
                pending.clear()
            raise
        return self._commit(pending, shards)

    def _finished(self) -> dict[str, Any]:
        """What reading the corpus told, which is not read again when the work is resumed."""
        replaced_rows, none = self.comparison.replaced_rows, np.empty(0, np.int64)
        gone_rows, kept_rows = self.comparison.missing_rows(self.allow_deletions is True)
        has_all = not len(kept_rows)
        if self.command == "add":
            has_all, gone_rows, kept_rows = not len(gone_rows) + len(kept_rows), none, none
        pending = Pending.read(self.directory, "change")
        assert pending is not None
        pending.save_deleted(np.sort(np.concatenate([replaced_rows, gone_rows])))
        return {
            "replaced": len(replaced_rows),
            "unchanged": self.comparison.unchanged,
            "deleted": len(gone_rows),
            "kept": len(kept_rows),
            "lost": self.comparison.lost,
            "examples": self.comparison.examples(deleted=gone_rows, kept=kept_rows),
            "is_whole": has_all,
        }

    def _check_missing(self, cut: Mapping[str, Any]) -> None:
        """Say which papers stay that the corpus does not have. Raises InvalidRequest where more would be deleted than is allowed."""
        if cut["kept"]:
            one = cut["kept"] == 1
            why = f"whose row{'' if one else 's'} could not be read"
            if cut["lost"] and self.allow_deletions is not True:
                rows = counted(cut["lost"], "row")
                why = f"that the corpus does not show, since {rows} of it could not be read and may be {'its' if one else 'theirs'}"
            self.progress.note(f"kept {counted(cut['kept'], 'paper')} {why}: {listed(cut['examples']['kept'], cut['kept'])}")
        papers, allowed = self.old.papers, self.allow_deletions
        if not are_many(cut["deleted"], papers):
            return
        if not isinstance(verdict := allowed(cut["deleted"], papers) if callable(allowed) else allowed, bool | np.bool_):
            raise InvalidRequest(f"the function `allow_deletions` answers True or False, not {verdict!r}; nothing was changed")
        if not verdict:
            raise InvalidRequest(
                f"{cut['deleted']:,} of the {counted(papers, 'paper')} of {self.directory} are not in the corpus, more than a tenth, so "
                "nothing was changed; see whether a file of it is missing, or pass allow_deletions=True"
            )

    def _commit(self, pending: Pending, shards: list[ShardFacts], deleted_rows: Rows | None = None) -> Update:
        """Commit new shards, and the deletion of the given rows; by default of those that were found when the corpus was cut."""
        cut = pending.cut or {}
        # an earlier generation, with fewer sources, may have been restored since they were filled; a file that grows is one source
        names, sources = tuple(pending.plan["corpus"]), list(self.old.sources)
        place = next((place for place, source in enumerate(sources) if source.corpus == names), len(sources))
        shards = [replace(facts, sources=(place,)) for facts in shards]
        new_papers = sum(facts.papers for facts in shards)
        update = Update(
            self.old.papers + new_papers - cut["replaced"] - cut["deleted"],
            added=new_papers - cut["replaced"],
            replaced=cut["replaced"],
            unchanged=cut["unchanged"],
            deleted=cut["deleted"],
            rejected=publish_rejections(pending),
            kept=cut["kept"],
            examples=cut["examples"],
            rejections=first_rejected(pending),
        )
        whole = self.fingerprint if cut["is_whole"] else None
        generation = next_generation(self.directory)
        if shards:
            sources[place:] = [Source(names, pending.plan["fingerprint"], generation), *sources[place + 1 :]]
        elif not cut["deleted"] and whole is None:
            pending.clear()
            self.progress.note(f"{self.directory} has all papers of this corpus already")
            return replace(update, generation=self.old.generation)
        encoder = self.old.encoder and {
            **self.old.encoder,
            "ran_in": ran_in(pending, self.encoder if shards else None, self.old.encoder.get("ran_in", ())),
        }
        thinned = _thinned(self.snapshot, pending.deleted() if deleted_rows is None else deleted_rows, generation)
        manifest = replace(
            self.old,
            shards=(*tidied(self.snapshot, thinned, self.progress), *shards),
            sources=tuple(sources),
            whole=whole,
            rejected=update.rejected,
            encoder=encoder,
            build={**self.old.build, "settings": {**self.old.build["settings"], "limit": None}},  # these are not its corpus's first papers
            versions=library_versions(LIBRARIES),
        )
        change = Change(pending.plan["command"], update.added, update.replaced, update.deleted, work=pending.id)
        new = commit(self.directory, self.old, manifest, IndexSettings.of(self.old), change, self.progress)
        pending.end()
        return replace(update, generation=new.generation)
