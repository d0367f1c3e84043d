"""Commits, by which every command changes an index.

A generation is a manifest and the files that it names. A commit first makes the files that span shards (FAISS indexes, term frequencies).
Then it writes the manifest under its number, and last as the current one, so that one rename changes papers, vectors and postings at once.
Nothing is removed here, see `sweeping`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..base.choices import Metric
from ..base.errors import CorruptData
from ..base.types import Rows
from ..base.wording import counted
from ..files.appending import now
from ..files.schema import booleans
from ..files.verified import Verified
from ..files.writing import claimed, created, describe, put_array, read_array, remove, sync_file, write_lock, write_whole
from ..matching.dense import build_ann, factory_string
from ..matching.dense.measuring import try_out
from ..matching.effort import Trial, knob
from ..matching.fusion import Fusion
from ..matching.lexical import Bm25Parameters
from ..matching.lexical.corpus_statistics import Frequencies, frequencies, statistics, updated
from ..options import RECALL
from ..protocols import Advance, Progress, Workers, ignore_advance
from .fulltext import FULLTEXT, named_generation, orphans, read_named
from .manifest import (
    LOGGED,
    MANIFEST,
    SHARDS,
    Commit,
    Manifest,
    ShardFacts,
    generation_file,
    generations,
    read_manifest,
    said_generation,
)
from .shards import Shard, open_shards, scope_of, write_deleted

GROWN = 1.1
"""Growth of an index after which its FAISS indexes are measured again. A measurement searches all vectors for hundreds of queries. A loss
of recall among a tenth of the papers costs answers a tenth of it."""
WRITTEN = re.compile(r"(?:lexical/|encoder/[a-z]+-|\d+(?:\.partial)?/(?:dense|deleted)-)(\d{6,})(?:\..*)?")
"""Files and folders named by the generation that wrote them."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings of the files that span shards: how vectors are compared and searched, BM25's parameters, and the wanted recall of an
    approximate dense index."""

    metric: Metric | None
    dense: str
    lexical: Bm25Parameters | None
    recall: float = RECALL

    @classmethod
    def of(cls, manifest: Manifest) -> IndexSettings:
        """The settings of a generation."""
        return cls(manifest.metric, manifest.dense, manifest.bm25, manifest.recall)


@dataclass(frozen=True, slots=True)
class Change:
    """A change for the log: the command, the numbers of papers added, replaced and deleted, the generation restored, and the id of the
    finished work."""

    command: str
    added: int = 0
    replaced: int = 0
    deleted: int = 0
    restored: int | None = None
    work: str | None = None


def commit(
    directory: Path,
    old: Manifest | None,
    new: Manifest,
    settings: IndexSettings,
    change: Change,
    progress: Progress,
    *,
    anew: bool = False,
    fusion: Fusion | None = None,
    workers: Workers | None = None,
) -> Manifest:
    """Make a new generation current.

    Args:
        directory: the index's directory. The caller holds its write lock.
        old: the current generation; None if there is none.
        new: the new generation with its shards. This function adds what spans and counts them.
        settings: settings of what spans the shards.
        change: the log's entry.
        progress: receives the steps that take long.
        anew: whether it is another index, so that no tuning is kept.
        fusion: how hybrid search joins its halves. By default the former tuning, if its settings are unchanged.
        workers: processes that build FAISS indexes; None to build them here.

    Returns:
        The new generation's manifest.
    """
    generation = new.generation if new.generation > (old.generation if old else 0) else next_generation(directory)
    shards = _with_anns(directory, new.shards, generation, old, settings, progress, workers)
    dense = settings.dense
    if dense != "none" and all(facts.ann_file is None for facts in shards):
        dense = "flat"
    manifest = replace(
        new,
        metric=settings.metric,
        dense=dense,
        lexical=_lexical(directory, generation, shards, old, settings.lexical, (new.lexical or new.build)["analyzer"]),
        shards=shards,
        fusion=asdict(fusion) if fusion is not None else None if anew else _fusion(old, settings, progress),
        trial=_trial(directory, new.encoder, shards, old, settings, progress),
        fulltext=_fulltext(directory, new.fulltext, shards, old, progress),
    )
    manifest = publish(directory, old, manifest, change, generation)
    known = dict(old.files()) if old else {}
    written = dict(manifest.files())
    Verified(directory).remember({name: facts for name, facts in written.items() if name not in known}, written)
    return manifest


def publish(directory: Path, old: Manifest | None, new: Manifest, change: Change, generation: int) -> Manifest:
    """Make a generation with complete files the current one, in place of `old`. Returns its manifest, with number and log."""
    created_at = now()
    papers = sum(facts.papers - facts.deleted for facts in new.shards)
    record = Commit(generation, created_at, papers=papers, **asdict(change))
    before = [replace(made, checksum=old.checksum) if made.generation == old.generation else made for made in old.log] if old else []
    names = {facts.name for facts in new.shards}
    manifest = replace(
        new,
        generation=generation,
        previous=old.generation if old else None,
        created=created_at,
        papers=papers,
        replaced=tuple(facts.name for facts in old.shards if facts.name not in names) if old else (),
        log=(*before, record)[-LOGGED:],
    )
    path = generation_file(directory, generation)
    path.parent.mkdir(exist_ok=True)
    data, manifest = manifest.sealed()
    write_whole(path, data)
    for place in (directory / SHARDS, directory):
        sync_file(place)  # a killed process may have named shards without syncing the folder
    write_whole(directory / MANIFEST, data)
    return manifest


def current_passages(directory: Path, facts: Mapping[str, Any]) -> Manifest:
    """Make the passages that an index names the current ones of their folder, from which changes begin. Returns their manifest.

    Others are current after a change of passages whose commit was interrupted, or after the index was restored.
    """
    folder, named = directory / FULLTEXT, read_named(directory, facts)
    current = read_manifest(folder)
    if current.generation == named.generation:
        return current
    change = Change("restore", restored=named.generation)
    return publish(folder, current, named, change, next_generation(folder))


def _fulltext(
    directory: Path, facts: Mapping[str, Any] | None, shards: Sequence[ShardFacts], old: Manifest | None, progress: Progress
) -> Mapping[str, Any] | None:
    """What a commit's manifest says of full texts. Passages of papers that are gone are deleted."""
    if facts is None or old is None or {*map(_identity, old.shards)} <= {*map(_identity, shards)}:
        return facts
    papers = [shard.ids.filter(booleans(shard.scope.flags)) for shard in open_shards(Verified(directory), shards)]
    folder = directory / FULLTEXT
    passages = open_shards(Verified(folder), read_named(directory, facts).shards)
    gone = {
        shard.facts.name: rows
        for shard in passages
        if len(rows := np.flatnonzero(orphans(shard.ids, papers) & shard.scope.flags).astype(np.int64))
    }
    if not gone:
        return facts
    if sum(map(len, gone.values())) == int(facts["passages"]):
        return None
    with write_lock(folder):
        before = current_passages(directory, facts)
        generation = next_generation(folder)
        kept = [with_deleted(folder, one, gone[one.name], generation) if one.name in gone else one for one in before.shards]
        kept = [one for one in kept if one.papers > one.deleted]
        change = Change("delete", deleted=sum(map(len, gone.values())))
        changed = replace(before, shards=tuple(kept), whole=None)
        return named_generation(commit(folder, before, changed, IndexSettings.of(before), change, progress))


