"""One shard's vectors and their search, exact or approximate; and the search over several shards with exact merging."""

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
"""Share of passing papers below which an exact scan is faster and more reliable than a graph."""
OVERSAMPLING = 4
"""Candidates requested from FAISS per wanted paper, up to `SURPLUS` more than wanted. They are re-scored exactly."""
SURPLUS = 256
"""Most extra candidates. Quantisation moves papers only near the k-th place, for any k."""
SCANS_PER_CANDIDATE = 32
"""Vectors scanned in the time that a graph takes per candidate: 27 to 47 with 384 dimensions, measured on 100,000. If no more vectors pass
per candidate, a scan is faster and more reliable."""

TRIED, ERRORS = 8, 4
"""Of a shard's candidates for a query that earlier shards have answers to, so many, from the best to the worst, are scored to learn how far
the index's scores are from the exact ones; then those which so many times the greatest error could lift among the best. Each candidate is
read from all over the disk: over twenty million papers, hybrid search had 59,000."""
SCATTERED = 64
"""Papers of a shard per row that is read from which rows are scattered."""

SHARE, LEAST_SHARE = 2, 64
"""Each of several shards is first asked for SHARE times its share of the answer, plus LEAST_SHARE papers. If papers are in no particular
order, a shard almost never holds more of the best."""


@dataclass(frozen=True)
class VectorShard:
    """Vectors of one shard, memory-mapped, with their FAISS index if any."""

    path: Path
    papers: int
    dim: int
    metric: Metric
    first: int
    ann_path: Path | None = None

    @once
    def vectors(self) -> Vectors:
        """The vectors as encoded, shape (papers, dim), float32."""
        return self._mapped(ahead=True)

    @once
    def _scattered(self) -> Vectors:
        """The same, for reading a few rows from all over the shard."""
        return self._mapped(ahead=False)

    def at(self, rows: Rows) -> Vectors:
        """Vectors at the given rows, (n, dim)."""
        vectors: Vectors = self._mapped_for(rows)[rows]
        return vectors

    def _mapped_for(self, rows: Rows) -> Vectors:
        return self._scattered if SCATTERED * len(rows) < self.papers else self.vectors

    def _mapped(self, *, ahead: bool) -> Vectors:
        vectors: Vectors = read_array(self.path, ahead=ahead)
        if vectors.shape != (self.papers, self.dim) or vectors.dtype != np.float32:
            raise CorruptData(f"{self.path} holds {vectors.dtype}{vectors.shape}, the manifest says float32{(self.papers, self.dim)}")
        return vectors

    @once
    def norms(self) -> Vectors:
        """Euclidean length of each vector, shape (papers,), float32; NaN until an exact search has read the vector."""
        return exact.unknown_norms(self.papers)

    @once
    def ann(self) -> Ann | None:
        """The FAISS index; None if the shard is searched exactly."""
        return None if self.ann_path is None else Ann(self.ann_path, self.papers, self.dim)

    def score(self, query: Vectors, rows: Rows | slice) -> Scores:
        """Exact scores of the given rows for a query, (dim,)."""
        if isinstance(rows, slice):
            return exact.score(query, self.vectors[rows], self.metric)
        return exact.score_rows(query, self._mapped_for(rows), rows, self.metric)

    def search(self, query_vectors: Vectors, k: int, scope: Scope, effort: Effort = USUAL, edges: Scores | None = None) -> list[RowScores]:
        """At least min(k, papers in the scope) rows per query, counted within the shard, with exact scores. Rows with a score below the
        query's edge, (n,), may be missing."""
        if not len(scope):
            return [(np.empty(0, np.int64), np.empty(0))] * len(query_vectors)
        if self.scans(k, scope, effort) or self.ann is None:
            return exact.search(self.vectors, self.norms, query_vectors, k, self.metric, scope.mask, edges)
        proposals = self.ann.candidates(query_vectors, candidates(k), self.metric, scope.mask, effort)
        least = np.full(len(query_vectors), -np.inf) if edges is None else edges
        return [
            self._scored(query, proposed, k, scope, edge) for query, proposed, edge in zip(query_vectors, proposals, least, strict=True)
        ]

    def scans(self, k: int, scope: Scope, effort: Effort) -> bool:
        """Whether a search for k papers in the scope scores all of them."""
        kept = max(effort.ef or HNSW_SEARCH, candidates(k))
        is_quicker = not effort.always and len(scope) <= max(SCANS_PER_CANDIDATE * kept, SELECTIVE * self.papers)
        if effort.exact or is_quicker:
            return True  # answers without opening the index
        return self.ann is None or (scope.mask is not None and not self.ann.takes_masks)

    def _scored(self, query: Vectors, proposed: RowScores, k: int, scope: Scope, edge: float) -> RowScores:
        rows, approximate = proposed
        if len(rows) < k:  # the index found too few passing papers, so scan all
            return exact.search(self.vectors, self.norms, query[None], k, self.metric, scope.mask)[0]
        score = partial(VectorShard.score, self, query)  # on the shard's own scale
        if edge > -np.inf:
            sample = np.linspace(0, len(rows) - 1, TRIED).astype(np.int64)
            may_reach = approximate >= edge - ERRORS * np.abs(score(rows[sample]) - approximate[sample]).max()
            may_reach[sample] = True
            rows = rows[may_reach]
        rows = np.sort(rows)
        scores = score(rows)
        best_places = best(scores, k)
        return rows[best_places], scores[best_places]


