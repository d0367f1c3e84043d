"""Building an index: one pipeline from a corpus to committed shards, which can be interrupted anywhere and resumed.

    corpus ─ windows of papers ─▶ ShardWriter (encode, count terms) ─ rename ─▶ shards/000000 …
    then, over all shards: FAISS indexes if requested, BM25, and last the manifest, renamed into place.

`build.json` marks a build in progress and describes it. A shard is finished when its folder has its final name; within
an unfinished shard, vectors are on disk after every window. So a killed build loses at most two windows of encoding.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from .choices import Metric
from .corpora import ColumnMap, Corpus, Reading, Rejections, Sources, open_corpus
from .dense.ann import check_factory
from .encoders import check_golden, golden_vectors, load_encoder
from .encoders.ahead import make_ahead
from .errors import IndexExists, InvalidRequest, SciretrieveError
from .files import LOCK, describe, read_json, remove_lock, settle, write_json, write_lock, write_vectors
from .generations import Spanning, commit, respanned, sweep
from .index import Index
from .lexical import Analyzer
from .manifest import BUILD, FORMAT, MANIFEST, Manifest, ShardFacts, library_versions, read_manifest
from .options import BuildKeywords, BuildSettings, changed
from .protocols import Encoder, Progress, Silent
from .schema import concat, texts_of
from .shards import ShardWriter, finished_facts
from .types import Vectors

WINDOW = 512
"""Papers per window without an encoder; each encoder has its own window size. Windows start at a shard's first row, so the
encoder's batches, and with them the last bits of the vectors, do not depend on where a build was interrupted."""
FLAT_BYTES = 2 << 30
"""`--dense auto` searches exactly up to this size of vectors (some 0.2 s per query on two cores), above it by HNSW."""
LIBRARIES = ("adapters", "faiss-cpu", "numpy", "openvino", "pyarrow", "PyStemmer", "tokenizers", "torch", "transformers")


def build(
    corpus: Sources | Corpus,
    into: str | Path,
    settings: BuildSettings = BuildSettings(),
    *,
    columns: ColumnMap | None = None,
    strict: bool = False,
    resume: bool = True,
    overwrite: bool = False,
    progress: Progress | None = None,
    **changes: Unpack[BuildKeywords],
) -> Index:
    """Build an index of a corpus, or resume a build of the same corpus with the same settings.

    Args:
        corpus: files, directories, globs, papers in memory (a data frame, an Arrow table, a list of dicts), or an open `Corpus`.
        into: the index's directory.
        settings: the encoder, the kind of index, BM25's parameters and so on.
        columns: which columns of the corpus are which; by default recognised by name.
        strict: stop at the first bad row, instead of listing it in rejected.jsonl.
        resume: continue a partial build; False starts over.
        overwrite: replace an index, or another partial build; the old index stays in use until the new one is complete.
        progress: is told how far the build is.
        changes: fields of `BuildSettings` that replace those of `settings`: `build("papers.bib", "indexes/papers", encoder="specter2")`.

    Returns:
        The finished index, opened. An existing index of the same corpus and settings is just opened.

    Raises:
        IndexExists: the directory has another index or partial build.
        InvalidRequest, NotFound: the corpus or a setting is invalid, or there is no paper to index.
        IndexBusy: another process is writing this index.
    """
    opened_corpus = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
    directory = Path(into)
    _check_place(directory)
    work = _Build(opened_corpus, directory, changed(settings, changes), strict, progress or Silent())
    with write_lock(directory):
        if not work.prepare(resume, overwrite):
            try:
                work.run()
            except SciretrieveError:
                work.forget()
                raise
    return Index(directory)


def _check_place(directory: Path) -> None:
    """Refuse to build into a file, or into a directory with other files."""
    if directory.exists() and not directory.is_dir():
        raise InvalidRequest(f"{directory} is a file; name a directory for the index")
    names = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
    if names - {LOCK, f"{BUILD}.tmp"} and not names & {MANIFEST, BUILD}:
        raise InvalidRequest(f"{directory} holds other files and no index; name a new or empty directory")


