"""Changing the papers of an index: adding a corpus, syncing with one, deleting papers, and restoring a generation.

A paper is unchanged if its id and contents are the same; then it is skipped. With other contents, the new version replaces it. Papers,
vectors and postings change in one commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..base.arguments import checked
from ..base.choices import Device, Filter, conditions
from ..base.errors import CorruptData, InvalidRequest, NoSuchIndex, SciretrieveError
from ..base.forms import AsJson
from ..base.once import once
from ..base.types import Papers, Rows, names_of
from ..base.wording import counted, shortened, shortlist
from ..encoders import late
from ..encoders.query_encoder import index_encoder
from ..files.schema import integers
from ..files.verified import Verified
from ..files.writing import write_lock
from ..matching.sharding import by_shard
from ..papers.corpora import ColumnMap, Corpus, Rejected, Sources, Tally, open_corpus, warn_of
from ..papers.corpora.rejections import REJECTED, SHOWN
from ..progress import shown
from ..protocols import AnyEncoder, Encoder, IndexPlace, Progress
from ..query.narrowing.filters import comparisons, parse, value_of
from ..query.snapshot import Snapshot
from ..storage.commits import Change, IndexSettings, commit, next_generation, publish, with_deleted
from ..storage.finding import encoder_for, folder_of
from ..storage.manifest import FORMAT, ShardFacts, Source, kept_generations, library_versions
from ..storage.pending import Pending
from ..storage.shards import Shard
from ..storage.sweeping import sweep
from .building import LIBRARIES
from .comparison import CorpusComparison, IdTable
from .ingest import Ingest, first_rejected, probed, publish_rejections, ran_in, shards_of
from .merging import tidied

NAMED = 5
"""Papers named in a message, of deleted papers and of papers that prevent a deletion."""
MOST_DELETED = 10
"""`sync` may delete one paper in this many without permission."""

NO_PAPER = "the corpus has no paper, so the index is left as it is"

Allowing = bool | Callable[[int, int], bool]
"""Permission for `sync` to delete many papers, or a function that is asked, with the number to be deleted and the total."""


@dataclass(frozen=True, slots=True)
class Update(AsJson):
    """The result of changing an index's papers, or of a dry run.

    Attributes:
        papers: number of papers in the index now.
        added, replaced, unchanged, deleted: numbers of the corpus's papers that were new, had other contents, and were unchanged; and
            number of papers removed from the index.
        rejected: number of rejected rows of the corpus, listed in rejected.jsonl.
        rejections: the first 100 rejected rows: `source`, `row`, `reason`, and `id` if known.
        generation: the index's generation now.
        kept: number of papers without a row in the corpus that `sync` kept, since an unreadable row may be theirs.
        examples: ids of the first few papers that were `added`, `replaced`, `deleted` and `kept` by `add` or `sync`.
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
    """The result of deleting papers, or of a dry run.

    Attributes:
        dry_run: whether nothing was changed, so that `papers` and `deleted` are hypothetical.
        first: ids and titles of the first deleted papers, by id.
    """

    dry_run: bool = False
    first: Mapping[str, str] = field(default_factory=dict)


@checked
def add(
    corpus: Sources | Corpus,
    index: IndexPlace,
    *,
    columns: ColumnMap | None = None,
    encoder: AnyEncoder | None = None,
    device: Device = "auto",
    strict: bool = False,
    resume: bool = True,
    progress: Progress | bool = True,
) -> Update:
    """Add a corpus's new and changed papers to an index. A changed paper replaces the one with its id.

    Args:
        corpus: as in `build`.
        index: the index: its folder, its name, or open; an open one stays as it is.
        columns: the roles of the corpus's columns; by default recognised by name.
        encoder: encodes papers if the index's own encoder cannot be found: the encoder that filled the index; a name; or the vectors of the
            corpus's papers, as {id: vector} or `vectors:FILE`.
        device: the encoder's device: "cpu", "cuda", or "auto".
        strict: stop at the first bad row, instead of listing it in rejected.jsonl.
        resume: continue an interrupted run; False drops it.
        progress: receives progress; by default a progress bar on a terminal, False for none.

    Raises:
        NotFound: there is no such index or corpus.
        InvalidRequest, EncoderMismatch: the corpus cannot be read, or the encoder differs.
        IndexBusy: another process is writing the index.

    >>> update = sr.add([{"id": "new", "title": "Graph trees"}], "indexes/papers")
    >>> update.added, update.rejected
    (1, 0)
    """
    return _update("add", corpus, index, columns, encoder, device, strict, resume, progress, False)


