"""Exhaustive search for many queries: blockwise matrix products with a running top k, in bounded memory, on the CPU or a GPU.

Products find the candidates. The k best and a few more are scored again in float64 by `matching.dense.exact.score`, so equal vectors get
equal scores in any blocks. If papers outside the candidates may tie with a query's k-th paper, `matching.dense.exact.search` repeats the
query and finds all ties. The measure decides which of them count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.choices import Metric
from ...base.system import threads
from ...base.types import Rows, Scores, Vectors
from ..topk import best
from . import exact

QUERIES = 2048
PAPERS = 8192
CANDIDATES_HELD = 20_000_000
"""Candidates in memory at a time, over all queries."""
SLACK = 8
"""Candidates beyond k that are scored again, since float32 products may swap neighbours."""

RESCORED = 2048
"""Candidates that a thread scores again at a time."""

Floats = npt.NDArray[np.float32]


def top(
    queries: Vectors, papers: Sequence[Vectors], k: int, metric: Metric, device: str | None = None
) -> Iterator[tuple[Rows, npt.NDArray[np.float64]]]:
    """The k best papers of each query and all ties with the last, query by query: rows and scores, best first, ties by row.

    Args:
        queries: shape (m, dim).
        papers: matrices (n, dim) of equal dim, possibly memory-mapped. Rows are counted over all of them.
        k: number of papers to find.
        metric: "ip", "cosine", or "l2" (minus the Euclidean distance).
        device: torch device for the products, such as "cuda"; None for NumPy. The answer is the same.
    """
    count = sum(len(part) for part in papers)
    norms = [exact.unknown_norms(len(part)) for part in papers]
    width = min(k + SLACK, count)
    on_device = None if device is None else OnDevice(papers, device)

    def rescored(part: slice) -> list[exact.RowScores]:
        vectors = _gather(papers, rows[part].ravel()).reshape(*rows[part].shape, -1)
        all_scores = exact.score(batch[part, None], vectors, metric)
        return [answer(*parts) for parts in zip(batch[part], rows[part], all_scores, strict=True)]

    def answer(query: Floats, candidate_rows: Rows, scores: Scores) -> exact.RowScores:
        best_places = best(scores, k)
        if len(candidate_rows) < count and len(best_places) == len(candidate_rows):
            candidate_rows, scores = _with_all_ties(query, papers, norms, k, metric)
            best_places = best(scores, k)
        return ordered(candidate_rows[best_places], scores[best_places])

    with ThreadPoolExecutor(threads()) as pool:  # each query is scored by itself, so threads change no answer
        for batch in batches(queries, k):
            rows = _candidates(batch, papers, width, metric) if on_device is None else on_device.greatest(batch, width, metric)
            step = max(1, RESCORED // width)
            for answers in pool.map(rescored, [slice(first, first + step) for first in range(0, len(batch), step)]):
                yield from answers


def batches(queries: Vectors, k: int) -> Iterator[Floats]:
    """Batches of queries, (m, dim), sized so that k candidates per query fit into memory."""
    size = max(1, min(QUERIES, CANDIDATES_HELD // max(k, 1)))
    for start in range(0, len(queries), size):
        yield np.asarray(queries[start : start + size], np.float32)


def ordered(rows: Rows, scores: Scores) -> exact.RowScores:
    """Sort rows and scores, best first, ties by row."""
    order = np.lexsort((rows, -scores))
    return rows[order], scores[order]


def _with_all_ties(query: Floats, papers: Sequence[Vectors], norms: Sequence[Floats], k: int, metric: Metric) -> exact.RowScores:
    """The k best rows over all matrices, with all ties, unordered. Norms are as in `exact.search`."""
    rows, scores, first_row = [], [], 0
    for part, part_norms in zip(papers, norms, strict=True):
        part_rows, part_scores = exact.search(part, part_norms, query[None, :], k, metric, None)[0]
        rows.append(part_rows + first_row)
        scores.append(part_scores)
        first_row += len(part)
    return np.concatenate(rows), np.concatenate(scores)


def _candidates(queries: Floats, papers: Sequence[Vectors], k: int, metric: Metric) -> Rows:
    """Rows of each query's k greatest products, shape (queries, k), unordered."""
    scores = np.full((len(queries), k), -np.inf, np.float32)
    rows = np.zeros((len(queries), k), np.int64)
    edge = np.full(len(queries), -np.inf, np.float32)
    first_row = 0
    buffer = np.empty((len(queries), PAPERS), np.float32)
    for part in papers:
        for start in range(0, len(part), PAPERS):
            block = np.ascontiguousarray(part[start : start + PAPERS], np.float32)
            product = np.matmul(queries, block.T, out=buffer[:, : len(block)])
            if metric == "l2":
                product -= 0.5 * np.einsum("ij,ij->i", block, block)
            elif metric == "cosine":
                product /= np.maximum(np.sqrt(np.einsum("ij,ij->i", block, block)), 1e-12)
            _merge(scores, rows, edge, product, first_row + start)
        first_row += len(part)
    return rows


