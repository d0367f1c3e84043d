"""Merging: shards that are small or have deleted papers are rewritten as full ones, and older generations are let go.

Nothing is encoded, and no text is analysed again: papers, vectors and postings are copied, and only the words of names are read anew, one
new shard at a time. Searches go on meanwhile, over the old shards.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..errors import InvalidRequest
from ..files.schema import booleans, concat, integers
from ..files.writing import array_header, created, write_array, write_lock
from ..matching.dense import VectorShard
from ..matching.late import Packing
from ..matching.lexical import FieldsBuilder
from ..matching.lexical.postings import write_postings
from ..progress import shown
from ..protocols import Progress
from ..query.snapshot import Snapshot
from ..storage.commits import Change, IndexSettings, commit
from ..storage.manifest import FORMAT, ShardFacts
from ..storage.pending import Pending
from ..storage.shards import Shard, cut_shard, finished_facts
from ..storage.shards.cutting import SHARD_BYTES
from ..storage.shards.filling import finish
from ..storage.sweeping import sweep
from ..types import Vectors
from .parts import has_parts

BLOCK = 16_384
"""Vectors that are copied at a time."""


@dataclass(frozen=True, slots=True)
class Merge:
    """What merging did: how many shards there were and are, and how many bytes less all generations take."""

    shards_before: int
    shards_after: int
    freed: int
    generation: int


def merge(index: str | Path, *, progress: Progress | bool = True) -> Merge:
    """Rewrite small shards and shards with deleted papers, and remove generations before the current one that nobody has open.

    An interrupted merge goes on with the shards that it has finished.

    Raises:
        NotFound: there is no such index.
        InvalidRequest: there are parts of an index, which `join` makes one of.
        IndexBusy: another process is writing the index.
    """
    directory = Path(index)
    with shown(progress) as listener:
        if has_parts(directory):
            remedy = f"`sciretrieve join {shlex.quote(str(directory))}`"
            raise InvalidRequest(f"{directory} holds parts of an index, and is none yet; {remedy} makes one of them")
        Snapshot(directory).close()
        with write_lock(directory):
            before = space(directory)
            with Snapshot(directory) as snapshot:
                old = snapshot.manifest
                groups = _groups(snapshot)
                gone = {shard.facts.name for shard in snapshot.shards if not len(shard.scope)}
                gone |= {shard.facts.name for group in groups for shard in group}
                new = old
                if gone:
                    pending = _pending(directory, old.generation, groups, listener)
                    listener.start(sum(len(shard.scope) for group in groups for shard in group))
                    merged = [_merged(pending, place, snapshot, group, listener) for place, group in enumerate(groups)]
                    shards = (*(facts for facts in old.shards if facts.name not in gone), *merged)
                    new = commit(
                        directory, old, replace(old, shards=shards), IndexSettings.of(old), Change("merge", work=pending.id), listener
                    )
            sweep(directory, listener, keep=0)
            return Merge(len(old.shards), len(new.shards), before - space(directory), new.generation)


def space(directory: Path) -> int:
    """The bytes that all files of an index take, those of older generations among them."""
    size = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):  # a writer may just be sweeping
                size += Path(folder, name).stat().st_size
    return size


def _groups(snapshot: Snapshot) -> list[list[Shard]]:
    """The shards to rewrite, grouped by the new shard that each will be part of; one without papers is part of none."""
    size = snapshot.manifest.build["settings"]["shard_size"]
    groups: list[list[Shard]] = []
    papers, bytes = size, 0  # of the last group
    for shard in snapshot.shards:
        if len(shard.scope) and (shard.facts.deleted or (2 * shard.papers < size and 2 * shard.bytes < SHARD_BYTES)):
            if papers + len(shard.scope) > size or bytes + shard.bytes > SHARD_BYTES:
                groups.append([])
                papers = bytes = 0
            groups[-1].append(shard)
            papers += len(shard.scope)
            bytes += shard.bytes
    return [group for group in groups if len(group) > 1 or group[0].facts.deleted]


def _pending(directory: Path, generation: int, groups: Sequence[Sequence[Shard]], progress: Progress) -> Pending:
    plan = {"command": "merge", "format": FORMAT, "base": generation, "groups": [[shard.facts.name for shard in group] for group in groups]}
    return Pending.take_up(directory, plan, progress)


def _merged(pending: Pending, place: int, snapshot: Snapshot, group: Sequence[Shard], progress: Progress) -> ShardFacts:
    """One new shard with the papers of a group that are not deleted, in their order."""
    if pending.folder(place).is_dir():
        progress.advance(sum(len(shard.scope) for shard in group))
        return finished_facts(pending.folder(place))
    partial = pending.partial(place)
    tables = [table.filter(booleans(shard.scope.part(first, len(table)).flags)) for shard in group for first, table in shard.tables()]
    hashes = pa.concat_arrays([shard.contents.take(integers(shard.scope.places)) for shard in group])
    papers = concat(tables)
    cut_shard(partial, papers, hashes)
    if snapshot.vectors:
        names = {shard.facts.name for shard in group}
        vectors = [part for shard, part in zip(snapshot.shards, snapshot.vectors, strict=True) if shard.facts.name in names]
        with created(partial / "vectors.npy") as file:
            file.write(array_header((len(papers), vectors[0].dim)))
            for block in _blocks(snapshot, vectors):
                file.write(np.ascontiguousarray(block).tobytes())
    if snapshot.packing is not None:
        _merge_tokens(partial, group, snapshot.packing)
    if snapshot.manifest.lexical is not None:
        _merge_postings(partial, group, len(papers))
        fields = FieldsBuilder(snapshot.analyzer)
        fields.add(papers)
        fields.write(partial)
    # which papers exceed the encoder's input length is known of whole shards alone
    truncated = None if any(shard.facts.deleted or shard.facts.truncated is None for shard in group) else 0
    if truncated is not None:
        truncated = sum(shard.facts.truncated or 0 for shard in group)
    progress.advance(len(papers))
    return finish(partial, len(papers), truncated, tuple(sorted({source for shard in group for source in shard.facts.sources})))


def _blocks(snapshot: Snapshot, vectors: Sequence[VectorShard]) -> Iterator[Vectors]:
    for part in vectors:
        for first in range(0, part.papers, BLOCK):
            count = min(BLOCK, part.papers - first)
            yield part.vectors[first : first + count][snapshot.scope.part(part.first + first, count).flags]


def _merge_tokens(partial: Path, group: Sequence[Shard], packing: Packing) -> None:
    """The packed token vectors of a group's papers that are not deleted."""
    token_shards = [shard.tokens(packing) for shard in group]
    counts = np.concatenate([part.counts[shard.scope.flags] for shard, part in zip(group, token_shards, strict=True)])
    write_array(partial / "token-counts.npy", counts)
    with created(partial / "tokens.npy") as file:
        file.write(array_header((int(counts.sum()), packing.bytes), np.uint8))
        for shard, part in zip(group, token_shards, strict=True):
            for first in range(0, part.papers, BLOCK):
                papers = slice(first, first + BLOCK)
                is_live = np.repeat(shard.scope.flags[papers], part.counts[papers])
                end = int(part.ends[papers][-1])
                file.write(np.ascontiguousarray(part.packed[end - len(is_live) : end][is_live]).tobytes())


def _merge_postings(partial: Path, group: Sequence[Shard], papers: int) -> None:
    """The postings of a group's papers that are not deleted, as if they had been counted together."""
    terms = pa.concat_arrays([shard.postings.terms for shard in group])
    encoded = terms.dictionary_encode()
    numbers_of_all = encoded.indices.to_numpy()
    numbers, rows, counts, titles = [], [], [], []
    first_term = first_row = 0
    for shard in group:
        postings, flags = shard.postings, shard.scope.flags
        new_rows = np.cumsum(flags) - 1 + first_row
        kept = flags[postings.rows]
        of_terms = numbers_of_all[first_term : first_term + len(postings.terms)]
        numbers.append(np.repeat(of_terms, np.diff(postings.offsets))[kept])
        rows.append(new_rows[postings.rows[kept]].astype(np.int32))
        counts.append(postings.counts[kept])
        titles.append(postings.titles[kept])
        first_term += len(postings.terms)
        first_row += len(shard.scope)
    write_postings(
        partial, encoded.dictionary, np.concatenate(numbers), np.concatenate(rows), np.concatenate(counts), np.concatenate(titles), papers
    )
