"""Every query against every paper: matrix products in blocks with a running top k, in memory that does not grow with either.

Products find the candidates; the k best, with a little slack, are scored again in float64 by `dense.exact.score`, so that
equal vectors get equal scores whatever the blocks were. A query whose k-th paper ties with more papers than were found is
searched again by `dense.exact.search`, which finds all of them: which of them counts is for a measure to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from ..choices import Metric
from ..dense import exact
from ..topk import best
from ..types import Rows, Vectors

QUERIES = 2048
PAPERS = 8192
KEPT = 20_000_000
"""Candidates that are held at a time, over all queries."""
SLACK = 8
"""Candidates beyond k that are scored again: products in float32 may swap neighbours."""

Floats = npt.NDArray[np.float32]


def top(queries: Vectors, papers: Sequence[Vectors], k: int, metric: Metric) -> Iterator[tuple[Rows, npt.NDArray[np.float64]]]:
    """The k best papers of each query, and all that tie with the last of them, in the queries' order: rows and scores, best
    first, equal scores by rising row.

    Args:
        queries: shape (m, dim).
        papers: matrices (n, dim) of one dim, which may be memory-mapped; rows are counted over all of them.
        k: how many are wanted.
        metric: "ip", "cosine", or "l2" (minus the Euclidean distance).
    """
    count = sum(len(part) for part in papers)
    together = max(1, min(QUERIES, KEPT // max(k, 1)))
    lengths = cache(lambda: [_lengths(part) for part in papers])
    for start in range(0, len(queries), together):
        some = np.asarray(queries[start : start + together], np.float32)
        rows = _candidates(some, papers, min(k + SLACK, count), metric)
        for query, found in zip(some, rows, strict=True):
            scores = exact.score(query, _gathered(papers, found), metric)
            kept = best(scores, k)
            if len(found) < count and len(kept) == len(found):
                found, scores = _with_all_ties(query, papers, lengths(), k, metric)
                kept = best(scores, k)
            kept = kept[np.lexsort((found[kept], -scores[kept]))]
            yield found[kept], scores[kept]


def _lengths(papers: Vectors) -> Floats:
    blocks = [np.linalg.norm(papers[start : start + PAPERS], axis=1) for start in range(0, len(papers), PAPERS)]
    return np.concatenate([np.empty(0), *blocks]).astype(np.float32)


def _with_all_ties(query: Floats, papers: Sequence[Vectors], lengths: Sequence[Floats], k: int, metric: Metric) -> exact.Found:
    """The k best of each matrix, whose vectors have these lengths, and what ties with them: rows and scores, in no order."""
    rows, scores, first = [], [], 0
    for part, own in zip(papers, lengths, strict=True):
        found, theirs = exact.search(part, own, query[None, :], k, metric, None)[0]
        rows.append(found + first)
        scores.append(theirs)
        first += len(part)
    return np.concatenate(rows), np.concatenate(scores)


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
    """Let a block's products in among each query's best, in place. Most blocks have few that are good enough."""
    k, width = scores.shape[1], product.shape[1]
    if edge[0] == -np.inf and width > 2 * k and width > 1024:
        # nothing is known yet: a part of the block sets an edge that most of the rest does not pass
        half = width // 2
        _merge(scores, rows, edge, product[:, :half], first)
        _merge(scores, rows, edge, product[:, half:], first + half)
        return
    if edge[0] == -np.inf and width >= k:
        kept = np.argpartition(product, width - k, axis=1)[:, width - k :]
        scores[:], rows[:] = np.take_along_axis(product, kept, axis=1), kept + first
        edge[:] = scores.min(axis=1)
        return
    better = np.flatnonzero(product > edge[:, None])
    if not len(better):
        return
    which, columns = np.divmod(better, width)
    counts = np.bincount(which, minlength=len(scores))
    mine = np.flatnonzero(counts)
    starts = np.cumsum(counts) - counts
    places = np.arange(len(better)) - starts[which]
    slots = np.cumsum(counts > 0)[which] - 1
    most = int(counts.max())
    all_scores = np.full((len(mine), k + most), -np.inf, np.float32)
    all_rows = np.zeros((len(mine), k + most), np.int64)
    all_scores[:, :k], all_rows[:, :k] = scores[mine], rows[mine]
    all_scores[slots, k + places] = product[which, columns]
    all_rows[slots, k + places] = columns + first
    kept = np.argpartition(all_scores, most, axis=1)[:, most:]
    scores[mine] = np.take_along_axis(all_scores, kept, axis=1)
    rows[mine] = np.take_along_axis(all_rows, kept, axis=1)
    edge[mine] = scores[mine].min(axis=1)


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
