"""Answers that do not repeat themselves, against maximal marginal relevance as a slow loop in plain Python."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.choices import Mode
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Query, Vectors
from sciretrieve.matching.dense.vectors import vectors_at
from sciretrieve.query.ranking.diversity import POOL, diverse
from sciretrieve.runs import Ranking


def slow(scores: Sequence[float], vectors: Sequence[Sequence[float]], k: int) -> tuple[list[int], list[float]]:
    """Positions in the order in which they are chosen, with their marginal relevances.

    Of papers the marginal relevance is 0.7 times the score, scaled to 0 … 1, less 0.3 times the greatest cosine to one that
    was chosen before, which counts from 0 on. The better ranked of equals goes first.
    """

    def cosine(a: Sequence[float], b: Sequence[float]) -> float:
        size = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
        return math.fsum(x * y for x, y in zip(a, b, strict=True)) / size if size else 0.0

    low, high = min(scores), max(scores)
    constant = 1.0 if high > 0 else 0.0
    relevance = [(score - low) / (high - low) if high > low else constant for score in scores]
    chosen: list[int] = []
    values: list[float] = []
    while len(chosen) < min(k, len(scores)):
        marginals = {
            one: round(0.7 * relevance[one] - 0.3 * max([0.0, *(cosine(vectors[one], vectors[other]) for other in chosen)]), 9)
            for one in range(len(scores))
            if one not in chosen
        }
        best = max(marginals, key=lambda one: (marginals[one], -one))
        chosen.append(best)
        values.append(marginals[best])
    return chosen, values


def ranking(scores: Sequence[float]) -> Ranking:
    """A ranking with these scores, and everything that must move with its papers."""
    count = len(scores)
    return Ranking(
        Query("q", "x"),
        [f"id{number}" for number in range(count)],
        np.array(scores, np.float64),
        np.arange(count) + 100,
        {"dense": np.arange(count) / 7, "bm25": np.full(count, np.nan)},
        [[f"also{number}"] for number in range(count)],
    )


@st.composite
def candidates(draw: st.DrawFn) -> tuple[list[float], list[list[int]]]:
    """Falling scores, with ties; and vectors few enough to be equal, opposite or zero now and then."""
    count = draw(st.integers(1, 12))
    scores = sorted(draw(st.lists(st.integers(-6, 6).map(float), min_size=count, max_size=count)), reverse=True)
    return scores, draw(st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=count, max_size=count))


@settings(deadline=None, max_examples=100)
@given(candidates(), st.integers(1, 14))
def test_it_is_maximal_marginal_relevance(given_: tuple[list[float], list[list[int]]], k: int) -> None:
    scores, vectors = given_
    before = ranking(scores)
    after = diverse(before, np.array(vectors, np.float32), k)
    chosen, _ = slow(scores, vectors, k)
    assert list(after.ids) == [before.ids[one] for one in chosen]
    assert after.scores.tolist() == [scores[one] for one in chosen]  # how well each matches, not what it adds
    assert after.rows.tolist() == [100 + one for one in chosen]
    assert after.parts["dense"].tolist() == [one / 7 for one in chosen]
    assert list(after.also) == [[f"also{one}"] for one in chosen]


def vectors_of(index: sr.Index, ids: Sequence[str]) -> Vectors:
    return vectors_at(index.snapshot.vectors, index.snapshot.rows(ids))


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("mode", ["hybrid", "dense", "bm25"])
def test_a_diverse_search_chooses_from_fifty(index: sr.Index, mode: Mode, group: bool) -> None:
    queries = ["graph networks", "vaccine trial and star dust"]
    plain = index.search(queries, POOL, mode=mode, filter="year >= 2003", group=group)
    run = index.search(queries, 6, mode=mode, filter="year >= 2003", group=group, diversify=True)
    for ours, wide in zip(run, plain, strict=True):
        chosen, _ = slow(wide.scores.tolist(), vectors_of(index, wide.ids).tolist(), 6)
        assert list(ours.ids) == [wide.ids[one] for one in chosen]
        np.testing.assert_array_equal(ours.scores, wide.scores[chosen])
        if group:
            assert list(ours.also) == [wide.also[one] for one in chosen]
    # by meaning alone the first papers of these are far enough apart
    assert mode == "dense" or any(list(ours.ids) != list(wide.ids[:6]) for ours, wide in zip(run, plain, strict=True))


def test_papers_like_given_ones_can_be_diverse(index: sr.Index) -> None:
    wide = index.similar(["p0000"], POOL).rankings[0]
    chosen, _ = slow(wide.scores.tolist(), vectors_of(index, wide.ids).tolist(), 5)
    assert list(index.similar(["p0000"], 5, diversify=True).rankings[0].ids) == [wide.ids[one] for one in chosen]


def test_an_index_without_vectors_cannot_tell_likeness(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": "a", "title": "graph"}) + "\n")
    index = sr.build(tmp_path / "p.jsonl", tmp_path / "index", encoder=None)
    with pytest.raises(InvalidRequest, match="has no vectors to compare papers by"):
        index.search("graph", diversify=True)
