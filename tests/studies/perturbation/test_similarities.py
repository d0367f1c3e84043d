"""Measures of vectors and rankings, against the definitions computed pair by pair."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from sciretrieve.studies.perturbation.similarities import (
    BLOCK,
    Retrieval,
    anisotropy,
    mean_cosine,
    neighbour_map,
    overlap,
    own_ranks,
    similarities,
    standardised,
)


def vectors(count: int, dim: int = 8, seed: int = 0, shift: float = 0.5) -> np.ndarray:
    chance = np.random.default_rng(seed)
    return (chance.normal(size=(count, dim)) + shift * chance.normal(size=dim)).astype(np.float32)


def cosine(one: np.ndarray, two: np.ndarray) -> float:
    one, two = one.astype(np.float64), two.astype(np.float64)
    return float(one @ two / np.sqrt((one @ one) * (two @ two)))


def test_retrieval() -> None:
    assert Retrieval.of(np.array([1, 2, 0, 101])) == Retrieval(4, (1 + 1 / 2 + 0 + 1 / 101) / 4, 0.5)


def test_ranks_of_own_candidates() -> None:
    candidates, queries = vectors(40), vectors(30, seed=1)
    own = np.arange(30) + 3
    left_out = np.arange(30)[::-1].copy() + 5
    own[own == left_out] += 1
    for without in (None, left_out):
        expected = []
        for number, query in enumerate(queries):
            scores = {row: cosine(query, candidate) for row, candidate in enumerate(candidates)}
            if without is not None:
                del scores[without[number]]
            expected.append(sorted(scores, key=lambda row: -scores[row]).index(own[number]) + 1)
        assert own_ranks(queries, candidates, own, without).tolist() == expected


def test_equal_candidates_rank_in_their_order() -> None:
    candidates = np.ones((4, 3), np.float32)
    assert own_ranks(candidates, candidates, np.arange(4)).tolist() == [1, 2, 3, 4]


def test_ranks_beyond_one_block() -> None:
    papers = vectors(BLOCK + 10)
    assert set(own_ranks(papers, papers, np.arange(len(papers)))) == {1}


def test_overlap() -> None:
    first, second = np.array([[1, 2, 3, -1], [4, 5, 6, 7]]), np.array([[3, 9, -1, -1], [7, 6, 5, 4]])
    assert overlap(first, second) == (1 / 4 + 1) / 2


@pytest.mark.parametrize("count", [2, 50, BLOCK + 3])
def test_similarities_are_of_all_pairs(count: int) -> None:
    rows = vectors(count, dim=4)
    cosines = np.array([cosine(one, two) for one, two in itertools.combinations(rows, 2)]) if count < 60 else None
    if cosines is None:
        unit = rows.astype(np.float64) / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
        cosines = (unit @ unit.T)[np.triu_indices(count, 1)]
    result = similarities(rows)
    expected = [cosines.mean(), cosines.std(), cosines.min(), cosines.max()]
    assert [result.mean, result.deviation, result.least, result.greatest] == pytest.approx(expected, abs=1e-6)
    assert result.above_mean == pytest.approx((cosines > cosines.mean()).mean() if count > 2 else 0, abs=1e-4)


def test_mean_cosine() -> None:
    one, two = vectors(20), vectors(20, seed=3)
    assert mean_cosine(one, two) == pytest.approx(np.mean([cosine(a, b) for a, b in zip(one, two, strict=True)]))


def test_standardisation_is_by_the_given_vectors() -> None:
    rows, like = vectors(10), vectors(30, seed=2)
    like[:, 3] = 7.0  # a dimension that says nothing
    expected = [[(value - like[:, place].mean()) / max(like[:, place].std(), 1e-12) for place, value in enumerate(row)] for row in rows]
    assert np.allclose(standardised(rows, like), np.array(expected, np.float32), rtol=1e-5)
    assert np.allclose(standardised(rows, rows).mean(axis=0), 0, atol=1e-6)


def test_anisotropy_is_the_mean_cosine_and_its_dimensions() -> None:
    rows = vectors(30, dim=6)
    rows[:, 4] += 9  # rogue
    result = anisotropy(rows)
    pairs = list(itertools.permutations(rows.astype(np.float64), 2))
    mean = np.mean([cosine(one, two) for one, two in pairs])
    assert result.mean_cosine == pytest.approx(mean, abs=1e-6)
    contributions = [
        np.mean([one[place] * two[place] / np.linalg.norm(one) / np.linalg.norm(two) for one, two in pairs]) for place in range(6)
    ]
    strongest = sorted(range(6), key=lambda place: -abs(contributions[place]))[:3]
    assert [place for place, _ in result.dimensions] == strongest
    assert strongest[0] == 4
    assert [share for _, share in result.dimensions] == pytest.approx([contributions[place] / mean for place in strongest], abs=1e-6)
    left = np.delete(rows, strongest, axis=1)
    assert result.without_mean_cosine == pytest.approx(
        np.mean([cosine(one, two) for one, two in itertools.permutations(left, 2)]), abs=0.02
    )
    all_pairs = list(itertools.combinations(range(30), 2))
    whole, rest = ([cosine(matrix[one], matrix[two]) for one, two in all_pairs] for matrix in (rows, left))
    assert result.without == pytest.approx(np.corrcoef(whole, rest)[0, 1], abs=0.03)


def test_even_directions_have_no_rogue_dimension() -> None:
    rows = np.random.default_rng(0).normal(size=(2000, 50)).astype(np.float32)
    result = anisotropy(rows)
    assert abs(result.mean_cosine) < 0.001
    assert result.without > 0.9


def test_the_map_keeps_planted_clusters_apart() -> None:
    """Eight directions at right angles, of which a plane can show two."""
    chance = np.random.default_rng(2)
    cluster = np.arange(96) % 8
    rows = (np.eye(8)[cluster] @ np.linalg.qr(chance.normal(size=(20, 20)))[0][:8] + chance.normal(0, 0.05, (96, 20))).astype(np.float32)

    def purity(plane: Any) -> float:
        distances = np.linalg.norm(plane[:, None] - plane, axis=2) + np.diag(np.full(96, np.inf))
        return float((cluster[np.argsort(distances, axis=1)[:, :8]] == cluster[:, None]).mean())

    plane = neighbour_map(rows, 3)
    assert plane.shape == (96, 2)
    assert purity(plane) > 0.98
    assert np.array_equal(plane, neighbour_map(rows.copy() * 2, 3))  # lengths do not count, and the seed fixes all else
    assert neighbour_map(rows[:4]).shape == (4, 2)
