"""Verification of an index: every file's checksum, and the consistency of its parts.

`repairing` says what can be rebuilt.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..base.arguments import checked
from ..base.choices import SIDES
from ..base.errors import CorruptData, InvalidRequest, NotFound, Unavailable
from ..base.forms import AsJson
from ..encoders import check_golden, must_be_given, read_golden
from ..encoders.query_encoder import index_encoder
from ..files.schema import booleans
from ..files.verified import Verified
from ..files.writing import describe, read_array
from ..matching.dense import VectorShard
from ..matching.dense.ann import Ann
from ..matching.late import read_packing
from ..matching.lexical import FIELDS_FILE, Postings
from ..matching.lexical.corpus_statistics import frequencies, statistics
from ..matching.lexical.fields import EVERY_FIELD
from ..matching.scope import Scope
from ..papers.corpora.ids import SeenIds
from ..progress import shown
from ..protocols import AnyEncoder, IndexPlace, Progress
from .finding import encoder_for, folder_of
from .fulltext import FULLTEXT, read_named
from .manifest import GENERATIONS, MANIFEST, SHARDS, Manifest, generation_file, generations, read_generation, read_manifest
from .shards import Shard
from .shards.names import NAMES, NAMES_FILE

ENCODER = "encoder"
"""Takes the place of a file if the encoder itself differs, while its stored golden vectors are intact."""
BLOCK = 65_536
"""Vectors read at a time."""
UNIT = 1e-3
"""Tolerance for the length of a unit vector; bf16 has 8 bits."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: the file, by path within the index, and what is wrong with it."""

    file: str
    what: str


@dataclass(frozen=True, slots=True)
class Verification(AsJson):
    """The result of verifying an index.

    Attributes:
        generation: the current generation; None if it cannot be read.
        papers: number of papers.
        files, bytes: number and size of the checked files, including those of older generations.
        faults: the faults; empty for an intact index.
        unchecked: what could not be checked here, as a sentence; "" if nothing.
    """

    generation: int | None
    papers: int
    files: int
    bytes: int
    faults: tuple[Fault, ...]
    unchecked: str = ""


@checked
def verify(index: IndexPlace, *, encoder: AnyEncoder | None = None, progress: Progress | bool = True) -> Verification:
    """Check a whole index.

    The checks cover the checksum of every file of every generation, and in the current generation: ids are unique; vectors are finite, and
    of length 1 if the encoder normalises them; ids, vectors and postings cover the same papers; statistics agree with the shards; FAISS
    indexes fit their shards; and the encoder gives the same vectors on all sides as when the index was built.

    Args:
        index: the index's directory.
        encoder: the encoder or its name, if the index's own encoder cannot be found.
        progress: receives progress; by default a progress bar on a terminal, False for none.

    Raises:
        NotFound: there is no index.

    >>> found = sr.verify("indexes/papers")
    >>> found.faults
    ()
    """
    directory, encoder = folder_of(index), encoder_for(index, encoder)
    with shown(progress) as listener:
        faults: list[Fault] = []
        try:
            current = read_manifest(directory)
        except CorruptData as error:
            return Verification(None, 0, 1, 0, (_said(directory, MANIFEST, error),))
        path = generation_file(directory, current.generation)
        if not path.is_file() or path.read_bytes() != (directory / MANIFEST).read_bytes():
            faults.append(Fault(f"{GENERATIONS}/{path.name}", f"differs from {MANIFEST}"))
        named = dict(current.files())
        for number in generations(directory):
            if number < current.generation and current.logs(number):
                try:
                    named |= dict(read_generation(directory, number, current).files())
                except CorruptData as error:
                    faults.append(_said(directory, f"{GENERATIONS}/{generation_file(directory, number).name}", error))
        listener.start(sum(int(facts["bytes"]) for facts in named.values()), unit="bytes")
        for name, facts in named.items():
            faults += _file_faults(directory, name, facts)
            listener.advance(int(facts["bytes"]))
        damaged_files = {fault.file for fault in faults}
        faults += _inner_faults(directory, current, damaged_files)
        encoder_faults, unchecked = _encoder_faults(directory, current, encoder, damaged_files)
        faults += encoder_faults
        size = sum(int(facts["bytes"]) for facts in named.values())
        passages = _of_passages(directory, current, encoder, listener)
        return Verification(
            current.generation,
            current.papers,
            len(named) + 1 + passages.files,
            size + passages.bytes,
            (*faults, *passages.faults),
            unchecked,
        )


