"""Papers and queries as vectors: from a file, or from an index and its encoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.choices import Metric
from ..base.errors import InvalidRequest
from ..base.types import Query, Vectors
from ..encoders.stored import StoredVectors
from ..matching.dense import full_corpus
from ..matching.dense.exact import RowScores
from ..matching.dense.vectors import vectors_at
from ..query.index import Index
from .material import Material, Task


class Space(ABC):
    """Papers and queries as vectors.

    Attributes:
        metric: the metric, unless a protocol has another.
        rows: the row of each paper with a vector.
        ids: all papers, in the order of `matrices`.
        index: their index, if any.
        empty: papers with an empty vector in the file.
    """

    metric: Metric
    rows: Mapping[str, int]
    ids: Sequence[str]
    index: Index | None = None
    empty: Set[str] = frozenset()

    @abstractmethod
    def has_query(self, query: Query) -> bool:
        """Whether a query's vector is stored or can be computed."""

    @abstractmethod
    def matrices(self) -> Sequence[Vectors]:
        """All papers' vectors, (n, dim) each."""

    @abstractmethod
    def vectors(self, ids: Sequence[str]) -> npt.NDArray[Any]:
        """The vectors of papers with one."""

    @abstractmethod
    def queries(self, task: Task) -> tuple[list[str], npt.NDArray[Any]]:
        """A task's queries with a vector, and the vectors."""

    def top(self, vectors: Vectors, k: int, metric: Metric, device: str | None) -> Iterator[RowScores]:
        """The k best of all papers for each of the vectors, see `full_corpus.top`; rows are those of `ids`."""
        return full_corpus.top(vectors, self.matrices(), k, metric, device)

    def papers(self, ids: Sequence[str]) -> tuple[list[str], npt.NDArray[Any]]:
        """The papers with a vector among `ids`, and the vectors."""
        known = [id for id in ids if id in self.rows]
        return known, self.vectors(known)


class _MatrixRows:
    """Rows of a matrix in another order, as float32, read only when needed, since the matrix may exceed memory."""

    dtype = np.dtype(np.float32)

    def __init__(self, matrix: npt.NDArray[Any], rows: npt.NDArray[np.int64]) -> None:
        self._matrix, self._rows = matrix, rows
        self.shape = (len(rows), matrix.shape[1])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> Vectors:
        return np.asarray(self._matrix[self._rows[key]], np.float32)


class StoredSpace(Space):
    """Stored vectors of papers and queries."""

    def __init__(self, papers: StoredVectors, queries: StoredVectors | None, material: Material) -> None:
        self._papers, self._queries, self._material = papers, queries or papers, material
        self.metric, self.rows, self.empty = papers.metric, papers.rows, papers.empty
        if self._queries.dim != papers.dim:
            raise InvalidRequest(f"{self._queries.path} has vectors of {self._queries.dim} dimensions, and {papers.path} of {papers.dim}")

    @cached_property
    def ids(self) -> list[str]:  # type: ignore[override]
        """See `Space`."""
        return [id for id in dict.fromkeys(paper.id for paper in self._material.pool()) if id in self.rows]

    def has_query(self, query: Query) -> bool:
        """See `Space`."""
        return query.id in self._queries.rows

    def matrices(self) -> Sequence[Vectors]:
        """See `Space`."""
        return [_MatrixRows(self._papers.matrix, np.array([self.rows[id] for id in self.ids], np.int64))]  # type: ignore[list-item]

    def vectors(self, ids: Sequence[str]) -> npt.NDArray[Any]:
        """See `Space`."""
        return self._papers.exact(ids)

    def queries(self, task: Task) -> tuple[list[str], npt.NDArray[Any]]:
        """See `Space`."""
        query_ids = [id for id in task.queries if id in self._queries.rows]
        return query_ids, self._queries.exact(query_ids)


class IndexSpace(Space):
    """The vectors of an index, and its encoder for queries, whose vectors are cached."""

    index: Index

    def __init__(self, index: Index) -> None:
        self.index = index
        if index.snapshot.metric is None:
            raise InvalidRequest(f"{index.path} has no vectors; evaluate it with `mode='bm25'`")
        self.metric, self.ids = index.snapshot.metric, index.snapshot.live_ids()

    @cached_property
    def rows(self) -> dict[str, int]:  # type: ignore[override]
        """See `Space`."""
        return dict(zip(self.ids, self.index.snapshot.scope.places.tolist(), strict=True))

    def has_query(self, query: Query) -> bool:
        """See `Space`: the encoder can encode any query text, and any paper, even one without text."""
        return query.paper is not None or bool(query.text.strip())

    def matrices(self) -> Sequence[Vectors]:
        """See `Space`."""
        return self.index.snapshot.live_vectors(self.index.snapshot.vectors)

    def top(self, vectors: Vectors, k: int, metric: Metric, device: str | None) -> Iterator[RowScores]:
        """See `Space`: a cluster's nodes may search."""
        self.index.snapshot.check_files()
        return self.index.searcher.top(vectors, k, metric, device)

    def vectors(self, ids: Sequence[str]) -> npt.NDArray[Any]:
        """See `Space`."""
        return vectors_at(self.index.snapshot.vectors, np.array([self.rows[id] for id in ids], np.int64))

    def queries(self, task: Task) -> tuple[list[str], npt.NDArray[Any]]:
        """See `Space`. A paper of the index is not encoded again if the vector would be the same."""
        query_encoder = self.index.reader.query_encoder
        queries = [query for query in task.queries.values() if self.has_query(query)]
        ids = [query.id for query in queries]
        others = [
            place
            for place, query in enumerate(queries)
            if query.paper is None or query.id not in self.rows or not query_encoder.encoder.symmetric
        ]
        if len(others) == len(queries):
            return ids, query_encoder.encode(queries, remember=True)
        vectors = vectors_at(self.index.snapshot.vectors, np.array([self.rows.get(id, 0) for id in ids], np.int64))
        if others:
            vectors[others] = query_encoder.encode([queries[place] for place in others], remember=True)
        return ids, vectors
