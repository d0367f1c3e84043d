"""Intervals and paired tests against SciPy's own, slower ways of computing them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sciretrieve.evaluation.statistics import compare, holm, interval, randomisation


def test_the_interval_is_the_percentile_bootstraps() -> None:
    values = np.random.default_rng(0).beta(2, 5, 200)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(1)).confidence_interval
    assert interval(values) == pytest.approx((theirs.low, theirs.high), abs=2e-3)
    assert interval(values) == interval(values[::-1])
    assert interval(np.ones(5)) == (1.0, 1.0)
    assert interval(np.empty(0)) == (0.0, 0.0)


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.1])
def test_p_values(shift: float) -> None:
    chance = np.random.default_rng(3)
    a = chance.uniform(size=80)
    b = a + shift + chance.normal(0, 0.1, 80)
    found = compare(a, b)
    test = stats.permutation_test((b - a,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(4))
    assert found.p_randomisation == pytest.approx(test.pvalue, abs=0.015)
    assert found.p_t == pytest.approx(stats.ttest_rel(b, a).pvalue)
    assert found.difference == pytest.approx((b - a).mean())
    assert found.wins + found.ties + found.losses == 80
    assert found.low < found.difference < found.high


def test_equal_runs_do_not_differ() -> None:
    found = compare(np.ones(10), np.ones(10))
    assert (found.difference, found.p_randomisation, found.p_t, found.ties) == (0.0, 1.0, 1.0, 10)


def test_few_differences_are_counted_exactly() -> None:
    # one of 2^3 sign patterns, and its mirror, are as extreme as all three positive
    assert randomisation(np.array([1.0, 1.0, 1.0, 0.0])) == pytest.approx(0.25, abs=0.01)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []
