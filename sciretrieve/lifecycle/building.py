"""Building an index: a pipeline from a corpus to a committed manifest, which can be interrupted anywhere and resumed.

    corpus ─ cut ─▶ shards of papers and ids ─ fill ─▶ with vectors and postings ─ commit ─▶ manifest

`pending.json` marks and describes a build in progress, see `storage.pending`. Within an unfinished shard, vectors are on disk after every
window. So a killed build loses at most two windows of encoding.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from ..base.arguments import checked
from ..base.choices import Metric
from ..base.errors import CorruptData, IndexExists, InvalidRequest, SciretrieveError
from ..base.once import once
from ..encoders import adopted, has_tokens, late, late_by_default, load_encoder, must_be_given, packing_of
from ..files.streams import checked_text
from ..files.writing import LOCK, TEMPORARY, folder_entries, remove, remove_lock, write_lock
from ..matching.dense.ann import NAMED, check_factory
from ..matching.dense.choosing import auto_dense
from ..matching.dense.faiss_library import load_faiss
from ..matching.late import write_packing
from ..matching.lexical import Analyzer
from ..matching.sharding import ALL, Share
from ..options import Bm25Parameters, BuildSettings, changed
from ..options.keywords import BuildKeywords
from ..papers.corpora import ColumnMap, Corpus, Sources, TableCorpus, open_corpus, warn_of
from ..papers.corpora.rejections import REJECTED, Tally
from ..progress import Silent, shown
from ..protocols import Encoder, Progress, Workers
from ..query.index import Index
from ..query.opening import open_index
from ..storage.commits import Change, IndexSettings, commit, next_generation
from ..storage.fulltext import WORK
from ..storage.manifest import FORMAT, MANIFEST, PARTS, PENDING, SHARD_NAME, SHARDS, Manifest, Source, library_versions, read_manifest
from ..storage.pending import Pending
from ..storage.sweeping import sweep
from .ingest import Ingest, encoder_facts, full, plain_json, probed, publish_rejections, shards_of, why_none

SPANNING = ("metric", "dense", "lexical", "recall")
"""Settings of the files that span shards."""
LATE_PAPERS = 250_000
"""Most papers for which token vectors are built by default, in some 1.3 GB."""
PLAN = ("command", "format", "settings", "encoder", "analyzer")
"""Fields of a build's plan that a manifest keeps."""
LIBRARIES = ("adapters", "faiss-cpu", "numpy", "openvino", "pyarrow", "PyStemmer", "tokenizers", "torch", "transformers")


@checked
def build(
    corpus: Sources | Corpus,
    into: str | Path,
    settings: BuildSettings = BuildSettings(),
    *,
    columns: ColumnMap | None = None,
    strict: bool = False,
    resume: bool = True,
    overwrite: bool = False,
    progress: Progress | bool = True,
    workers: Workers | None = None,
    **changes: Unpack[BuildKeywords],
) -> Index:
    """Build an index of a corpus, or resume a build of the same corpus with the same settings.

    Args:
        corpus: files, directories, globs, papers in memory (a data frame, an Arrow table, record batches, a list of dicts or of
            `Paper`), or an open `Corpus`.
        into: the index's directory.
        settings: the encoder, the type of index, BM25's parameters and so on.
        columns: the roles of the corpus's columns; by default recognised by name.
        strict: stop at the first bad row, instead of listing it in rejected.jsonl.
        resume: continue a partial build; False starts over.
        overwrite: replace an index, or another partial build. The old index stays in use until the new one is complete.
        progress: receives progress; by default a progress bar on a terminal, False for none.
        workers: processes that fill the shards and build their FAISS indexes, such as `RayWorkers`, and see the same directory. The index
            is the same.
        changes: fields of `BuildSettings` that override `settings`: `build("papers.bib", "indexes/papers", encoder="specter2")`.

    Returns:
        The finished index, opened. If an index of the same corpus and settings exists, it is only opened. Rejected rows are in its
        `rejected` and `rejections`.

    Raises:
        IndexExists: the directory has another index or partial build.
        InvalidRequest, NotFound: the corpus or a setting is invalid, or the corpus has no paper.
        IndexBusy: another process is writing this index.

    >>> index = sr.build([{"id": "a", "title": "Graph networks"}], into="indexes/one", encoder=None)
    >>> len(index)
    1
    """
    opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
    directory = Path(into)
    check_place(directory)
    with shown(progress) as listener:
        work = Build(opened_corpus, directory, changed(settings, changes), strict, listener, workers)
        with ExitStack() as lock:
            try:
                lock.enter_context(write_lock(directory))
            except OSError:  # what is there already may be where nothing can be written
                if overwrite or not work.is_done():
                    raise
            else:
                work.run(resume, overwrite)
        index = open_index(directory, encoder=work.own)
    warn_of(index.rejected, index.rejections, str(directory), directory / REJECTED)
    return index


