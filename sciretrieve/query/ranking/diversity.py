"""Diversified answers: maximal marginal relevance over the first papers of a ranking."""

from __future__ import annotations

import numpy as np

from ...base.types import Vectors
from ...matching.fusion import unit
from ...runs import Ranking

POOL = 50
"""Papers in a pool. Papers are chosen from the first pool before the next. The size does not depend on k, so the first papers of an answer
do not either."""
RELEVANCE = 0.7
"""Weight of relevance against novelty. Carbonell and Goldstein, SIGIR 1998, leave it to the user; 0.7 is usual."""


def diverse(ranking: Ranking, vectors: Vectors, k: int) -> Ranking:
    """Choose k papers of a ranking one by one, each by its relevance minus its similarity to the papers already chosen. Papers that the
    query names stay first.

    Args:
        ranking: the candidates. The first `POOL` compete, then the next `POOL`.
        vectors: the candidates' vectors, (n, dim) float32, compared by cosine.
        k: number of papers to choose.

    Returns:
        The chosen papers in the order of choice, with their original scores.
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
        # rounded, so that the last bits of a product do not decide; ties go to the better ranked
        pool = pools[len(chosen_places) // POOL]
        marginal = np.where(is_candidate[pool], np.round(relevance[pool] - (1 - RELEVANCE) * likeness[pool], 9), -np.inf)
        best = len(chosen_places) if len(chosen_places) < named else pool.start + int(marginal.argmax())
        chosen_places.append(best)
        is_candidate[best] = False
        likeness = np.maximum(likeness, x @ x[best])
    return ranking.take(chosen_places)
