"""Building an index: one pipeline from a corpus to committed shards, which can be interrupted anywhere and resumed.

    corpus ─ windows of papers ─▶ ShardWriter (encode, count terms) ─ rename ─▶ shards/000000 …
    then, over all shards: FAISS indexes where asked for, BM25, and last the manifest, renamed into place.

`build.json` marks a build under way and says of what. A shard is committed when its folder has its final name; within
the shard under way, vectors are on disk after every window. So a killed build loses at most two windows of encoding.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from . import lexical
from .choices import Metric
from .corpora import ColumnMap, Corpus, Reading, Rejections, open_corpus
from .dense import build_ann, factory_string
from .dense.ann import check_factory
from .encoders import golden_vectors, load_encoder
from .encoders.ahead import ahead
from .errors import IndexExists, InvalidRequest, SciretrieveError
from .files import describe, read_json, settle, sync_file, write_json, write_lock
from .fusion import Fusion
from .index import Index
from .lexical import Analyzer, Bm25Parameters
from .manifest import FORMAT, MANIFEST, Manifest, ShardFacts, library_versions, read_manifest
from .options import BuildKeywords, BuildSettings, changed
from .protocols import Encoder, Progress, Silent
from .schema import concat, texts_of
from .shards import ShardWriter, finished_facts

WINDOW = 512
"""Papers a window where there is no encoder, which has a size of its own. A window is what a crash costs. Windows start at
a shard's first row, so the batches that the encoder sees, and with them the vectors' last bits, do not depend on where a
build was interrupted."""
FLAT_BYTES = 2 << 30
"""`--dense auto` searches exactly up to this size of vectors (some 0.2 s a query on two cores), beyond it by HNSW."""
LIBRARIES = ("adapters", "faiss-cpu", "numpy", "openvino", "pyarrow", "PyStemmer", "tokenizers", "torch", "transformers")


def build(
    corpus: str | Path | Iterable[str | Path] | Corpus,
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
        corpus: files, directories, globs, or an open `Corpus`.
        into: the index's directory.
        settings: the encoder, the kind of index, BM25's parameters and so on.
        columns: which columns of the corpus are which; by default recognised by name.
        strict: stop at the first bad row, instead of noting it in rejected.jsonl.
        resume: continue a partial build; False starts anew.
        overwrite: replace an index, or another partial build; the old index serves until the new one is whole.
        progress: hears how far the build is.
        changes: fields of `BuildSettings`, in place of those of `settings`: `build("papers.bib", "indexes/papers", encoder="specter2")`.

    Returns:
        The finished index, opened. An index that is there already, of the same corpus and settings, is just opened.

    Raises:
        IndexExists: another index, or another partial build, is in the way.
        InvalidRequest, NotFound: the corpus or a setting is no good, or no paper was left.
        IndexBusy: another process writes this index.
    """
    opened = corpus if isinstance(corpus, Corpus) else open_corpus(corpus, columns)
    directory = Path(into)
    _check_place(directory)
    with write_lock(directory):
        work = _Build(opened, directory, changed(settings, changes), strict, progress or Silent())
        if not work.prepare(resume, overwrite):
            try:
                work.run()
            except SciretrieveError:
                work.forget()
                raise
    return Index(directory)


def _check_place(directory: Path) -> None:
    """Refuse to build into a file, or among somebody's other files."""
    if directory.exists() and not directory.is_dir():
        raise InvalidRequest(f"{directory} is a file; name a directory for the index")
    inside = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
    if inside - {".lock"} and not inside & {MANIFEST, "build.json"}:
        raise InvalidRequest(f"{directory} holds other files and no index; name a new or empty directory")


