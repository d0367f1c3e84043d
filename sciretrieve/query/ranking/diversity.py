"""Answers that do not repeat themselves: maximal marginal relevance over the first papers of a ranking."""

from __future__ import annotations

import numpy as np

from ...matching.fusion import unit
from ...runs import Ranking
from ...types import Vectors

RELEVANCE = 0.7
"""The weight of relevance against novelty (Carbonell and Goldstein, SIGIR 1998, leave it to the user; 0.7 is usual)."""


def diverse(ranking: Ranking, vectors: Vectors, k: int) -> Ranking:
    """Choose k of a ranking's papers one by one, each by its relevance less its likeness to those already chosen. Those that the query
    names, which are first, are chosen before all others.

    Args:
        ranking: the candidates.
        vectors: their vectors, (n, dim) float32; likeness is the cosine.
        k: how many to choose.

    Returns:
        The chosen papers in the order of choice, with their original scores: how well each matches the query.
    """
    x = vectors.astype(np.float64)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    relevance = RELEVANCE * unit(np.asarray(ranking.scores, np.float64))
    likeness = np.zeros(len(x))
    is_candidate = np.ones(len(x), bool)
    chosen_places: list[int] = []
    named = sum(id in ranking.known for id in ranking.ids)
    while len(chosen_places) < min(k, len(x)):
        # rounded, so that the last bits of a product do not decide; of equals, the better ranked is taken
        marginal = np.where(is_candidate, np.round(relevance - (1 - RELEVANCE) * likeness, 9), -np.inf)
        best = len(chosen_places) if len(chosen_places) < named else int(marginal.argmax())
        chosen_places.append(best)
        is_candidate[best] = False
        likeness = np.maximum(likeness, x @ x[best])
    return ranking.take(chosen_places)
