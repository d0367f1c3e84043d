"""Work shared by evaluations that differ in settings alone: the benchmark, the open index, and the candidates of its halves."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..base.choices import Filter, Mode
from ..base.types import Papers, Query, Rows, Vectors
from ..matching.search import Candidates, Probe, Searcher
from ..query.index import Index
from ..query.reading.reader import Reader
from ..query.relevance_models import Rm3, expanding
from .benchmark_reading import read_for
from .benchmark_specs import Benchmark
from .evaluation_options import EvaluationRequest
from .material import Material

MOST = 2_500
"""The most queries whose candidates are kept, at some 50 KB each at the usual depth. Further ones are searched anew."""


class SharedWork:
    """Shared work of several requests of one benchmark, whose systems may have different indexes; must be closed."""

    def __init__(self) -> None:
        self._read: tuple[Benchmark, list[Material]] | None = None
        self._indexes: dict[Path, Index] = {}
        self._expanding: dict[tuple[Path, Rm3], Index] = {}

    def read(self, request: EvaluationRequest) -> tuple[Benchmark, list[Material]]:
        """The benchmark, and its files, read once. Raises as `read_for`."""
        self._read = self._read or read_for(request)
        return self._read

    def index(self, index: Index) -> Index:
        """An index with the same answers that remembers candidates. It takes over the given index's parts, or closes it."""
        known = self._indexes.get(index.path)
        if known is None:
            known = self._indexes[index.path] = remembering(index)
        elif index is not known:
            index.close()
        return known

    def expanding(self, index: Index, rm3: Rm3) -> Index:
        """One of these indexes with expanded queries, each expanded once."""
        if (index.path, rm3) not in self._expanding:
            self._expanding[index.path, rm3] = expanding(index, rm3, {})
        return self._expanding[index.path, rm3]

    def known_index(self, folder: Path) -> Index | None:
        """The index in a folder, if an earlier request opened it."""
        return self._indexes.get(folder)

    def close(self) -> None:
        """Close the indexes."""
        for index in self._indexes.values():
            index.close()


class RememberingReader(Reader):
    """A `Reader` that reads each query once per mode, up to `MOST` in all."""

    def __init__(self, reader: Reader, searcher: Searcher) -> None:
        super().__init__(reader.snapshot, searcher, lambda: reader.query_encoder)
        self._known: dict[Hashable, tuple[Sequence[str | Query], list[Probe]]] = {}

    def probes(
        self,
        queries: Sequence[str | Query],
        mode: Mode,
        filter: Filter,
        vectors: Vectors | None = None,
        late: bool | None = None,
        *,
        like: Papers = (),
        unlike: Papers = (),
        among: Rows | None = None,
    ) -> list[Probe]:
        """See `Reader.probes`; given vectors must always be the same for the same queries."""
        key = mode, late, tuple(map(id, queries))  # keeping the queries prevents others from reusing their addresses
        is_plain = not (filter or like or unlike) and among is None
        if is_plain and key in self._known:
            return self._known[key][1]
        probes = super().probes(queries, mode, filter, vectors, late, like=like, unlike=unlike, among=among)
        if is_plain and sum(len(probes) for _, probes in self._known.values()) < MOST:
            self._known[key] = queries, probes
        return probes


def remembering(index: Index) -> Index:
    """An index with the parts of another, in its place. It reads each query once, and asks its halves once for candidates, however these
    are joined.
    """
    searcher = RememberingSearcher.of(index.snapshot)
    return Index(index.snapshot, RememberingReader(index.reader, searcher), searcher, index.reopened)


@dataclass(frozen=True, kw_only=True)
class RememberingSearcher(Searcher):
    """A `Searcher` that remembers candidates by their probes' addresses, since candidates keep the probes alive."""

    known: dict[Hashable, Candidates] = field(default_factory=dict, compare=False)

    def candidates(self, probes: Sequence[Probe], depth: int) -> Iterator[Candidates]:
        """See `Searcher.candidates`."""
        assert self.bm25 is not None
        keys = [(self.bm25.parameters, self.effort, depth, id(probe)) for probe in probes]
        new = super().candidates([probe for probe, key in zip(probes, keys, strict=True) if key not in self.known], depth)
        for key in keys:
            candidates = self.known[key] if key in self.known else next(new)
            if len(self.known) < MOST:
                self.known[key] = candidates
            yield candidates
