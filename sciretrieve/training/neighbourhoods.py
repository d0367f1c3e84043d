"""Triplets by SciNCL (Ostendorff et al. 2022): neighbours of a paper in an embedding of the citation graph, by rank.

The embedding is PyTorch-BigGraph's, by the settings in the authors' biggraph_configs: an edge's ends have a greater inner product than ends
of other edges, by a margin. That library is no longer kept, and its model is a table, a ranking loss and an Adagrad by rows; so torch
trains it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest
from ..base.extras import need
from ..base.types import Mask, Rows, Vectors
from ..evaluation.builders.negatives import shuffled
from ..matching.dense import full_corpus
from ..protocols import Progress
from ..query.citations.citation_graph import Graph

DIM, EPOCHS, CHUNKS, BATCH, NEGATIVES = 768, 20, 10, 10_000, 50
"""The vectors' dimension; rounds over all edges; parts of a round, and the most edges of a step; edges that are negatives of each other."""
MARGIN, RATE, LONGEST, SCALE = 0.15, 0.1, 1.0, 1e-3
"""The margin, the learning rate, the greatest norm of a vector, and the deviation of the first ones."""
EASY, HARD = (20, 25), (3998, 4000)
"""Ranks of positives and of hard negatives: after the first number, up to the second. As in the command in the README of their code."""
EASY_NEGATIVES = 3


def embedded(graph: Graph, seed: int, progress: Progress) -> Vectors:
    """A vector of unit length for each paper of a graph, (papers, DIM); random for papers without citations. Raises MissingExtra."""
    need("torch", "an embedding of citations")
    import torch

    chance = torch.Generator().manual_seed(seed)
    edges = torch.from_numpy(graph.pairs)
    table = torch.randn(graph.size, DIM, generator=chance) * SCALE
    squares = torch.zeros(graph.size)
    size = max(min(BATCH, -(-len(edges) // CHUNKS)), 1)
    progress.start(EPOCHS, unit="rounds of citations")
    for _ in range(EPOCHS):
        for places in torch.randperm(len(edges), generator=chance).split(size):
            _take_step(table, squares, edges[places])
        progress.advance(1)
    vectors: Vectors = torch.nn.functional.normalize(table, dim=1).numpy()
    return vectors


def _take_step(table: Any, squares: Any, edges: Any) -> None:
    """Change the vectors of some edges' ends, in place.

    Args:
        table: all vectors, (papers, dim).
        squares: for each paper the sum of its gradients' mean squares, (papers,).
        edges: citing and cited rows, (edges, 2).
    """
    import torch

    rows, places = torch.unique(edges, return_inverse=True)
    own = torch.renorm(table[rows], 2, 0, LONGEST)
    ends = own[places].requires_grad_()
    ranking_loss(ends).backward()
    # one after the other: a gradient through the indices would add up in any order
    gradient = torch.zeros_like(own).index_add_(0, places.flatten(), ends.grad.flatten(0, 1))
    squares[rows] += gradient.square().mean(dim=1)
    table[rows] = own - RATE * gradient / (squares[rows].sqrt() + 1e-10).unsqueeze(1)


def ranking_loss(ends: Any) -> Any:
    """The sum of max(0, MARGIN - an edge's inner product + that of its one end with the other end of another edge among its NEGATIVES).

    `ends` are the vectors of the citing and the cited papers, (edges, 2, dim).
    """
    loss = ends.new_zeros(())
    whole = len(ends) // NEGATIVES * NEGATIVES
    for parts in (ends[:whole].view(-1, NEGATIVES, *ends.shape[1:]), ends[whole:][None]):
        products = parts[:, :, 0] @ parts[:, :, 1].mT  # (parts, citing, cited)
        own = products.diagonal(dim1=1, dim2=2)
        others = 1.0 - products.new_ones(parts.shape[1]).diag()
        for right in (own[:, :, None], own[:, None, :]):  # another cited paper, another citing one
            loss = loss + ((MARGIN - right + products).clamp(min=0) * others).sum()
    return loss


def neighbours(vectors: Vectors, among: Rows, queries: Rows, depth: int) -> Iterator[Rows]:
    """For each query, the nearest rows of `among`, which rise, by inner product, (depth,), without the query itself; ties by row."""
    for query, (places, _) in zip(queries, full_corpus.top(vectors[queries], [vectors[among]], depth + 1, "ip"), strict=True):
        nearest = among[places]
        yield nearest[nearest != query][:depth]


def bands(papers: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The ranks of positives and of hard negatives among some papers. Raises InvalidRequest if they are too few.

    Of fewer than twice 4,000 papers, hard negatives are those half way, which is ours: the authors' corpus has 311,860.
    """
    last = min(HARD[1], (papers - 1) // 2)
    hard = last - (HARD[1] - HARD[0]), last
    if hard[0] < EASY[1]:
        raise InvalidRequest(f"{papers:,} papers with citations are too few for neighbours of rank {EASY[1]} and, half way, hard negatives")
    return EASY, hard


def sampled(
    graph: Graph, is_usable: Mask, queries: Sequence[int], chance_of: Callable[[int], Random], vectors: Vectors
) -> Iterator[list[tuple[int, int, bool]]]:
    """For each query five pairs of rows, a positive and a negative, and whether the negative is hard.

    Positives and hard negatives are those of `bands`, in their order. Easy negatives are papers that cite, drawn by chance among those
    farther than the hard ones. All are usable papers with citations.

    Args:
        graph: the citations.
        is_usable: the papers that may be in a triplet, (papers,).
        queries: rows.
        chance_of: gives a query's random numbers.
        vectors: `embedded` of the graph.
    """
    among = np.flatnonzero(is_usable & (graph.cites_counts + graph.cited_counts > 0))
    citing = np.flatnonzero(is_usable & (graph.cites_counts > 0))
    easy, hard = bands(len(among))
    for query, nearest in zip(queries, neighbours(vectors, among, np.array(queries, np.int64), hard[1]), strict=True):
        barred = {query, *nearest.tolist()}
        drawn = islice((row for row in shuffled(citing, chance_of(query)) if row not in barred), EASY_NEGATIVES)
        negatives = [*((row, False) for row in drawn), *((row, True) for row in nearest[slice(*hard)].tolist())]
        yield [(positive, *negative) for positive, negative in zip(nearest[slice(*easy)].tolist(), negatives, strict=False)]