class _Build:
    """One build in progress: the state that the steps share."""

    def __init__(self, corpus: Corpus, directory: Path, settings: BuildSettings, strict: bool, progress: Progress) -> None:
        self.corpus, self.directory, self.settings, self.progress = corpus, directory, settings, progress
        self.encoder: Encoder | None = None
        if settings.encoder:
            self.encoder = load_encoder(
                settings.encoder,
                adapter=settings.adapter,
                query_adapter=settings.query_adapter,
                bare_titles=settings.bare_titles,
                precision=settings.precision,
                device=settings.device,
            )
        self.metric: Metric | None = (settings.metric or self.encoder.metric) if self.encoder else None
        self.analyzer = Analyzer() if settings.lexical else None
        self.rejections = Rejections(directory / "rejected.jsonl.partial", strict)
        self.reading = Reading(self.progress.note if corpus.has_columns else lambda _: None)
        self.shards: list[ShardFacts] = []
        self.plan: dict[str, Any] = {}
        self.first_shard = 0
        self.golden: Vectors | None = None
        self.ran_in: Iterable[str] = ()
        if self.encoder and self.metric and settings.dense not in ("auto", "flat", "hnsw", "ivf"):
            check_factory(settings.dense, self.encoder.dim, self.metric)

    def prepare(self, resume: bool, overwrite: bool) -> bool:
        """Inspect the directory, and start or continue the build. True if the index exists already."""
        shards, mark = self.directory / "shards", self.directory / BUILD
        self.plan = {
            "format": FORMAT,
            "corpus": [str(file) for file in self.corpus.files],
            "fingerprint": self.corpus.fingerprint(),
            "settings": json.loads(json.dumps(asdict(self.settings))),
            "encoder": self.encoder.identity() | {"precision": self.encoder.precision} if self.encoder else None,
            "analyzer": self.analyzer.spec if self.analyzer else None,
        }
        if not overwrite and (self.directory / MANIFEST).exists():
            old_manifest = read_manifest(self.directory)
            if differences := _differences(old_manifest.build, self.plan):
                raise IndexExists(str(self.directory), f"holds an index with another {differences}")
            self._respan(old_manifest)
            return True
        unfinished_build = read_json(mark) if mark.exists() else None
        differences = _differences(unfinished_build, self.plan) if unfinished_build is not None else ""
        if unfinished_build is not None and resume and not differences:
            self.first_shard = unfinished_build["first_shard"]
        elif unfinished_build is not None and resume and not overwrite:
            raise IndexExists(str(self.directory), f"holds an unfinished build with another {differences}")
        else:
            numbers = [int(folder.name.removesuffix(".partial")) for folder in shards.glob("[0-9]*")]
            self.first_shard = max(numbers, default=-1) + 1
            unfinished_build = None
        self._probe(unfinished_build or {})
        golden, ran_in = self.golden if self.golden is None else self.golden.tolist(), self._ran_in()
        write_json(mark, self.plan | {"first_shard": self.first_shard, "golden": golden, "ran_in": ran_in})
        return False

    def _probe(self, unfinished_build: Mapping[str, Any]) -> None:
        """Encode the probe texts; a resumed build must get the same vectors as before. Raises InvalidRequest."""
        self.ran_in = unfinished_build.get("ran_in", ())
        if self.encoder is None or self.plan["encoder"]["layout"] == "vectors":
            return
        if unfinished_build.get("golden"):
            self.golden = np.array(unfinished_build["golden"], np.float32)
            check_golden(self.golden, self.encoder, "paper")
        else:
            self.golden = golden_vectors(self.encoder)

    def _ran_in(self) -> list[str]:
        """The runtimes that encoded papers, in this process and in earlier ones of this build."""
        return list(dict.fromkeys([*self.ran_in, *(self.encoder.ran_in if self.encoder else ())]))

    def _respan(self, old_manifest: Manifest) -> None:
        """Rebuild what spans the shards of an index of the same papers where its settings differ."""
        # a setting that was not changed keeps its current value: `auto` as resolved, BM25 as tuned
        old_settings, new_settings = old_manifest.build["settings"], self.plan["settings"]
        settings = replace(
            Spanning.of(old_manifest),
            **{name: value for name, value in self._spanning(old_manifest.papers).items() if old_settings[name] != new_settings[name]},
        )
        if settings == Spanning.of(old_manifest):
            self.progress.note(f"{self.directory} is up to date: the same corpus and settings")
            sweep(self.directory, old_manifest)
            return
        self.progress.note(f"{self.directory} has these papers already; none is encoded again")
        commit(self.directory, replace(respanned(self.directory, old_manifest, settings, self.progress), build=self.plan))

    def _spanning(self, papers: int) -> dict[str, Any]:
        """The settings of what spans the shards of so many papers: the fields of `Spanning`."""
        dense = self.settings.dense if self.encoder else "none"
        if self.encoder and dense == "auto":
            dense = "flat" if papers * self.encoder.dim * 4 <= FLAT_BYTES else "hnsw"
        return {"metric": self.metric, "dense": dense, "lexical": self.settings.lexical}

    def run(self) -> None:
        """Build all missing shards, then what spans them, then commit."""
        (self.directory / "shards").mkdir(exist_ok=True)
        while self._next_shard.is_dir():
            self.shards.append(finished_facts(self._next_shard))
        papers_before = before = sum(facts.papers for facts in self.shards)
        if before:
            self.progress.note(f"resuming after the {before:,} papers of finished shards")
        self.progress.start(self._expected(), before)
        writer: ShardWriter | None = None

        def tokenised(window: pa.Table) -> Any:
            return self.encoder.tokenise(texts_of(window)) if self.encoder is not None else None

        for window, tokens in make_ahead(self._windows(papers_before), tokenised):
            writer = writer or ShardWriter(self._next_shard, self.encoder, self.analyzer)
            writer.add(window, tokens)
            self.progress.advance(window.num_rows)
            if writer.papers == self.settings.shard_size:
                self.shards.append(writer.finish())
                writer = None
        if writer is not None:
            self.shards.append(writer.finish())
        if not self.shards:
            raise InvalidRequest(f"the corpus has no paper to index{self._why_none()}")
        if self.corpus.has_columns:
            self.progress.note(str(self.reading.coverage))
        self._commit()

    @property
    def _next_shard(self) -> Path:
        return self.directory / "shards" / f"{self.first_shard + len(self.shards):06d}"

    def _expected(self) -> int | None:
        count = self.corpus.count()
        limits = [number for number in (count, self.settings.limit) if number is not None]
        return min(limits) if count is not None else None

    def _windows(self, skip: int) -> Iterator[pa.Table]:
        """The corpus's papers after the first `skip`, in tables of one window that never cross a shard's end."""
        size, limit = self.settings.shard_size, self.settings.limit
        window_size = self.encoder.window if self.encoder is not None else WINDOW
        window_tables: list[pa.Table] = []
        window_rows, papers_read = 0, 0  # rows in `window_tables`; papers of the corpus so far
        for batch in self.corpus.batches():
            self.rejections(batch.rejected)
            table = batch.papers if limit is None else batch.papers.slice(0, max(limit - papers_read, 0))
            self.reading(replace(batch, papers=table))
            new_papers = table.slice(min(max(skip - papers_read, 0), len(table)))
            papers_read += len(table)
            while len(new_papers):
                row = max(skip, papers_read - len(new_papers)) % size  # the next paper's row in its shard
                room = min(window_size - window_rows, size - row)
                window_tables.append(new_papers.slice(0, room))
                window_rows += len(window_tables[-1])
                new_papers = new_papers.slice(room)
                if window_rows == window_size or row + len(window_tables[-1]) == size:
                    yield _joined(window_tables)
                    window_tables, window_rows = [], 0
            if limit is not None and papers_read >= limit:
                break
        if window_tables:
            yield _joined(window_tables)

    def _commit(self) -> None:
        manifest_path = self.directory / MANIFEST
        generation = int(read_json(manifest_path).get("generation", 0)) if manifest_path.exists() else 0
        papers = sum(facts.papers for facts in self.shards)
        bare_manifest = Manifest(
            format=FORMAT,
            generation=generation,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            papers=papers,
            rejected=self.rejections.count,
            metric=self.metric,
            dense="flat" if self.encoder else "none",
            encoder=self._encoder_facts(generation + 1),
            lexical=None,
            shards=tuple(self.shards),
            build=self.plan,
            versions=library_versions(LIBRARIES),
        )
        manifest = respanned(self.directory, bare_manifest, Spanning(**self._spanning(papers)), self.progress)
        report = self.directory / "rejected.jsonl"
        if self.rejections.count:
            settle(self.rejections.path, report)
        else:
            report.unlink(missing_ok=True)
        commit(self.directory, manifest)

    def _encoder_facts(self, generation: int) -> dict[str, Any] | None:
        """The manifest's facts on the encoder; writes its golden vectors if it reads texts."""
        if self.encoder is None:
            return None
        facts: dict[str, Any] = self.plan["encoder"] | {"precision": self.encoder.precision, "ran_in": self._ran_in(), "golden": None}
        if self.golden is not None:
            path = self.directory / "encoder" / f"golden-{generation:06d}.npy"
            path.parent.mkdir(exist_ok=True)
            write_vectors(path, [self.golden], self.golden.shape)
            facts["golden"] = {"file": f"encoder/{path.name}", **describe(path)}
        return facts

    def _why_none(self) -> str:
        first = self.rejections.first
        if first is None:
            return "; it is empty"
        return f"; rejected rows: {self.rejections.count:,}, the first (row {first.row}) for: {first.reason}"

    def forget(self) -> None:
        """Remove a build that failed before it encoded anything; one that did can be resumed."""
        shards = self.directory / "shards"
        folders = [folder for folder in shards.glob("[0-9]*") if int(folder.name.removesuffix(".partial")) >= self.first_shard]
        if any((folder / "vectors.npy").exists() or not folder.name.endswith(".partial") for folder in folders):
            return
        for folder in folders:
            shutil.rmtree(folder)
        self.rejections.path.unlink(missing_ok=True)
        first_build = not (self.directory / MANIFEST).exists()
        if first_build:
            shutil.rmtree(shards)
        (self.directory / BUILD).unlink()
        if first_build:
            remove_lock(self.directory)


def _differences(build: Mapping[str, Any], plan: Mapping[str, Any]) -> str:
    """Why a plan needs other shards than those of an unfinished or committed build; empty if they are the same.

    The vectors are comparable in every precision, so "auto" continues with any; a requested one must be the build's.
    """
    old_parts, new_parts = _shard_plan(build), _shard_plan(plan)
    differences = [part for part in new_parts if old_parts[part] != new_parts[part]]
    if plan["settings"]["precision"] not in ("auto", build["settings"]["precision"], (build["encoder"] or {}).get("precision")):
        differences.append("--precision")
    return ", ".join(differences)


def _shard_plan(build: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of build.json or of a manifest's build that determine the shards, by names that users know."""
    encoder, settings = build["encoder"], build["settings"]
    return {
        "format": build["format"],
        "corpus": build["fingerprint"],
        # the name or path by which an encoder was requested does not change it
        "encoder": encoder and {key: value for key, value in encoder.items() if key not in ("name", "asked", "precision")},
        "BM25 text analysis": build["analyzer"],
        "--shard-size": settings["shard_size"],
        "--limit": settings["limit"],
    }


def _joined(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else concat(tables)
