"""What a shard makes of the proposals of an approximate index, and what several shards are asked: with an index that proposes what it is
told to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import CorruptData
from sciretrieve.matching.dense import VectorShard
from sciretrieve.matching.dense.exact import RowScores
from sciretrieve.matching.dense.scale import Scale, ScaledShard
from sciretrieve.matching.dense.vectors import NearestRequest, answered, search
from sciretrieve.matching.effort import EXACT, USUAL, Effort
from sciretrieve.matching.scope import Scope

ALWAYS = Effort(always=True)
DIM = 3


class Told:
    """An approximate index that proposes these rows, or else those with the greatest product."""

    takes_masks = True

    def __init__(self, vectors: Any, rows: Sequence[int] | None = None) -> None:
        self.vectors, self.rows = vectors, rows

    def candidates(self, queries: Any, count: int, *_: Any) -> list[Any]:
        products = queries @ self.vectors.T
        nearest = np.argsort(-products, axis=1)[:, :count]
        rows = list(nearest) if self.rows is None else [np.array(self.rows)] * len(queries)
        return [(own, of_query[own]) for own, of_query in zip(rows, products, strict=True)]


def shard(folder: Path, vectors: Any, first: int = 0, rows: Sequence[int] | None = None) -> VectorShard:
    path = folder / f"vectors-{first}.npy"
    np.save(path, vectors.astype(np.float32))
    made = VectorShard(path, len(vectors), DIM, "ip", first, folder / "none.faiss")
    vars(made)["ann"] = Told(vectors, rows)
    return made


def best(vectors: Any, query: Any, k: int) -> set[int]:
    return set(np.argsort(-vectors @ query)[:k].tolist())


@pytest.mark.parametrize("proposed", [[9, 3, 5], [9, 3, 5, 7]])
def test_as_many_proposals_as_are_asked_for_are_enough(tmp_path: Path, proposed: list[int]) -> None:
    vectors = np.random.default_rng(0).normal(size=(40, DIM))
    query = np.ones((1, DIM), np.float32)
    ((rows, scores),) = shard(tmp_path, vectors, rows=proposed).search(query, 3, Scope(40), ALWAYS)
    expected = sorted(proposed, key=lambda row: -(vectors[row] @ query[0]))[:3]
    assert set(rows.tolist()) == set(expected) != best(vectors, query[0], 3)
    np.testing.assert_allclose(sorted(scores), sorted(vectors[row].sum() for row in expected), rtol=1e-6)


def test_where_too_few_are_proposed_all_vectors_are_scored(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(40, DIM))
    query, scope = np.ones((1, DIM), np.float32), Scope(40).without(np.array([1, 2, 3]))
    ((rows, _),) = shard(tmp_path, vectors, rows=[9, 5]).search(query, 3, scope, ALWAYS)
    others = vectors.copy()
    others[[1, 2, 3]] = -9
    assert set(rows.tolist()) == best(others, query[0], 3)


def test_a_shard_that_has_only_the_best_is_asked_again_for_its_own_queries(tmp_path: Path) -> None:
    """Each in full: what one shard has for one query says nothing of another's for another."""
    chance, k = np.random.default_rng(1), 300
    parts = [chance.normal(size=(400, DIM)) for _ in range(3)]
    parts[0][:, 0] += 30
    parts[2][:, 1] += 30
    shards = [shard(tmp_path, part, 400 * number) for number, part in enumerate(parts)]
    vectors, queries = np.concatenate(parts), np.eye(DIM, dtype=np.float32)
    calls: list[tuple[list[tuple[int, list[int], int]], int | None]] = []

    def ask(requests: Sequence[NearestRequest], known: int | None) -> list[list[RowScores]]:
        asked = [(one.shard, [queries.tolist().index(query) for query in one.query_vectors.tolist()], one.k) for one in requests]
        calls.append((asked, known))
        return answered(shards, requests, known)

    found = search(shards, queries, k, Scope(1200), ALWAYS, ask)
    for query, (rows, _) in zip(queries, found, strict=True):
        assert set(rows.tolist()) == best(vectors, query, k)
    share = 2 * 100 + 64
    assert calls == [([(number, [0, 1, 2], share) for number in range(3)], k), ([(0, [0], k), (2, [1], k)], None)]


def test_a_scaled_shard_is_searched_as_hard_as_any(tmp_path: Path) -> None:
    """Its part of the queries, in its scope, with its scale, and without its index only where that is allowed."""
    vectors = np.random.default_rng(2).normal(size=(4_200, DIM)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", vectors)
    queries, scope = np.random.default_rng(3).normal(size=(2, 2 + DIM + 1)).astype(np.float32), Scope(4_200).without(np.arange(9))
    scaled = ScaledShard(
        tmp_path / "vectors.npy", 4_200, DIM, "ip", 0, tmp_path / "none.faiss", start=2, scale=Scale(0.5, 2.5, np.arange(3))
    )
    for query, (rows, scores) in zip(queries, scaled.search(queries, 7, scope, EXACT), strict=True):
        products = vectors.astype(np.float64) @ query[2 : 2 + DIM]
        products[:9] = -99
        assert set(rows.tolist()) == set(np.argsort(-products)[:7].tolist())
        np.testing.assert_allclose(scores, (products[rows] - 0.5) / 2, rtol=1e-5)
        np.testing.assert_allclose(scaled.score(query, rows), scores, rtol=1e-9)
    for effort in (USUAL, ALWAYS):
        with pytest.raises((CorruptData, RuntimeError)):
            scaled.search(queries, 7, Scope(4_200), effort)


def test_later_shards_read_only_candidates_that_can_still_be_among_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index's scores are inexact, and so are the first readings of how far."""
    chance, k, read = np.random.default_rng(4), 20, list[int]()
    vectors = chance.normal(size=(8 * 400, DIM))
    shards = [shard(tmp_path, vectors[first : first + 400], first) for first in range(0, len(vectors), 400)]
    exact, at = Told.candidates, VectorShard.at
    rough = chance.uniform(-0.01, 0.01, (100, 400))

    def inexact(told: Told, queries: Any, count: int, *others: Any) -> list[Any]:
        return [(rows, scores + rough[len(read)][rows]) for rows, scores in exact(told, queries, count, *others)]

    def noted(own: VectorShard, rows: Any) -> Any:
        read.append(len(rows))
        return at(own, rows)

    monkeypatch.setattr(Told, "candidates", inexact)
    monkeypatch.setattr(VectorShard, "at", noted)
    for query in np.eye(DIM, dtype=np.float32):
        read.clear()
        ((rows, _),) = search(shards, query[None], k, Scope(len(vectors)), ALWAYS)
        assert set(rows.tolist()) == best(vectors, query, k)
        assert sum(read) < 8 * 80 / 2
