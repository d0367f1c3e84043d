"""Repair of an index: derived files are rebuilt from stored ones.

Ids, terms and FAISS indexes are rebuilt from papers and vectors; vectors, by the encoder, from papers; statistics from shards; the current
manifest from its generation's file, and the reverse. Papers and lists of deleted papers cannot be rebuilt.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arguments import checked
from ..base.errors import CorruptData, NotFound
from ..base.once import once
from ..encoders import check_golden, golden_vectors, late, packing_of, read_golden
from ..encoders.query_encoder import index_encoder
from ..files.schema import concat
from ..files.verified import Verified
from ..files.writing import copy, remove, write_lock, write_whole
from ..matching.fusion import Fusion
from ..matching.late import Packing, read_packing
from ..matching.lexical import Analyzer
from ..progress import shown
from ..protocols import AnyEncoder, Encoder, IndexPlace, Progress
from .commits import Change, IndexSettings, commit, current_passages, next_generation, publish, with_deleted
from .finding import encoder_for, folder_of
from .fulltext import FULLTEXT, named_generation
from .manifest import (
    FORMAT,
    GENERATIONS,
    MANIFEST,
    SHARDS,
    TOKEN_FILES,
    Manifest,
    ShardFacts,
    encoder_file,
    generation_file,
    generations,
    read_generation,
    read_manifest,
    said_generation,
)
from .pending import KINDS, Pending
from .shards import Shard, cut_shard, fill, finished_facts
from .shards.cutting import contents
from .sweeping import sweep
from .verifying import ENCODER, Fault, Verification, verify

ENCODED = {"vectors.npy", *TOKEN_FILES}
"""Files that the encoder makes from a shard's papers."""
LOST = ("papers.parquet", "deleted-")
"""Prefixes of files that cannot be rebuilt."""


@checked
def repair(index: IndexPlace, *, encoder: AnyEncoder | None = None, progress: Progress | bool = True) -> Verification:
    """Verify an index, rebuild damaged files as a new generation, and verify it again. Returns the second result.

    If anything was damaged, older generations are removed.

    Arguments as in `verify`.

    Raises:
        NotFound: there is no index.
        IndexBusy: another process is writing the index.
        Unavailable: vectors are lost, and the encoder is not available here.
        InvalidRequest, EncoderMismatch: vectors are lost, and the encoder differs or gives other vectors.

    >>> found = sr.repair("indexes/papers")
    >>> found.faults
    ()
    """
    directory, encoder = folder_of(index), encoder_for(index, encoder)
    with shown(progress) as listener:
        if not (directory / MANIFEST).exists() and not generations(directory):
            read_manifest(directory)
        with write_lock(directory):
            _restore_manifest(directory, listener)
            before = verify(directory, encoder=encoder, progress=listener)
            if not before.faults:
                sweep(directory, listener)  # after a repair that was killed when it had finished
                return before
            files = {fault.file for fault in before.faults}
            damaged = {file for file in files - {ENCODER} if Path(file).parts[0] != FULLTEXT}
            is_mended = bool(files - damaged - {ENCODER}) and _repair_passages(directory, encoder, listener)
            if damaged and _Repair(directory, read_manifest(directory), damaged, encoder, listener).run():
                is_mended = True
            if is_mended:
                sweep(directory, listener, keep=0)
            after = verify(directory, encoder=encoder, progress=listener)
            return replace(after, faults=tuple(map(_with_advice, after.faults)))


def _repair_passages(directory: Path, encoder: AnyEncoder | None, progress: Progress) -> bool:
    """Repair an index's full texts, and commit the result. If nothing is left of them, the index goes on without. Returns whether anything
    could be mended."""
    old, folder = read_manifest(directory), directory / FULLTEXT
    facts = old.fulltext
    if facts is None:
        return False
    named: Mapping[str, Any] | None = None
    try:
        with suppress(CorruptData), write_lock(folder):
            current_passages(directory, facts)
        repair(folder, encoder=encoder, progress=progress)
        named = named_generation(read_manifest(folder))
    except (CorruptData, NotFound) as error:
        progress.note(f"the full texts of {directory} are lost ({error}); `sciretrieve add --fulltext` reads them again")
    if named == facts:
        return False
    publish(directory, old, replace(old, fulltext=named), Change("repair"), next_generation(directory))
    return True