@checked
def sync(
    corpus: Sources | Corpus,
    index: IndexPlace,
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
    """Make an index equal to a corpus: as `add`, and delete papers that the corpus lacks.

    A paper whose row is present but unreadable is kept. If a row is unreadable and its id unknown, no paper is deleted for lack of a row,
    since the row may be its own.

    Args:
        allow_deletions: allow deleting more than a tenth of the index's papers, and deleting papers without a row in spite of unreadable
            rows with unknown ids. Or a function that is asked for more than a tenth, with the number to be deleted and the total.
        dry_run: change and encode nothing; report what would be done.

    Other arguments and errors are as in `add`. Also raises InvalidRequest if the corpus has no paper, or lacks more than a tenth of the
    index's papers without permission.

    >>> update = sr.sync("papers.jsonl", "indexes/papers")
    """
    if dry_run:
        directory = folder_of(index)
        update = _dry_run(
            corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns), directory, strict, progress, allow_deletions
        )
        warn_of(update.rejected, update.rejections, str(directory))
        return update
    return _update("sync", corpus, index, columns, encoder, device, strict, resume, progress, allow_deletions)


def are_many(deleted: int, papers: int) -> bool:
    """Whether `sync` needs permission to delete this many of the papers, since a file of the corpus may be missing."""
    return deleted * MOST_DELETED > papers


def _dry_run(corpus: Corpus, directory: Path, strict: bool, progress: Progress | bool, allow_deletions: Allowing) -> Update:
    """The effect of `sync` on the current generation."""
    with shown(progress) as listener, Snapshot.of(directory) as snapshot:
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
    """The result for a corpus that the index already equals. Its rejected rows are read again if their list is missing."""
    manifest, first = snapshot.manifest, snapshot.rejections
    if snapshot.rejected and not first:
        first = tuple(islice((row for batch in corpus.batches() for row in batch.rejected), SHOWN))
    return Update(manifest.papers, unchanged=manifest.papers, rejected=snapshot.rejected, generation=manifest.generation, rejections=first)


@checked
def delete(
    index: IndexPlace, ids: Papers = (), *, filter: Filter = None, dry_run: bool = False, progress: Progress | bool = True
) -> Deletion:
    """Delete the given papers, or the papers that pass a filter. Their space is freed by `merge`.

    With `dry_run`, nothing is changed, and the result is hypothetical.

    Raises:
        NoSuchIndex, NoSuchPaper: there is no such index, or no such paper in it.
        InvalidRequest: no papers are named, no paper would be left, or the filter is undefined for some papers.
        IndexBusy: another process is writing the index.

    >>> deletion = sr.delete("indexes/papers", filter="year < 1900", dry_run=True)
    >>> deletion.deleted
    0
    """
    directory, names = folder_of(index), names_of(ids)
    if bool(names) == (filter is not None):
        raise InvalidRequest("name the papers to delete by their ids, or by `filter`, and not by both")
    with Snapshot.of(directory) as snapshot:  # avoids leaving a lock file in a directory that is no index
        if dry_run:
            return _deletion(snapshot, _to_delete(snapshot, names, filter), dry_run)
    with shown(progress) as listener, write_lock(directory):
        with Snapshot.of(directory) as snapshot:
            rows = _to_delete(snapshot, names, filter)
            deletion = _deletion(snapshot, rows, dry_run)
            if not len(rows):
                return deletion
            old = snapshot.manifest
            shards = tidied(snapshot, _without_rows(snapshot, rows, next_generation(directory)), listener)
            change = Change("delete", deleted=len(rows))
            new = commit(directory, old, replace(old, shards=shards, whole=None), IndexSettings.of(old), change, listener)
        sweep(directory, listener)
    return replace(deletion, generation=new.generation)


def _to_delete(snapshot: Snapshot, ids: Sequence[str], filter: Filter) -> Rows:
    """Rows of the papers that are named, or that pass a filter. Raises as `delete`."""
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
    """Why papers are not deleted while a filter is undefined for the given rows, and what to do."""
    columns = sorted({condition.column for expression in map(parse, conditions(filter)) for condition in comparisons(expression)})
    papers = snapshot.papers_at(rows[:NAMED])
    texts = [f"{paper.id} ({', '.join(f'{column}: {value_of(paper, column)}' for column in columns)})" for paper in papers]
    more = f" and {len(rows) - NAMED:,} more" * (len(rows) > NAMED)
    return (
        f"{counted(len(rows), 'paper')} cannot be compared as the filter asks, so nothing is deleted: {', '.join(texts)}{more}; "
        f"leave such values out, as in: (…) and not {columns[0]} in (VALUE, …), or delete these papers by their ids first"
    )