def _merge(scores: Floats, rows: Rows, edge: Floats, product: Floats, first_row: int) -> None:
    """Merge a block's products into each query's best, in place. In most blocks, few products qualify."""
    k, width = scores.shape[1], product.shape[1]
    if edge[0] == -np.inf and width > 2 * k and width > 1024:
        # no score is known yet: the first half of the block gives a threshold that excludes most of the second half
        half = width // 2
        _merge(scores, rows, edge, product[:, :half], first_row)
        _merge(scores, rows, edge, product[:, half:], first_row + half)
        return
    if edge[0] == -np.inf and width >= k:
        best_places = np.argpartition(product, width - k, axis=1)[:, width - k :]
        scores[:], rows[:] = np.take_along_axis(product, best_places, axis=1), best_places + first_row
        edge[:] = scores.min(axis=1)
        return
    better_places = np.flatnonzero(product > edge[:, None])
    if not len(better_places):
        return
    query_places, columns = np.divmod(better_places, width)
    counts = np.bincount(query_places, minlength=len(scores))
    changed_queries = np.flatnonzero(counts)
    starts = np.cumsum(counts) - counts
    places = np.arange(len(better_places)) - starts[query_places]
    slots = np.cumsum(counts > 0)[query_places] - 1
    widest = int(counts.max())
    all_scores = np.full((len(changed_queries), k + widest), -np.inf, np.float32)
    all_rows = np.zeros((len(changed_queries), k + widest), np.int64)
    all_scores[:, :k], all_rows[:, :k] = scores[changed_queries], rows[changed_queries]
    all_scores[slots, k + places] = product[query_places, columns]
    all_rows[slots, k + places] = columns + first_row
    best_places = np.argpartition(all_scores, widest, axis=1)[:, widest:]
    scores[changed_queries] = np.take_along_axis(all_scores, best_places, axis=1)
    rows[changed_queries] = np.take_along_axis(all_rows, best_places, axis=1)
    edge[changed_queries] = scores[changed_queries].min(axis=1)


def _gather(papers: Sequence[Vectors], rows: Rows) -> Vectors:
    if len(papers) == 1:
        return np.asarray(papers[0][rows])
    vectors = np.empty((len(rows), papers[0].shape[1]), papers[0].dtype)
    first_row = 0
    for part in papers:
        in_part = (rows >= first_row) & (rows < first_row + len(part))
        vectors[in_part] = part[rows[in_part] - first_row]
        first_row += len(part)
    return vectors


ON_DEVICE = 16_384
"""Papers multiplied on the device at a time; with 2,048 queries, their products take 0.13 GB."""
KEPT = 0.5
"""Share of the device's free memory that papers may fill, so that each is sent there once."""


class OnDevice:
    """Papers for products on a torch device."""

    def __init__(self, papers: Sequence[Vectors], device: str) -> None:
        """
        Args:
            papers: matrices (n, dim). Rows are counted over all of them.
            device: a torch device, such as "cuda" or "cpu".
        """
        self._papers, self._device = papers, device
        self._kept = list(self._sent()) if sum(4 * len(part) * part.shape[1] for part in papers) <= KEPT * free_bytes(device) else None

    def greatest(self, queries: Floats, k: int, metric: Metric) -> Rows:
        """Rows of the k greatest products of each query, (m, dim); shape (m, k), unordered. There are at least k papers.

        `metric` says how products are adjusted to the order of scores.
        """
        import torch

        asked = torch.tensor(queries, device=self._device)
        scores = torch.full((len(queries), k), -torch.inf, device=self._device)
        rows = torch.zeros((len(queries), k), dtype=torch.int64, device=self._device)
        for first_row, block in self._sent() if self._kept is None else self._kept:
            products = asked @ block.T
            if metric == "l2":
                products -= 0.5 * block.square().sum(1)
            elif metric == "cosine":
                products /= block.square().sum(1).sqrt().clamp(min=1e-12)
            # select within the block first, so that the merge is narrow
            products, columns = products.topk(min(k, len(block)), dim=1, sorted=False)
            scores, places = torch.cat([scores, products], 1).topk(k, dim=1, sorted=False)
            rows = torch.cat([rows, columns + first_row], 1).gather(1, places)
        best_rows: Rows = rows.cpu().numpy()
        return best_rows

    def _sent(self) -> Iterator[tuple[int, Any]]:
        """Blocks of papers on the device, each with its first row."""
        import torch

        first_row = 0
        for part in self._papers:
            for start in range(0, len(part), ON_DEVICE):
                block = np.ascontiguousarray(part[start : start + ON_DEVICE], np.float32)
                yield first_row + start, torch.tensor(block, device=self._device)
            first_row += len(part)


def free_bytes(device: str) -> int:
    """Free memory of a torch device; none of a CPU, whose papers are mapped from files."""
    import torch

    return 0 if device == "cpu" else int(torch.cuda.mem_get_info(device)[0])
