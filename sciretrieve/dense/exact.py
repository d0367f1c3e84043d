"""Exact search: every vector is scored. The reference that every other dense search is checked against.

Matrix products find the candidates, but their last bits depend on how the work was blocked. So candidates are taken
with a little slack and scored again, row by row, in float64: answers are the same for any number of shards.
"""

from __future__ import annotations

import numpy as np

from ..choices import Metric
from ..topk import best
from ..types import Mask, Rows, Scores, Vectors

BLOCK_ROWS = 16_384
BLOCK_QUERIES = 256

Found = tuple[Rows, Scores]
"""Rows of a shard and their scores, greater is better, in no order."""


def score(query: Vectors, vectors: Vectors, metric: Metric) -> Scores:
    """Score each row of `vectors` (n, dim) for one query (dim,), in float64, alike wherever the row stands.

    `ip` is the inner product, `cosine` the cosine, `l2` the negative Euclidean distance.
    """
    q, x = query.astype(np.float64), vectors.astype(np.float64)
    if metric == "l2":
        difference = x - q
        distance: Scores = np.sqrt(np.einsum("ij,ij->i", difference, difference))
        return -distance
    product: Scores = np.einsum("ij,j->i", x, q)  # einsum sums each row by itself, where BLAS would not
    if metric == "cosine":
        product /= np.maximum(np.sqrt(np.einsum("ij,ij->i", x, x)) * np.sqrt(q @ q), 1e-12)
    return product


def search(vectors: Vectors, norms: Vectors, queries: Vectors, k: int, metric: Metric, mask: Mask | None) -> list[Found]:
    """Find at least the k best rows of `vectors` for each query, with all ties at the edge.

    Args:
        vectors: shape (n, dim), may be memory-mapped.
        norms: the vectors' Euclidean lengths, shape (n,).
        queries: shape (m, dim), float32.
        k: how many are wanted; fewer come back only where fewer rows pass.
        metric: see `score`.
        mask: which rows may be answered, shape (n,); None for all.
    """
    rows = None if mask is None else np.flatnonzero(mask)
    count = len(vectors) if rows is None else len(rows)
    kept: list[list[Found]] = [[] for _ in queries]
    for first in range(0, count, BLOCK_ROWS):
        stop = min(first + BLOCK_ROWS, count)
        part = np.arange(first, stop) if rows is None else rows[first:stop]
        block = np.asarray(vectors[first:stop] if rows is None else vectors[part])
        lengths = norms[part]
        for start in range(0, len(queries), BLOCK_QUERIES):
            some = queries[start : start + BLOCK_QUERIES]
            for at, approximate in enumerate(_approximate(some, block, lengths, metric), start):
                _keep(kept[at], part, approximate, k, _slack(queries[at], norms, metric))
    return [_rescored(vectors, query, found, k, metric) for query, found in zip(queries, kept, strict=True)]


def _approximate(queries: Vectors, block: Vectors, lengths: Vectors, metric: Metric) -> Vectors:
    """Scores that order rows as `score` does, within `_slack`: for l2 half the squared distance, without |q|²."""
    product = queries @ block.T
    if metric == "l2":
        product -= 0.5 * lengths * lengths
    elif metric == "cosine":
        product /= np.maximum(lengths, 1e-12)
    return product


def _slack(query: Vectors, norms: Vectors, metric: Metric) -> float:
    """More than float32 products of these sizes can be wrong by."""
    length, longest = float(np.linalg.norm(query)), float(norms.max(initial=0.0))
    size = {"ip": length * longest, "cosine": length, "l2": (length + longest) * longest}[metric]
    return 1e-5 * size


def _keep(found: list[Found], rows: Rows, scores: Vectors, k: int, slack: float) -> None:
    """Add a block's best to what a query has found, dropping what can no longer be among its k best."""
    if found and len(found[0][0]) >= k:
        edge = np.partition(found[0][1], len(found[0][1]) - k)[len(found[0][1]) - k]
        picked = np.flatnonzero(scores >= edge - slack)
    else:
        picked = best(scores, k, slack)
    if not len(picked):
        return
    all_rows = np.concatenate([rows[picked], *(part[0] for part in found)])
    all_scores = np.concatenate([scores[picked], *(part[1] for part in found)])
    keep = best(all_scores, k, slack)
    found[:] = [(all_rows[keep], all_scores[keep])]


def _rescored(vectors: Vectors, query: Vectors, found: list[Found], k: int, metric: Metric) -> Found:
    if not found:
        return np.empty(0, np.int64), np.empty(0)
    rows, _ = found[0]
    exact = score(query, vectors[rows], metric)
    keep = best(exact, k)
    return rows[keep], exact[keep]