def next_generation(directory: Path) -> int:
    """Number of the next generation. Numbers are never reused, even if a manifest is damaged or lost."""
    number = said_generation(directory)
    numbers = [*generations(directory), number or 0]
    if number is None:
        paths = [path for folder in ("encoder", "lexical", f"{SHARDS}/*") for path in directory.glob(f"{folder}/*")]
        numbers += [int(match[1]) for path in paths if (match := WRITTEN.fullmatch(f"{path.parent.name}/{path.name}"))]
    return max(numbers) + 1


def _fusion(old: Manifest | None, settings: IndexSettings, progress: Progress) -> Mapping[str, Any] | None:
    if old is None or old.fusion is None:
        return None
    if (settings.metric, settings.lexical) == (old.metric, old.bm25):
        return old.fusion
    progress.note("hybrid search was tuned for other settings and is back at its defaults; run `sciretrieve tune` again")
    return None


def with_deleted(directory: Path, facts: ShardFacts, rows: Rows, generation: int) -> ShardFacts:
    """Mark further rows, counted within a shard, as deleted. Writes the list of deleted rows that the generation names."""
    before = Shard(Verified(directory), facts, 0).scope
    scope = before.without(rows)
    if len(scope) == len(before):
        return facts
    path = directory / SHARDS / facts.name / f"deleted-{generation:06d}.npy"
    write_deleted(path, np.flatnonzero(~scope.flags))
    files = {**facts.without([facts.deleted_file]).files, path.name: describe(path)}
    return replace(facts, files=files, deleted=facts.papers - len(scope))


