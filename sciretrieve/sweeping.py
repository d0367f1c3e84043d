"""Sweeping: removing what no generation that can be opened names, and no work in progress needs.

It is apart from committing, and can be left out or repeated at any time. A generation that somebody has open is never taken.
"""

from __future__ import annotations

from pathlib import Path

from .errors import CorruptData
from .files import read_sealed, remove, retire
from .manifest import GENERATIONS, MANIFEST, PENDING, SHARD_NAME, SHARDS, Manifest, generation_file, generations, read_manifest

KEPT = 20
"""Earlier generations that stay until the next `merge`; beyond these the oldest go."""


def sweep(directory: Path, *, keep: int = KEPT) -> None:
    """Remove leftovers, and all but so many of the generations before the current one.

    The caller holds the write lock. A generation whose manifest is damaged goes, since nothing can open it.
    """
    current = read_manifest(directory) if (directory / MANIFEST).exists() else None
    kept: list[Manifest] = []
    if current is not None:
        kept.append(current)
        earlier = [number for number in generations(directory) if number < current.generation]
        for place, number in enumerate(reversed(earlier)):
            if place < keep or not retire(generation_file(directory, number)):
                try:
                    kept.append(read_manifest(directory, number))
                except CorruptData:
                    remove(generation_file(directory, number))
        for number in generations(directory):
            if number > current.generation:  # its commit did not come to its end
                remove(generation_file(directory, number))
    names = {name for manifest in kept for name, _ in manifest.files()}
    first_pending = _first_pending(directory, current)
    for folder in (directory / SHARDS).glob("[0-9]*"):
        name = folder.name.removesuffix(".partial")
        if not SHARD_NAME.fullmatch(name):
            continue
        is_kept = any(file.startswith(f"{SHARDS}/{folder.name}/") for file in names)
        if is_kept:
            _keep(directory, folder, names | {f"{SHARDS}/{folder.name}/shard.json"})
        elif first_pending is None or int(name) < first_pending:
            remove(folder)
    _keep(directory, directory / "encoder", names)
    for folder in (directory / "lexical").glob("*"):
        if not any(file.startswith(f"lexical/{folder.name}/") for file in names):
            remove(folder)
    for folder in (directory, directory / GENERATIONS):
        for path in folder.glob("*.tmp"):
            remove(path)
    if first_pending is None:
        for path in directory.glob("pending.*"):
            remove(path)


def _first_pending(directory: Path, current: Manifest | None) -> int | None:
    """The number of the first shard of work in progress; None without any. What was committed is in progress no longer."""
    mark = directory / PENDING
    if not mark.exists():
        return None
    first: int = read_sealed(mark)["first_shard"]
    if current is not None and any(int(facts.name) >= first for facts in current.shards):
        remove(mark)
        return None
    return first


def _keep(directory: Path, folder: Path, names: set[str]) -> None:
    """Remove everything from a folder except these names, which are paths within the index."""
    for path in folder.glob("*"):
        if str(path.relative_to(directory)) not in names:
            remove(path)
