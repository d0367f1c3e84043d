"""An index's manifest changed by hand, and sealed as if it had been written so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sciretrieve.files import read_sealed, write_sealed
from sciretrieve.manifest import MANIFEST, generation_file


@contextmanager
def edited_manifest(index: Path) -> Iterator[dict[str, Any]]:
    """The current manifest, to change; written when the block ends, as the generation's too."""
    manifest = read_sealed(index / MANIFEST)
    generation = manifest["generation"]
    yield manifest
    for path in (index / MANIFEST, generation_file(index, generation)):
        write_sealed(path, manifest)
