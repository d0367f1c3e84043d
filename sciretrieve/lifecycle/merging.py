"""Merging: small shards, and shards with deleted papers, are rewritten as full ones; all of them on demand, a few with each change.

Nothing is encoded or analysed again: papers, vectors and postings are copied, one new shard at a time, and only the words of names are read
anew. Searches continue on the old shards meanwhile.

With a change, shards are joined by size, as Lucene's TieredMergePolicy joins segments: `WIDTH` shards of one tier make a shard of the next.
So a paper is copied once for each tier that it rises, and below `FLOOR` once in `WIDTH` changes. An index of n papers has at most `WIDTH`
small shards for each of log(shard size / FLOOR) tiers, however often it changes.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..base.arguments import checked
from ..base.errors import InvalidRequest
from ..base.forms import AsJson
from ..base.types import Vectors
from ..base.wording import counted
from ..files.schema import booleans, concat, integers
from ..files.verified import Verified
from ..files.writing import array_header, created, write_array, write_lock
from ..matching.late import Packing
from ..matching.lexical import FieldsBuilder
from ..matching.lexical.postings import write_postings
from ..progress import shown
from ..protocols import Advance, IndexPlace, Progress, ignore_advance
from ..query.snapshot import Snapshot
from ..storage.commits import Change, IndexSettings, commit, current_passages, next_generation, publish
from ..storage.finding import folder_of
from ..storage.fulltext import FULLTEXT, named_generation
from ..storage.manifest import FORMAT, Manifest, ShardFacts, read_manifest
from ..storage.pending import KINDS, Pending
from ..storage.shards import Shard, cut_shard, finished_facts, open_shards
from ..storage.shards.cutting import SHARD_BYTES
from ..storage.shards.filling import finish
from ..storage.sweeping import sweep
from .parts import has_parts

BLOCK = 16_384
"""Vectors copied at a time."""
FLOOR = 1_000
"""Papers below which all shards count as equally small. Rewriting this many takes some fifty milliseconds."""
WIDTH = 4
"""Shards of a tier that are joined into a shard of the next."""


@dataclass(frozen=True, slots=True)
class Merge(AsJson):
    """The result of merging: the numbers of shards before and after, and the bytes saved over all generations."""

    shards_before: int
    shards_after: int
    freed: int
    generation: int


@checked
def merge(index: IndexPlace, *, progress: Progress | bool = True) -> Merge:
    """Rewrite small shards and shards with deleted papers. Remove earlier generations that nobody has open.

    An interrupted merge keeps the shards that it has finished.

    Raises:
        NotFound: there is no such index.
        InvalidRequest: the index is in parts, which `index_parts` joins.
        IndexBusy: another process is writing the index.

    >>> merged = sr.merge("indexes/papers")
    >>> merged.shards_after
    1
    """
    directory = folder_of(index)
    with shown(progress) as listener:
        if has_parts(directory):
            remedy = f"`sciretrieve index parts {shlex.quote(str(directory))}`"
            raise InvalidRequest(f"{directory} holds parts of an index; {remedy} joins them")
        Snapshot.of(directory).close()
        with write_lock(directory):
            before = space(directory)
            with Snapshot.of(directory) as snapshot:
                old = snapshot.manifest
                groups = _packed([shard for shard in snapshot.shards if shard.facts.deleted or _is_small(shard, old)], old)
                gone = {shard.facts.name for shard in snapshot.shards if not len(shard.scope)}
                gone |= {shard.facts.name for group in groups for shard in group}
                new, fulltext = old, _merged_passages(directory, old, listener)
                if gone:
                    pending = Pending.take_up(directory, _plan(snapshot, groups), listener)
                    listener.start(sum(len(shard.scope) for group in groups for shard in group))
                    merged = [_merged(pending, place, snapshot, group, listener.advance) for place, group in enumerate(groups)]
                    shards = (*(facts for facts in old.shards if facts.name not in gone), *merged)
                    new = commit(
                        directory,
                        old,
                        replace(old, shards=shards, fulltext=fulltext),
                        IndexSettings.of(old),
                        Change("merge", work=pending.id),
                        listener,
                    )
                elif fulltext != old.fulltext:
                    new = publish(directory, old, replace(old, fulltext=fulltext), Change("merge"), next_generation(directory))
            sweep(directory, listener, keep=0)
            return Merge(len(old.shards), len(new.shards), before - space(directory), new.generation)


def _merged_passages(directory: Path, manifest: Manifest, progress: Progress) -> Mapping[str, Any] | None:
    """What a manifest says of full texts once the shards of their passages are merged."""
    if manifest.fulltext is None:
        return None
    with write_lock(directory / FULLTEXT):
        current_passages(directory, manifest.fulltext)
    merge(directory / FULLTEXT, progress=progress)
    return named_generation(read_manifest(directory / FULLTEXT))


def space(directory: Path) -> int:
    """Bytes of all files of an index, including older generations'."""
    size = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):  # a writer may be sweeping
                size += Path(folder, name).stat().st_size
    return size