class _Build:
    """One build under way: the state that the steps share."""

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
        self.reading = Reading(self.progress.note)
        self.done: list[ShardFacts] = []
        self.plan: dict[str, Any] = {}
        if self.encoder and self.metric and settings.dense not in ("auto", "flat", "hnsw", "ivf"):
            check_factory(settings.dense, self.encoder.dim, self.metric)

    def prepare(self, resume: bool, overwrite: bool) -> bool:
        """Look at what is there, and start or continue. True if the very index is there already."""
        shards = self.directory / "shards"
        plan = {
            "format": FORMAT,
            "corpus": [str(file) for file in self.corpus.files],
            "fingerprint": self.corpus.fingerprint(),
            "settings": json.loads(json.dumps(asdict(self.settings))),
            "encoder": self.encoder.identity() | {"precision": self.encoder.precision} if self.encoder else None,
            "analyzer": self.analyzer.spec if self.analyzer else None,
        }
        committed, partial = self.directory / MANIFEST, self.directory / "build.json"
        old = read_json(committed) if committed.exists() else None
        if old is not None and not overwrite:
            if old.get("format") == FORMAT and all(old.get("build", {}).get(key) == plan[key] for key in plan):
                self.progress.note(f"{self.directory} is up to date: the same corpus and settings")
                return True
            raise IndexExists(str(self.directory), "holds an index of another corpus or with other settings")
        begun = read_json(partial) if partial.exists() else None
        if begun is not None and resume and all(begun.get(key) == plan[key] for key in plan):
            self.plan = begun
        elif begun is not None and resume and not overwrite:
            raise IndexExists(str(self.directory), "holds an unfinished build of another corpus or with other settings")
        else:
            taken = [int(folder.name[:6]) for folder in shards.glob("[0-9]*")] if shards.is_dir() else []
            self.plan = plan | {"first_shard": max(taken, default=-1) + 1}
            write_json(partial, self.plan)
        return False

    def run(self) -> None:
        """Build all shards that are not there yet, then what spans them, then commit."""
        shards = self.directory / "shards"
        shards.mkdir(exist_ok=True)
        name = self.plan["first_shard"]
        while (shards / f"{name + len(self.done):06d}").is_dir():
            self.done.append(finished_facts(shards / f"{name + len(self.done):06d}"))
        skip = before = sum(facts.papers for facts in self.done)
        if before:
            self.progress.note(f"resuming after {before:,} papers in {len(self.done)} finished shards")
        self.progress.start(self._expected(), before)
        writer: ShardWriter | None = None

        def tokenised(window: pa.Table) -> Any:
            return self.encoder.tokenise(texts_of(window)) if self.encoder is not None else None

        for window, tokens in ahead(self._windows(skip), tokenised):
            writer = writer or ShardWriter(shards / f"{name + len(self.done):06d}", self.encoder, self.analyzer)
            writer.add(window, tokens)
            self.progress.advance(window.num_rows)
            if writer.papers == self.settings.shard_size:
                self.done.append(writer.finish())
                writer = None
        if writer is not None:
            self.done.append(writer.finish())
        if not self.done:
            raise InvalidRequest(f"the corpus has no paper to index{self._why_none()}")
        self.progress.note(str(self.reading.coverage))
        self._commit()

    def _expected(self) -> int | None:
        count = self.corpus.count()
        limits = [number for number in (count, self.settings.limit) if number is not None]
        return min(limits) if count is not None else None

    def _windows(self, skip: int) -> Iterator[pa.Table]:
        """The corpus's papers after the first `skip`, in tables of one window's rows that never cross a shard's end."""
        size, limit = self.settings.shard_size, self.settings.limit
        most = self.encoder.window if self.encoder is not None else WINDOW
        waiting: list[pa.Table] = []
        held, taken = 0, 0  # rows in `waiting`; papers accepted so far
        for batch in self.corpus.batches():
            self.rejections(batch.rejected)
            self.reading(batch)
            table = batch.papers
            table = table.slice(0, len(table) if limit is None else max(limit - taken, 0))
            fresh = table.slice(min(max(skip - taken, 0), len(table)))
            taken += len(table)
            while len(fresh):
                at = max(skip, taken - len(fresh)) % size  # where in its shard the next paper stands
                room = min(most - held, size - at)
                waiting.append(fresh.slice(0, room))
                held += len(waiting[-1])
                fresh = fresh.slice(room)
                if held == most or at + len(waiting[-1]) == size:
                    yield _joined(waiting)
                    waiting, held = [], 0
            if limit is not None and taken >= limit:
                break
        if held:
            yield _joined(waiting)

    def _commit(self) -> None:
        settings, encoder = self.settings, self.encoder
        papers = sum(facts.papers for facts in self.done)
        dense = "none"
        if encoder is not None:
            dense = settings.dense
            if dense == "auto":
                dense = "flat" if papers * encoder.dim * 4 <= FLAT_BYTES else "hnsw"
            if dense != "flat":
                self.done = [self._with_ann(facts, dense) for facts in self.done]
        committed = self.directory / MANIFEST
        generation = int(read_json(committed).get("generation", 0)) + 1 if committed.exists() else 1
        manifest = Manifest(
            format=FORMAT,
            generation=generation,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            papers=papers,
            rejected=self.rejections.count,
            metric=self.metric,
            dense=dense,
            encoder=self.plan["encoder"] and self.plan["encoder"] | {"golden": self._golden(generation)},
            lexical=_lexical(self.directory, generation, self.done, settings.lexical),
            shards=tuple(self.done),
            build={key: value for key, value in self.plan.items() if key != "first_shard"},
            versions=library_versions(LIBRARIES),
        )
        report = self.directory / "rejected.jsonl"
        if self.rejections.count:
            settle(self.rejections.path, report)
        else:
            report.unlink(missing_ok=True)
        manifest.write(self.directory)
        (self.directory / "build.json").unlink()
        _sweep(self.directory, manifest)

    def _golden(self, generation: int) -> dict[str, Any] | None:
        """Write what the encoder gives for a probe text on each side; None where it reads no texts."""
        if self.encoder is None or self.plan["encoder"]["layout"] == "vectors":
            return None
        path = self.directory / "encoder" / f"golden-{generation:06d}.npy"
        path.parent.mkdir(exist_ok=True)
        np.save(path, golden_vectors(self.encoder))
        sync_file(path)
        return {"file": f"encoder/{path.name}", **describe(path)}

    def _with_ann(self, facts: ShardFacts, dense: str) -> ShardFacts:
        """Build a shard's FAISS index beside its vectors, from which it can be built again at any time."""
        folder = self.directory / "shards" / facts.name
        assert self.metric is not None
        self.progress.note(f"building the {dense} index of shard {facts.name}")
        temporary = folder / "dense.faiss.tmp"
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        if not build_ann(temporary, vectors, factory_string(dense, facts.papers), self.metric):
            self.progress.note(f"shard {facts.name} has too few papers for {dense}, so it is searched exactly")
            return facts
        sync_file(temporary)
        temporary.rename(folder / "dense.faiss")
        return replace(facts, files={**facts.files, "dense.faiss": describe(folder / "dense.faiss")})

    def _why_none(self) -> str:
        first = self.rejections.first
        if first is None:
            return "; it is empty"
        return f": all {self.rejections.count:,} rows were rejected, the first (row {first.row}) for: {first.reason}"

    def forget(self) -> None:
        """Undo a build that came to nothing, so that it stands in nobody's way; one that encoded anything stays."""
        shards = self.directory / "shards"
        begun = [folder for folder in shards.glob("[0-9]*") if int(folder.name[:6]) >= self.plan.get("first_shard", 0)]
        if any((folder / "vectors.npy").exists() or not folder.name.endswith(".partial") for folder in begun):
            return
        for folder in begun:
            shutil.rmtree(folder, ignore_errors=True)
        (self.directory / "build.json").unlink(missing_ok=True)
        self.rejections.path.unlink(missing_ok=True)
        if not (self.directory / MANIFEST).exists():
            (self.directory / ".lock").unlink(missing_ok=True)
        for folder in (shards, self.directory):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def refit(directory: Path, parameters: Bm25Parameters, fusion: Fusion) -> Index:
    """Give an index other BM25 parameters and another fusion, as a new generation. No paper is encoded or read again.

    Raises:
        IndexBusy: another process writes the index.
    """
    with write_lock(directory):
        old = read_manifest(directory)
        assert old.lexical is not None
        facts, generation = old.lexical, old.generation + 1
        if any(facts[name] != value for name, value in asdict(parameters).items()):
            facts = _lexical(directory, generation, old.shards, parameters) or facts
        manifest = replace(old, generation=generation, lexical=facts, fusion=asdict(fusion))
        manifest.write(directory)
        _sweep(directory, manifest)
    return Index(directory)


