"""Intervals and paired tests against SciPy's own, slower ways of computing them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from sciretrieve.metrics.significance import (
    bonferroni,
    compare,
    holm,
    interval,
    interval_of_f1,
    interval_of_tau,
    interval_over_tasks,
    needed_text,
    one_way,
    queries_needed,
    randomisation,
    variance,
)


def test_the_interval_is_the_percentile_bootstraps() -> None:
    values = np.random.default_rng(0).beta(2, 5, 200)
    their_interval = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert interval(values) == pytest.approx((their_interval.low, their_interval.high), abs=2e-3)
    assert interval(values) == interval(values[::-1])
    assert interval(np.ones(5)) == (1.0, 1.0)
    assert interval(np.empty(0)) == (0.0, 0.0)


def mean_of_means(*tasks: Any, axis: int) -> Any:
    return np.mean([task.mean(axis=axis) for task in tasks], axis=0)


@pytest.mark.parametrize("sizes", [(40,), (200, 30), (5, 80, 150, 12)])
def test_the_interval_over_tasks_resamples_each_task_among_its_own(sizes: tuple[int, ...]) -> None:
    chance = np.random.default_rng(5)
    tasks = [chance.beta(1 + at, 3, size) for at, size in enumerate(sizes)]
    their_interval = stats.bootstrap(
        tasks, mean_of_means, method="percentile", n_resamples=10_000, vectorized=True, rng=np.random.default_rng(1)
    ).confidence_interval
    low, high = interval_over_tasks(tasks)
    assert (low, high) == pytest.approx((their_interval.low, their_interval.high), abs=6e-3)
    assert low < np.mean([task.mean() for task in tasks]) < high
    assert interval_over_tasks([task[::-1] for task in tasks]) == (low, high)
    narrow = interval_over_tasks(tasks, 0.5)
    assert low < narrow[0] < narrow[1] < high


def test_tasks_are_resampled_apart() -> None:
    # were the same queries drawn in both tasks, the mean of a task and its mirror would never move
    values = np.random.default_rng(6).uniform(size=50)
    low, high = interval_over_tasks([values, 1 - values])
    assert high - low > 0.05
    assert interval_over_tasks([np.ones(4), np.zeros(7)]) == (0.5, 0.5)
    assert interval_over_tasks([values]) == interval(values)


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.1])
def test_p_values(shift: float) -> None:
    chance = np.random.default_rng(3)
    a = chance.uniform(size=80)
    b = a + shift + chance.normal(0, 0.1, 80)
    comparison = compare(a, b)
    test = stats.permutation_test((b - a,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(4))
    assert comparison.p_randomisation == pytest.approx(test.pvalue, abs=0.015)
    assert comparison.p_t == pytest.approx(stats.ttest_rel(b, a).pvalue)
    assert comparison.difference == pytest.approx((b - a).mean())
    assert comparison.wins + comparison.ties + comparison.losses == 80
    assert comparison.low < comparison.difference < comparison.high


def test_equal_runs_do_not_differ() -> None:
    comparison = compare(np.ones(10), np.ones(10))
    assert (comparison.difference, comparison.p_randomisation, comparison.p_t, comparison.ties) == (0.0, 1.0, 1.0, 10)


def test_few_differences_are_counted_exactly() -> None:
    # one of 2^3 sign patterns, and its mirror, are as extreme as all three positive
    assert randomisation(np.array([1.0, 1.0, 1.0, 0.0])) == pytest.approx(0.25, abs=0.01)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == bonferroni([]) == []
    assert bonferroni([0.01, 0.04, 0.6]) == pytest.approx([0.03, 0.12, 1.0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_holms_method_is_the_closed_test_of_bonferronis(p_values: list[float]) -> None:
    """A hypothesis is as doubtful as the least certain of all sets of hypotheses with it, each tested by Bonferroni's method."""
    sets = [set(one) for size in range(1, len(p_values) + 1) for one in combinations(range(len(p_values)), size)]
    closed = [max(min(1.0, len(one) * min(p_values[at] for at in one)) for one in sets if place in one) for place in range(len(p_values))]
    assert holm(p_values) == pytest.approx(closed)
    assert all(ours <= theirs for ours, theirs in zip(holm(p_values), bonferroni(p_values), strict=True))


