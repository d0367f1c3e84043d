"""Statistics about unread papers: bounds from a random sample of them, and a test on a ranking.

The hypergeometric test is that of Callaghan and Müller-Hansen, "Statistical stopping criteria for automated screening in systematic
reviews", Systematic Reviews 9, 2020. They repeat it after every paper, which a test at one level does not allow. Here every relevant paper
in the sample costs a share of the level, so that the bounds hold at all moments at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np


def at_most(found: int, sample: int, relevant: int, papers: int) -> float:
    """Probability that a random sample has at most `found` relevant papers.

    Args:
        found: greatest number of relevant papers in the sample.
        sample: size of the sample, drawn without replacement.
        relevant: number of relevant papers among all.
        papers: number of papers.
    """
    least = max(0, sample + relevant - papers)
    if found >= min(sample, relevant):
        return 1.0
    if found < least:
        return 0.0
    counts = np.arange(least, found)
    # each count's probability relative to the previous count's
    ratios = (relevant - counts) * (sample - counts) / ((counts + 1.0) * (papers - relevant - sample + counts + 1.0))
    first = _log_choices(relevant, least) + _log_choices(papers - relevant, sample - least) - _log_choices(papers, sample)
    logarithms = first + np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    return min(float(np.exp(logarithms).sum()), 1.0)


def most_relevant(places: Sequence[int], sample: int, papers: int, confidence: float) -> int:
    """Upper bound on the number of relevant papers, from a random sample that is read paper by paper.

    The bound holds at every moment of the sampling at once, with probability `confidence`. A number of relevant papers is ruled out if a
    sample as poor as this one, with k relevant papers, has at most the probability (1 - confidence) / ((k + 1) (k + 2)). For each k, there
    is one sample size from which on the bound can be wrong. So the true number is ruled out, at any time, with at most the sum of these
    probabilities over all k, which is 1 - confidence.

    Args:
        places: positions of the relevant papers in the sample, from 0, ascending.
        sample: number of papers read.
        papers: number of papers.
        confidence: the probability.
    """
    bound = papers
    # with k relevant papers found, the bound is tightest just before the next one
    for found, size in enumerate([*places, sample]):
        level = (1 - confidence) / ((found + 1) * (found + 2))
        low, high = found, papers - size + found  # low is never ruled out
        while low < high:
            middle = (low + high + 1) // 2
            if at_most(found, size, middle, papers) > level:
                low = middle
            else:
                high = middle - 1
        bound = min(bound, low)
    return max(bound, len(places))


def least_relevant(places: Sequence[int], papers: int, confidence: float) -> int:
    """Lower bound on the number of relevant papers, the counterpart of `most_relevant`, with the same guarantee on its own. A number is
    ruled out if a sample as rich as this one, when it got its k-th relevant paper, has at most the probability (1 - confidence) / (k (k +
    1))."""
    bound = len(places)
    for found, place in enumerate(places, 1):
        level, size = (1 - confidence) / (found * (found + 1)), place + 1
        low, high = found, papers - size + found  # high is never ruled out
        while low < high:
            middle = (low + high) // 2
            if 1 - at_most(found - 1, size, middle, papers) > level:
                high = middle
            else:
                low = middle + 1
        bound = max(bound, low)
    return bound


def ranked_p_value(relevant: Sequence[bool], papers: int, recall: float) -> float:
    """P-value of the hypothesis that less than `recall` of the relevant papers were read, if the ranking was no worse than chance.

    The last papers read, any number of them, are treated as a random sample of the papers unread before them. A ranking finds more than
    chance does, so this is assumed to be conservative. The least p-value over all these samples is used, which no theorem covers (Callaghan
    and Müller-Hansen 2020, "ranked quasi-sampling").

    Args:
        relevant: for the papers read, in order, whether each is relevant.
        papers: number of papers, read or not.
        recall: the wanted recall, above 0, at most 1.
    """
    read, places = len(relevant), np.flatnonzero(relevant)
    found = len(places)
    failing = fewest_failing(found, recall)  # fewest relevant papers that exist if the recall is not reached
    p_value = 1.0
    # among samples with equally many relevant papers, the longest has the least p-value
    for before, (last, _) in enumerate(pairwise([-1, *places.tolist(), read])):
        start = last + 1
        p_value = min(
            p_value, at_most(found - before, read - start, failing - before, papers - start) if failing - before <= papers - start else 0.0
        )
    return p_value


def fewest_failing(found: int, recall: float) -> int:
    """Fewest relevant papers that must exist for `found` of them to be less than the share `recall`."""
    total = max(found, math.floor(found / recall))  # rounding may be off by one in either direction
    while total > found and found / (total - 1) < recall:
        total -= 1
    while total == 0 or found / total >= recall:
        total += 1
    return total


def _log_choices(of: int, count: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
