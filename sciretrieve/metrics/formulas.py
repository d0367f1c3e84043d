"""Measures that trec_eval has not, or not for every judgement, as functions of the grades down a ranking.

`grades` are those of the ranked documents in order, None for a document without one; a negative grade means "in the pool, but not judged".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ldexp, log2

Grades = Sequence[int | None]
FEWEST_LEVELS = 4
"""The highest grade of gdeval.pl, by which ERR's gains are divided: figures of TREC's Web tracks compare only so."""
EPSILON = 0.00001
"""trec_eval's, which keeps inferred precision from 0 / 0."""


def rank_biased_precision(grades: Grades, p: float, largest: int) -> float:
    """RBP with persistence p (Moffat and Zobel 2008); a document's gain is its grade over the largest one, so binary ones are 0 and 1."""
    value, weight = 0.0, 1 - p
    for grade in grades:
        value += max(grade or 0, 0) / largest * weight
        weight *= p
    return value


def expected_reciprocal_rank(grades: Grades, largest: int) -> float:
    """ERR (Chapelle et al. 2009): a document of grade g satisfies with (2^g - 1) / 2^largest."""
    value, unsatisfied = 0.0, 1.0
    for rank, grade in enumerate(grades, 1):
        satisfied = _exponential(grade, largest)
        value += unsatisfied * satisfied / rank
        unsatisfied *= 1 - satisfied
    return value


def exponential_ndcg(grades: Grades, judged: Sequence[int], cutoff: int) -> float:
    """nDCG with the gain 2^g - 1 (Burges et al. 2005); `judged` are all grades of the query, whose order by grade is the ideal."""
    largest = max(judged)
    ideal = _gained(sorted(judged, reverse=True)[: cutoff or None], largest)
    return _gained(grades, largest) / ideal if ideal else 0.0


def inferred_precision(grades: Grades, rel: int, relevant: int) -> float:
    """infAP (Yilmaz and Aslam 2006) as in trec_eval's m_infap.c, of a pool that was judged in part."""
    value, hits, misses, unjudged = 0.0, 0, 0, 0
    for above, grade in enumerate(grades):
        if grade is None:
            continue
        if grade < 0:
            unjudged += 1
        elif grade < rel:
            misses += 1
        else:
            pooled = (hits + misses + unjudged) / above if above else 0.0
            share = (hits + EPSILON) / (hits + misses + 2 * EPSILON)
            value += 1 / (above + 1.0) + above / (above + 1.0) * pooled * share
            hits += 1
    return value / relevant if relevant else 0.0


def _gained(grades: Grades, largest: int) -> float:
    return sum(_exponential(grade, largest) / log2(rank + 1) for rank, grade in enumerate(grades, 1))


def _exponential(grade: int | None, largest: int) -> float:
    """(2^grade - 1) / 2^largest, which no grade is too large for."""
    return ldexp(1.0, grade - largest) - ldexp(1.0, -largest) if grade is not None and grade > 0 else 0.0
