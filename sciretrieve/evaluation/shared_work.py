"""What evaluations that differ in settings alone have in common: the benchmark as read, the open index, and what its halves propose."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..base.choices import Filter, Mode
from ..base.types import Query, Rows, Vectors
from ..matching.search import Candidates, Probe, Searcher
from ..query.index import Index
from ..query.reading.reader import Reader
from ..query.relevance_models import Rm3, expanding
from .benchmark_reading import read_for
from .benchmark_specs import Benchmark
from .evaluation_options import EvaluationRequest
from .material import Material

ROWS = 5_000_000
"""Candidates that are remembered, 24 bytes each: those of some 2,500 queries at the usual depth. What comes after them is searched anew."""

Value = TypeVar("Value")


class SharedWork:
    """What several requests of one benchmark share, whose systems may have different indexes; to be closed."""

    def __init__(self) -> None:
        self._read: tuple[Benchmark, list[Material]] | None = None
        self._indexes: dict[Path, Index] = {}
        self._expanding: dict[tuple[Path, Rm3], Index] = {}

    def read(self, request: EvaluationRequest) -> tuple[Benchmark, list[Material]]:
        """The benchmark, and its files as read once. Raises as `read_for`."""
        self._read = self._read or read_for(request)
        return self._read

    def index(self, index: Index) -> Index:
        """The index that remembers in place of this one, whose parts it takes over, or which is closed. It answers the same."""
        known = self._indexes.get(index.path)
        if known is None:
            known = self._indexes[index.path] = remembering(index)
        elif index is not known:
            index.close()
        return known

    def expanding(self, index: Index, rm3: Rm3) -> Index:
        """One of these indexes, whose queries are expanded, each once."""
        if (index.path, rm3) not in self._expanding:
            self._expanding[index.path, rm3] = expanding(index, rm3, {})
        return self._expanding[index.path, rm3]

    def known_index(self, folder: Path) -> Index | None:
        """The index in a folder, if one of the requests has had it."""
        return self._indexes.get(folder)

    def close(self) -> None:
        """Let go of the indexes."""
        for index in self._indexes.values():
            index.close()


@dataclass(slots=True)
class _Memory:
    """What was computed, by what it depends on. Objects are told apart by their places in memory, so they are kept."""

    values: dict[Hashable, tuple[Any, Any]] = field(default_factory=dict)
    rows: int = 0
    is_full: bool = False

    def get(self, kept: Any, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value under a key, in which the objects `kept` stand by their places; computed if it is not here."""
        if key in self.values:
            value: Value = self.values[key][1]
            return value
        value = compute()
        self.put(kept, key, value)
        return value

    def put(self, kept: Any, key: Hashable, value: Any, rows: int = 0) -> None:
        """Remember a value of so many candidates, as long as there is room."""
        self.is_full = self.is_full or self.rows + rows > ROWS
        if not self.is_full:
            self.rows += rows
            self.values[key] = kept, value


class RememberingReader(Reader):
    """A `Reader` that reads each query once."""

    def __init__(self, reader: Reader, memory: _Memory, searcher: Searcher) -> None:
        super().__init__(reader.snapshot, searcher, lambda: reader.query_encoder)
        self._memory = memory

    def probes(
        self,
        queries: Sequence[str | Query],
        mode: Mode,
        filter: Filter,
        vectors: Vectors | None = None,
        late: bool | None = None,
        *,
        like: str | Sequence[str] = (),
        unlike: str | Sequence[str] = (),
        among: Rows | None = None,
    ) -> list[Probe]:
        """See `Reader.probes`; vectors that are given are always the same ones for the same queries."""
        if filter or like or unlike or among is not None or any(isinstance(query, str) for query in queries):
            return super().probes(queries, mode, filter, vectors, late, like=like, unlike=unlike, among=among)
        key = "probes", mode, late, tuple(map(id, queries))
        return self._memory.get(queries, key, lambda: Reader.probes(self, queries, mode, filter, vectors, late))


def remembering(index: Index) -> Index:
    """An index of the parts of another one, in whose place it is, that reads each query once, and asks its halves once for what they
    propose, however these are joined."""
    memory = _Memory()
    searcher = RememberingSearcher.of(index.snapshot, memory=memory)
    return Index(index.snapshot, RememberingReader(index.reader, memory, searcher), searcher, index.reopened)


@dataclass(frozen=True, kw_only=True)
class RememberingSearcher(Searcher):
    """A `Searcher` that remembers candidates."""

    memory: _Memory = field(compare=False)

    def candidates(self, probes: Sequence[Probe], depth: int) -> Iterator[Candidates]:
        """See `Searcher.candidates`."""
        assert self.bm25 is not None
        keys = [("candidates", self.bm25.parameters, self.effort, depth, id(probe)) for probe in probes]
        known: Mapping[Hashable, tuple[Any, Any]] = self.memory.values
        found = super().candidates([probe for probe, key in zip(probes, keys, strict=True) if key not in known], depth)
        for probe, key in zip(probes, keys, strict=True):
            if key in known:
                yield known[key][1]
                continue
            candidates = next(found)
            self.memory.put(probe, key, candidates, len(candidates.rows))
            yield candidates