def _of_passages(directory: Path, manifest: Manifest, encoder: AnyEncoder | None, progress: Progress) -> Verification:
    """The verification of an index's full texts."""
    nothing = Verification(None, 0, 0, 0, ())
    if manifest.fulltext is None:
        return nothing
    try:
        if read_named(directory, manifest.fulltext).checksum != manifest.fulltext["checksum"]:
            return replace(nothing, faults=(Fault(FULLTEXT, f"does not hold the full texts that {MANIFEST} names"),))
        result = verify(directory / FULLTEXT, encoder=encoder, progress=progress)
    except NotFound:
        return replace(nothing, faults=(Fault(FULLTEXT, "is missing"),))
    except CorruptData as error:
        return replace(nothing, faults=(_said(directory, FULLTEXT, error),))
    return replace(result, faults=tuple(replace(fault, file=f"{FULLTEXT}/{fault.file}") for fault in result.faults))


def _said(directory: Path, name: str, error: Exception) -> Fault:
    """An error's text on a file, without the path that it begins with."""
    return Fault(name, str(error).removeprefix(str(directory / name)).removeprefix(str(directory)).lstrip("/ "))


def _file_faults(directory: Path, name: str, facts: Mapping[str, Any]) -> Iterator[Fault]:
    try:
        actual = describe(directory / name)
    except (FileNotFoundError, NotADirectoryError):
        yield Fault(name, "is missing")
        return
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            raise  # a resource is short, which says nothing about the file
        yield Fault(name, f"cannot be read: {error.strerror or error}")
        return
    if actual["bytes"] != facts["bytes"]:
        yield Fault(name, f"has {actual['bytes']:,} bytes where the manifest says {facts['bytes']:,}")
    elif actual["sha256"] != facts["sha256"]:
        yield Fault(name, "is not as it was written: its checksum differs")


def _inner_faults(directory: Path, manifest: Manifest, damaged: set[str]) -> Iterator[Fault]:
    """Faults inside files whose checksums are right."""
    verified = Verified(directory)
    seen_ids = SeenIds()
    parts: list[tuple[Postings, Any]] = []
    scopes: list[Scope] = []
    packing = None
    if manifest.late is not None and manifest.encoder is not None and manifest.late["file"] not in damaged:
        try:
            packing = read_packing(directory / manifest.late["file"], int(manifest.encoder["dim"]))
        except CorruptData as error:
            yield _said(directory, manifest.late["file"], error)
    for facts in manifest.shards:
        shard, folder = Shard(verified, facts, 0), f"{SHARDS}/{facts.name}"
        if any(f"{folder}/{name}" in damaged for name in facts.files):
            continue
        try:
            scopes.append(shard.scope)
            yield from _id_faults(shard, folder, seen_ids)
            if manifest.encoder is not None:
                yield from _vector_faults(shard, folder, manifest)
            if packing is not None:
                _ = shard.tokens(packing).packed  # raises CorruptData
            if manifest.lexical is not None:
                posting_faults = list(_posting_faults(shard, folder))
                yield from posting_faults
                yield from _field_faults(shard, folder)
                if not posting_faults:
                    parts.append((shard.postings, shard.scope.places if facts.deleted else None))
        except CorruptData as error:
            names = [f"{folder}/{name}" for name in facts.files]
            yield _said(directory, next((name for name in names if str(error).startswith(str(directory / name))), folder), error)
    if manifest.lexical is not None:
        if manifest.analyzer is None:
            yield Fault(manifest.lexical["folder"], "was built with another version of the text analysis")
        if len(parts) == len(manifest.shards):
            yield from _statistics_faults(directory, manifest, parts)


def _id_faults(shard: Shard, folder: str, seen_ids: SeenIds) -> Iterator[Fault]:
    if not pa.chunked_array([shard.ids]).equals(shard.stored_columns(["id"])["id"]):
        yield Fault(f"{folder}/ids.arrow", "does not have the ids of papers.parquet")
    if NAMES_FILE in shard.facts.files and not shard.columns(NAMES.names).equals(shard.stored_columns(NAMES.names)):
        yield Fault(f"{folder}/{NAMES_FILE}", "does not have the names of papers.parquet")
    live_ids = (shard.ids if shard.scope.mask is None else shard.ids.filter(booleans(shard.scope.mask))).to_pylist()
    is_new, _ = seen_ids.add(live_ids)
    if not is_new.all():
        yield Fault(f"{folder}/ids.arrow", f"has the id {live_ids[int(np.argmin(is_new))]!r}, which another paper has too")


