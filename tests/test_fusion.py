"""Both fusions against the papers' formulas, written out candidate by candidate."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.fusion import convex, rrf

found = st.floats(-10, 10).map(lambda value: round(value, 2))
lexical_scores = st.just(-np.inf) | st.floats(0, 30).map(lambda value: round(value, 2))
candidates = st.lists(st.tuples(found, lexical_scores), min_size=1, max_size=20)


@given(candidates)
def test_reciprocal_rank_fusion(pairs: list[tuple[float, float]]) -> None:
    expected = []
    for at in range(len(pairs)):
        total = 0.0
        for half in (0, 1):
            score = pairs[at][half]
            if score > -np.inf:
                total += 1 / (60 + 1 + sum(other[half] > score for other in pairs))
        expected.append(total)
    dense, lexical = np.array(pairs).T
    np.testing.assert_allclose(rrf(dense, lexical), expected, rtol=1e-12)


@given(candidates, st.floats(0, 1))
def test_convex_combination(pairs: list[tuple[float, float]], weight: float) -> None:
    dense, lexical = np.array(pairs).T
    low, high, top = dense.min(), dense.max(), max(lexical.max(), 0)
    expected = [
        weight * ((d - low) / (high - low) if high > low else float(high > 0))
        + (1 - weight) * (max(s, 0) / top if top > 0 and s > -np.inf else 0)
        for d, s in pairs
    ]
    np.testing.assert_allclose(convex(dense, lexical, weight=weight), expected, rtol=1e-9, atol=1e-12)


@given(candidates, st.sampled_from([-5.0, 3.0]), st.sampled_from([0.5, 4.0]))
def test_the_scale_of_the_halves_does_not_matter(pairs: list[tuple[float, float]], shift: float, scale: float) -> None:
    dense, lexical = np.array(pairs).T
    if dense.min() < dense.max():
        for fuse in (rrf, convex):
            np.testing.assert_allclose(fuse(dense * scale + shift, lexical * scale), fuse(dense, lexical), atol=1e-9)


def test_a_paper_that_wins_both_halves_wins() -> None:
    dense, lexical = np.array([0.2, 0.9, 0.5]), np.array([-np.inf, 7.0, 3.0])
    for fuse in (rrf, convex):
        assert np.argmax(fuse(dense, lexical)) == 1