def tidied(snapshot: Snapshot, shards: Sequence[ShardFacts], progress: Progress) -> tuple[ShardFacts, ...]:
    """The shards of an index after a change, for its commit: without empty shards, and with due shards rewritten.

    A full tier is due, with all smaller shards, and so is a shard of which more than half is deleted. Only shards up to half the full size
    are rewritten, and none that interrupted work still needs. Old shards stay as long as a generation names them.

    Args:
        snapshot: the current generation. The caller holds the write lock.
        shards: its shards, possibly with newly deleted papers.
        progress: receives the steps that take long.
    """
    shards = [facts for facts in shards if facts.papers > facts.deleted]
    works = [work for kind in KINDS if (work := Pending.found(snapshot.path, progress, kind)) is not None]
    if any(work.count is None for work in works):  # it is unknown which shard numbers it will use
        return tuple(shards)
    needed = {name for work in works for name in work.plan.get("shards", ())}
    opened = open_shards(Verified(snapshot.path), [facts for facts in shards if facts.name not in needed])
    small = [shard for shard in opened if _is_small(shard, snapshot.manifest)]
    due_places = due([len(shard.scope) for shard in small])
    chosen = [shard for place, shard in enumerate(small) if place in due_places or 2 * shard.facts.deleted > shard.papers]
    groups = _packed(chosen, snapshot.manifest)
    if not groups:
        return tuple(shards)
    papers = sum(len(shard.scope) for group in groups for shard in group)
    if papers > FLOOR:
        progress.note(f"rewriting {counted(papers, 'paper')} of {sum(map(len, groups))} small shards, so that searches stay quick")
    pending = Pending.beside(snapshot.path, _plan(snapshot, groups), progress)
    merged = [_merged(pending, place, snapshot, group, ignore_advance) for place, group in enumerate(groups)]
    gone = {shard.facts.name for group in groups for shard in group}
    return (*(facts for facts in shards if facts.name not in gone), *merged)


def _is_small(shard: Shard, manifest: Manifest) -> bool:
    """Whether its papers fill less than half of a shard."""
    return 2 * len(shard.scope) < manifest.build["settings"]["shard_size"] and 2 * _live_bytes(shard) < SHARD_BYTES


def _live_bytes(shard: Shard) -> int:
    """Approximate size of its undeleted papers."""
    return shard.bytes * len(shard.scope) // shard.papers


def due(sizes: Sequence[int]) -> set[int]:
    """Positions of the shards to join, given their sizes in papers: a full tier is joined with all below it."""
    order = sorted(range(len(sizes)), key=lambda place: sizes[place])
    bound, seen, joined = FLOOR, 0, 0  # number of the smallest shards in tiers so far, and number of them to join
    while seen < len(order):
        tier = sum(size <= bound for size in sizes) - seen
        seen += tier
        if tier + (joined > 0) >= WIDTH:  # the shards joined below count as one
            joined = seen
        bound *= WIDTH
    return set(order[:joined])


def _packed(shards: Sequence[Shard], manifest: Manifest) -> list[list[Shard]]:
    """Group the shards to rewrite by the new shard that they form. Empty shards are dropped."""
    size = manifest.build["settings"]["shard_size"]
    groups: list[list[Shard]] = []
    papers, bytes = size, 0  # of the last group
    for shard in shards:
        if len(shard.scope):
            if papers + len(shard.scope) > size or bytes + _live_bytes(shard) > SHARD_BYTES:
                groups.append([])
                papers = bytes = 0
            groups[-1].append(shard)
            papers += len(shard.scope)
            bytes += _live_bytes(shard)
    return [group for group in groups if len(group) > 1 or group[0].facts.deleted]


def _plan(snapshot: Snapshot, groups: Sequence[Sequence[Shard]]) -> dict[str, Any]:
    """The facts that determine the new shards."""
    names = [[shard.facts.name for shard in group] for group in groups]
    return {"command": "merge", "format": FORMAT, "base": snapshot.manifest.generation, "groups": names}


def _merged(pending: Pending, place: int, snapshot: Snapshot, group: Sequence[Shard], advance: Advance) -> ShardFacts:
    """Write one new shard with the undeleted papers of a group, in order."""
    if pending.folder(place).is_dir():
        advance(sum(len(shard.scope) for shard in group))
        return finished_facts(pending.folder(place))
    partial, manifest = pending.partial(place), snapshot.manifest
    tables = [table.filter(booleans(shard.scope.part(first, len(table)).flags)) for shard in group for first, table in shard.tables()]
    hashes = pa.concat_arrays([shard.contents.take(integers(shard.scope.places)) for shard in group])
    papers = concat(tables)
    cut_shard(partial, papers, hashes)
    if manifest.metric is not None:
        with created(partial / "vectors.npy") as file:
            file.write(array_header((len(papers), snapshot.dim)))
            for shard in group:
                for block in _blocks(shard, shard.vectors(snapshot.dim, manifest.metric).vectors):
                    file.write(np.ascontiguousarray(block).tobytes())
    if snapshot.packing is not None:
        _merge_tokens(partial, group, snapshot.packing)
    if manifest.lexical is not None:
        _merge_postings(partial, group, len(papers))
        fields = FieldsBuilder(snapshot.analyzer)
        fields.add(papers)
        fields.write(partial)
    # truncation is only counted for whole shards
    counts = [None if shard.facts.deleted else shard.facts.truncated for shard in group]
    truncated = None if None in counts else sum(count or 0 for count in counts)
    advance(len(papers))
    return finish(partial, len(papers), truncated, tuple(sorted({source for shard in group for source in shard.facts.sources})))


def _blocks(shard: Shard, vectors: Vectors) -> Iterator[Vectors]:
    """Vectors of a shard's undeleted papers, some thousands at a time."""
    for first in range(0, shard.papers, BLOCK):
        block = vectors[first : first + BLOCK]
        yield block[shard.scope.part(first, len(block)).flags]


def _merge_tokens(partial: Path, group: Sequence[Shard], packing: Packing) -> None:
    """Copy the packed token vectors of a group's undeleted papers."""
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
    """Copy the postings of a group's undeleted papers, as if counted together."""
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
