"""A generation of an index, open for reading. It stays whole while others commit and sweep, until it is closed."""

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
from ..storage.manifest import Manifest, check_sizes, generation_file, read_manifest
from ..storage.shards import Shard, open_shards

ATTEMPTS = 100
"""Times that an index is opened again because a writer swept the generation that was about to be opened."""


class Generation:
    """One generation of an index: its shards, and what goes with all of them, each file checked when it is first read.

    Attributes:
        path: the index's directory.
        manifest: what it consists of.
        shards: its shards, in order.
    """

    def __init__(self, path: str | Path, generation: int | None = None) -> None:
        """Open the current generation of the index in the directory `path`, or another one.

        Raises:
            NotFound: there is no index, or it is not finished, or it has no such generation.
            CorruptData: it is damaged or of another format version.
        """
        self.path = Path(path)
        self.manifest, self._held = _open(self.path, generation)
        self.close = weakref.finalize(self, os.close, self._held)
        """Lets go of it: from then on a writer may remove its files. Closing twice is fine."""
        file = generation_file(self.path, self.manifest.generation)
        self._verified = Verified(self.path, partial(_is_there, file, self.manifest.checksum))
        self.shards = open_shards(self._verified, self.manifest.shards)

    @property
    def is_current(self) -> bool:
        """Whether it is what is on disk, and not that of another index that was built in its place. Raises as opening it."""
        if read_manifest(self.path).checksum != self.manifest.checksum:
            return False
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._held), generation_file(self.path, self.manifest.generation).stat())
        return False

    @once
    def columns(self) -> pa.Schema:
        """The columns of its papers that are not deleted."""
        return columns_of(self.shards)

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of those of the given ids that its papers have."""
        row_of: dict[str, int] = {}
        for shard in self.shards:
            unplaced = [id for id in ids if id not in row_of]
            if not unplaced:
                break
            row_of |= {id: shard.first + place for id, place in shard.find(unplaced).items()}
        return row_of

    def frequencies(self, shard: Shard) -> Frequencies:
        """How many of its papers have each term of a shard, (terms,). Only for an index with BM25."""
        facts, name = self.manifest.lexical, f"{shard.facts.name}.npy"
        assert facts is not None
        path = self._verified.check(f"{facts['folder']}/{name}", facts["files"][name])
        frequencies = read_array(path)
        if frequencies.dtype != np.int32 or frequencies.shape != (len(shard.postings.terms),):
            raise CorruptData(f"{path} does not fit its shard; try `sciretrieve verify --repair`")
        return np.asarray(frequencies)

    @once
    def analyzer(self) -> Analyzer:
        """How text becomes terms. Raises InvalidRequest where the index was built with another way than this version's."""
        analyzer = Analyzer() if self.manifest.lexical is None else self.manifest.analyzer
        if analyzer is None:
            raise InvalidRequest(
                f"{self.path} was built with another text analysis than this version's; `sciretrieve verify --repair` makes its terms anew"
            )
        return analyzer

    @once
    def golden(self) -> Vectors | None:
        """The encoder's vectors for a probe, see `encoders.golden`, (3, dim); None where papers were not encoded from their texts."""
        encoder = self.manifest.encoder
        if encoder is None or not encoder.get("golden"):
            return None
        return read_golden(self._verified.check(encoder["golden"]["file"], encoder["golden"]), int(encoder["dim"]))

    @once
    def packing(self) -> Packing | None:
        """How its token vectors are packed; None where there are none."""
        facts, encoder = self.manifest.late, self.manifest.encoder
        if facts is None or encoder is None:
            return None
        return read_packing(self._verified.check(facts["file"], facts), int(encoder["dim"]))

    @property
    def fusion(self) -> Fusion:
        """How both halves are joined where nobody says otherwise."""
        return Fusion.of(self.manifest.fusion) if self.manifest.fusion else Fusion()

    def effort(self, options: SearchOptions) -> Effort:
        """How hard an approximate dense half is searched: as was measured to be enough, unless the options say more.

        Raises InvalidRequest for a knob that the type of its dense index does not have.
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
    """The columns of the papers of some shards that are not deleted."""
    return common_schema((shard.schema, len(shard.scope)) for shard in shards if len(shard.scope))


def _is_there(file: Path, checksum: str) -> bool:
    """Whether a generation's file is as it was when it was opened, or was damaged since, and not removed or that of another index."""
    return file.exists() and seal_of(file) in (checksum, None)


def _open(path: Path, generation: int | None) -> tuple[Manifest, int]:
    """A generation's manifest, and what holds it. A generation that a writer is just sweeping is let go for the next one."""
    for _ in range(ATTEMPTS):
        manifest = read_manifest(path, generation)
        file = generation_file(path, manifest.generation)
        held: int | None = None
        try:
            held = hold(file)
            check_sizes(path, manifest)
            if seal_of(held) == manifest.checksum or read_manifest(path, generation).checksum == manifest.checksum:
                return manifest, held
            os.close(held)  # that of an index that was just built in its place
        except (FileNotFoundError, CorruptData) as error:
            if held is not None:
                os.close(held)
            if read_manifest(path, generation).checksum != manifest.checksum:
                continue
            if isinstance(error, FileNotFoundError):
                raise CorruptData(f"{file} is missing; try `sciretrieve verify --repair`") from error
            raise
    raise CorruptData(f"{path} changes faster than it can be opened; try again when its writer has ended")
