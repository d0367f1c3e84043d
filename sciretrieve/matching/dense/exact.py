"""Exact search, which scores every vector. Other dense searches are tested against it.

Matrix products find the candidates, but their last bits depend on the blocks. So a few more candidates are kept, and all are scored again
row by row in float64. Answers are the same for any number of shards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...base.choices import Metric
from ...base.types import Mask, Rows, Scores, Vectors
from ..parallel import product
from ..topk import best

BLOCK_ROWS = 16_384
BLOCK_QUERIES = 256
GATHERED = 0.25
"""Share of passing rows from which all rows are scored."""

PIECE = 128
"""Vectors that are scored at a time, so that their copies in float64 stay in the processor's cache."""

LARGEST_NORM = 2.0**62
"""Greatest length of a vector. Squared distances stay below 2^126, within float32."""
NOT_MEASURABLE = "has values that are no numbers, or is too long to be compared (its length must not be above 4.6e18)"

RowScores = tuple[Rows, Scores]
"""Rows of a shard and their scores (greater is better), unordered."""


def measurable(vectors: npt.NDArray[np.floating]) -> Mask:
    """Which rows of (n, dim) can be compared by every metric without overflow: finite, and no longer than `LARGEST_NORM`."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    flags: Mask = lengths <= LARGEST_NORM  # False for NaN
    return flags


def score(query: Vectors, vectors: Vectors, metric: Metric) -> Scores:
    """Score each row of `vectors` (…, n, dim) for a query (…, dim) in float64, independently of the row's position. Several queries,
    (m, 1, dim), score (m, n, dim), each its own rows.

    `ip` is the inner product, `cosine` the cosine, `l2` the negative Euclidean distance.
    """
    q, x = query.astype(np.float64), vectors.astype(np.float64)
    if metric == "l2":
        difference = x - q
        distance: Scores = np.sqrt(np.vecdot(difference, difference))
        return -distance
    products: Scores = np.vecdot(x, q)  # sums each row separately, unlike a matrix product
    if metric == "cosine":
        products /= np.maximum(np.sqrt(np.vecdot(x, x)) * np.sqrt(np.vecdot(q, q)), 1e-12)
    return products


def score_rows(query: Vectors, vectors: Vectors, rows: Rows, metric: Metric) -> Scores:
    """`score` of the given rows of `vectors` (papers, dim) for a query (dim,)."""
    scores = np.empty(len(rows))
    for start in range(0, len(rows), PIECE):
        scores[start : start + PIECE] = score(query, vectors[rows[start : start + PIECE]], metric)
    return scores


def unknown_norms(count: int) -> Vectors:
    """Placeholder lengths of unread vectors, shape (count,); see `search`."""
    return np.full(count, np.nan, np.float32)


def search(
    vectors: Vectors, norms: Vectors, queries: Vectors, k: int, metric: Metric, mask: Mask | None, edges: Scores | None = None
) -> list[RowScores]:
    """Find at least the k best rows of `vectors` for each query, with all ties at the k-th score.

    Args:
        vectors: shape (n, dim), may be memory-mapped.
        norms: the vectors' Euclidean lengths, shape (n,). NaN marks an unknown length, which is filled in when the vector is read.
        queries: shape (m, dim), float32.
        k: number of rows to find. Fewer are returned only if fewer pass.
        metric: see `score`.
        mask: rows that may answer, shape (n,); None for all.
        edges: scores below which rows are not needed, one per query, (m,); by default -inf.
    """
    # if few rows pass, read only these; else read all in one piece, which is several times as fast per row
    passing_rows = None if mask is None or mask.mean() > GATHERED else np.flatnonzero(mask)
    count = len(vectors) if passing_rows is None else len(passing_rows)
    query_lengths = np.linalg.norm(queries.astype(np.float64), axis=1)
    least = np.full(len(queries), -np.inf) if edges is None else _approximate_edges(edges, query_lengths, metric)
    longest, slacks = 0.0, np.zeros(len(queries))
    candidates: list[list[RowScores]] = [[] for _ in queries]
    for first in range(0, count, BLOCK_ROWS):
        stop = min(first + BLOCK_ROWS, count)
        block_rows = np.arange(first, stop) if passing_rows is None else passing_rows[first:stop]
        places = slice(first, stop) if passing_rows is None else block_rows
        block = np.asarray(vectors[places])
        lengths = norms[places]
        if np.isnan(lengths).any():
            norms[places] = lengths = np.sqrt(np.vecdot(block, block))
        if (longest_here := float(lengths.max())) > longest:
            longest, slacks = longest_here, _slacks(query_lengths, longest_here, metric)
        for start in range(0, len(queries), BLOCK_QUERIES):
            products = _approximate(queries[start : start + BLOCK_QUERIES], block, lengths, metric)
            if mask is not None and passing_rows is None:
                products[:, ~mask[first:stop]] = -np.inf
            for number, scores in enumerate(products, start):
                _merge(candidates[number], block_rows, scores, k, float(slacks[number]), float(least[number]))
    return [_rescored(vectors, query, proposed, k, metric) for query, proposed in zip(queries, candidates, strict=True)]


def _approximate(queries: Vectors, block: Vectors, lengths: Vectors, metric: Metric) -> Vectors:
    """Scores in the order of `score`, up to `_slacks`. For l2, half the squared distance without |q|²."""
    # for one query use one thread, which reads as fast as memory gives
    products: Vectors = np.vecdot(block, queries[0])[None] if len(queries) == 1 else product(queries, block)
    if metric == "l2":
        products -= 0.5 * lengths * lengths
    elif metric == "cosine":
        products /= np.maximum(lengths, 1e-12)
    return products


def _slacks(lengths: Scores, longest: float, metric: Metric) -> Scores:
    """Bound on the errors of float32 products between queries of these lengths, (m,), and vectors no longer than `longest`."""
    return 1e-5 * {"ip": lengths * longest, "cosine": lengths, "l2": (lengths + longest) * longest}[metric]


def _approximate_edges(edges: Scores, lengths: Scores, metric: Metric) -> Scores:
    """Lower bound of `_approximate` for rows that `score` places at an edge, (m,)."""
    if metric == "l2":
        squares, distances = lengths * lengths, edges * edges
        return 0.5 * (squares - distances) - 1e-12 * (squares + distances)
    if metric == "cosine":  # tiny vectors score closer to 0 than their angles, so there is no edge below 0
        return np.where(edges > 0, np.maximum(edges, 0.0) * lengths, -np.inf)
    return edges


def _merge(candidates: list[RowScores], rows: Rows, scores: Vectors, k: int, slack: float, edge: float) -> None:
    """Add a block's best rows to a query's candidates. Drop candidates below the edge or beyond the k best."""
    if candidates and len(candidates[0][0]) >= k:
        best_scores = candidates[0][1]
        edge = max(edge, float(np.partition(best_scores, len(best_scores) - k)[len(best_scores) - k]))
    places = best(scores, k, slack) if edge == -np.inf else np.flatnonzero(scores >= edge - slack)
    if not len(places):
        return
    all_rows = np.concatenate([rows[places], *(part_rows for part_rows, _ in candidates)])
    all_scores = np.concatenate([scores[places], *(part_scores for _, part_scores in candidates)])
    best_places = best(all_scores, k, slack)
    candidates[:] = [(all_rows[best_places], all_scores[best_places])]


def _rescored(vectors: Vectors, query: Vectors, candidates: list[RowScores], k: int, metric: Metric) -> RowScores:
    if not candidates:
        return np.empty(0, np.int64), np.empty(0)
    rows, _ = candidates[0]
    exact = score_rows(query, vectors, rows, metric)
    best_places = best(exact, k)
    return rows[best_places], exact[best_places]
