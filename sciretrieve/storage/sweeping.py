"""Sweeping: removing what no generation that can be opened names, and no work in progress needs.

It is apart from committing, and can be left out or repeated at any time. A generation that somebody has open is never taken.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import CorruptData
from ..files.writing import listed, remove, retire, sync_file
from .manifest import GENERATIONS, MANIFEST, SHARD_NAME, SHARDS, Manifest, generation_file, generations, read_manifest
from .pending import Pending

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
    if generations(directory):
        sync_file(directory / GENERATIONS)  # a power failure must not bring a generation back, and not what it names
    names = {name for manifest in kept for name, _ in manifest.files()}
    pending = Pending.read(directory)
    if pending is not None and current is not None and not pending.is_worth_keeping and pending.plan.get("base") != current.generation:
        pending.drop()  # the index has changed since
        pending = None
    for folder in listed(directory / SHARDS, "[0-9]*"):
        name = folder.name.removesuffix(".partial")
        if not SHARD_NAME.fullmatch(name):
            continue
        is_kept = any(file.startswith(f"{SHARDS}/{folder.name}/") for file in names)
        if is_kept:
            _keep(directory, folder, names | {f"{SHARDS}/{folder.name}/shard.json"})
        elif pending is None or int(name) < pending.first_shard:
            remove(folder)
    _keep(directory, directory / "encoder", names)
    for folder in listed(directory / "lexical"):
        if not any(file.startswith(f"lexical/{folder.name}/") for file in names):
            remove(folder)
    for folder in (directory, directory / GENERATIONS):
        for path in listed(folder, "*.tmp"):
            remove(path)
    if pending is None:
        for path in listed(directory, "pending.*"):
            remove(path)


def _keep(directory: Path, folder: Path, names: set[str]) -> None:
    """Remove everything from a folder except these names, which are paths within the index."""
    for path in listed(folder):
        if str(path.relative_to(directory)) not in names:
            remove(path)