def _deletion(snapshot: Snapshot, rows: Rows, dry_run: bool) -> Deletion:
    first = {paper.id: paper.title for paper in snapshot.papers_at(rows[:NAMED])}
    old = snapshot.manifest
    return Deletion(old.papers - len(rows), deleted=len(rows), generation=old.generation, dry_run=dry_run, first=first)


@checked
def restore(index: IndexPlace, generation: int) -> Update:
    """Restore an earlier generation of an index, as a new commit. This undoes all later changes.

    Raises:
        NotFound: there is no such index, or the generation was removed; the message lists existing ones.
        IndexBusy: another process is writing the index.

    >>> update = sr.restore("indexes/papers", 1)
    """
    directory = folder_of(index)
    Snapshot.of(directory).close()  # avoids leaving a lock file in a directory that is no index
    with shown(True) as listener, write_lock(directory):
        with Snapshot.of(directory) as snapshot:
            old = snapshot.manifest
            others = [number for number in kept_generations(directory, old) if number != old.generation]
            if generation not in others:
                why = "is the current one" if generation == old.generation else "is not there, or not any more"
                there_are = ", ".join(map(str, others)) or "none"
                raise NoSuchIndex(f"generation {generation} of {directory} {why}; those that can be restored: {there_are}")
            with Snapshot.of(directory, generation) as earlier:
                added, replaced, deleted = _differences(earlier, snapshot)
                change = Change("restore", added, replaced, deleted, generation)
                new = publish(directory, old, earlier.manifest, change, next_generation(directory))
        sweep(directory, listener)
    return Update(new.papers, added, replaced, new.papers - added - replaced, deleted, generation=new.generation)


def _differences(new: Snapshot, old: Snapshot) -> tuple[int, int, int]:
    """Numbers of papers in one generation that are new, changed and missing, compared with the other."""
    gained, lost = _papers_beside(new, old), _papers_beside(old, new)
    both = gained.keys() & lost.keys()
    replaced = sum(gained[id] != lost[id] for id in both)
    return len(gained) - len(both), replaced, len(lost) - len(both)


def _papers_beside(snapshot: Snapshot, other: Snapshot) -> dict[str, bytes]:
    """Papers of a generation that are not in the same row of the same shard of the other: ids, and hashes of their contents."""
    others = {shard.facts.name: shard for shard in other.shards}
    papers: dict[str, bytes] = {}
    for shard in snapshot.shards:
        other_shard = others.get(shard.facts.name)
        rows = shard.scope.places if other_shard is None else shard.scope.without(other_shard.scope.places).places
        papers |= zip(shard.texts_at("id", rows), shard.contents.take(integers(rows)).to_pylist(), strict=True)
    return papers


def _without_rows(snapshot: Snapshot, rows: Rows, generation: int) -> tuple[ShardFacts, ...]:
    """Shards of a snapshot with further rows deleted."""
    facts = {shard.facts.name: shard.facts for shard in snapshot.shards}
    for shard, _, shard_rows in by_shard(rows, snapshot.shards):
        facts[shard.facts.name] = with_deleted(snapshot.path, shard.facts, shard_rows, generation)
    return tuple(facts.values())


def _update(
    command: Literal["add", "sync"],
    corpus: Sources | Corpus,
    index: IndexPlace,
    columns: ColumnMap | None,
    encoder: AnyEncoder | None,
    device: Device,
    strict: bool,
    resume: bool,
    progress: Progress | bool,
    allow_deletions: Allowing,
) -> Update:
    directory, encoder = folder_of(index), encoder_for(index, encoder)
    Snapshot.of(directory).close()  # fails before the corpus is read, and avoids leaving a lock file in a directory that is no index
    opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
    with shown(progress) as listener:
        with write_lock(directory):
            if resume:
                with Snapshot.of(directory) as snapshot:
                    _Update(command, opened_corpus, snapshot, encoder, device, listener, allow_deletions).finish_earlier()
            else:
                with suppress(CorruptData):  # a damaged mark is overwritten
                    if pending := Pending.read(directory, "change"):
                        pending.clear()
            with Snapshot.of(directory) as snapshot:
                update = _Update(command, opened_corpus, snapshot, encoder, device, listener, allow_deletions).run(strict, resume)
            sweep(directory, listener)
        warn_of(update.rejected, update.rejections, str(directory), directory / REJECTED)
        return update


