"""Exact search against a literal sort of all scores."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.base.choices import METRICS, Metric
from sciretrieve.base.types import Vectors
from sciretrieve.matching.dense import exact


def literal(query: Vectors, vectors: Vectors, metric: Metric) -> Any:
    """Scores in float64, written as the textbook has them."""
    q, x = query.astype(float), vectors.astype(float)
    if metric == "l2":
        return -np.linalg.norm(x - q, axis=1)
    return x @ q if metric == "ip" else (x @ q) / (np.linalg.norm(x, axis=1) * np.linalg.norm(q))


def search_all(vectors: Vectors, queries: Vectors, k: int, metric: Metric, mask: Any = None) -> Any:
    return exact.search(vectors, exact.unknown_norms(len(vectors)), queries, k, metric, mask)


@pytest.mark.parametrize("metric", METRICS)
def test_lengths_are_taken_of_what_is_read_and_known_from_then_on(metric: Metric) -> None:
    rng = np.random.default_rng(4)
    vectors = (rng.standard_normal((400, 16)) * rng.random((400, 1))).astype(np.float32)
    queries = rng.standard_normal((3, 16)).astype(np.float32)
    norms = exact.unknown_norms(400)
    few = np.arange(400) % 20 == 0
    first = exact.search(vectors, norms, queries, 5, metric, few)
    assert (np.isfinite(norms) == few).all()
    for mask in (few, None):
        again, expected = exact.search(vectors, norms, queries, 5, metric, mask), search_all(vectors, queries, 5, metric, mask)
        for (rows, scores), (expected_rows, expected_scores) in zip(again, expected, strict=True):
            assert dict(zip(rows.tolist(), scores.tolist(), strict=True)) == dict(
                zip(expected_rows.tolist(), expected_scores.tolist(), strict=True)
            )
    np.testing.assert_allclose(norms, np.linalg.norm(vectors, axis=1), rtol=1e-6)
    assert all(
        (rows == again_rows).all() for (rows, _), (again_rows, _) in zip(first, search_all(vectors, queries, 5, metric, few), strict=True)
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_finds_the_best_of_many_blocks(metric: Metric, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "BLOCK_ROWS", 100)
    monkeypatch.setattr(exact, "BLOCK_QUERIES", 3)
    rng = np.random.default_rng(1)
    vectors = (rng.standard_normal((733, 24)) * scale * rng.random((733, 1))).astype(np.float32)
    queries = rng.standard_normal((7, 24)).astype(np.float32)
    for query, (rows, scores) in zip(queries, search_all(vectors, queries, 10, metric), strict=True):
        expected = literal(query, vectors, metric)
        assert set(rows.tolist()) == set(np.argsort(-expected)[:10].tolist())
        np.testing.assert_allclose(scores, expected[rows], rtol=1e-12, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(data=st.data(), metric=st.sampled_from(METRICS), k=st.integers(1, 30))
def test_takes_every_tie_at_the_edge(data: st.DataObject, metric: Metric, k: int) -> None:
    # small whole numbers make many vectors equal
    rows = data.draw(st.lists(st.tuples(*[st.integers(-1, 1)] * 3).filter(any), min_size=1, max_size=60))
    vectors, query = np.array(rows, np.float32), np.array([[1, 2, -1]], np.float32)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    expected = np.round(literal(query[0], vectors, metric), 9)
    passing = np.flatnonzero(mask)
    best = np.sort(expected[passing])[::-1][:k]
    want = {row for row in passing.tolist() if len(best) and expected[row] >= best[-1]}
    got, _ = search_all(vectors, query, k, metric, mask)[0]
    assert want == set(got.tolist())


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_only_what_is_below_an_edge_is_left_out(metric: Metric, scale: float, offset: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "BLOCK_ROWS", 100)
    rng = np.random.default_rng(1)
    vectors = (scale * (offset + rng.standard_normal((733, 24)) * rng.random((733, 1)))).astype(np.float32)
    vectors[:730:3] = vectors[1:731:3]  # so that there are ties
    queries = (offset + rng.standard_normal((7, 24))).astype(np.float32)
    whole = search_all(vectors, queries, len(vectors), metric)
    edges = np.array([np.sort(scores)[-20] for _, scores in whole])
    edges[3] = -np.inf
    answers = exact.search(vectors, exact.unknown_norms(len(vectors)), queries, 50, metric, None, edges)
    for edge, (rows, scores), (all_rows, all_scores) in zip(edges, answers, whole, strict=True):
        least = max(edge, np.sort(all_scores)[-50])
        assert set(all_rows[all_scores >= least].tolist()) == set(rows[scores >= least].tolist())
        assert len(rows) >= 50 if edge == -np.inf else offset or len(rows) < 50


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("length", [0.0, 1e-5, 1.0])
def test_an_edge_loses_nothing_whatever_the_length_of_the_query(metric: Metric, length: float) -> None:
    rng = np.random.default_rng(3)
    vectors = (rng.standard_normal((300, 8)) * 10.0 ** rng.integers(-6, 3, (300, 1))).astype(np.float32)
    query = (length * rng.standard_normal((1, 8))).astype(np.float32)
    rows, scores = search_all(vectors, query, 300, metric)[0]
    for k in (1, 100, 250, 300):
        edge = np.sort(scores)[-k]
        for least in (edge, -np.inf):
            found_rows, found_scores = exact.search(vectors, exact.unknown_norms(300), query, k, metric, None, np.array([least]))[0]
            assert set(found_rows[found_scores >= edge].tolist()) == set(rows[scores >= edge].tolist())


@pytest.mark.parametrize("metric", METRICS)
def test_near_ties_below_the_error_of_float32_are_told_apart(metric: Metric) -> None:
    # a common offset makes products large and their differences smaller than what float32 keeps of them
    rng = np.random.default_rng(6)
    offset = 100 * rng.standard_normal(64)
    vectors = (offset + 0.002 * rng.standard_normal((400, 64))).astype(np.float32)
    queries = (offset * 1.01 + rng.standard_normal((20, 64))).astype(np.float32)
    products = queries @ vectors.T
    misled = 0
    for number, (query, (rows, _)) in enumerate(zip(queries, search_all(vectors, queries, 10, metric), strict=True)):
        expected = literal(query, vectors, metric)
        best = set(np.argsort(-expected)[:10].tolist())
        assert set(rows.tolist()) == best
        misled += set(np.argsort(-products[number])[:10].tolist()) != best
    assert misled  # else the test would ask nothing of the slack


def test_a_zero_vector_is_no_nan() -> None:
    vectors = np.zeros((2, 4), np.float32)
    vectors[1, 0] = 1
    rows, scores = search_all(vectors, np.ones((1, 4), np.float32), 2, "cosine")[0]
    assert sorted(rows.tolist()) == [0, 1]
    assert np.isfinite(scores).all()