def test_the_effect_size_is_the_difference_in_deviations() -> None:
    a, b = np.array([0.1, 0.4, 0.3, 0.6]), np.array([0.3, 0.5, 0.3, 0.5])
    # t is d times the root of n
    assert compare(a, b).effect == pytest.approx(0.05 / np.std(b - a, ddof=1)) == pytest.approx(stats.ttest_rel(b, a).statistic / 2)
    assert compare(a, a + 0.1).effect is None


@pytest.mark.parametrize(("effect", "queries"), [(0.2, 199), (0.5, 34), (-0.8, 15), (1.5, 6)])
def test_the_queries_that_a_test_needs(effect: float, queries: int) -> None:
    """G*Power 3.1, difference between two dependent means, two tails, alpha 0.05, power 0.8."""
    assert queries_needed(effect) == queries
    assert needed_text(effect).startswith(f"{queries} queries would show")


def test_so_many_queries_find_four_of_five() -> None:
    samples = np.random.default_rng(8).normal(0.35, 1, (4000, queries_needed(0.35)))
    assert (stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.02)
    assert needed_text(0.0) == needed_text(None) == needed_text(1e-9) == ""


FOUR_SYSTEMS = np.array([[((3 * system + 5 * query**2 + 2 * system * query) % 11) / 10 for query in range(12)] for system in range(4)])


def test_an_analysis_of_variance_is_that_of_a_linear_model() -> None:
    """F and p of statsmodels 0.15, anova_lm(ols("v ~ C(system) + C(query)"))."""
    found = variance(FOUR_SYSTEMS + np.array([[0.0], [0.15], [0.2], [0.55]]))
    assert found.degrees == (3, 33)
    assert [found.f, found.p] == pytest.approx([23.028986, 3.157695e-08], rel=1e-6)


def test_tukeys_test_of_two_systems_is_the_paired_t_test() -> None:
    for b in (1, 2, 3):
        test = stats.ttest_rel(FOUR_SYSTEMS[0], FOUR_SYSTEMS[b] + 0.2)
        found = variance(np.stack([FOUR_SYSTEMS[0], FOUR_SYSTEMS[b] + 0.2]))
        assert [found.f, found.p] == pytest.approx([test.statistic**2, test.pvalue])
        assert found.p_of_pairs == pytest.approx(np.array([[1, test.pvalue], [test.pvalue, 1]]), rel=1e-4)


def test_tukeys_p_values_are_how_often_chance_spreads_systems_so_far() -> None:
    values = FOUR_SYSTEMS + np.array([[0.0], [0.15], [0.2], [0.35]])
    found = variance(values)
    # the largest of all differences under chance, drawn instead of integrated
    chance = np.random.default_rng(7)
    draws = chance.normal(size=(300_000, 4))
    ranges = np.ptp(draws, axis=1) / np.sqrt(chance.chisquare(33, len(draws)) / 33)
    left = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    scale = np.sqrt(np.square(left).sum() / 33 / 12)
    means = values.mean(axis=1)
    for a in range(4):
        for b in range(a):
            assert (
                found.p_of_pairs[a, b]
                == found.p_of_pairs[b, a]
                == pytest.approx((ranges >= abs(means[a] - means[b]) / scale).mean(), abs=4e-3)
            )


def test_variance_where_nothing_is_left_to_chance() -> None:
    same = variance(np.tile(FOUR_SYSTEMS[0], (3, 1)))
    assert (same.f, same.p, same.p_of_pairs.min()) == (0.0, 1.0, 1.0)
    shifted = variance(np.stack([FOUR_SYSTEMS[0], FOUR_SYSTEMS[0], FOUR_SYSTEMS[0] + 0.1]))
    assert (shifted.p, shifted.p_of_pairs[0, 1], shifted.p_of_pairs[0, 2]) == (0.0, 1.0, 0.0)


def f1_by_hand(truth: Any, predicted: Any, average: str) -> float:
    """Twice the hits over what is and what is said to be of the second class, or the mean of all classes."""
    classes = [1] if average == "binary" else np.unique([truth, predicted])
    pairs = zip(truth.T == 1, predicted.T == 1, strict=True) if truth.ndim == 2 else ((truth == one, predicted == one) for one in classes)
    return float(np.mean([2 * (there & said).sum() / max(there.sum() + said.sum(), 1) for there, said in pairs]))


