"""The certainty of figures: bootstrap intervals, paired tests, their effect sizes, power and correction, and analyses of variance with
Tukey's test of all pairs, over queries or trainings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..base.extras import need

Values = npt.NDArray[np.float64]
Classes = npt.NDArray[Any]
RESAMPLES = 10_000
FEWEST, DRAWN = 1_000, 20_000_000
"""The fewest resamples of F1, and the total number of counts to draw if that allows more."""
FEWEST_TAUS, MOST_TAUS, RANKED = 200, 1_000, 10_000_000
"""The fewest and the most resamples of tau, which sort papers, and the total number of papers to draw."""
PERMUTATIONS = 100_000
SEED = 20_231_201
"""The seed of all random numbers here, so that a report can be reproduced to the last digit."""

FEW = 50
"""Queries below which tests miss most differences that matter (Buckley and Voorhees 2000; Sanderson and Zobel 2005)."""
LEVEL, POWER = 0.05, 0.8
"""The p-value below which a difference is significant, and how often a test should find one that is there."""
MOST_NEEDED = 10_000_000
FOLDS, FEWEST_TO_CHOOSE = 5, 20
"""The number of parts of queries for judging a choice, and the fewest queries: with fewer, the choice would be chance."""


def held_out(values: Values) -> Values:
    """The value of a choice among several systems: each fifth of the queries has the values of the system that is best on the other four.

    Args:
        values: each system's value for each query, (systems, queries).

    Returns:
        (queries,).
    """
    folds = np.random.default_rng(0).permutation(values.shape[1]) % FOLDS
    chosen = np.empty(values.shape[1])
    for fold in range(FOLDS):
        best = values[:, folds != fold].mean(axis=1).round(12).argmax()  # the first of equal ones, whatever a sum's last digit
        chosen[folds == fold] = values[best, folds == fold]
    return chosen


def interval(values: Values, level: float = 0.95) -> tuple[float, float]:
    """The percentile bootstrap's interval of the mean over queries (Efron 1979), with 10,000 resamples."""
    return interval_over_tasks([values], level) if len(values) else (0.0, 0.0)


def interval_over_tasks(tasks: Sequence[Values], level: float = 0.95) -> tuple[float, float]:
    """The same for the mean of several tasks' means: each task's queries are resampled separately."""
    tail = 100 * (1 - level) / 2
    # sorted, so that the order of the queries makes no difference
    means = np.mean([_resampled_means(np.sort(values), number) for number, values in enumerate(tasks)], axis=0)
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(low), float(high)


