"""A generation of an index, open for reading. It stays whole while others commit and sweep, until it is closed."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from ..base.errors import CorruptData, InvalidRequest
from ..base.once import once
from ..base.types import Vectors
from ..encoders import read_golden
from ..files.verified import Verified
from ..files.writing import hold, read_array, seal_of
from ..matching.effort import EXACT, USUAL, Effort, knob
from ..matching.fusion import Fusion
from ..matching.late import Packing, TokenShard, read_packing
from ..matching.lexical import Analyzer, Statistics
from ..matching.lexical.corpus_statistics import Frequencies
from ..options import SearchOptions
from ..storage.manifest import Manifest, check_sizes, generation_file, read_manifest
from ..storage.shards import Shard, open_shards
from .snapshot import Snapshot

ATTEMPTS = 100
"""Times that an index is opened again because a writer swept the generation that was about to be opened."""


class Generation(Snapshot):
    """One generation of an index: its papers, vectors and terms, each file checked when it is first read."""

    def __init__(self, path: str | Path, generation: int | None = None) -> None:
        """Open the current generation of the index in the directory `path`, or another one.

        Raises:
            NotFound: there is no index, or it is not finished, or it has no such generation.
            CorruptData: it is damaged or of another format version.
        """
        self.path = Path(path)
        manifest, self._held = _open(self.path, generation)
        self._release = weakref.finalize(self, os.close, self._held)
        self._manifest, self.names = manifest, (self.path.resolve().name,)
        self._verified = Verified(self.path, partial(_is_there, generation_file(self.path, manifest.generation), manifest.checksum))
        self.shards = open_shards(self._verified, manifest.shards)
        self.encoder, self.metric, self.checksum = manifest.encoder, manifest.metric, manifest.checksum
        self.late, self.parameters = manifest.late is not None, manifest.bm25
        self.statistics = None if manifest.lexical is None else Statistics(**manifest.lexical["statistics"])
        self.fusion = Fusion.of(manifest.fusion) if manifest.fusion else Fusion()
        self.usual_effort = manifest.trial.effort if manifest.trial else USUAL

    @property
    def manifest(self) -> Manifest:
        """What the generation consists of."""
        return self._manifest

    def _let_go(self) -> None:
        self._release()

    def __len__(self) -> int:
        return self.manifest.papers

    @property
    def is_current(self) -> bool:
        """See `Snapshot.is_current`."""
        if read_manifest(self.path).checksum != self.checksum:
            return False
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._held), generation_file(self.path, self.manifest.generation).stat())
        return False

    def frequencies(self, shard: Shard) -> Frequencies:
        """See `Snapshot.frequencies`."""
        facts, name = self.manifest.lexical, f"{shard.facts.name}.npy"
        assert facts is not None
        path = self._verified.check(f"{facts['folder']}/{name}", facts["files"][name])
        frequencies = read_array(path)
        if frequencies.dtype != np.int32 or frequencies.shape != (len(shard.postings.terms),):
            raise CorruptData(f"{path} does not fit its shard; try `sciretrieve verify --repair`")
        return np.asarray(frequencies)

    @once
    def analyzer(self) -> Analyzer:
        """See `Snapshot.analyzer`."""
        analyzer = Analyzer() if self.manifest.lexical is None else self.manifest.analyzer
        if analyzer is None:
            raise InvalidRequest(
                f"{self.path} was built with another text analysis than this version's; `sciretrieve verify --repair` makes its terms anew"
            )
        return analyzer

    @once
    def golden(self) -> Vectors | None:
        """See `Snapshot.golden`."""
        encoder = self.manifest.encoder
        if encoder is None or not encoder.get("golden"):
            return None
        return read_golden(self._verified.check(encoder["golden"]["file"], encoder["golden"]), int(encoder["dim"]))

    @once
    def packing(self) -> Packing | None:
        """See `Snapshot.packing`."""
        facts, encoder = self.manifest.late, self.manifest.encoder
        if facts is None or encoder is None:
            return None
        return read_packing(self._verified.check(facts["file"], facts), int(encoder["dim"]))

    def tokens_of(self, shards: Iterable[Shard]) -> list[TokenShard]:
        """See `Snapshot.tokens_of`."""
        return [] if self.packing is None else [shard.tokens(self.packing) for shard in shards]

    def effort(self, options: SearchOptions) -> Effort:
        """See `Snapshot.effort`."""
        has = knob(self.manifest.dense)
        for name in ("ef", "nprobe"):
            if getattr(options, name) is not None and name != has:
                other = f"it has `{has}`" if has else "leave it out"
                raise InvalidRequest(f"{self.path} has the dense index {self.manifest.dense}, which has no `{name}`; {other}")
        if options.recall is not None:
            return self.manifest.trial.reaching(options.recall) if self.manifest.trial else EXACT
        if options.ef is None and options.nprobe is None:
            return self.usual_effort
        return Effort(options.ef, options.nprobe, deepens=False)


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