def bootstrap_by_hand(figure: Any, truth: Any, predicted: Any, resamples: int) -> Any:
    chance = np.random.default_rng(11)
    rows = chance.integers(0, len(truth), (resamples, len(truth)))
    return np.percentile([figure(truth[part], predicted[part]) for part in rows], [2.5, 97.5])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["binary", "macro", "words", "rare", "several"])
def test_the_interval_of_f1_is_the_bootstrap_over_papers(form: str) -> None:
    chance = np.random.default_rng(3)
    shape: Any = (150, 5) if form == "several" else 150
    truth = chance.integers(0, 2 if form in ("binary", "several") else 4, shape)
    predicted = np.where(chance.random(shape) < 0.3, chance.permutation(truth), truth)
    if form == "rare":  # a class that many resamples lack
        truth[:], predicted[:] = truth % 2, predicted % 2
        truth[3], predicted[3] = 7, 0
    elif form == "words":
        truth, predicted = (np.array(["a", "b", "c", "d"])[part] for part in (truth, predicted))
    average: Any = "binary" if form == "binary" else "macro"
    low, high = interval_of_f1(truth, predicted, average)
    figure = f1_score(truth, predicted, average=average, zero_division=0)
    assert f1_by_hand(truth, predicted, average) == pytest.approx(figure)
    expected = bootstrap_by_hand(lambda *sample: f1_by_hand(sample[0], sample[1], average), truth, predicted, 500)
    assert (low, high) == pytest.approx(expected, abs=0.025)
    assert low < figure < high
    assert interval_of_f1(truth, predicted, average) == (low, high)
    assert interval_of_f1(truth, truth, average) == (1.0, 1.0) or form == "rare"


@pytest.mark.slow
def test_the_interval_of_tau_is_the_bootstrap_over_papers() -> None:
    chance = np.random.default_rng(4)
    truth = chance.integers(0, 8, 120).astype(np.float64)
    predicted = truth + chance.normal(0, 3, 120)
    their_interval = stats.bootstrap(
        (truth, predicted),
        lambda a, b: stats.kendalltau(a, b).statistic,
        paired=True,
        vectorized=False,
        method="percentile",
        n_resamples=1_000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    low, high = interval_of_tau(truth, predicted)
    assert (low, high) == pytest.approx((their_interval.low, their_interval.high), abs=0.015)
    assert interval_of_tau(truth, predicted) == (low, high)
    assert low < stats.kendalltau(truth, predicted).statistic < high


def test_the_one_way_analysis_is_that_by_hand() -> None:
    """Sums of squares in NumPy, and Tukey-Kramer's statistic by SciPy's studentized range; of trainings in unequal numbers."""
    chance = np.random.default_rng(12)
    groups = [chance.normal(mean, 0.3, size) for mean, size in ((70.0, 5), (70.3, 4), (71.2, 5), (70.1, 2))]
    found = one_way(groups)
    everything = np.concatenate(groups)
    between = sum(len(group) * (group.mean() - everything.mean()) ** 2 for group in groups) / 3
    within = sum(np.square(group - group.mean()).sum() for group in groups) / (16 - 4)
    assert found.degrees == (3, 12)
    assert found.f == pytest.approx(between / within, rel=1e-9)
    assert found.p == pytest.approx(stats.f.sf(between / within, 3, 12), rel=1e-9)
    for a, one in enumerate(groups):
        for b, other in enumerate(groups):
            statistic = abs(one.mean() - other.mean()) / np.sqrt(within / 2 * (1 / len(one) + 1 / len(other)))
            assert found.p_of_pairs[a, b] == pytest.approx(stats.studentized_range.sf(statistic, 4, 12), abs=1e-6)
    assert found.p_of_pairs[0, 2] < 0.05 < found.p_of_pairs[0, 3]


def test_one_way_where_no_training_differs_from_another() -> None:
    same = one_way([np.full(3, 0.5), np.full(2, 0.5)])
    assert (same.f, same.p, same.p_of_pairs.min()) == (0.0, 1.0, 1.0)
    apart = one_way([np.full(3, 0.5), np.full(2, 0.5), np.full(2, 0.6)])
    assert (apart.f, apart.p) == (float("inf"), 0.0)
    assert apart.p_of_pairs.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
