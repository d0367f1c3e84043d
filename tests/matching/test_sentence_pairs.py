"""Scores of two papers' sentences against SciPy, plain Sinkhorn iterations, a linear program, and values of GeomLoss."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from scipy.special import softmax

from sciretrieve.base.types import Vectors
from sciretrieve.matching.sentence_pairs import BLUR, closest, transport

SHAPES = [(1, 1), (1, 6), (6, 1), (3, 5), (9, 9), (12, 4)]
Pair = tuple[Vectors, Vectors]


def made_up(shape: tuple[int, int], seed: int = 0, spread: float = 1.0, dim: int = 12) -> Pair:
    chance = np.random.default_rng([seed, *shape])
    query, paper = ((chance.standard_normal((count, dim)) * spread).astype(np.float32) for count in shape)
    return query, paper


def weights_of(distances: Vectors) -> tuple[Vectors, Vectors]:
    """The paper's section 3.2.2: a softmax over minus the distance to the other paper's nearest sentence."""
    return softmax(-distances.min(axis=1)), softmax(-distances.min(axis=0))


def emd(distances: Vectors) -> float:
    """The least cost of moving all weight, as a linear program over the plan."""
    rows, columns = distances.shape
    marginals = [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    result = linprog(distances.ravel(), A_eq=np.concatenate(marginals), b_eq=np.concatenate(weights_of(distances)), method="highs")
    assert result.success
    return float(result.fun)


def logsumexp(values: Any, axis: int) -> Any:
    """SciPy's, without what it does for values of other kinds, which takes five times as long."""
    most = values.max(axis=axis, keepdims=True)
    return most.squeeze(axis) + np.log(np.exp(values - most).sum(axis=axis))


def sinkhorn(distances: Vectors, blur: float, rounds: int = 20_000) -> float:
    """The entropic cost by plain alternating iterations in the log domain, from nothing, until they stand still."""
    first, second = (np.log(weights) for weights in weights_of(distances))
    left: Any
    right: Any
    left, right = np.zeros(len(first)), np.zeros(len(second))
    for _ in range(rounds):
        before = right
        left = -blur * logsumexp((right - distances) / blur + second, axis=1)
        right = -blur * logsumexp((left[:, None] - distances) / blur + first[:, None], axis=0)
        if np.abs(right - before).max() < 1e-10:
            break
    return float(np.exp(first) @ left + np.exp(second) @ right)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_closest_pair_is_scipys(shape: tuple[int, int]) -> None:
    query, paper = made_up(shape)
    assert closest(query, paper) == pytest.approx(-cdist(query, paper).min(), abs=1e-12)
    assert closest(query, np.concatenate([paper, query[:1]])) == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_transport_is_what_plain_iterations_come_to(shape: tuple[int, int]) -> None:
    """With steps that lie close together; as released, it stops within some hundredths of where they come to."""
    for seed, spread in enumerate((0.1, 1.0, 3.0)):
        query, paper = made_up(shape, seed, spread)
        fixed_point = sinkhorn(cdist(query, paper), BLUR)
        assert -transport(query, paper, scaling=0.999) == pytest.approx(fixed_point, abs=2e-4)
        assert -transport(query, paper) == pytest.approx(fixed_point, rel=0.03)


@pytest.mark.parametrize("shape", SHAPES)
def test_transport_without_blur_is_the_linear_programs(shape: tuple[int, int]) -> None:
    query, paper = made_up(shape, 7)
    distances = cdist(query, paper)
    least, blur = emd(distances), 1e-3
    entropy = min(-(weights @ np.log(weights)) for weights in weights_of(distances))
    assert -transport(query, paper, blur, scaling=0.999) == pytest.approx(least, abs=0.003)
    # the regularised cost is above the least, by no more than the weights' entropy allows
    assert least - 1e-9 <= sinkhorn(distances, BLUR) <= least + BLUR * entropy + 1e-9


@pytest.mark.parametrize(
    ("shape", "dim", "spread", "value"),
    [
        ((3, 5), 8, 1.0, -2.922567026158753),
        ((1, 4), 8, 0.3, -1.3260578192369241),
        ((7, 7), 16, 2.0, -7.902687593789489),
        ((6, 1), 4, 0.02, -0.03399674870613278),
    ],
)
def test_transport_is_geomloss_to_the_last_digits(shape: tuple[int, int], dim: int, spread: float, value: float) -> None:
    """Values of ASPIRE's own call, SamplesLoss("sinkhorn", p=1, blur=0.05, scaling=0.9, debias=False) of GeomLoss 0.2.4, in float64."""
    assert transport(*made_up(shape, 2022, spread, dim)) == pytest.approx(value, abs=1e-12)


def test_transport_is_symmetric_and_finite_at_the_edges() -> None:
    query, paper = made_up((4, 6), 3)
    assert transport(query, paper) == pytest.approx(transport(paper, query), abs=1e-12)
    same = np.ones((3, 5), np.float32)
    assert transport(same, same) == 0
    assert np.isfinite(transport(same, same + 1e-4))
    assert np.isfinite(transport(query * 1e4, paper * 1e4))  # all weight on one sentence
    assert transport(query, query) > transport(query, paper)
