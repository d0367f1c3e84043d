"""Rocchio's formula: a query made of papers, or moved towards liked papers and away from disliked papers.

Source: Manning, Raghavan and Schuetze, "Introduction to Information Retrieval", 2008, section 9.1.1. The dense half adds vectors, BM25 adds
weighted terms. Beside a query, the papers' terms are first scaled to the length of the query's terms, where a term counts by weight times
rarity. So the same factors fit both halves, and queries and papers of any length. The factors were measured, see docs/quality.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...base.types import Vectors

NEGATIVE_WEIGHT = 0.15 / 0.75
"""Weight of negatives relative to positives, from the formula's usual factors."""
LIKED = 2.0
"""Weight of the liked papers' mean; the query's is 1."""
DISLIKED = NEGATIVE_WEIGHT * LIKED
"""Weight of the disliked papers' mean, which is subtracted."""
ADDED_TERMS = 100
"""Most terms that feedback adds to a query, chosen by weight times rarity."""

Terms = Mapping[str, float]
"""Terms with their weights."""


def rocchio(positives: Vectors, negatives: Vectors) -> Vectors:
    """Mean of the positives minus a fraction of the negatives' mean: shapes (p, dim) and (n, dim) give (dim,)."""
    target = positives.mean(axis=0)
    if len(negatives):
        target = target - NEGATIVE_WEIGHT * negatives.mean(axis=0)
    return np.asarray(target, np.float32)


def rocchio_terms(positives: Sequence[Terms], negatives: Sequence[Terms]) -> dict[str, float]:
    """`rocchio` over weighted terms. Terms whose weight becomes negative are dropped, as is usual for sparse vectors."""
    return _positive(_sum([*_mean(positives, 1.0), *_mean(negatives, -NEGATIVE_WEIGHT)]))


def moved(query: Vectors, liked: Vectors, disliked: Vectors) -> Vectors:
    """Move a query's vector, (dim,), towards the mean of the liked papers, (p, dim), and away from the mean of the disliked, (n, dim).

    Weights are divided by their sum. This changes no order by inner product or cosine, and keeps distances in scale.
    """
    target, total = query.astype(np.float64), 1.0
    for vectors, weight in ((liked, LIKED), (disliked, -DISLIKED)):
        if len(vectors):
            target, total = target + weight * vectors.mean(axis=0), total + weight
    return np.asarray(target / total, np.float32)


def moved_terms(query: Terms, liked: Sequence[Terms], disliked: Sequence[Terms], rarity: Callable[[str], float]) -> dict[str, float]:
    """`moved` over weighted terms. The query's terms keep their weights, and the best terms of the liked papers are added.

    Disliked papers reduce added terms, never the query's own.
    """
    units = [[_unit(terms, rarity) for terms in group] for group in (liked, disliked)]
    added = _positive(_sum([*_mean(units[0], LIKED), *_mean(units[1], -DISLIKED)]))
    best = sorted(added, key=lambda term: (-added[term] * rarity(term), term))[:ADDED_TERMS]
    length = _length(query, rarity) or 1.0
    return _sum([(1.0, query), (length, {term: added[term] for term in best})])


def _mean(group: Sequence[Terms], weight: float) -> list[tuple[float, Terms]]:
    """Summands of a group's mean, times a weight."""
    return [(weight / len(group), terms) for terms in group]


def _sum(summands: Sequence[tuple[float, Terms]]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for factor, terms in summands:
        for term, weight in terms.items():
            weights[term] = weights.get(term, 0.0) + factor * weight
    return weights


def _positive(terms: Terms) -> dict[str, float]:
    return {term: weight for term, weight in terms.items() if weight > 0}


def _length(terms: Terms, rarity: Callable[[str], float]) -> float:
    return math.sqrt(sum((weight * rarity(term)) ** 2 for term, weight in terms.items()))


def _unit(terms: Terms, rarity: Callable[[str], float]) -> dict[str, float]:
    """Scale terms so that their weights times rarities have length 1."""
    length = _length(terms, rarity) or 1.0
    return {term: weight / length for term, weight in terms.items()}