def _lexical(directory: Path, generation: int, shards: Sequence[ShardFacts], parameters: Bm25Parameters | None) -> dict[str, Any] | None:
    """Build BM25 over shards in a folder of this generation; what the manifest says of it."""
    if parameters is None:
        return None
    name = f"lexical/{generation:06d}"
    folder = directory / name
    partial = folder.with_name(folder.name + ".partial")
    for left in (partial, folder):
        shutil.rmtree(left, ignore_errors=True)
    postings = [(directory / "shards" / facts.name / "postings.arrow", facts.papers) for facts in shards]
    lexical.build(partial, postings, parameters)
    partial.rename(folder)
    sync_file(folder.parent)
    files = {file.name: describe(file) for file in sorted(folder.iterdir())}
    return {"folder": name, **asdict(parameters), "analyzer": Analyzer().spec, "files": files}


def _joined(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else concat(tables)


def _sweep(directory: Path, manifest: Manifest) -> None:
    """Remove the shards and lexical folders of earlier generations and of abandoned builds."""
    kept = {shard.name for shard in manifest.shards}
    for folder in (directory / "shards").iterdir():
        if folder.name not in kept:
            shutil.rmtree(folder, ignore_errors=True)
    golden = (manifest.encoder or {}).get("golden")
    for file in (directory / "encoder").glob("*"):
        if golden is None or golden["file"] != f"encoder/{file.name}":
            file.unlink()
    lexical_folder = manifest.lexical["folder"] if manifest.lexical else None
    for folder in (directory / "lexical").glob("*"):
        if f"lexical/{folder.name}" != lexical_folder:
            shutil.rmtree(folder, ignore_errors=True)
