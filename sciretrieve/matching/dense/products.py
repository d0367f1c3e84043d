"""The greatest products of queries and papers, found by torch, on a GPU where there is one. `full_corpus` re-scores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.choices import Metric
from ...base.types import Rows, Vectors

PAPERS = 16_384
"""Papers on the device at a time: with 2,048 queries, 0.13 GB of products."""


def greatest(queries: Vectors, papers: Sequence[Vectors], k: int, metric: Metric, device: str) -> Rows:
    """Rows of the k papers with the greatest products for each query, shape (queries, k), in no particular order.

    Args:
        queries: shape (m, dim), float32.
        papers: matrices (n, dim), of k rows at least together; rows are counted over all of them.
        k: how many to find.
        metric: what the products are changed for, so that their order is that of the scores.
        device: as torch calls it, such as "cuda" or "cpu".
    """
    import torch

    def on_device(vectors: Any) -> Any:
        return torch.tensor(np.ascontiguousarray(vectors, np.float32), device=device)

    asked = on_device(queries)
    scores = torch.full((len(queries), k), -torch.inf, device=device)
    rows = torch.zeros((len(queries), k), dtype=torch.int64, device=device)
    first_row = 0
    for part in papers:
        for start in range(0, len(part), PAPERS):
            block = on_device(part[start : start + PAPERS])
            products = asked @ block.T
            if metric == "l2":
                products -= 0.5 * block.square().sum(1)
            elif metric == "cosine":
                products /= block.square().sum(1).sqrt().clamp(min=1e-12)
            # of the block first: what is joined is then narrow
            products, columns = products.topk(min(k, len(block)), dim=1, sorted=False)
            scores, places = torch.cat([scores, products], 1).topk(k, dim=1, sorted=False)
            rows = torch.cat([rows, columns + first_row + start], 1).gather(1, places)
        first_row += len(part)
    best_rows: Rows = rows.cpu().numpy()
    return best_rows
