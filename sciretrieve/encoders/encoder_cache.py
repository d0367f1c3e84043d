"""The user's cache of compiled encoders and vectors, limited in size, and a folder for weights put there by hand."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..config import cache_directory, setting

LIMIT = 24_000_000_000
"""Maximum size in bytes; the least recently used entries are removed first. A BERT-base takes about 0.9 GB per task."""


@dataclass(frozen=True, slots=True)
class CachedEncoder:
    """One compiled encoder, or its cached vectors: the folder, its size in bytes, and the time of its last use, in epoch seconds."""

    folder: Path
    bytes: int
    used: float


def models_directory() -> Path:
    """The folder for weights put there by hand, under their names on the hub: the setting `models`, by default `models` in the cache."""
    return Path(str(setting("models").value))


def graphs_directory() -> Path:
    """The folder of compiled encoders."""
    return cache_directory() / "encoders"


def vectors_directory() -> Path:
    """The folder of cached vectors."""
    return cache_directory() / "vectors"


def folder_for(place: Path, name: str, facts: Sequence[Any]) -> Path:
    """The folder of an entry. Its name shows the encoder and a hash of everything that determines its contents."""
    content = json.dumps(facts, sort_keys=True)
    readable = re.sub(r"[^\w.-]+", "-", name.strip("-")).strip("-")[-60:]
    return place / f"{readable}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"


def entries() -> list[CachedEncoder]:
    """The cache's entries, the most recently used first."""
    return sorted((entry for folder in _folders() if (entry := _entry(folder)) is not None), key=lambda entry: -entry.used)


def clear(name: str = "") -> list[CachedEncoder]:
    """Remove all entries, or those whose folder begins with `name`. Returns the removed ones."""
    removed = [entry for entry in entries() if entry.folder.name.startswith(name)]
    for entry in removed:
        shutil.rmtree(entry.folder, ignore_errors=True)
    return removed


def bound(keep: Path, limit: int = LIMIT) -> None:
    """Remove the least recently used entries, never `keep`, until the cache fits in `limit` bytes."""
    candidates = entries()
    total = sum(entry.bytes for entry in candidates)
    for entry in reversed(candidates):
        if total <= limit:
            return
        if entry.folder != keep:
            shutil.rmtree(entry.folder, ignore_errors=True)
            total -= entry.bytes


def _folders() -> Iterator[Path]:
    for directory in (graphs_directory(), vectors_directory()):
        if directory.is_dir():
            yield from (folder for folder in directory.iterdir() if folder.is_dir())


def _entry(folder: Path) -> CachedEncoder | None:
    """The entry in a folder, without files that other processes are removing; None if the folder is gone."""
    files: list[os.stat_result] = []
    try:
        used = folder.stat().st_mtime
    except FileNotFoundError:
        return None
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                files.append(Path(place, name).stat())
    return CachedEncoder(folder, sum(file.st_size for file in files), max([used, *(file.st_mtime for file in files)]))
