"""An index's manifest changed by hand, and sealed as if it had been written so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sciretrieve.files.writing import read_sealed, write_sealed
from sciretrieve.storage.manifest import MANIFEST, generation_file, generations


@contextmanager
def edited_manifest(index: Path) -> Iterator[dict[str, Any]]:
    """The current manifest, to change; written when the block ends, as the generation's too."""
    manifest = read_sealed(index / MANIFEST)
    generation = manifest["generation"]
    yield manifest
    for path in (index / MANIFEST, generation_file(index, generation)):
        write_sealed(path, manifest)


def without_fields(index: Path) -> None:
    """Make an index one that was built before the words of authors, venues and keywords were kept, in all its generations."""
    for path in (index / MANIFEST, *(generation_file(index, number) for number in generations(index))):
        manifest = read_sealed(path)
        for shard in manifest["shards"]:
            del shard["files"]["fields.arrow"]
        write_sealed(path, manifest)
    for file in index.glob("shards/*/fields.arrow"):
        file.unlink()
