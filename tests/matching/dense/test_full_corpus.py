"""The blocked search over a whole corpus against scoring everything in NumPy."""

import tracemalloc

import numpy as np
import pytest

from sciretrieve.base.choices import Metric
from sciretrieve.matching.dense import full_corpus


@pytest.mark.parametrize("device", [None, "cpu"], ids=["numpy", "torch"])
@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
@pytest.mark.parametrize("k", [1, 10, 500, 5000])
def test_it_is_the_ranking_of_all_scores(metric: Metric, k: int, device: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full_corpus, "QUERIES", 7)
    monkeypatch.setattr(full_corpus, "PAPERS", 64)
    monkeypatch.setattr(full_corpus, "ON_DEVICE", 64)
    chance = np.random.default_rng(k)
    papers, queries = chance.normal(size=(1500, 12)).astype(np.float32), chance.normal(size=(23, 12)).astype(np.float32)
    papers[700:720] = papers[:20]  # the same vectors again: the same scores
    papers[100:1400:7] = papers[3]  # and one far more often than there is slack
    papers.flags.writeable = False  # as a memory-mapped file
    answers = list(full_corpus.top(queries, [papers[:333], papers[333:900], papers[900:]], k, metric, device))
    exact, query_vectors = papers.astype(np.float64), queries.astype(np.float64)
    all_scores = query_vectors @ exact.T
    if metric == "l2":
        all_scores = -np.sqrt(((query_vectors[:, None] - exact[None]) ** 2).sum(-1))
    elif metric == "cosine":
        all_scores /= np.linalg.norm(query_vectors, axis=1)[:, None] * np.linalg.norm(exact, axis=1)
    assert len(answers) == 23
    for (rows, scores), row in zip(answers, all_scores, strict=True):
        row = np.round(row, 10)
        order = np.lexsort((np.arange(1500), -row))
        order = order[row[order] >= row[order[min(k, 1500) - 1]]]
        np.testing.assert_array_equal(rows, order)
        np.testing.assert_allclose(scores, row[order], atol=1e-6)


@pytest.mark.parametrize("k", [100, 1000])
def test_little_is_held_however_deep(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by the candidates that may be held, not by queries times depth: by that, it would be 7 and 34 MB."""
    monkeypatch.setattr(full_corpus, "PAPERS", 256)
    monkeypatch.setattr(full_corpus, "CANDIDATES_HELD", 20_000)
    chance = np.random.default_rng(0)
    papers, queries = chance.normal(size=(1500, 4)).astype(np.float32), chance.normal(size=(600, 4)).astype(np.float32)
    tracemalloc.start()
    try:
        answered = sum(len(rows) == k for rows, _ in full_corpus.top(queries, [papers], k, "ip"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert answered == 600
    assert peak < 200 * full_corpus.CANDIDATES_HELD


def test_no_queries() -> None:
    assert list(full_corpus.top(np.empty((0, 4), np.float32), [np.ones((3, 4), np.float32)], 2, "ip")) == []
