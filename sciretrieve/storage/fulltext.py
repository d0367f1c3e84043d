"""Full texts: an index of the passages of an index's papers, in a folder of the index, of which each manifest names a generation.

The passages are the papers of `INDEX/fulltext`, with the id PAPER#3, the title of their paper and their text as abstract. So they have
vectors, terms, deletions and checks like any papers. A manifest of the index around them names a generation of theirs, by number and
checksum. So one rename changes papers and passages at once, and a generation of passages that no manifest names was never current.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.types import Mask
from ..files.writing import folder_entries
from .manifest import GENERATIONS, MANIFEST, Manifest, read_manifest

FULLTEXT = "fulltext"
WORK = "fulltext.json"
"""Marks that full texts are being read, so that passages which no manifest names yet are kept."""
_NUMBER = r"#\d+$"
_NAMED = re.compile(rb'"fulltext": \{\s*"generation": (\d+)')


def passage_id(paper: str, number: int) -> str:
    """The id of a paper's passage, counted from 0."""
    return f"{paper}#{number}"


def owners_of(passage_ids: pa.Array) -> pa.StringArray:
    """The ids of the papers whose passages these are."""
    return pc.replace_substring_regex(passage_ids, _NUMBER, "")


def named_generation(manifest: Manifest) -> dict[str, Any]:
    """What the index around some passages says of a generation of theirs."""
    return {"generation": manifest.generation, "checksum": manifest.checksum, "passages": manifest.papers, "bytes": manifest.bytes}


def read_named(directory: Path, facts: Mapping[str, Any]) -> Manifest:
    """The manifest of the passages that an index names. Raises CorruptData and NotFound as `read_manifest`."""
    return read_manifest(directory / FULLTEXT, int(facts["generation"]))


def needed_generations(directory: Path) -> set[int]:
    """Numbers of the generations of an index that the index around it names, if it is one of passages. Damaged manifests count."""
    if directory.name != FULLTEXT:
        return set()
    numbers: set[int] = set()
    for path in (directory.parent / MANIFEST, *folder_entries(directory.parent / GENERATIONS, "*.json")):
        with suppress(OSError):
            numbers |= set(map(int, _NAMED.findall(path.read_bytes())))
    return numbers


def orphans(passage_ids: pa.Array, papers: Iterable[pa.Array]) -> Mask:
    """Which passages belong to none of the papers, whose ids are given in parts."""
    chunks = list(papers)
    ids = pa.chunked_array(chunks, pa.string()).combine_chunks() if chunks else pa.array([], pa.string())
    is_owned = pc.is_in(owners_of(passage_ids), value_set=ids)
    flags: Mask = ~np.asarray(is_owned.to_numpy(zero_copy_only=False), bool)
    return flags
