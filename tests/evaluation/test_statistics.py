"""Intervals and paired tests against SciPy's own, slower ways of computing them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from sciretrieve.evaluation.statistics import compare, holm, interval, interval_over_tasks, randomisation


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
    assert holm([]) == []
