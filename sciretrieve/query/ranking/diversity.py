"""Answers that do not repeat themselves: maximal marginal relevance over the first papers of a ranking."""

from __future__ import annotations

import numpy as np

from ...base.types import Vectors
from ...matching.fusion import unit
from ...runs import Ranking

POOL = 50
"""Papers of a ranking of which some are chosen, before any of the next so many are: how many it is depends on no k, and so the first papers
do not either."""
RELEVANCE = 0.7
"""The weight of relevance against novelty (Carbonell and Goldstein, SIGIR 1998, leave it to the user; 0.7 is usual)."""


def diverse(ranking: Ranking, vectors: Vectors, k: int) -> Ranking:
    """Choose k of a ranking's papers one by one, each by its relevance less its likeness to those already chosen. Those that the query
    names, which are first, are chosen before all others.

    Args:
        ranking: the candidates, of which the first `POOL` compete, and then the next.
        vectors: their vectors, (n, dim) float32; likeness is the cosine.
        k: how many to choose.

    Returns:
        The chosen papers in the order of choice, with their original scores: how well each matches the query.
    """
    x = vectors.astype(np.float64)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    pools = [slice(first, first + POOL) for first in range(0, len(x), POOL)]
    relevance = RELEVANCE * np.concatenate([np.empty(0), *(unit(np.asarray(ranking.scores[pool], np.float64)) for pool in pools)])
    likeness = np.zeros(len(x))
    is_candidate = np.ones(len(x), bool)
    chosen_places: list[int] = []
    named = sum(id in ranking.known for id in ranking.ids)
    while len(chosen_places) < min(k, len(x)):
        # rounded, so that the last bits of a product do not decide; of equals, the better ranked is taken
        pool = pools[len(chosen_places) // POOL]
        marginal = np.where(is_candidate[pool], np.round(relevance[pool] - (1 - RELEVANCE) * likeness[pool], 9), -np.inf)
        best = len(chosen_places) if len(chosen_places) < named else pool.start + int(marginal.argmax())
        chosen_places.append(best)
        is_candidate[best] = False
        likeness = np.maximum(likeness, x @ x[best])
    return ranking.take(chosen_places)
