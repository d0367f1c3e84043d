"""Fusion against the papers' formulas, written out candidate by candidate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.matching.fusion import Fusion, rescored_first, rrf, unit

dense_scores = st.floats(-10, 10).map(lambda value: round(value, 2))
lexical_scores = st.just(-np.inf) | st.floats(0, 30).map(lambda value: round(value, 2))
candidates = st.lists(st.tuples(dense_scores, lexical_scores), min_size=1, max_size=20)
Pairs = list[tuple[float, float]]


def halves(pairs: Sequence[tuple[float, ...]]) -> Any:
    return np.array(pairs, np.float64).T


def convex(dense: Any, lexical: Any, *, alpha: float) -> Any:
    return Fusion("convex", alpha).join(dense, lexical)


def slow_rrf(pairs: Sequence[tuple[float, ...]]) -> list[float]:
    expected = []
    for position in range(len(pairs)):
        total = 0.0
        for half in (0, 1):
            score = pairs[position][half]
            if score > -np.inf:
                total += 1 / (60 + 1 + sum(other[half] > score for other in pairs))
        expected.append(total)
    return expected


def stretched(values: list[float], low: float) -> list[float]:
    """`low` to 0 and the greatest to 1; absent ones give 0. With nothing to tell them apart, all that are above 0 give 1."""
    high = max([low, *(value for value in values if value > -math.inf)])
    if high <= low:
        return [float(value > -math.inf and high > 0) for value in values]
    return [(value - low) / (high - low) if value > -math.inf else 0.0 for value in values]


def slow_convex(pairs: Sequence[tuple[float, ...]], alpha: float) -> list[float]:
    dense, lexical = stretched([pair[0] for pair in pairs], min(pair[0] for pair in pairs)), stretched([pair[1] for pair in pairs], 0.0)
    return [alpha * d + (1 - alpha) * s for d, s in zip(dense, lexical, strict=True)]


@given(candidates)
def test_reciprocal_rank_fusion(pairs: Pairs) -> None:
    np.testing.assert_allclose(rrf(*halves(pairs)), slow_rrf(pairs), rtol=1e-12)


@given(candidates, st.floats(0, 1))
def test_convex_combination(pairs: Pairs, alpha: float) -> None:
    np.testing.assert_allclose(convex(*halves(pairs), alpha=alpha), slow_convex(pairs, alpha), rtol=1e-7, atol=1e-9)


def test_halves_without_a_difference_rank_nothing() -> None:
    for lexical in ([-np.inf] * 3, [2.0] * 3):
        ours = convex(np.full(3, 0.1), np.array(lexical), alpha=0.4)
        assert np.isfinite(ours).all()
        assert len(set(ours.tolist())) == 1
    assert convex(np.empty(0), np.empty(0), alpha=0.4).shape == (0,)


@given(st.lists(lexical_scores | dense_scores, max_size=15), st.none() | st.floats(-20, 20).map(lambda value: round(value, 2)))
def test_unit(values: list[float], low: float | None) -> None:
    finite = [value for value in values if value > -np.inf]
    ours = unit(np.array(values, np.float64), low)
    assert ours.shape == (len(values),)
    assert ((ours >= 0) & (ours <= 1)).all()
    if finite:
        least = min(finite) if low is None else low
        # what lies below the given least value counts as that
        expected = stretched([value if value == -np.inf else max(value, least) for value in values], least)
        if max([least, *finite]) > least:
            np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)
            order = np.argsort(values, kind="stable")
            assert (np.diff(ours[order]) >= 0).all()
    else:
        assert not ours.any()


def test_what_an_index_was_tuned_to_is_read() -> None:
    for fusion in (Fusion(), Fusion("rrf", depth=7), Fusion(alpha=0.3, tokens=0.2)):
        assert Fusion.of(asdict(fusion)) == Fusion.of({**asdict(fusion), "normalisation": "min-max"}) == fusion


@given(candidates, st.integers(0, 40))
def test_shares_follow_the_length_of_the_query(pairs: Pairs, terms: int) -> None:
    """Without late interaction, dense has 0.3 to 0.6 between two and eight terms."""
    expected = slow_convex(pairs, 0.3 + 0.3 * min(max(terms - 2, 0), 6) / 6)
    dense, lexical = halves(pairs)
    np.testing.assert_allclose(Fusion().join(dense, lexical, terms), expected, rtol=1e-7, atol=1e-9)
    assert sum(Fusion().shares(terms, True)) == pytest.approx(1)


@given(candidates, st.integers(0, 12), st.data())
def test_late_interaction_is_a_part_of_its_own(pairs: Pairs, terms: int, data: st.DataObject) -> None:
    """Between two and eight terms, dense has 0.1 to 0.5, BM25 0.6 to 0.4, and tokens 0.3 to 0.1."""
    token_scores = np.array(data.draw(st.lists(st.just(-np.inf) | st.floats(0, 1), min_size=len(pairs), max_size=len(pairs))))
    x = min(max(terms - 2, 0), 6) / 6
    shares = 0.1 + 0.4 * x, 0.6 - 0.2 * x, 0.3 - 0.2 * x
    parts = slow_convex(pairs, 1.0), slow_convex(pairs, 0.0), unit(token_scores)
    expected = sum(share * np.array(part) for share, part in zip(shares, parts, strict=True))
    dense, lexical = halves(pairs)
    np.testing.assert_allclose(Fusion().join(dense, lexical, terms, token_scores), expected, rtol=1e-7, atol=1e-9)


def test_what_is_scored_anew_stays_above_the_others() -> None:
    scores, new_scores = np.array([0.5, 0.4, 0.3, 0.2]), np.array([0.0, 1.0, 0.9, 0.5])
    np.testing.assert_allclose(rescored_first(scores, np.array([0, 1]), new_scores), [0.3, 1.0, 0.3, 0.2])
    np.testing.assert_allclose(rescored_first(scores, np.arange(4), new_scores), new_scores)


def test_the_share_of_tokens_is_taken_from_that_of_meaning() -> None:
    assert Fusion(tokens=0.5, alpha=0.6).shares(2, True) == pytest.approx((0.1, 0.4, 0.5))
    assert Fusion(alpha=0.2, tokens=0.5).shares(9, True) == pytest.approx((0.0, 0.8, 0.2))  # never more than all of it
    assert (Fusion(tokens=0).takes_tokens, Fusion("rrf").takes_tokens, Fusion().takes_tokens) == (False, False, True)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"tokens": 1.5}, InvalidRequest, "tokens between 0 and 1"),
        ({"token_depth": 0}, InvalidRequest, "token_depth >= 1"),
        ({"method": "rff"}, UnknownName, "did you mean 'rrf'"),
        ({"method": ""}, UnknownName, "fusion"),
        ({"alpha": -0.01}, InvalidRequest, "between 0 and 1, not -0.01"),
        ({"alpha": 1.01}, InvalidRequest, "between 0 and 1, not 1.01"),
        ({"alpha": math.nan}, InvalidRequest, "between 0 and 1"),
        ({"depth": 0}, InvalidRequest, "depth >= 1"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        Fusion(**settings)
    assert "\n" not in str(caught.value)