def check_place(directory: Path) -> None:
    """Raise an error for a file, and for a directory with other files."""
    checked_text(str(directory), "name of the index's directory")
    if directory.exists() and not directory.is_dir():
        raise InvalidRequest(f"{directory} is a file; name a directory for the index")
    names = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
    in_shards = [path.name.removesuffix(".partial") for path in folder_entries(directory / SHARDS)]
    left = {name for name in names if TEMPORARY.fullmatch(name)}
    has_others = names - {LOCK, PARTS, SHARDS} - left or not all(map(SHARD_NAME.fullmatch, in_shards))
    if has_others and not names & {MANIFEST, PENDING}:
        raise InvalidRequest(f"{directory} holds other files and no index; name a new or empty directory")


@dataclass(frozen=True)
class BuildComponents:
    """Components that a build's settings ask for: encoder, metric and analyzer; None for those left out."""

    encoder: Encoder | None
    metric: Metric | None
    analyzer: Analyzer | None

    @classmethod
    def of(cls, settings: BuildSettings) -> BuildComponents:
        """Open the components. Raises as `load_encoder`, and InvalidRequest if FAISS has no such index type."""
        analyzer = Analyzer() if settings.lexical else None
        given = settings.encoder
        if given is None or given == "":
            return cls(None, None, analyzer)
        encoder = (
            load_encoder(
                given,
                adapter=settings.adapter,
                query_adapter=settings.query_adapter,
                bare_titles=settings.bare_titles,
                pooling=settings.pooling,
                template=settings.template,
                query_template=settings.query_template,
                precision=settings.precision,
                device=settings.device,
            )
            if isinstance(given, str)
            else adopted(given)
        )
        if settings.late or (settings.late is None and settings.lexical and late_by_default(encoder)):
            encoder = late(encoder)
        metric = settings.metric or encoder.metric
        if settings.dense not in ("auto", "flat"):
            load_faiss()  # an error now saves hours of encoding
            if settings.dense not in NAMED:
                check_factory(settings.dense, encoder.dim, metric)
        return cls(encoder, metric, analyzer)


def keeps_tokens(settings: BuildSettings, encoder: Encoder | None, papers: int, progress: Progress) -> bool:
    """Whether an index of this many papers gets token vectors from its encoder, opened by `BuildComponents`."""
    if not has_tokens(encoder):
        return False
    if settings.late or papers <= LATE_PAPERS:
        progress.note(
            "token vectors are kept beside those of papers, some 5 kB a paper, for late interaction; `late=False` leaves them out"
        )
        return True
    progress.note(f"token vectors are not kept, since {papers:,} papers are many; `late=True` keeps them, some 5 kB a paper")
    return False


