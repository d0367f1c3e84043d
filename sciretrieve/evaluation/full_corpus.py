"""Every query against every paper: matrix products in blocks with a running top k, in memory that does not grow with either.

Products find the candidates; the k best, with a little slack, are scored again in float64 by `dense.exact.score`, so that
equal vectors get equal scores whatever the blocks were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ..dense.exact import score
from ..types import Metric, Rows, Vectors

QUERIES = 2048
PAPERS = 8192
KEPT = 20_000_000
"""Candidates that are held at a time, over all queries."""
SLACK = 16
"""Candidates beyond k that are scored again: products in float32 may swap neighbours."""

Floats = npt.NDArray[np.float32]


def top(queries: Vectors, papers: Sequence[Vectors], k: int, metric: Metric) -> Iterator[tuple[Rows, npt.NDArray[np.float64]]]:
    """The k best papers of each query, in the queries' order: rows and scores, best first, equal scores by rising row.

    Args:
        queries: shape (m, dim).
        papers: matrices (n, dim) of one dim, which may be memory-mapped; rows are counted over all of them.
        k: how many are wanted.
        metric: "ip", "cosine", or "l2" (minus the Euclidean distance).
    """
    count = sum(len(part) for part in papers)
    together = max(1, min(QUERIES, KEPT // max(k, 1)))
    for start in range(0, len(queries), together):
        some = np.asarray(queries[start : start + together], np.float32)
        rows = _candidates(some, papers, min(k + SLACK, count), metric)
        for query, found in zip(some, rows, strict=True):
            exact = score(query, _gathered(papers, found), metric)
            order = np.lexsort((found, -exact))[:k]
            yield found[order], exact[order]


def _candidates(queries: Floats, papers: Sequence[Vectors], k: int, metric: Metric) -> Rows:
    """Rows of the k greatest products of each query, shape (queries, k), in no order."""
    scores = np.full((len(queries), k), -np.inf, np.float32)
    rows = np.zeros((len(queries), k), np.int64)
    edge = np.full(len(queries), -np.inf, np.float32)
    first = 0
    buffer = np.empty((len(queries), PAPERS), np.float32)
    for part in papers:
        for start in range(0, len(part), PAPERS):
            block = np.ascontiguousarray(part[start : start + PAPERS], np.float32)
            product = np.matmul(queries, block.T, out=buffer[:, : len(block)])
            if metric == "l2":
                product -= 0.5 * np.einsum("ij,ij->i", block, block)
            elif metric == "cosine":
                product /= np.maximum(np.sqrt(np.einsum("ij,ij->i", block, block)), 1e-12)
            _merge(scores, rows, edge, product, first + start)
        first += len(part)
    return rows


def _merge(scores: Floats, rows: Rows, edge: Floats, product: Floats, first: int) -> None:
    """Let a block's products in among each query's best, in place."""
    k = scores.shape[1]
    better = product > edge[:, None]
    counts = better.sum(axis=1)
    for width in sorted({_power(int(count)) for count in counts if count}):
        # queries with about as many newcomers are merged together, in one matrix without much filling
        mine = np.flatnonzero((counts > width // 2) & (counts <= width))
        which, columns = np.nonzero(better[mine])
        places = np.arange(len(columns)) - np.repeat(np.concatenate([[0], np.cumsum(counts[mine])[:-1]]), counts[mine])
        new_scores = np.full((len(mine), width), -np.inf, np.float32)
        new_rows = np.zeros((len(mine), width), np.int64)
        new_scores[which, places] = product[mine[which], columns]
        new_rows[which, places] = columns + first
        all_scores = np.concatenate([scores[mine], new_scores], axis=1)
        all_rows = np.concatenate([rows[mine], new_rows], axis=1)
        kept = np.argpartition(all_scores, all_scores.shape[1] - k, axis=1)[:, -k:]
        scores[mine] = np.take_along_axis(all_scores, kept, axis=1)
        rows[mine] = np.take_along_axis(all_rows, kept, axis=1)
        edge[mine] = scores[mine].min(axis=1)


def _power(count: int) -> int:
    return 1 << max(count - 1, 0).bit_length()


def _gathered(papers: Sequence[Vectors], rows: Rows) -> Vectors:
    if len(papers) == 1:
        return np.asarray(papers[0][rows])
    out = np.empty((len(rows), papers[0].shape[1]), papers[0].dtype)
    first = 0
    for part in papers:
        own = (rows >= first) & (rows < first + len(part))
        out[own] = part[rows[own] - first]
        first += len(part)
    return out
