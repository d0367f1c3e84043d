"""Fusing the scores of two searches into one: pure functions over aligned arrays.

Both halves score the same candidates, the union of what each found, so that no paper is judged by a missing score.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009, section 2)."""

DENSE_WEIGHT = 0.5
"""The dense half's share in the convex combination: near the best on SciFact's train queries; see docs/search.md."""


def rrf(dense: Scores, lexical: Scores) -> Scores:
    """Reciprocal rank fusion: the sum of 1 / (60 + rank) over both halves; equal scores share the better rank.

    Source: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods", SIGIR 2009. A paper without a lexical score (-inf) gets nothing from that half.
    """
    total = np.zeros(len(dense))
    for scores in (dense, lexical):
        found = np.isfinite(scores)
        better = len(scores) - np.searchsorted(np.sort(scores), scores, side="right")  # papers that score higher
        total[found] += 1.0 / (RRF_K + 1 + better[found])
    return total


def convex(dense: Scores, lexical: Scores, *, weight: float = DENSE_WEIGHT) -> Scores:
    """A convex combination of min-max normalised scores, `weight` on the dense half.

    Source: Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023, section 3.
    The lexical minimum is BM25's own, 0 (their "theoretical" minimum); the dense one is the candidates' least.
    """
    return weight * _unit(dense, float(np.min(dense, initial=np.inf))) + (1 - weight) * _unit(lexical, 0.0)


def _unit(scores: Scores, low: float) -> Scores:
    """Map `low` to 0 and the greatest finite score to 1; what is absent (-inf) gives 0."""
    high = float(np.max(scores, initial=low, where=np.isfinite(scores)))
    if high <= low:
        return np.where(np.isfinite(scores), 1.0, 0.0) if high > 0 else np.zeros(len(scores))
    return np.clip((scores - low) / (high - low), 0.0, 1.0)


FUSIONS = {"convex": convex, "rrf": rrf}