class Build:
    """A build, with the state that its steps share.

    Attributes:
        own: the encoder, if the index could not open it by name.
    """

    own: Encoder | None = None

    def __init__(
        self, corpus: Corpus, directory: Path, settings: BuildSettings, strict: bool, progress: Progress, workers: Workers | None
    ) -> None:
        self.corpus, self.directory, self.settings = corpus, directory, settings
        self.strict, self.progress, self.workers = strict, progress, workers
        components = BuildComponents.of(settings)
        self.encoder, self.metric, self.analyzer = components.encoder, components.metric, components.analyzer
        identity = self.encoder.identity() | {"precision": self.encoder.precision} if self.encoder else None
        if workers is not None and (what := must_be_given(identity)):
            raise InvalidRequest(f"other processes cannot fill shards: {what}; leave out `workers`")
        if self.encoder is not None and not isinstance(settings.encoder, str):
            self.own = None if isinstance(settings.encoder, Mapping) else self.encoder
            settings = replace(settings, encoder=self.encoder.name)  # written settings contain the name
        self.plan = plain_json(
            {
                "command": "index",
                "format": FORMAT,
                "settings": asdict(settings),
                "encoder": identity,
                "analyzer": self.analyzer.spec if self.analyzer else None,
            }
        )

    @once
    def fingerprint(self) -> str:
        """Fingerprint of the corpus."""
        return self.corpus.fingerprint()

    def run(self, resume: bool, overwrite: bool) -> None:
        """Build the missing parts, and commit."""
        if folder_entries(self.directory / PARTS) and not overwrite:
            raise InvalidRequest(
                f"{self.directory} holds parts of a build; `sciretrieve index parts {shlex.quote(str(self.directory))}` makes the index"
            )
        old = self._current(overwrite)
        if old is not None and not overwrite:
            if differences := self._differences(old.build, old.whole == self.fingerprint, old.late is not None):
                raise IndexExists(str(self.directory), f"holds an index with another {differences}", self._offer(differences))
            if self.strict and old.rejected:
                for batch in self.corpus.batches():
                    Tally(strict=True)(batch.rejected)
            self._respan(old)
            return
        publish(self.filled(resume, overwrite), self.plan, self.metric, old, self.progress, self.workers)
        remove(self.directory / PARTS)

    def is_done(self) -> bool:
        """Whether the index is there already, so that nothing needs to be written."""
        old = self._current(overwrite=True)
        return (
            old is not None
            and not (self.strict and old.rejected)
            and not self._differences(old.build, old.whole == self.fingerprint, old.late is not None)
            and self._spanned(old, Silent()) == IndexSettings.of(old)
        )

    def filled(self, resume: bool, overwrite: bool, share: Share = ALL) -> Pending:
        """Cut the corpus, and fill its shards that are built here."""
        facts = {"corpus": list(self.corpus.sources), "fingerprint": self.fingerprint}
        plan = {**self.plan, **facts} if share == ALL else {**self.plan, **facts, "share": [share.number, share.of]}
        pending = self._pending(plan, resume, overwrite)
        if pending.state.get("is_full"):
            if share == ALL or not overwrite:
                return pending
            pending = self._pending(plan, resume=False, overwrite=True)  # a finished part is requested again
        try:
            pending = probed(pending, self.encoder)
            ingest = Ingest(
                pending,
                self.encoder,
                self.analyzer,
                self.settings.shard_size,
                self.progress,
                self.workers,
                self.settings.precision,
                self.settings.device,
            )
            ingest = ingest.cut(self.corpus, self.settings.limit, self.strict, lambda batch: batch.papers)
            if not (ingest.pending.cut or {})["shards"]:
                raise InvalidRequest(f"the corpus has no paper to index{why_none(ingest.pending)}")
            ingest = self._with_tokens(ingest)
            pending = ingest.pending
            # raise errors of the choice before papers are encoded
            _spanning_settings(self.plan, self.metric, sum((pending.cut or {})["shards"]), Silent())
            return full(ingest.fill(0), ingest.encoder, self.metric)
        except SciretrieveError:
            self._forget(pending)
            raise

    def _differences(self, build: Mapping[str, Any], same_corpus: bool, is_late: bool | None) -> str:
        """Why another build, with token vectors or without, has other shards than this one; empty if the shards are equal."""
        differences = shard_differences(build, self.plan, same_corpus)
        if self.settings.late is None or is_late in (None, self.settings.late):
            return differences
        return ", ".join(filter(None, (differences, "`late`")))

    def _with_tokens(self, ingest: Ingest) -> Ingest:
        """Decide whether papers get token vectors, and how they are packed, unless it is decided."""
        pending = ingest.pending
        if "late" not in pending.state and has_tokens(self.encoder):
            is_late = keeps_tokens(self.settings, self.encoder, sum((pending.cut or {})["shards"]), self.progress)
            if is_late and self.encoder is not None:
                write_packing(pending.late, packing_of(self.encoder))
            pending = pending.noting(late=is_late)
        packing = pending.packing()
        if packing is None and has_tokens(self.encoder):
            ingest = replace(ingest, encoder=BuildComponents.of(replace(self.settings, late=False)).encoder)
        return replace(ingest, pending=pending, packing=packing)

    def _current(self, overwrite: bool) -> Manifest | None:
        """The existing index; None if there is none. An unreadable index can still be overwritten."""
        try:
            return read_manifest(self.directory) if (self.directory / MANIFEST).exists() else None
        except CorruptData:
            if overwrite:
                return None
            raise

    def _pending(self, plan: Mapping[str, Any], resume: bool, overwrite: bool) -> Pending:
        """The build in progress, if it can be resumed; else a new one."""
        pending = Pending.found(self.directory, self.progress) if resume else None
        if pending is not None:
            same_corpus = pending.plan.get("fingerprint") == plan["fingerprint"]
            differences = self._differences(pending.plan, same_corpus, pending.state.get("late"))
            if not differences and pending.is_whole:
                return pending
            if differences and not overwrite:
                raise IndexExists(str(self.directory), f"holds unfinished work with another {differences}")
            pending.give_way(plan, self.progress)
        return Pending.begin(self.directory, plan, self.progress)

    def _offer(self, differences: str) -> str:
        """The user's choices if there is an index of another corpus."""
        if differences == "`limit`" and self.settings.limit is None:
            return f"`sciretrieve add` takes in the rest of the corpus (with -i {shlex.quote(str(self.directory))}); else "
        if differences == "`late`" and self.settings.late:
            return f"`sciretrieve reindex --set late=true -i {shlex.quote(str(self.directory))}` adds token vectors to it; else "
        if differences != "corpus":
            return ""
        if isinstance(self.corpus, TableCorpus):
            path = repr(str(self.directory))
            return f"`sr.sync(papers, {path})` makes it equal to these papers, `sr.add(papers, {path})` only puts these into it; else "
        return (
            f"`sciretrieve sync` makes it equal to this corpus, `sciretrieve add` only puts this corpus's papers into it "
            f"(both with -i {shlex.quote(str(self.directory))}); else "
        )

    def _spanned(self, old: Manifest, progress: Progress) -> IndexSettings:
        """The settings that an index of the same papers is to have of what spans its shards."""
        # unchanged settings keep their current values: `auto` as resolved, BM25 as tuned
        old_settings, new_settings = {**asdict(BuildSettings()), **old.build["settings"]}, self.plan["settings"]
        changed_names = {name for name, value in new_settings.items() if old_settings[name] != value}
        if "memory" in changed_names:
            changed_names.add("dense")
        spanning = _spanning_settings(self.plan, self.metric, old.papers, progress)
        return replace(IndexSettings.of(old), **{name: getattr(spanning, name) for name in SPANNING if name in changed_names})

    def _respan(self, old: Manifest) -> None:
        """If an index of the same papers exists, rebuild what spans its shards where settings differ."""
        settings = self._spanned(old, self.progress)
        if settings == IndexSettings.of(old):
            self.progress.note(f"{self.directory} is up to date: the same corpus and settings")
        else:
            self.progress.note(f"{self.directory} already has these papers; none is encoded again")
            commit(self.directory, old, replace(old, build=self.plan), settings, Change("index"), self.progress, workers=self.workers)
        sweep(self.directory, self.progress)

    def _forget(self, pending: Pending) -> None:
        """Remove a build that failed before it encoded anything. Others can be resumed."""
        pending = Pending.read(self.directory) or pending
        if pending.is_worth_keeping:
            return
        pending.clear()
        if not (self.directory / MANIFEST).exists():
            remove(self.directory / SHARDS, later=True)
            remove_lock(self.directory)


