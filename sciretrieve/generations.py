"""Generations of an index: what spans its shards, the manifest that commits all of it, and removing leftovers.

What spans shards (FAISS indexes, BM25) is derived from their vectors and postings. So it can be rebuilt with other
settings, as a new generation, without encoding any paper.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from . import lexical
from .choices import Metric
from .dense import build_ann, factory_string
from .files import describe, read_json, settle, sync_file, write_lock
from .fusion import Fusion
from .lexical import Analyzer, Bm25Parameters
from .manifest import BUILD, Manifest, ShardFacts, read_manifest
from .protocols import Progress, Silent


@dataclass(frozen=True, slots=True)
class Spanning:
    """The settings of what spans shards: how vectors are compared, how they are searched, and BM25's parameters."""

    metric: Metric | None
    dense: str
    lexical: Bm25Parameters | None

    @classmethod
    def of(cls, manifest: Manifest) -> Spanning:
        """The settings of a committed index."""
        facts = manifest.lexical
        parameters = None if facts is None else Bm25Parameters(**{field.name: facts[field.name] for field in fields(Bm25Parameters)})
        return cls(manifest.metric, manifest.dense, parameters)


def respanned(directory: Path, old: Manifest, settings: Spanning, progress: Progress) -> Manifest:
    """The next generation of `old` with these settings, to be committed; only what changes is rebuilt."""
    old_settings, generation = Spanning.of(old), old.generation + 1
    manifest = replace(old, generation=generation, metric=settings.metric, dense=settings.dense)
    if (settings.metric, settings.dense) != (old_settings.metric, old_settings.dense):
        manifest = replace(manifest, shards=tuple(_with_ann(directory, facts, manifest, progress) for facts in old.shards))
        if manifest.dense != "none" and all(facts.ann_file is None for facts in manifest.shards):
            manifest = replace(manifest, dense="flat")
    if settings.lexical != old_settings.lexical:
        manifest = replace(manifest, lexical=_lexical(directory, generation, old.shards, settings.lexical))
    if (settings.metric, settings.lexical) != (old_settings.metric, old_settings.lexical) and old.fusion is not None:
        progress.note("hybrid search was tuned for other settings and is back at its defaults; run `sciretrieve tune` again")
        manifest = replace(manifest, fusion=None)
    return manifest


def _with_ann(directory: Path, facts: ShardFacts, new: Manifest, progress: Progress) -> ShardFacts:
    """Build a shard's FAISS index beside its vectors. A shard with too few papers for that type is searched exactly."""
    facts = replace(facts, files={name: file for name, file in facts.files.items() if name != facts.ann_file})
    if new.dense in ("none", "flat") or new.metric is None:
        return facts
    progress.note(f"building the {new.dense} index of shard {facts.name}")
    folder = directory / "shards" / facts.name
    # named by its generation: the old file is in use until the new generation is committed
    path = folder / f"dense-{new.generation:06d}.faiss"
    temporary = path.with_name(path.name + ".tmp")
    if not build_ann(temporary, np.load(folder / "vectors.npy", mmap_mode="r"), factory_string(new.dense, facts.papers), new.metric):
        progress.note(f"shard {facts.name} has too few papers for {new.dense}, so it is searched exactly")
        return facts
    settle(temporary, path)
    return replace(facts, files={**facts.files, path.name: describe(path)})


def _lexical(directory: Path, generation: int, shards: Sequence[ShardFacts], parameters: Bm25Parameters | None) -> dict[str, Any] | None:
    """Build BM25 over shards in a folder of this generation; returns the manifest's facts on it."""
    if parameters is None:
        return None
    name = f"lexical/{generation:06d}"
    folder = directory / name
    partial = folder.with_name(folder.name + ".partial")
    for leftover in (partial, folder):
        shutil.rmtree(leftover, ignore_errors=True)
    postings = [(directory / "shards" / facts.name / "postings.arrow", facts.papers) for facts in shards]
    lexical.build(partial, postings, parameters)
    sync_file(partial)
    partial.rename(folder)
    sync_file(folder.parent)
    files = {file.name: describe(file) for file in sorted(folder.iterdir())}
    return {"folder": name, **asdict(parameters), "analyzer": Analyzer().spec, "files": files}


def commit(directory: Path, manifest: Manifest) -> None:
    """Make `manifest` the index's manifest, then remove what it no longer needs."""
    manifest.write(directory)
    sweep(directory, manifest)


def sweep(directory: Path, manifest: Manifest) -> None:
    """Remove what neither the committed manifest nor a build in progress needs: old generations, abandoned builds, leftovers."""
    mark = directory / BUILD
    first_unfinished: float = read_json(mark)["first_shard"] if mark.exists() else math.inf
    if int(manifest.shards[0].name) >= first_unfinished:  # that build is the one that was committed
        mark.unlink()
        first_unfinished = math.inf
    committed = {facts.name: {*facts.files, "shard.json"} for facts in manifest.shards}
    for folder in (directory / "shards").glob("[0-9]*"):
        if folder.name in committed:
            _keep(folder, committed[folder.name])
        elif int(folder.name.removesuffix(".partial")) < first_unfinished:
            shutil.rmtree(folder, ignore_errors=True)
    golden = (manifest.encoder or {}).get("golden")
    _keep(directory / "encoder", {Path(golden["file"]).name} if golden else set())
    _keep(directory / "lexical", {Path(manifest.lexical["folder"]).name} if manifest.lexical else set())
    if first_unfinished == math.inf:
        (directory / "rejected.jsonl.partial").unlink(missing_ok=True)


def _keep(folder: Path, names: set[str]) -> None:
    """Remove everything from a folder except these names."""
    for path in folder.glob("*"):
        if path.name in names:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def refit(directory: Path, parameters: Bm25Parameters, fusion: Fusion) -> Manifest:
    """Give an index other BM25 parameters and another fusion, as a new generation. No paper is encoded or read again.

    Raises:
        IndexBusy: another process is writing the index.
    """
    with write_lock(directory):
        old = read_manifest(directory)
        settings = replace(Spanning.of(old), lexical=parameters)
        new = replace(respanned(directory, replace(old, fusion=None), settings, Silent()), fusion=asdict(fusion))
        commit(directory, new)
    return new
