"""How certain a figure is: bootstrap intervals, paired tests, and Holm's correction for several of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
RESAMPLES = 10_000
PERMUTATIONS = 100_000
SEED = 20_231_201
"""All random numbers here come from this seed, so that a report can be reproduced to the last digit."""


def interval(values: Values, level: float = 0.95) -> tuple[float, float]:
    """The percentile bootstrap's interval of the mean over queries (Efron 1979), 10,000 resamples."""
    if not len(values):
        return (0.0, 0.0)
    tail = 100 * (1 - level) / 2
    # sorted, so that the order of the queries makes no difference
    low, high = np.percentile(_resampled_means(np.sort(values)), [tail, 100 - tail])
    return float(low), float(high)


def interval_over_tasks(tasks: Sequence[Values], level: float = 0.95) -> tuple[float, float]:
    """The same for the mean of several tasks' means: each task's queries are resampled among themselves."""
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(
        np.mean([_resampled_means(np.sort(values), number) for number, values in enumerate(tasks)], axis=0), [tail, 100 - tail]
    )
    return float(low), float(high)


def _resampled_means(values: Values, stream: int = 0) -> Values:
    chance = np.random.default_rng(SEED + stream)
    rounds = max(1, min(RESAMPLES, 4_000_000 // len(values)))
    parts = [
        values[chance.integers(0, len(values), (min(rounds, RESAMPLES - start), len(values)))].mean(axis=1)
        for start in range(0, RESAMPLES, rounds)
    ]
    return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same queries: B minus A."""

    difference: float
    low: float
    high: float
    wins: int
    ties: int
    losses: int
    p_randomisation: float
    p_t: float


def compare(a: Values, b: Values) -> Comparison:
    """Paired tests of mean(b) - mean(a), per-query values in the same order.

    The randomisation test (Smucker, Allan and Carterette 2007) flips the sign of each query's difference 100,000 times;
    the t-test is Student's, paired. Both are two-sided.
    """
    from scipy.stats import ttest_rel

    difference = b - a
    mean = float(difference.mean())
    low, high = interval(difference)
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    p_t = float(ttest_rel(b, a).pvalue) if difference.std() > 0 else float(mean == 0)
    return Comparison(mean, low, high, wins, len(difference) - wins - losses, losses, randomisation(difference), p_t)


def randomisation(difference: Values) -> float:
    """The two-sided p-value of a mean difference under random signs, (more extreme + 1) / (permutations + 1)."""
    nonzero_differences = difference[difference != 0]
    if not len(nonzero_differences):
        return 1.0
    chance = np.random.default_rng(SEED)
    observed_sum = abs(nonzero_differences.sum())
    extreme_count = 0
    block = max(1, 8_000_000 // len(nonzero_differences))
    for start in range(0, PERMUTATIONS, block):
        signs = chance.integers(0, 2, (min(block, PERMUTATIONS - start), len(nonzero_differences)), dtype=np.int8) * 2 - 1
        extreme_count += int((np.abs(signs @ nonzero_differences) >= observed_sum - 1e-12 * max(observed_sum, 1)).sum())
    return (extreme_count + 1) / (PERMUTATIONS + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm 1979), in the given order."""
    order = np.argsort(p_values)
    corrected_values = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(order.tolist()):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected_values[place] = least
    return corrected_values