class _Update:
    """An add or sync, with the state that its steps share."""

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
        """Fingerprint of the corpus."""
        return self.corpus.fingerprint()

    @once
    def comparison(self) -> CorpusComparison:
        """Comparison of the corpus with the index."""
        return CorpusComparison(self.snapshot, keeps_others=self.command == "add")

    @property
    def plan(self) -> dict[str, Any]:
        """The facts that determine the new shards."""
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
        """Finish and commit an interrupted add or sync: another one, or this one if something else was committed since.

        Its encoded papers are kept, without its corpus. Its deletions are left to whoever repeats it.
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
        # not written to the mark, so that the earlier run can still be resumed if this one stops before the commit
        update = self._commit(replace(pending, state={**pending.state, "cut": cut}), shards, replaced_rows)
        self.progress.note(f"that added {counted(update.added, 'paper')} and replaced {update.replaced:,}")

    def _ingest(self, pending: Pending) -> Ingest:
        shard_size = self.old.build["settings"]["shard_size"]
        return Ingest(pending, self.encoder, self.analyzer, shard_size, self.progress, packing=self.snapshot.packing)

    def run(self, strict: bool, resume: bool) -> Update:
        """Ingest new papers, delete missing ones, and commit."""
        if self.fingerprint == self.old.whole and not self.old.is_limited and not (strict and self.snapshot.rejected):
            self.progress.note(f"{self.directory} is up to date: it has the papers of this corpus")
            return _up_to_date(self.snapshot, self.corpus)
        pending = Pending.take_up(self.directory, self.plan, self.progress, resume=resume)
        try:
            pending = probed(pending, self.encoder, self.snapshot.golden)
            ingest = self._ingest(pending).cut(self.corpus, None, strict, lambda batch: self.comparison.chosen(batch), self._reading_facts)
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

    def _reading_facts(self) -> dict[str, Any]:
        """Facts from reading the corpus, which resumed work does not read again."""
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
        """Report which papers are kept although the corpus lacks them. Raises InvalidRequest if too many would be deleted."""
        if cut["kept"]:
            one = cut["kept"] == 1
            why = f"whose row{'' if one else 's'} could not be read"
            if cut["lost"] and self.allow_deletions is not True:
                rows = counted(cut["lost"], "row")
                why = f"that are missing from the corpus, since {rows} of it could not be read and may be {'its' if one else 'theirs'}"
            self.progress.note(f"kept {counted(cut['kept'], 'paper')} {why}: {shortlist(cut['examples']['kept'], cut['kept'])}")
        papers, allowed = self.old.papers, self.allow_deletions
        if not are_many(cut["deleted"], papers):
            return
        if not isinstance(verdict := allowed(cut["deleted"], papers) if callable(allowed) else allowed, bool | np.bool_):
            raise InvalidRequest(f"the function `allow_deletions` answers True or False, not {shortened(verdict)}; nothing was changed")
        if not verdict:
            raise InvalidRequest(
                f"{cut['deleted']:,} of the {counted(papers, 'paper')} of {self.directory} are not in the corpus, more than a tenth, so "
                "nothing was changed; see whether a file of it is missing, or pass allow_deletions=True"
            )

    def _commit(self, pending: Pending, shards: list[ShardFacts], deleted_rows: Rows | None = None) -> Update:
        """Commit new shards, and the deletion of the given rows; by default of the rows found when the corpus was cut."""
        cut = pending.cut or {}
        # an earlier generation with fewer sources may have been restored meanwhile; a growing file is one source
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
            self.progress.note(f"{self.directory} already has all papers of this corpus")
            return replace(update, generation=self.old.generation)
        encoder = self.old.encoder and {
            **self.old.encoder,
            "ran_in": ran_in(pending, self.encoder if shards else None, self.old.encoder.get("ran_in", ())),
        }
        thinned = _without_rows(self.snapshot, pending.deleted() if deleted_rows is None else deleted_rows, generation)
        manifest = replace(
            self.old,
            shards=(*tidied(self.snapshot, thinned, self.progress), *shards),
            sources=tuple(sources),
            whole=whole,
            rejected=update.rejected,
            encoder=encoder,
            # its papers are no longer a corpus's first ones
            build={**self.old.build, "settings": {**self.old.build["settings"], "limit": None}},
            versions=library_versions(LIBRARIES),
        )
        change = Change(pending.plan["command"], update.added, update.replaced, update.deleted, work=pending.id)
        new = commit(self.directory, self.old, manifest, IndexSettings.of(self.old), change, self.progress)
        pending.end()
        return replace(update, generation=new.generation)
