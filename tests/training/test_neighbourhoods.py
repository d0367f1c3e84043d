"""SciNCL's triplets: the embedding of citations by plain loops, neighbours by brute force, and the bands by rank."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.query.citations.citation_graph import Graph
from sciretrieve.training import neighbourhoods
from sciretrieve.training.neighbourhoods import bands, embedded, neighbours, ranking_loss, sampled
from tests.listeners import Notes
from tests.training.thousand import library, made, table

CHANCE = np.random.default_rng(4)


def community_graph(communities: int, size: int, each: int, strays: int) -> Graph:
    """Papers that cite within their community, but for some."""
    chance, papers = random.Random(3), communities * size
    pairs = [(row, chance.randrange(size) + row // size * size) for row in range(papers) for _ in range(each)]
    pairs += [(chance.randrange(papers), chance.randrange(papers)) for _ in range(strays)]
    return Graph.of(papers, np.array(pairs))


@pytest.mark.parametrize("edges", [1, 2, 49, 50, 51, 130])
def test_the_loss_is_that_of_a_loop_over_every_two_edges_of_a_part(edges: int) -> None:
    ends = CHANCE.normal(size=(edges, 2, 5))
    expected = 0.0
    for first in range(edges):
        for other in range(edges):
            if first != other and first // 50 == other // 50:
                (citing, cited), (citing_too, cited_too) = ends[first], ends[other]
                expected += max(0.0, 0.15 - citing @ cited + citing @ cited_too) + max(0.0, 0.15 - citing @ cited + citing_too @ cited)
    assert float(ranking_loss(torch.from_numpy(ends))) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_two_steps_are_those_of_loops(tmp_path: Path) -> None:
    """Gradients by hand, long vectors cut to norm 1, and Adagrad with one sum a row."""
    vectors, sums = CHANCE.normal(size=(12, 6)) * 0.5, np.zeros(12)
    ours, squares = torch.from_numpy(vectors.copy()), torch.zeros(12, dtype=torch.float64)
    for _ in range(2):
        edges = CHANCE.integers(0, 12, size=(7, 2))
        neighbourhoods._take_step(ours, squares, torch.from_numpy(edges))
        touched = sorted(set(edges.ravel().tolist()))
        for row in touched:
            length = np.linalg.norm(vectors[row])
            vectors[row] /= max(1.0, length + 1e-7 if length > 1 else 1.0)
        gradient = np.zeros_like(vectors)
        for place, (citing, cited) in enumerate(edges):
            own = vectors[citing] @ vectors[cited]
            for other, (citing_too, cited_too) in enumerate(edges):
                if place == other:
                    continue
                for first, second in ((citing, cited_too), (citing_too, cited)):
                    if 0.15 - own + vectors[first] @ vectors[second] > 0:
                        gradient[citing] -= vectors[cited]
                        gradient[cited] -= vectors[citing]
                        gradient[first] += vectors[second]
                        gradient[second] += vectors[first]
        sums += (gradient**2).mean(axis=1)
        for row in touched:
            vectors[row] -= 0.1 * gradient[row] / (sums[row] ** 0.5 + 1e-10)
        np.testing.assert_allclose(ours.numpy(), vectors, atol=1e-6)
    np.testing.assert_allclose(squares.numpy(), sums, atol=1e-6)


def test_neighbours_are_those_of_brute_force() -> None:
    vectors = CHANCE.normal(size=(300, 8)).astype(np.float32)
    vectors[40:60] = vectors[0]  # ties
    among, queries = np.sort(CHANCE.choice(300, 200, replace=False)), np.arange(0, 300, 7)
    for query, found in zip(queries.tolist(), neighbours(vectors, among, queries, 199), strict=True):
        similarities = {row: float(vectors[query] @ vectors[row]) for row in among.tolist() if row != query}
        order = sorted(similarities, key=lambda row: -similarities[row])[:199]
        assert set(found.tolist()) == set(order)
        assert [similarities[row] for row in found.tolist()] == pytest.approx([similarities[row] for row in order], abs=1e-5)


def test_bands_are_the_papers_and_half_way_in_small_corpora() -> None:
    assert bands(311_860) == bands(8_001) == ((20, 25), (3998, 4000))
    assert bands(1_000) == ((20, 25), (497, 499))
    assert bands(56) == ((20, 25), (25, 27))
    with pytest.raises(InvalidRequest, match="54 papers with citations are too few"):
        bands(54)


def test_neighbours_in_the_embedding_are_of_the_own_community_and_hard_negatives_are_not() -> None:
    graph = community_graph(8, 60, 8, 60)
    vectors = embedded(graph, 1, Notes())
    np.testing.assert_array_equal(vectors, embedded(graph, 1, Notes()))
    usable = np.ones(480, bool)
    usable[::10] = False
    queries = [row for row in range(480) if usable[row]][::3]
    right, hard, near = [], [], {}
    for query, found in zip(queries, sampled(graph, usable, queries, random.Random, vectors), strict=True):
        among = [row for row in range(480) if usable[row] and row != query]
        order = sorted(among, key=lambda row: -float(vectors[query] @ vectors[row]))
        near[query] = order
        assert [positive for positive, _, _ in found] == pytest.approx(order[20:25])
        assert [is_hard for *_, is_hard in found] == [False, False, False, True, True]
        last = (432 - 1) // 2
        assert [negative for _, negative, is_hard in found if is_hard] == order[last - 2 : last]
        easy = [negative for _, negative, is_hard in found if not is_hard]
        assert len(set(easy)) == 3
        assert set(easy) <= set(order[last:])
        right += [positive // 60 == query // 60 for positive, _, _ in found]
        hard += [negative // 60 == query // 60 for _, negative, is_hard in found if is_hard]
    assert np.mean(right) > 0.9
    assert np.mean(hard) < 0.05


def test_a_set_is_made_of_the_queries_that_cite(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = library()
    folder = made("triplets", "scincl", tmp_path / "set", rows)
    known = {row["id"] for row in rows}
    citing = {row["id"] for row in rows if row["title"] and row["abstract"] and {*row["references"]} & known - {row["id"]}}
    drawn = table(folder, "triplets.tsv")
    assert {row[0] for row in drawn} == citing
    assert len(drawn) == 5 * len(citing)
    for place in range(0, len(drawn), 5):
        assert [kind for *_, kind in drawn[place : place + 5]] == ["easy", "easy", "easy", "hard", "hard"]
        assert len({id for row in drawn[place : place + 5] for id in row[:3]}) >= 8