@dataclass(frozen=True, slots=True)
class _Indexing:
    """A task, for any process, that builds a shard's FAISS index beside its vectors.

    Attributes:
        directory, shard: location of the vectors.
        name: name of the file.
        factory, metric: see `build_ann`.
    """

    directory: Path
    shard: ShardFacts
    name: str
    factory: str
    metric: Metric

    def __call__(self, advance: Advance) -> Mapping[str, Any] | None:
        """The result of `describe` for the file; None if the shard has too few papers for this type."""
        path = self.directory / SHARDS / self.shard.name / self.name
        vectors = Shard(Verified(self.directory), self.shard, 0).file("vectors.npy")
        with claimed(vectors):  # an abandoned worker may still be writing
            is_built = build_ann(path, read_array(vectors), self.factory, self.metric)
        advance(self.shard.papers)
        return describe(path) if is_built else None


def _with_anns(
    directory: Path,
    shards: Sequence[ShardFacts],
    generation: int,
    old: Manifest | None,
    settings: IndexSettings,
    progress: Progress,
    workers: Workers | None,
) -> tuple[ShardFacts, ...]:
    """The shards with their FAISS indexes. Missing ones are built. A shard with too few papers for this type is searched exactly."""
    is_of_them = old is not None and (old.metric, old.dense) == (settings.metric, settings.dense)
    done = [facts if is_of_them else facts.without([facts.ann_file]) for facts in shards]
    if settings.dense in ("none", "flat") or settings.metric is None:
        return tuple(done)
    # named by generation, since the old file is in use until the commit
    name = f"dense-{generation:06d}.faiss"
    places = [place for place, facts in enumerate(done) if facts.ann_file is None]
    tasks = [
        _Indexing(directory.absolute(), done[place], name, factory_string(settings.dense, done[place].papers), settings.metric)
        for place in places
    ]
    for number, file in _build(directory, tasks, settings.dense, progress, workers):
        facts = tasks[number].shard
        if file is None:
            progress.note(f"shard {facts.name} has too few papers for {settings.dense}, so it is searched exactly")
        else:
            done[places[number]] = replace(facts, files={**facts.files, name: file})
    return tuple(done)


def _build(
    directory: Path, tasks: Sequence[_Indexing], dense: str, progress: Progress, workers: Workers | None
) -> Iterator[tuple[int, Mapping[str, Any] | None]]:
    """Run the tasks here or on the workers, and yield their numbers and results."""
    if workers is not None and tasks:
        progress.note(f"building the {dense} index{'es' * (len(tasks) > 1)} of {counted(len(tasks), 'shard')}")
        progress.start(sum(task.shard.papers for task in tasks))
        yield from workers.run(directory, tasks, progress.advance)
        return
    for number, task in enumerate(tasks):
        progress.note(f"building the {dense} index of shard {task.shard.name}")
        yield number, task(ignore_advance)