def _with_advice(fault: Fault) -> Fault:
    """A remaining fault, with advice."""
    if not Path(fault.file).name.startswith(LOST):
        return fault
    return replace(
        fault,
        what=f"{fault.what}; it cannot be rebuilt: restore it from a copy, or rebuild the index with `sciretrieve index --overwrite`",
    )


def _restore_manifest(directory: Path, progress: Progress) -> None:
    """If the current manifest is unreadable, replace it by the newest generation's that can be completed, or that is at least readable.
    Otherwise make its generation's file equal."""
    try:
        manifest = read_manifest(directory)
    except (CorruptData, NotFound):
        newest: Manifest | None = None
        unfinished = {pending.id for kind in KINDS if (pending := Pending.found(directory, progress, kind)) is not None}
        there, last = generations(directory), said_generation(directory)
        numbers = [number for number in there if last is None or number <= last] or there
        for check in (_check_lost, lambda *_: None):
            for number in reversed(numbers):
                with suppress(CorruptData):
                    manifest = read_generation(directory, number, newest)
                    if any(made.work in unfinished for made in manifest.log[-1:]):
                        continue  # an unfinished commit can be repeated
                    newest = newest or manifest  # its log tells which of the others were ever current
                    check(directory, manifest)
                    _write_manifest(directory / MANIFEST, manifest)
                    progress.note(f"{directory / MANIFEST} could not be read; generation {number} is current now")
                    return
        raise
    path = generation_file(directory, manifest.generation)
    if not path.is_file() or path.read_bytes() != (directory / MANIFEST).read_bytes():
        path.parent.mkdir(exist_ok=True)
        _write_manifest(path, manifest)


def _check_lost(directory: Path, manifest: Manifest) -> None:
    """Check that all files that cannot be rebuilt are intact. Raises CorruptData."""
    verified = Verified(directory)
    for name, facts in manifest.files():
        if Path(name).name.startswith(LOST):
            verified.check(name, facts)


def _write_manifest(path: Path, manifest: Manifest) -> None:
    if path.is_dir():
        remove(path)
    write_whole(path, manifest.sealed()[0])


def rebuild_shard(
    pending: Pending,
    place: int,
    facts: ShardFacts,
    encoder: Encoder | None,
    analyzer: Analyzer | None,
    packing: Packing | None,
    progress: Progress,
    *,
    keeps_ids: bool = True,
) -> ShardFacts:
    """Rebuild a shard with the same papers in the same rows, unless interrupted work has done so.

    Args:
        pending, place: the work, and the shard's number in it.
        facts: the old shard.
        encoder, analyzer, packing: fill the shard, see `fill`. Without an encoder, the old shard's encoded files are kept.
        progress: receives progress.
        keeps_ids: whether the old shard's ids and hashes are intact.
    """
    directory = pending.directory
    shard = Shard(Verified(directory), facts, 0)
    if not pending.folder(place).is_dir():
        partial = pending.partial(place)
        if not (partial / "ids.arrow").exists():
            papers = concat([table for _, table in shard.tables()])
            cut_shard(partial, papers, shard.contents if keeps_ids else contents(papers))
        for name in ENCODED & set(facts.files) if encoder is None else ():
            copy(shard.file(name), partial / name)
        fill(partial, 0, encoder, analyzer, progress.advance, packing)
    new = replace(finished_facts(pending.folder(place)), truncated=facts.truncated, sources=facts.sources)
    deleted = np.flatnonzero(~shard.scope.flags)
    return with_deleted(directory, new, deleted, next_generation(directory)) if facts.deleted else new


