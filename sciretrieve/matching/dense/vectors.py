"""One shard's vectors and their search, exact or approximate, and the search over several shards that merges exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ...base.choices import Metric
from ...base.errors import CorruptData
from ...base.once import once
from ...base.types import Rows, Scores, Vectors
from ...base.waiting import raise_if_abandoned
from ...files.writing import read_array
from ..effort import USUAL, Effort
from ..scope import Scope
from ..sharding import by_shard
from ..topk import best
from . import exact
from .ann import HNSW_SEARCH, Ann
from .exact import RowScores

SELECTIVE = 0.1
"""If less than this share of papers passes a filter, scanning them exactly is faster and more reliable than a graph."""
OVERSAMPLING = 4
"""Candidates requested from FAISS for each answer, up to `SURPLUS` more than answers; they are re-scored exactly."""
SURPLUS = 256
"""The most candidates beyond the answers: quantisation displaces papers only near the k-th, for any k."""
SCANS_PER_CANDIDATE = 32
"""Vectors that are scanned in the time that a graph takes for one candidate: 27 to 47 of 384 dimensions, measured on 100,000. If
no more pass per candidate, the index is slower than the scan, and less reliable."""

SHARE, LEAST_SHARE = 2, 64
"""Of several shards, each is first asked for so many times its share of the answer, and so many papers more. Where papers are in
no order, a shard almost never has more than that of the best."""


@dataclass(frozen=True)
class VectorShard:
    """Vectors of one shard, memory-mapped, with their FAISS index if there is one."""

    path: Path
    papers: int
    dim: int
    metric: Metric
    first: int
    ann_path: Path | None = None

    @once
    def vectors(self) -> Vectors:
        """The vectors as they were encoded, shape (papers, dim), float32."""
        vectors: Vectors = read_array(self.path)
        if vectors.shape != (self.papers, self.dim) or vectors.dtype != np.float32:
            raise CorruptData(f"{self.path} holds {vectors.dtype}{vectors.shape}, the manifest says float32{(self.papers, self.dim)}")
        return vectors

    @once
    def norms(self) -> Vectors:
        """Each vector's Euclidean length, shape (papers,), float32; NaN until an exact search has read the vector."""
        return exact.unknown_norms(self.papers)

    @once
    def ann(self) -> Ann | None:
        """The FAISS index, or None if the shard is searched exactly."""
        return None if self.ann_path is None else Ann(self.ann_path, self.papers, self.dim)

    def score(self, query: Vectors, rows: Rows | slice) -> Scores:
        """Exact scores of some of its rows for a query, (dim,)."""
        return exact.score(query, self.vectors[rows], self.metric)

    def search(self, query_vectors: Vectors, k: int, scope: Scope, effort: Effort = USUAL, edges: Scores | None = None) -> list[RowScores]:
        """At least min(k, papers in the scope) rows for each query, counted within the shard, with exact scores; those with a score below
        the query's edge, (n,), may lack."""
        if not len(scope):
            return [(np.empty(0, np.int64), np.empty(0))] * len(query_vectors)
        if self.scans(k, scope, effort) or self.ann is None:
            return exact.search(self.vectors, self.norms, query_vectors, k, self.metric, scope.mask, edges)
        proposals = self.ann.candidates(query_vectors, candidates(k), self.metric, scope.mask, effort)
        return [self._scored(query, rows, k, scope) for query, rows in zip(query_vectors, proposals, strict=True)]

    def scans(self, k: int, scope: Scope, effort: Effort) -> bool:
        """Whether a search for k papers of the scope scores them all."""
        kept = max(effort.ef or HNSW_SEARCH, candidates(k))
        is_quicker = not effort.always and len(scope) <= max(SCANS_PER_CANDIDATE * kept, SELECTIVE * self.papers)
        if effort.exact or is_quicker:
            return True  # without opening the index
        return self.ann is None or (scope.mask is not None and not self.ann.takes_masks)

    def _scored(self, query: Vectors, rows: Rows, k: int, scope: Scope) -> RowScores:
        if len(rows) < k:  # the index did not reach enough papers that pass, so all are scanned
            return exact.search(self.vectors, self.norms, query[None], k, self.metric, scope.mask)[0]
        rows = np.sort(rows.astype(np.int64))
        scores = exact.score(query, self.vectors[rows], self.metric)
        best_places = best(scores, k)
        return rows[best_places], scores[best_places]


def candidates(k: int) -> int:
    """How many candidates FAISS is asked for, to find k."""
    return min(k * OVERSAMPLING, k + SURPLUS)


@dataclass(frozen=True)
class NearestRequest:
    """What a shard is asked for: the k nearest papers of a scope of its rows for each of some vectors, (n, dim).

    Attributes:
        shard: the shard's number among those that are searched.
    """

    shard: int
    query_vectors: Vectors
    k: int
    scope: Scope
    effort: Effort


def answered(
    shards: Sequence[VectorShard] | Mapping[int, VectorShard], requests: Sequence[NearestRequest], k: int | None = None
) -> list[list[RowScores]]:
    """What shards answer to requests: for each request and each of its vectors, see `VectorShard.search`.

    With `k` all requests are for the same vectors, and a later shard may leave out what is not among the k best of the earlier ones.
    """
    answers: list[list[RowScores]] = []
    for request in requests:
        edges = None if k is None or not answers else np.array([_edge(known, k) for known in zip(*answers, strict=True)])
        answers.append(shards[request.shard].search(request.query_vectors, request.k, request.scope, request.effort, edges))
    return answers


def search(
    shards: Sequence[VectorShard],
    query_vectors: Vectors,
    k: int,
    scope: Scope,
    effort: Effort = USUAL,
    ask: Callable[[Sequence[NearestRequest], int | None], list[list[RowScores]]] | None = None,
) -> list[RowScores]:
    """Search all shards and merge: rows counted over all shards, in no particular order, with every tie at the k-th score.

    A shard that is searched approximately is asked for its share of the answer and some more; only where all of these are
    among the k best of all shards, so that it may have more of them, is it asked for k. `ask` gives what `answered` gives
    for these shards, which is the default.
    """
    share = min(k, SHARE * -(-k // max(len(shards), 1)) + LEAST_SHARE)
    scopes = [scope.part(shard.first, shard.papers) for shard in shards]
    asked = [k if shard.scans(share, shard_scope, effort) else share for shard, shard_scope in zip(shards, scopes, strict=True)]
    ask = ask or partial(answered, shards)
    parts = ask([NearestRequest(number, query_vectors, count, scopes[number], effort) for number, count in enumerate(asked)], k)
    edges = [_edge(answers, k) for answers in zip(*parts, strict=True)]
    short_queries = [
        [number for number, (_, scores) in enumerate(answers) if count < k and scores.min(initial=np.inf) >= edges[number]]
        for answers, count in zip(parts, asked, strict=True)
    ]
    again = [
        NearestRequest(shard, query_vectors[queries], k, scopes[shard], effort) for shard, queries in enumerate(short_queries) if queries
    ]
    for request, answers in zip(again, ask(again, None), strict=True):
        for number, answer in zip(short_queries[request.shard], answers, strict=True):
            parts[request.shard][number] = answer
    merged = []
    for query_answers in zip(*parts, strict=True):
        rows = np.concatenate([rows + shard.first for shard, (rows, _) in zip(shards, query_answers, strict=True)])
        scores = np.concatenate([scores for _, scores in query_answers])
        best_places = best(scores, k)
        merged.append((rows[best_places], scores[best_places]))
    return merged


def _edge(answers: Sequence[RowScores], k: int) -> float:
    """The k-th best score of a query's answers from several shards; -inf if they are fewer."""
    scores = np.concatenate([scores for _, scores in answers])
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else -np.inf


@dataclass(frozen=True)
class Gathered:
    """The vectors at some rows of several shards as one matrix, (rows, dim) float32; what is asked of it is read from the shards."""

    shards: Sequence[VectorShard]
    rows: Rows

    @property
    def shape(self) -> tuple[int, int]:
        """How many, and their dimension."""
        return len(self.rows), self.shards[0].dim

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, places: Rows | slice) -> Vectors:
        return vectors_at(self.shards, self.rows[places])


def vectors_at(shards: Sequence[VectorShard], rows: Rows) -> Vectors:
    """The vectors at the given rows (counted over all shards), in that order: (n, dim) float32."""
    vectors = np.empty((len(rows), shards[0].dim), np.float32)
    for shard, positions, shard_rows in by_shard(rows, shards):
        vectors[positions] = shard.vectors[shard_rows]
    return vectors


def ranks(shards: Sequence[VectorShard], query: Vectors, scores: Scores, scope: Scope) -> list[int]:
    """The exact ranks, from 1, of papers with these scores among all papers of the scope for one query."""
    higher_counts = np.zeros(len(scores), np.int64)
    for shard in shards:
        for start in range(0, shard.papers, exact.BLOCK_ROWS):
            raise_if_abandoned()
            stop = min(start + exact.BLOCK_ROWS, shard.papers)
            block_scores = shard.score(query, slice(start, stop))
            block_scores = block_scores[scope.part(shard.first + start, stop - start).flags]
            higher_counts += len(block_scores) - np.searchsorted(np.sort(block_scores), scores, side="right")
    ranks: list[int] = (higher_counts + 1).tolist()
    return ranks


def score_rows(shards: Sequence[VectorShard], query: Vectors, rows: Rows) -> Scores:
    """Exact scores of the given rows (counted over all shards) for one query."""
    scores = np.empty(len(rows))
    for shard, positions, shard_rows in by_shard(rows, shards):
        scores[positions] = shard.score(query, shard_rows)
    return scores