def candidates(k: int) -> int:
    """Number of candidates to request from FAISS in order to find k."""
    return min(k * OVERSAMPLING, k + SURPLUS)


@dataclass(frozen=True)
class NearestRequest:
    """A request to a shard: the k nearest papers within a scope, for each vector, (n, dim).

    Attributes:
        shard: the shard's position among the searched shards.
    """

    shard: int
    query_vectors: Vectors
    k: int
    scope: Scope
    effort: Effort


def answered(
    shards: Sequence[VectorShard] | Mapping[int, VectorShard], requests: Sequence[NearestRequest], k: int | None = None
) -> list[list[RowScores]]:
    """Answer requests to shards: for each request and each of its vectors, see `VectorShard.search`.

    With `k`, all requests have the same vectors, and a later shard may omit papers outside the k best of earlier shards.
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
    """Search all shards and merge the results: rows counted over all shards, unordered, with all ties at the k-th score.

    An approximate shard is first asked for its share of the answer and some more. It is asked for k only if all of these are among the k
    best of all shards, so that it may hold more. `ask` replaces `answered` for these shards.
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
    """The k-th best score of a query's answers from several shards; -inf if there are fewer."""
    scores = np.concatenate([scores for _, scores in answers])
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else -np.inf


@dataclass(frozen=True)
class Gathered:
    """Vectors at some rows of several shards as a matrix, (rows, dim) float32, read from the shards on access."""

    shards: Sequence[VectorShard]
    rows: Rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of vectors, and their dimension."""
        return len(self.rows), self.shards[0].dim

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, places: Rows | slice) -> Vectors:
        return vectors_at(self.shards, self.rows[places])


def vectors_at(shards: Sequence[VectorShard], rows: Rows) -> Vectors:
    """Vectors at the given rows, counted over all shards, in order: (n, dim) float32."""
    vectors = np.empty((len(rows), shards[0].dim), np.float32)
    for shard, positions, shard_rows in by_shard(rows, shards):
        vectors[positions] = shard.at(shard_rows)
    return vectors


def ranks(shards: Sequence[VectorShard], query: Vectors, scores: Scores, scope: Scope) -> list[int]:
    """Exact ranks, from 1, of papers with these scores among all papers in the scope for a query."""
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
    """Exact scores of the given rows, counted over all shards, for a query."""
    scores = np.empty(len(rows))
    for shard, positions, shard_rows in by_shard(rows, shards):
        scores[positions] = shard.score(query, shard_rows)
    return scores