class _Repair:
    """A repair, with the state that its steps share."""

    def __init__(self, directory: Path, old: Manifest, damaged: Set[str], given: AnyEncoder | None, progress: Progress) -> None:
        self.directory, self.old, self.damaged, self.given, self.progress = directory, old, damaged, given, progress
        self.generation = next_generation(directory)

    def run(self) -> bool:
        """Rebuild the damaged files and commit. Returns whether it did, which needs all papers."""
        for number in generations(self.directory):
            if f"{GENERATIONS}/{generation_file(self.directory, number).name}" in self.damaged:
                remove(generation_file(self.directory, number))
        analyzed_otherwise = self.old.lexical is not None and self.old.analyzer is None
        faulty = {facts.name: self._faulty(facts, analyzed_otherwise) for facts in self.old.shards}
        lost = {name for name, files in faulty.items() if any(file.startswith(LOST) for file in files)}
        to_fill = [facts for facts in self.old.shards if faulty[facts.name] and facts.name not in lost]
        rebuilt: dict[str, ShardFacts] = {}
        work = None
        if to_fill:
            plan = {"command": "repair", "format": FORMAT, "base": self.old.generation, "shards": [facts.name for facts in to_fill]}
            pending = Pending.take_up(self.directory, plan, self.progress)
            work = pending.id
            self.progress.start(sum(facts.papers for facts in to_fill))
            analyzer = (self.old.analyzer or Analyzer()) if self.old.lexical is not None else None
            for place, facts in enumerate(to_fill):
                wrong = faulty[facts.name]
                encoder = self._encoder() if wrong & ENCODED else None
                packing = self.packing if encoder is not None else None
                rebuilt[facts.name] = rebuild_shard(
                    pending, place, facts, encoder, analyzer, packing, self.progress, keeps_ids="ids.arrow" not in wrong
                )
        shards = tuple(rebuilt.get(facts.name, facts) for facts in self.old.shards)
        shards = tuple(facts.without([facts.ann_file]) if self._has_lost_ann(facts) else facts for facts in shards)
        old = self.old
        lexical = old.lexical and old.lexical["folder"]
        if rebuilt or MANIFEST in self.damaged or any(lexical and file.startswith(lexical) for file in self.damaged):
            old = replace(old, lexical=None)  # forces a rebuild
        if lost:
            return False
        manifest = replace(self.old, shards=shards, encoder=self._with_packing(self._with_golden()))
        if analyzed_otherwise:
            manifest = manifest.analyzed_by(Analyzer())
        fusion = Fusion.of(self.old.fusion) if self.old.fusion else None
        commit(self.directory, old, manifest, IndexSettings.of(self.old), Change("repair", work=work), self.progress, fusion=fusion)
        return True

    def _faulty(self, facts: ShardFacts, analyzed_otherwise: bool) -> set[str]:
        """Names of a shard's damaged files, except its FAISS index, which a commit rebuilds."""
        folder = f"{SHARDS}/{facts.name}"
        names = {name for name in facts.files if f"{folder}/{name}" in self.damaged} - {facts.ann_file}
        if self._has_lost_packing:  # a new packing may differ
            names |= TOKEN_FILES
        if folder in self.damaged:
            names |= {"names.arrow", "ids.arrow", "postings.arrow", "lengths.arrow", "fields.arrow"} & set(facts.files)
        return names | ({"postings.arrow"} if analyzed_otherwise else set())

    def _has_lost_ann(self, facts: ShardFacts) -> bool:
        return bool({f"{SHARDS}/{facts.name}/{facts.ann_file}", f"{SHARDS}/{facts.name}"} & self.damaged)

    def _encoder(self) -> Encoder:
        assert self.old.encoder is not None
        built = self.old.encoder
        encoder = index_encoder(self.directory, built, self.given, "auto")
        golden = built.get("golden")
        if golden and golden["file"] not in self.damaged:  # new vectors must match the existing ones
            check_golden(read_golden(self.directory / golden["file"], int(built["dim"])), encoder, "paper")
        return late(encoder) if self.old.late else encoder

    @property
    def _has_lost_packing(self) -> bool:
        return self.old.late is not None and self.old.late["file"] in self.damaged

    @once
    def packing(self) -> Packing | None:
        """How token vectors are packed; None without them."""
        facts = self.old.late
        if facts is None or self.old.encoder is None:
            return None
        if self._has_lost_packing:
            return packing_of(self._encoder())
        return read_packing(Verified(self.directory).check(facts["file"], facts), int(self.old.encoder["dim"]))

    def _with_packing(self, built: Any) -> Any:
        if self.packing is None or not self._has_lost_packing:
            return built
        return {**built, "late": encoder_file(self.directory, "late", self.generation, self.packing.array())}

    def _with_golden(self) -> Any:
        built = self.old.encoder
        golden = (built or {}).get("golden")
        if built is None or not golden or golden["file"] not in self.damaged:
            return built
        return {**built, "golden": encoder_file(self.directory, "golden", self.generation, golden_vectors(self._encoder()))}
