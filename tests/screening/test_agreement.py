"""Agreement: kappas against scikit-learn and plain code, their variances against derivatives taken by numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from sciretrieve.screening.agreement import CATEGORIES, agreement_of, cohens_kappa, fleiss_kappa

PSYCHIATRISTS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
"""Fourteen raters, ten subjects, five categories, whose kappa is 0.210 in the article on Fleiss's kappa of Wikipedia."""


def decided(seed: int, papers: int, people: int, missing: float = 0.0) -> list[dict[str, Any]]:
    """What people decide who mostly agree."""
    chance = np.random.default_rng(seed)
    votes = []
    for truth in chance.choice(3, papers, p=[0.3, 0.6, 0.1]):
        said: dict[str, str] = {f"p{one}": CATEGORIES[truth if chance.random() < 0.7 else chance.integers(3)] for one in range(people)}
        votes.append({name: verdict for name, verdict in said.items() if chance.random() >= missing})
    return [one for one in votes if one]


def plain_fleiss(votes: list[dict[str, str]], weights: list[float]) -> float:
    """From the definition, with a weight for each paper, which add up to 1."""
    observed = shares = 0.0
    by_category = dict.fromkeys(CATEGORIES, 0.0)
    for one, weight in zip(votes, weights, strict=True):
        said = list(one.values())
        pairs = [(a, b) for place, a in enumerate(said) for b in said[place + 1 :]]
        observed += weight * sum(a == b for a, b in pairs) / len(pairs)
        for category in CATEGORIES:
            by_category[category] += weight * said.count(category) / len(said)
    shares = sum(share**2 for share in by_category.values())
    return (observed - shares) / (1 - shares)


def influences(kappa: Callable[[list[float]], float], count: int) -> list[float]:
    """How much kappa changes as each paper weighs a little more, by numbers."""
    step = 1e-6
    ways = []
    for place in range(count):
        up, down = (
            kappa([(1 - sign * step) / count + (sign * step if place == other else 0.0) for other in range(count)]) for sign in (1, -1)
        )
        ways.append((up - down) / (2 * step))
    return ways


@pytest.mark.parametrize("seed", range(5))
def test_cohens_kappa_is_scikit_learns(seed: int) -> None:
    votes = decided(seed, 120, 2)
    found = agreement_of(votes)
    assert found is not None
    assert found.measure == "Cohen's kappa"
    first, second = ([one[name] for one in votes] for name in ("p0", "p1"))
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second))
    assert (found.papers, found.same) == (120, sum(a == b for a, b in zip(first, second, strict=True)))


@pytest.mark.parametrize("seed", range(3))
def test_cohens_variance_is_that_of_the_delta_method(seed: int) -> None:
    """Derivatives by numbers, and the covariance of a multinomial distribution."""
    table = np.random.default_rng(seed).integers(1, 40, (3, 3)).astype(float) + np.diag([60, 50, 20])
    shares = (table / table.sum()).ravel()

    def kappa(shares: np.ndarray) -> float:
        square = shares.reshape(3, 3)
        expected = square.sum(axis=0) @ square.sum(axis=1)
        return float((np.trace(square) - expected) / (1 - expected))

    steps = np.eye(9) * 1e-6
    slopes = np.array([(kappa(shares + step) - kappa(shares - step)) / 2e-6 for step in steps])
    variance = slopes @ (np.diag(shares) - np.outer(shares, shares)) @ slopes / table.sum()
    assert list(cohens_kappa(table)) == pytest.approx([kappa(shares), variance], rel=1e-5)


def test_fleiss_kappa_of_a_published_example() -> None:
    kappa, variance = fleiss_kappa(np.array(PSYCHIATRISTS, float))
    assert kappa == pytest.approx(0.210, abs=5e-4)
    assert variance is not None
    assert 0 < variance < 0.02


@pytest.mark.parametrize(("people", "missing"), [(3, 0.0), (4, 0.3)])
def test_fleiss_kappa_and_its_variance_are_those_of_plain_code(people: int, missing: float) -> None:
    votes = decided(people, 90, people, missing)
    shared = [one for one in votes if len(one) > 1]
    found = agreement_of(votes)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    count = len(shared)
    kappa = plain_fleiss(shared, [1 / count] * count)
    ways = influences(lambda weights: plain_fleiss(shared, weights), count)
    half = 1.959964 * (sum(way**2 for way in ways) / (count * (count - 1))) ** 0.5
    assert found.measure == "Fleiss's kappa"
    assert (found.kappa, found.low, found.high) == pytest.approx((kappa, kappa - half, kappa + half), rel=1e-4)
    assert (found.papers, found.alone) == (count, len(votes) - count)


@pytest.mark.parametrize(
    ("votes", "kappa", "low", "said"),
    [
        ([{"a": "exclude", "b": "exclude"}] * 5, None, None, "not defined"),
        ([dict.fromkeys("ab", verdict) for verdict in ("exclude", "include") * 4], 1.0, None, "100.0 % the same, Cohen's kappa 1.00"),
        ([{"a": "exclude", "b": "include", "c": "include"}], -0.5, None, "a, b, c: 1 papers decided by two or more, 0.0 % the same"),
    ],
)
def test_what_has_no_kappa_or_no_interval_says_so(votes: list[Any], kappa: float | None, low: None, said: str) -> None:
    found = agreement_of(votes)
    assert found is not None
    assert (found.kappa, found.low) == (kappa if kappa is None else pytest.approx(kappa), low)
    assert said in str(found)


def test_without_papers_that_two_decided_on_there_is_none() -> None:
    assert agreement_of([]) is None
    assert agreement_of([{"a": "include"}, {"b": "exclude"}]) is None