def interval_of_f1(truth: Classes, predicted: Classes, average: Literal["macro", "binary"]) -> tuple[float, float]:
    """The percentile bootstrap's 95 % interval of F1 over predicted papers; F1 is scikit-learn's with zero_division=0.

    A resample is a multinomial draw of counts of each kind of paper, by true and predicted label, whose F1 follows from sums. There are
    10,000 resamples; fewer, but at least 1,000, for many kinds.

    Args:
        truth, predicted: one class per paper, (n,), or 0 and 1 for each of several, (n, classes).
        average: the mean over classes, or F1 of the class 1.
    """
    has_several = truth.ndim == 2
    if not has_several:
        classes, codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
        counted_codes = np.arange(len(classes)) if average == "macro" else np.flatnonzero(classes == 1)
        truth, predicted = np.split(codes, 2)
    pairs = np.stack([truth, predicted], axis=1).reshape(len(truth), -1)
    kinds, counts = np.unique(pairs, axis=0, return_counts=True)
    true_labels, predicted_labels = np.split(kinds, 2, axis=1)
    if not has_several:
        true_labels, predicted_labels = true_labels == counted_codes, predicted_labels == counted_codes
    hits, sizes = (np.asarray(part, np.float64) for part in (true_labels * predicted_labels, true_labels.astype(int) + predicted_labels))
    chance = np.random.default_rng(SEED)
    resamples = max(FEWEST, min(RESAMPLES, DRAWN // len(counts)))
    values = []
    block = max(1, 4_000_000 // len(counts))
    for start in range(0, resamples, block):
        draws = chance.multinomial(counts.sum(), counts / counts.sum(), min(block, resamples - start))
        drawn_hits, drawn_sizes = draws @ hits, draws @ sizes
        f1 = 2 * drawn_hits / np.maximum(drawn_sizes, 1)
        # a class missing from a resample is not counted; with several classes per paper it counts as 0
        counted = f1.shape[1] if has_several or average == "binary" else (drawn_sizes > 0).sum(axis=1)
        values.append(f1.sum(axis=1) / counted)
    low, high = np.percentile(np.concatenate(values), [2.5, 97.5])
    return float(low), float(high)


def interval_of_tau(truth: Values, predicted: Values) -> tuple[float, float]:
    """The percentile bootstrap's 95 % interval of Kendall's tau-b over predicted papers.

    There are 1,000 resamples for up to 10,000 papers; fewer, but at least 200, for more. Resamples with equal labels or equal predictions,
    for which tau is undefined, are left out.

    Args:
        truth, predicted: a number per paper, (n,).
    """
    from scipy.stats import kendalltau

    tau = getattr(kendalltau, "__wrapped__", kendalltau)  # without checks of its arguments, which take longer than a thousand papers
    chance = np.random.default_rng(SEED)
    resamples = max(FEWEST_TAUS, min(MOST_TAUS, RANKED // len(truth)))
    values = []
    for _ in range(resamples):
        rows = chance.integers(0, len(truth), len(truth))
        values.append(tau(truth[rows], predicted[rows], method="asymptotic")[0])  # the method is that of the p-value, not used here
    low, high = np.nanpercentile(values, [2.5, 97.5])
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
    """Two systems on the same queries: B minus A. `effect` is Cohen's d, see `effect_size`."""

    difference: float
    low: float
    high: float
    wins: int
    ties: int
    losses: int
    p_randomisation: float
    p_t: float
    effect: float | None

    @property
    def queries(self) -> int:
        """The number of queries."""
        return self.wins + self.ties + self.losses

    @property
    def is_gain(self) -> bool:
        """Whether the interval has gains alone."""
        return self.low > 0

    @property
    def needed(self) -> str:
        """The number of queries that would show such a difference, in words; "" without a gain."""
        return needed_text(self.effect) if self.difference > 0 else ""


def compare(a: Values, b: Values) -> Comparison:
    """Paired tests of mean(b) - mean(a), per-query values in the same order.

    The randomisation test (Smucker, Allan and Carterette 2007) flips the sign of each query's difference 100,000 times;
    the t-test is Student's, paired. Both are two-sided.
    """
    need("scipy", "a test of significance")
    from scipy.stats import ttest_rel

    difference = b - a
    mean = float(difference.mean())
    low, high = interval(difference)
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    effect = effect_size(difference)
    p_t = float(ttest_rel(b, a).pvalue) if effect is not None else float(abs(mean) <= 1e-12 or len(difference) < 2)
    ties = len(difference) - wins - losses
    return Comparison(mean, low, high, wins, ties, losses, randomisation(difference), p_t, effect)


def effect_size(difference: Values) -> float | None:
    """Cohen's d of paired differences: their mean over their standard deviation (n - 1); None if all are equal, or there is one."""
    spread = float(difference.std(ddof=1)) if len(difference) > 1 else 0.0
    return float(difference.mean()) / spread if spread > 1e-12 else None


def queries_needed(effect: float, power: float = POWER, level: float = LEVEL) -> int:
    """The fewest queries with which a two-sided paired t-test finds an effect (Cohen's d) with this power (Sakai 2014).

    The test's statistic is of the noncentral t distribution. At most 10,000,000.
    """
    need("scipy", "a test of significance")
    from scipy.stats import nct, t

    def has_power(queries: int) -> bool:
        edge, shift = t.isf(level / 2, queries - 1), abs(effect) * queries**0.5
        return bool(nct.sf(edge, queries - 1, shift) + nct.cdf(-edge, queries - 1, shift) >= power)

    least, enough = 1, 2
    while enough < MOST_NEEDED and not has_power(enough):
        least, enough = enough, 2 * enough
    while enough - least > 1:
        middle = (least + enough) // 2
        least, enough = (least, middle) if has_power(middle) else (middle, enough)
    return min(enough, MOST_NEEDED)


def needed_text(effect: float | None) -> str:
    """The number of queries for such an effect, in words; "" where it is unknown."""
    queries = queries_needed(effect) if effect else MOST_NEEDED
    return f"{queries:,} queries would show a difference like this in four tests of five" if queries < MOST_NEEDED else ""


def randomisation(difference: Values, permutations: int = PERMUTATIONS) -> float:
    """The two-sided p-value of a mean difference under random signs, (more extreme + 1) / (permutations + 1)."""
    nonzero_differences = difference[difference != 0]
    if not len(nonzero_differences):
        return 1.0
    chance = np.random.default_rng(SEED)
    observed_sum = abs(nonzero_differences.sum())
    extreme_count = 0
    block = max(1, 8_000_000 // len(nonzero_differences))
    for start in range(0, permutations, block):
        signs = chance.integers(0, 2, (min(block, permutations - start), len(nonzero_differences)), dtype=np.int8) * 2 - 1
        extreme_count += int((np.abs(signs @ nonzero_differences) >= observed_sum - 1e-12 * max(observed_sum, 1)).sum())
    return (extreme_count + 1) / (permutations + 1)


@dataclass(frozen=True, slots=True)
class Variance:
    """An analysis of variance of several systems, and Tukey's test of all pairs.

    Attributes:
        f: the variance between systems over the remaining variance.
        degrees: both degrees of freedom.
        p: the probability of an F as large if all systems have the same mean.
        p_of_pairs: [system][other], Tukey's p-value of their difference, corrected for all pairs; 1 on the diagonal.
    """

    f: float
    degrees: tuple[int, int]
    p: float
    p_of_pairs: Values


def variance(values: Values) -> Variance:
    """Two-way analysis of variance without interaction, systems x queries, and Tukey's honestly significant difference.

    Queries are blocks, since each system answers all of them (Tague-Sutcliffe and Blustein 1995). This removes the differences in
    difficulty, which a one-way analysis would count as chance. Tukey's statistic is the difference of two means over sqrt(MSE / queries),
    by the studentized range.

    F has systems - 1 and (systems - 1)(queries - 1) degrees of freedom.

    Args:
        values: per-query values, (systems, queries), at least 2 x 2.
    """
    need("scipy", "a test of significance")
    from scipy.stats import f as f_distribution
    from scipy.stats import studentized_range

    systems, queries = values.shape
    means = values.mean(axis=1)
    left = values - means[:, None] - values.mean(axis=0) + values.mean()
    degrees = (systems - 1, (systems - 1) * (queries - 1))
    between = queries * float(np.square(means - means.mean()).sum()) / degrees[0]
    within = float(np.square(left).sum()) / degrees[1]
    if within <= 1e-15:  # systems differ by the same on every query, or not at all
        return _variance_without_chance(means, degrees)
    p_of_pairs = np.ones((systems, systems))
    above = np.triu_indices(systems, 1)
    p_of_pairs[above] = studentized_range.sf(np.abs(means[:, None] - means)[above] / np.sqrt(within / queries), systems, degrees[1])
    f = between / within
    return Variance(f, degrees, float(f_distribution.sf(f, *degrees)), np.minimum(p_of_pairs, p_of_pairs.T))


def _variance_without_chance(means: Values, degrees: tuple[int, int]) -> Variance:
    """The result without any chance: means are equal, or certainly differ."""
    certain = np.where(np.abs(means[:, None] - means) > 1e-12, 0.0, 1.0)
    return Variance(float("inf") if certain.min() == 0 else 0.0, degrees, float(certain.min()), certain)


def one_way(groups: Sequence[Values]) -> Variance:
    """One-way analysis of variance of systems with several trainings each, and Tukey's honestly significant difference.

    SciRepEval's Table 2 is tested in this way (Singh et al. 2023), here by SciPy's `f_oneway` and `tukey_hsd`, which takes the
    Tukey-Kramer form for unequal numbers of trainings. F has systems - 1 and trainings - systems degrees of freedom.

    Args:
        groups: a figure of each training, (trainings,) a system; at least two systems, and at least two trainings of each.
    """
    need("scipy", "a test of significance")
    from scipy.stats import f_oneway, tukey_hsd

    degrees = (len(groups) - 1, sum(map(len, groups)) - len(groups))
    if all(np.ptp(group) <= 1e-12 for group in groups):  # every training of a system gave the same figure
        return _variance_without_chance(np.array([group.mean() for group in groups]), degrees)
    test = f_oneway(*groups)
    return Variance(float(test.statistic), degrees, float(test.pvalue), np.asarray(tukey_hsd(*groups).pvalue, np.float64))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm 1979), in the given order.

    It errs as rarely as Bonferroni's method, finds no fewer differences, and needs no independence, which measures of one ranking lack
    (Carterette 2012; Fuhr 2017).
    """
    order = np.argsort(p_values)
    corrected_values = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(order.tolist()):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected_values[place] = least
    return corrected_values


def bonferroni(p_values: Sequence[float]) -> list[float]:
    """p-values multiplied by their number, at most 1."""
    return [min(1.0, len(p_values) * p) for p in p_values]


Correction = Literal["holm", "bonferroni"]
CORRECTIONS: Mapping[str, Callable[[Sequence[float]], list[float]]] = {"holm": holm, "bonferroni": bonferroni}
