"""Sweeping: removing files that no generation names and no unfinished work needs.

Sweeping is separate from committing, and can be skipped or repeated at any time. A generation that someone has open is never removed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

from ..base import system
from ..base.errors import CorruptData
from ..files.writing import TEMPORARY, folder_entries, remove, retire, sync_file
from ..protocols import Progress
from .fulltext import FULLTEXT, WORK, needed_generations
from .manifest import (
    GENERATIONS,
    MANIFEST,
    SHARD_NAME,
    SHARDS,
    Manifest,
    generation_file,
    generations,
    kept_generations,
    read_generation,
    read_manifest,
)
from .pending import KINDS, Pending

KEPT = 20
"""Earlier generations kept until the next `merge`. Beyond this number the oldest are removed."""


def sweep(directory: Path, progress: Progress, *, keep: int = KEPT) -> None:
    """Remove leftovers, and all but `keep` of the generations before the current one. A note reports interrupted work that is removed.

    The caller holds the write lock. Manifests of unfinished commits, and damaged ones, are removed with the oldest generations, since
    nothing can open them.
    """
    if system.OPEN_FILES_STAY:
        gc.collect()  # releases files that this process mapped and no longer uses
    current = read_manifest(directory) if (directory / MANIFEST).exists() else None
    works = {kind: Pending.found(directory, progress, kind) for kind in KINDS}
    kept = [] if current is None else [current, *_kept(directory, current, keep)]
    if generations(directory):
        sync_file(directory / GENERATIONS)  # otherwise a power failure could restore a generation without its files
    names = {name for manifest in kept for name, _ in manifest.files()}
    for kind, pending in works.items():
        if pending is not None and current is not None and not pending.fits(current):
            pending.drop(progress, "the index has changed since")
            works[kind] = None
    for folder in folder_entries(directory / SHARDS, "[0-9]*"):
        name = folder.name.removesuffix(".partial")
        if not SHARD_NAME.fullmatch(name):
            continue
        is_kept = any(file.startswith(f"{SHARDS}/{folder.name}/") for file in names)
        if is_kept:
            _keep(directory, folder, names | {f"{SHARDS}/{folder.name}/shard.json"})
        elif not any(pending is not None and pending.has(name) for pending in works.values()):
            remove(folder, later=True)
    _keep(directory, directory / "encoder", names)
    for folder in folder_entries(directory / "lexical"):
        if not any(file.startswith(f"lexical/{folder.name}/") for file in names):
            remove(folder, later=True)
    for folder in (directory, directory / GENERATIONS):
        for path in folder_entries(folder, "*.tmp"):
            if TEMPORARY.fullmatch(path.name):
                remove(path, later=True)
    for kind, pending in works.items():
        for path in folder_entries(directory, f"{kind}.*") if pending is None else ():
            remove(path, later=True)
    passages = directory / FULLTEXT
    if needed_generations(passages):
        if (passages / MANIFEST).exists():
            sweep(passages, progress, keep=0)
    elif passages.is_dir() and not (directory / WORK).exists():
        remove(passages, later=True)


def _kept(directory: Path, current: Manifest, keep: int) -> Iterator[Manifest]:
    """The last `keep` generations before the current one, those that someone has open, and those of passages that the index around them
    names. Removes the manifests of all others."""
    others = [number for number in generations(directory) if number != current.generation]
    earlier = [number for number in kept_generations(directory, current) if number in others]
    stay = {*earlier[max(len(earlier) - keep, 0) :], *needed_generations(directory)}
    for number in others:
        path = generation_file(directory, number)
        if number in stay or not (path.is_dir() or retire(path)):
            try:
                yield read_generation(directory, number)
                continue
            except CorruptData:
                pass
        remove(path, later=True)


def _keep(directory: Path, folder: Path, names: set[str]) -> None:
    """Remove everything from a folder except these paths, which are relative to the index."""
    for path in folder_entries(folder):
        if path.relative_to(directory).as_posix() not in names:
            remove(path, later=True)