def _vector_faults(shard: Shard, folder: str, manifest: Manifest) -> Iterator[Fault]:
    assert manifest.encoder is not None
    assert manifest.metric is not None
    name, dim = f"{folder}/vectors.npy", int(manifest.encoder["dim"])
    vectors = VectorShard(shard.file("vectors.npy"), shard.papers, dim, manifest.metric, 0).vectors
    for first in range(0, shard.papers, BLOCK):
        block = np.asarray(vectors[first : first + BLOCK])
        bad_rows = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if not len(bad_rows) and manifest.encoder.get("normalise"):
            bad_rows = np.flatnonzero(np.abs(np.linalg.norm(block, axis=1) - 1) > UNIT)
        if len(bad_rows):
            yield Fault(name, f"the vector of {shard.ids[first + int(bad_rows[0])].as_py()!r} is not finite, or not of length 1")
            return
    ann_file = shard.facts.ann_file
    if ann_file is not None and not Ann(shard.file(ann_file), shard.papers, dim).is_of(vectors, manifest.metric):
        yield Fault(f"{folder}/{ann_file}", "does not hold the vectors of its shard")


def _posting_faults(shard: Shard, folder: str) -> Iterator[Fault]:
    postings = shard.postings
    rows, offsets = postings.rows, postings.offsets
    if not _are_in_order(postings.terms, rows, offsets, shard.papers):
        yield Fault(f"{folder}/postings.arrow", "its terms or papers are not in ascending order, or not those of the shard")
        return
    lengths = np.bincount(rows, postings.counts, shard.papers)
    title_lengths = np.bincount(rows, postings.titles, shard.papers)
    in_titles = np.flatnonzero(postings.titles)
    numbers = np.searchsorted(offsets, in_titles, side="right") - 1
    order = np.argsort(rows[in_titles], kind="stable")
    fits = (lengths == postings.lengths).all() and (title_lengths == postings.title_lengths).all()
    terms_fit = np.array_equal(np.diff(postings.title_offsets), np.bincount(rows[in_titles], minlength=shard.papers))
    if not fits or not terms_fit or not np.array_equal(numbers[order], postings.title_terms):
        yield Fault(f"{folder}/lengths.arrow", "disagrees with postings.arrow")


def _field_faults(shard: Shard, folder: str) -> Iterator[Fault]:
    fields = shard.fields
    are_fields = ((fields.bits > 0) & (fields.bits <= EVERY_FIELD)).all()
    if not are_fields or not _are_in_order(fields.terms, fields.rows, fields.offsets, shard.papers):
        yield Fault(f"{folder}/{FIELDS_FILE}", "its words or papers are not in ascending order, or not those of the shard")


def _are_in_order(words: pa.Array, rows: npt.NDArray[Any], offsets: npt.NDArray[Any], papers: int) -> bool:
    """Whether words ascend, and each has rows of papers, ascending and in range."""
    starts = np.zeros(len(rows), bool)
    starts[offsets[:-1][np.diff(offsets) > 0]] = True
    are_known = not len(rows) or (rows.min() >= 0 and rows.max() < papers)
    are_ascending = (starts[1:] | (np.diff(rows) > 0)).all() and (np.diff(offsets) > 0).all()
    return bool(are_known and are_ascending) and all(first < second for first, second in pairwise(words.to_pylist()))


def _statistics_faults(directory: Path, manifest: Manifest, parts: list[tuple[Postings, Any]]) -> Iterator[Fault]:
    assert manifest.lexical is not None
    if asdict(statistics(parts)) != manifest.lexical["statistics"]:
        yield Fault(MANIFEST, "its statistics disagree with the shards")
    for facts, counts in zip(manifest.shards, frequencies(parts), strict=True):
        name = f"{manifest.lexical['folder']}/{facts.name}.npy"
        path = directory / name
        try:
            if path.is_file() and not np.array_equal(read_array(path), counts):
                yield Fault(name, "its frequencies disagree with the shards")
        except CorruptData as error:
            yield _said(directory, name, error)


def _encoder_faults(directory: Path, manifest: Manifest, given: AnyEncoder | None, damaged: set[str]) -> tuple[list[Fault], str]:
    """Whether the encoder still gives the same vectors on every side, and what could not be checked."""
    built = manifest.encoder
    golden = (built or {}).get("golden")
    if built is None or not golden or golden["file"] in damaged:
        return [], ""
    try:
        vectors = read_golden(directory / golden["file"], int(built["dim"]))
        if given is None and (what := must_be_given(built)):
            return [], f"its vectors were not compared with those in the index: {what}"
        encoder = index_encoder(directory, built, given)
        for side in SIDES:
            check_golden(vectors, encoder, side)
    except CorruptData as error:
        return [_said(directory, golden["file"], error)], ""
    except InvalidRequest as error:
        return [Fault(ENCODER, str(error))], ""
    except (NotFound, Unavailable) as error:
        return [], f"the encoder is not available here, so its vectors were not compared with those in the index: {error}"
    return [], ""
