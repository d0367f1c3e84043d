"""A generation of an index, open for reading. It stays readable while others commit and sweep, until it is closed."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..base.errors import CorruptData, InvalidRequest
from ..base.once import once
from ..base.types import Vectors
from ..encoders import read_golden
from ..files.schema import common_schema
from ..files.verified import Verified
from ..files.writing import hold, read_array, seal_of
from ..matching.effort import EXACT, USUAL, Effort, knob
from ..matching.fusion import Fusion
from ..matching.late import Packing, read_packing
from ..matching.lexical import Analyzer
from ..matching.lexical.corpus_statistics import Frequencies
from ..options import SearchOptions
from ..storage.fulltext import FULLTEXT
from ..storage.manifest import Manifest, check_sizes, generation_file, read_manifest
from ..storage.shards import Shard, open_shards

ATTEMPTS = 100
"""Attempts to open an index when a writer keeps sweeping the generation about to be opened."""


class Generation:
    """One generation of an index: its shards and shared files. Each file is checked when first read.

    Attributes:
        path: the index's directory.
        manifest: the generation's manifest.
        shards: its shards, in order.
        passages: the passages of its papers' full texts, as an index of their own; None without any.
    """

    def __init__(self, path: str | Path, generation: int | None = None) -> None:
        """Open the index in the directory `path`, at its current generation or at the given one.

        Raises:
            NotFound: there is no index, it is unfinished, or it lacks this generation.
            CorruptData: it is damaged or of another format version.
        """
        self.path = Path(path)
        self.manifest, self._held = _open(self.path, generation)
        self.close = weakref.finalize(self, os.close, self._held)
        """Close the generation: a writer may then remove its files. Closing twice is fine."""
        file = generation_file(self.path, self.manifest.generation)
        self._verified = Verified(self.path, partial(_is_there, file, self.manifest.checksum))
        self.shards = open_shards(self._verified, self.manifest.shards)
        facts = self.manifest.fulltext
        self.passages = None if facts is None else Generation(self.path / FULLTEXT, int(facts["generation"]))
        if facts is not None and self.passages is not None and self.passages.manifest.checksum != facts["checksum"]:
            raise CorruptData(f"{self.passages.path} does not hold the full texts of {self.path}; try `sciretrieve verify --repair`")

    @property
    def is_current(self) -> bool:
        """Whether this generation is still the current one on disk. False if another index was built in its place. Raises as opening
        does."""
        if read_manifest(self.path).checksum != self.manifest.checksum:
            return False
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._held), generation_file(self.path, self.manifest.generation).stat())
        return False

    @once
    def columns(self) -> pa.Schema:
        """Columns of the undeleted papers."""
        return columns_of(self.shards)

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """Rows of the given ids, for ids that papers have."""
        row_of: dict[str, int] = {}
        for shard in self.shards:
            unplaced = [id for id in ids if id not in row_of]
            if not unplaced:
                break
            row_of |= {id: shard.first + place for id, place in shard.find(unplaced).items()}
        return row_of

    def frequencies(self, shard: Shard) -> Frequencies:
        """Number of papers with each term of a shard, (terms,). Only for an index with BM25."""
        facts, name = self.manifest.lexical, f"{shard.facts.name}.npy"
        assert facts is not None
        path = self._verified.check(f"{facts['folder']}/{name}", facts["files"][name])
        frequencies = read_array(path)
        if frequencies.dtype != np.int32 or frequencies.shape != (len(shard.postings.terms),):
            raise CorruptData(f"{path} does not match its shard; try `sciretrieve verify --repair`")
        return np.asarray(frequencies)

    @once
    def analyzer(self) -> Analyzer:
        """How text becomes terms. Raises InvalidRequest if the index was built with another version of the analysis."""
        analyzer = Analyzer() if self.manifest.lexical is None else self.manifest.analyzer
        if analyzer is None:
            raise InvalidRequest(
                f"{self.path} was built with another version of the text analysis; `sciretrieve verify --repair` rebuilds its terms"
            )
        return analyzer

    @once
    def golden(self) -> Vectors | None:
        """The encoder's vectors for a probe, see `encoders.golden`, (3, dim); None if the papers' vectors were not encoded from text."""
        encoder = self.manifest.encoder
        if encoder is None or not encoder.get("golden"):
            return None
        return read_golden(self._verified.check(encoder["golden"]["file"], encoder["golden"]), int(encoder["dim"]))

    @once
    def packing(self) -> Packing | None:
        """How token vectors are packed; None if there are none."""
        facts, encoder = self.manifest.late, self.manifest.encoder
        if facts is None or encoder is None:
            return None
        return read_packing(self._verified.check(facts["file"], facts), int(encoder["dim"]))

    @property
    def fusion(self) -> Fusion:
        """How the two halves are fused by default."""
        return Fusion.of(self.manifest.fusion) if self.manifest.fusion else Fusion()

    def effort(self, options: SearchOptions) -> Effort:
        """Search effort of an approximate dense half: the measured default, unless the options ask for more.

        Raises InvalidRequest for a setting that this type of dense index lacks.
        """
        has, trial = knob(self.manifest.dense), self.manifest.trial
        for name in ("ef", "nprobe"):
            if getattr(options, name) is not None and name != has:
                other = f"it has `{has}`" if has else "leave it out"
                raise InvalidRequest(f"{self.path} has the dense index {self.manifest.dense}, which has no `{name}`; {other}")
        if options.recall is not None:
            return trial.reaching(options.recall) if trial else EXACT
        if options.ef is None and options.nprobe is None:
            return trial.effort if trial else USUAL
        return Effort(options.ef, options.nprobe, deepens=False)


def columns_of(shards: Iterable[Shard]) -> pa.Schema:
    """Columns of the shards' undeleted papers."""
    return common_schema((shard.schema, len(shard.scope)) for shard in shards if len(shard.scope))


def _is_there(file: Path, checksum: str) -> bool:
    """Whether a generation's file is still the one that was opened, possibly damaged; False if it was removed or belongs to another
    index."""
    return file.exists() and seal_of(file) in (checksum, None)


def _open(path: Path, generation: int | None) -> tuple[Manifest, int]:
    """A generation's manifest and a handle that protects it. If a writer sweeps the generation meanwhile, the next one is opened."""
    for _ in range(ATTEMPTS):
        manifest = read_manifest(path, generation)
        file = generation_file(path, manifest.generation)
        held: int | None = None
        try:
            held = hold(file)
            check_sizes(path, manifest)
            if seal_of(held) == manifest.checksum or read_manifest(path, generation).checksum == manifest.checksum:
                return manifest, held
            os.close(held)  # it belongs to an index just built in its place
        except (FileNotFoundError, CorruptData) as error:
            if held is not None:
                os.close(held)
            if read_manifest(path, generation).checksum != manifest.checksum:
                continue
            if isinstance(error, FileNotFoundError):
                raise CorruptData(f"{file} is missing; try `sciretrieve verify --repair`") from error
            raise
    raise CorruptData(f"{path} changes faster than it can be opened; try again when its writer has ended")