def publish(
    pending: Pending,
    plan: Mapping[str, Any],
    metric: Metric | None,
    old: Manifest | None,
    progress: Progress,
    workers: Workers | None = None,
) -> None:
    """Commit a build with full shards, in place of the generation `old`. The plan may differ from the original one if it gives the same
    shards."""
    directory = pending.directory
    generation = next_generation(directory)
    shards = shards_of(pending)
    papers = sum(facts.papers for facts in shards)
    manifest = Manifest(
        format=FORMAT,
        generation=generation,
        previous=None,
        created="",
        papers=papers,
        rejected=publish_rejections(pending),
        metric=None,
        dense="none",
        encoder=encoder_facts(pending, generation),
        lexical=None,
        shards=tuple(shards),
        sources=(Source(tuple(pending.plan["corpus"]), pending.plan["fingerprint"], generation),),
        whole=pending.plan["fingerprint"],
        replaced=(),
        build=plan,
        versions=library_versions(LIBRARIES),
        log=(),
    )
    if (interrupted := Pending.found(directory, progress, "change")) is not None:
        interrupted.drop(progress, "the index is replaced")
    change = Change("index", added=papers, deleted=old.papers if old else 0, work=pending.id)
    commit(directory, old, manifest, _spanning_settings(plan, metric, papers, progress), change, progress, anew=True, workers=workers)
    remove(directory / WORK)  # full texts of the papers before
    sweep(directory, progress, keep=0)


