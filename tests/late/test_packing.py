"""Token vectors in few bytes, against the same done one token at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.errors import CorruptData
from sciretrieve.files import write_array
from sciretrieve.late import Packing, learn, packed_texts, read_packing, write_packing
from sciretrieve.late.packing import ALL_EDGES, ALL_LEVELS
from sciretrieve.types import Vectors

DIM = 24


def states(texts: list[int], seed: int = 0, dim: int = DIM) -> Vectors:
    """Unit vectors for texts of so many tokens, in some directions more than in others."""
    vectors = np.random.default_rng(seed).normal(size=(sum(texts), dim)) * np.linspace(3, 0.1, dim)
    units: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return units


@pytest.fixture(scope="module")
def packing() -> Packing:
    return learn(states([200] * 20), np.array([200] * 20))


@given(st.lists(st.integers(0, 7), min_size=1, max_size=8))
def test_pairs_are_means_of_neighbours(packing: Packing, texts: list[int]) -> None:
    vectors = states(texts, 1)
    packed, counts = packing.pack(vectors, np.array(texts))
    assert counts.tolist() == [(tokens + 1) // 2 for tokens in texts]
    expected, first = [], 0
    for tokens in texts:
        expected += [vectors[place : min(place + 2, first + tokens)].mean(axis=0) for place in range(first, first + tokens, 2)]
        first += tokens
    assert packed.shape == (len(expected), DIM // 2)
    if expected:
        rotated = (np.stack(expected) @ packing.rotation - packing.mean) / packing.scale
        nearest = ALL_LEVELS[np.abs(rotated[:, :, None] - ALL_LEVELS).argmin(axis=2)]
        unpacked = (packing.unpack(packed) - packing.mean) / packing.scale
        # at an edge between levels, a last bit may decide
        clear = np.abs(rotated[:, :, None] - ALL_EDGES).min(axis=2) > 1e-4
        np.testing.assert_allclose(unpacked[clear], nearest[clear], atol=1e-4)


def test_what_is_packed_is_near_what_it_was(packing: Packing) -> None:
    vectors = states([1] * 500, 2)
    packed, _ = packing.pack(vectors, np.ones(500, np.int64))
    back = packing.unpack(packed) @ packing.rotation.T
    error = ((back - vectors) ** 2).sum() / ((vectors - vectors.mean(axis=0)) ** 2).sum()
    assert error < 0.05  # of 16 levels for a normal distribution, 0.0095 (Max 1960); a unit vector's components are not quite that


def test_the_quantiser_is_the_best_of_16_levels_for_a_normal_distribution() -> None:
    """Lloyd's two conditions: an edge is half way between levels, and a level is the mean of what lies between its edges."""
    np.testing.assert_allclose(ALL_EDGES, (ALL_LEVELS[1:] + ALL_LEVELS[:-1]) / 2, atol=2e-4)
    grid = np.linspace(-8, 8, 1_600_001)
    density = np.exp(-(grid**2) / 2)
    cells = np.searchsorted(ALL_EDGES, grid)
    means = np.bincount(cells, density * grid) / np.bincount(cells, density)
    np.testing.assert_allclose(means, ALL_LEVELS, atol=2e-3)


def test_dimensions_that_vary_most_are_kept() -> None:
    wide = states([50] * 40, 3, 300)
    packing = learn(wide, np.array([50] * 40))
    assert packing.rotation.shape == (300, 128)
    np.testing.assert_allclose(packing.rotation.T @ packing.rotation, np.eye(128), atol=1e-5)
    kept = ((wide @ packing.rotation) ** 2).sum()
    _, singular_values, _ = np.linalg.svd(wide.astype(np.float64), full_matrices=False)
    assert kept == pytest.approx((singular_values[:128] ** 2).sum(), rel=1e-4)


def test_the_same_is_learnt_of_nearly_the_same() -> None:
    vectors, counts = states([40] * 30, 4), np.array([40] * 30)
    noise = np.random.default_rng(5).normal(size=vectors.shape).astype(np.float32) * np.float32(1e-6)
    one, other = learn(vectors, counts), learn(vectors + noise, counts)
    assert one.is_like(other)
    assert not one.is_like(learn(states([40] * 30, 6), counts))


def test_an_odd_number_of_dimensions_loses_the_last() -> None:
    assert learn(states([9] * 9, 0, 7), np.array([9] * 9)).kept == 6


def test_batches_come_back_in_the_order_of_their_texts(packing: Packing) -> None:
    texts = [3, 0, 5, 2, 8]
    vectors = states(texts, 7)
    whole, counts = packing.pack(vectors, np.array(texts))
    ends = np.cumsum(texts)
    order = [np.array([4, 2]), np.array([0, 3, 1])]  # the longest first, as batches are
    parts = []
    for places in order:
        rows = np.concatenate([np.arange(ends[place] - texts[place], ends[place]) for place in places])
        parts.append(packing.pack(vectors[rows], np.array([texts[place] for place in places])))
    joined, joined_counts = packed_texts(parts, order)
    np.testing.assert_array_equal(joined, whole)
    np.testing.assert_array_equal(joined_counts, counts)


def test_a_packing_survives_a_file(packing: Packing, tmp_path: Path) -> None:
    write_packing(tmp_path / "late.npy", packing)
    back = read_packing(tmp_path / "late.npy", DIM)
    np.testing.assert_array_equal(back.array(), packing.array())
    for damaged in (packing.array()[:-1], packing.array()[:, :-1].copy(), packing.array().astype(np.int32), np.full((DIM + 2, 4), np.nan)):
        write_array(tmp_path / "late.npy", damaged.astype(np.float32) if damaged.dtype == np.float64 else damaged)
        with pytest.raises(CorruptData, match=r"late\.npy holds"):
            read_packing(tmp_path / "late.npy", DIM)