def _trial(
    directory: Path,
    encoder: Mapping[str, Any] | None,
    shards: tuple[ShardFacts, ...],
    old: Manifest | None,
    settings: IndexSettings,
    progress: Progress,
) -> Trial | None:
    """Measure the dense index if the wanted recall has changed, or much of the index has."""
    ann_files = {(facts.name, facts.ann_file) for facts in shards if facts.ann_file}
    if not ann_files or encoder is None or settings.metric is None:
        return None
    size = sum(int(facts.files[facts.ann_file]["bytes"]) for facts in shards if facts.ann_file)
    if old is not None and old.trial is not None and old.trial.target == settings.recall:
        gone = sum(
            int(facts.files[facts.ann_file]["bytes"])
            for facts in old.shards
            if facts.ann_file and (facts.name, facts.ann_file) not in ann_files
        )
        if size + gone <= GROWN * old.trial.bytes:
            return old.trial
    opened_shards = open_shards(Verified(directory), shards)
    vectors = [shard.vectors(int(encoder["dim"]), settings.metric) for shard in opened_shards]
    trial = try_out(vectors, scope_of(opened_shards), knob(settings.dense), settings.recall, size)
    if trial is not None:
        progress.note(f"{settings.dense} {trial}")
    return trial


def _frequencies(verified: Verified, old: Manifest | None, shards: Sequence[Shard]) -> list[Frequencies]:
    """Number of papers with each term of each shard. Reuses the previous generation's numbers if they are intact."""
    parts = {_identity(shard.facts): (shard.postings, _live(shard)) for shard in shards}
    old_facts = {} if old is None or old.lexical is None else {_identity(facts): facts for facts in old.shards}
    if old is None or old.lexical is None or not parts.keys() & old_facts.keys():
        return frequencies(list(parts.values()))
    opened = {name: shard for shard in shards if (name := _identity(shard.facts)) in old_facts}
    opened |= {name: Shard(verified, facts, 0) for name, facts in old_facts.items() if name not in parts}
    known: dict[tuple[str, str | None], Frequencies] = {}
    for name, shard in opened.items():
        file = f"{shard.facts.name}.npy"
        try:
            counts = np.asarray(read_array(verified.check(f"{old.lexical['folder']}/{file}", old.lexical["files"][file])))
            fits = counts.dtype == np.int32 and counts.shape == (len(shard.postings.terms),)
        except CorruptData:
            fits = False
        if not fits:
            return frequencies(list(parts.values()))
        known[name] = counts
    kept = [name for name in parts if name in old_facts]
    added = [name for name in parts if name not in old_facts]
    totals = updated(
        [(opened[name].postings.terms, known[name]) for name in kept],
        [(shard.postings, _live(shard), known[name]) for name, shard in opened.items() if name not in parts],
        [parts[name] for name in added],
    )
    counts_of = dict(zip([*kept, *added], [*totals[0], *totals[1]], strict=True))
    return [counts_of[name] for name in parts]


def _identity(facts: ShardFacts) -> tuple[str, str | None]:
    """What determines a shard's terms: its name and its deleted papers."""
    return facts.name, facts.deleted_file


def _live(shard: Shard) -> Rows | None:
    """Rows of the undeleted papers; None for all."""
    return shard.scope.places if shard.facts.deleted else None


def _lexical(
    directory: Path,
    generation: int,
    shards: tuple[ShardFacts, ...],
    old: Manifest | None,
    parameters: Bm25Parameters | None,
    analyzer: Mapping[str, Any],
) -> dict[str, Any] | None:
    """The manifest's BM25 entry. Writes the corpus's statistics and each shard's term frequencies."""
    if parameters is None:
        return None
    if old is not None and old.lexical is not None and list(map(_identity, shards)) == list(map(_identity, old.shards)):
        return {**old.lexical, **asdict(parameters)}
    verified = Verified(directory)
    opened_shards = [Shard(verified, facts, 0) for facts in shards]
    counts_of_shards = _frequencies(verified, old, opened_shards)
    sums = statistics([(shard.postings, _live(shard)) for shard in opened_shards])
    name = f"lexical/{generation:06d}"
    folder = directory / name
    remove(folder)  # left by an unfinished commit
    folder.mkdir(parents=True)
    files = {}
    for facts, counts in zip(shards, counts_of_shards, strict=True):
        path = folder / f"{facts.name}.npy"
        with created(path) as file:
            put_array(file, counts)
        files[path.name] = describe(path)
    for place in (folder, folder.parent, directory):
        sync_file(place)
    return {"folder": name, **asdict(parameters), "analyzer": analyzer, "statistics": asdict(sums), "files": files}
