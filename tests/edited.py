"""An index's files, and its manifest changed by hand, and sealed as if it had been written so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sciretrieve.files.writing import read_sealed, write_sealed
from sciretrieve.storage.manifest import MANIFEST, generation_file, generations


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but locks, by its path."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock"
    }


@contextmanager
def edited_manifest(index: Path) -> Iterator[dict[str, Any]]:
    """The current manifest, to change; written when the block ends, as the generation's too."""
    manifest = read_sealed(index / MANIFEST)
    generation = manifest["generation"]
    yield manifest
    for path in (index / MANIFEST, generation_file(index, generation)):
        write_sealed(path, manifest)


def edit_manifests(index: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifests of all generations, whose logs then have each other's new checksums."""
    checksums: dict[int, str] = {}
    for path in (*(generation_file(index, number) for number in generations(index)), index / MANIFEST):
        manifest = read_sealed(path)
        change(manifest)
        for record in manifest["log"][:-1]:
            record["checksum"] = checksums.get(record["generation"])
        checksums[manifest["generation"]] = write_sealed(path, manifest)