def _spanning_settings(plan: Mapping[str, Any], metric: Metric | None, papers: int, progress: Progress) -> IndexSettings:
    """Settings of what spans the shards of this many papers."""
    settings, encoder = plan["settings"], plan["encoder"]
    hybrid = settings["lexical"] is not None
    dense = chosen_dense(settings["dense"], encoder and encoder["dim"], papers, settings["memory"], hybrid, progress)
    return IndexSettings(metric, dense, settings["lexical"] and Bm25Parameters(**settings["lexical"]), settings["recall"])


def chosen_dense(dense: str, dim: int | None, papers: int, memory: int | None, hybrid: bool, progress: Progress) -> str:
    """The dense index type that `dense` gives for this many papers with vectors of `dim` dimensions; "none" without vectors."""
    if dim is None:
        return "none"
    return auto_dense(papers, dim, memory, hybrid, progress.note) if dense == "auto" else dense


def shard_differences(build: Mapping[str, Any], plan: Mapping[str, Any], same_corpus: bool) -> str:
    """Why a plan needs other shards than an unfinished or committed build; empty if the shards are equal.

    Vectors are comparable in every precision, so "auto" continues with any. A requested precision must be the build's.
    """
    old_parts, new_parts = _shard_plan(build), _shard_plan(plan)
    differences = [] if same_corpus else ["corpus"]
    differences += [part for part in new_parts if old_parts[part] != new_parts[part]]
    if plan["settings"]["precision"] not in ("auto", build["settings"]["precision"], (build["encoder"] or {}).get("precision")):
        differences.append("`precision`")
    return ", ".join(differences)


def _shard_plan(build: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of pending.json, or of a manifest's build, that determine the shards, by names that users know."""
    encoder, settings = build["encoder"], build["settings"]
    return {
        "format": build["format"],
        # the name or path of a requested encoder does not matter
        "encoder": encoder and {key: value for key, value in encoder.items() if key not in ("name", "asked", "precision")},
        "BM25 text analysis": build["analyzer"],
        "`shard_size`": settings["shard_size"],
        "`limit`": settings["limit"],
    }
