"""The scale of a collection's dense scores: the similarity of unrelated papers, and of nearest neighbours.

Cosines of different encoders are not comparable: for some encoders, all are above 0.7. But an encoder can compare the papers of a
collection with each other, and most of them are unrelated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...base.choices import Metric
from ...base.types import Rows, Scores, Vectors
from ..effort import USUAL, Effort
from ..scope import Scope
from .exact import RowScores
from .vectors import VectorShard, vectors_at

SAMPLE_SIZE, FEWEST = 512, 64
"""Most papers that are compared with each other, and fewest that are enough."""
CHANCE = 90
"""Percentile of the pairs' scores that counts as chance. It is below 100 because a few pairs are related."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Dense scores of unrelated texts, and of nearest neighbours.

    Attributes:
        chance: the score that nine tenths of the pairs of papers stay below.
        near: median over papers of the nearest other paper's score.
        rows: the papers compared, counted over all shards, (n,).
    """

    chance: float
    near: float
    rows: Rows

    def strength(self, scores: Scores) -> Scores:
        """Scores scaled from 0 (chance) to 1 (as close as neighbours) and clipped, (n,)."""
        return np.clip(self.scaled(scores), 0.0, 1.0)

    def scaled(self, scores: Scores) -> Scores:
        """Scores on this scale, (n,): 0 is chance, 1 as close as neighbours. They are comparable between encoders."""
        return (scores - self.chance) / (self.near - self.chance)


@dataclass(frozen=True, kw_only=True)
class ScaledShard(VectorShard):
    """A shard that returns scaled scores. A query's vector concatenates the vectors by several encoders.

    Attributes:
        start: position at which this shard's encoder's vector begins in the query's.
        scale: the collection's scale.
    """

    start: int
    scale: Scale

    def score(self, query: Vectors, rows: Rows | slice) -> Scores:
        """See `VectorShard.score`; the query has the vectors of all encoders."""
        return self.scale.scaled(super().score(query[self.start : self.start + self.dim], rows))

    def search(
        self,
        query_vectors: Vectors,
        k: int,
        scope: Scope,
        effort: Effort = USUAL,
        edges: Scores | None = None,  # noqa: ARG002 - they are on the common scale
    ) -> list[RowScores]:
        """See `VectorShard.search`; queries have the vectors of all encoders, and edges are ignored."""
        answers = super().search(np.ascontiguousarray(query_vectors[:, self.start : self.start + self.dim]), k, scope, effort)
        return [(rows, self.scale.scaled(scores)) for rows, scores in answers]


def scale(shards: Sequence[VectorShard], golden: Vectors | None, rows: Rows) -> Scale | None:
    """The scale of a collection's scores; None if it cannot be determined.

    Args:
        shards: the collection's vectors.
        rows: the undeleted papers to compare, (n,): all of them, or a sample of `SAMPLE_SIZE`.
        golden: the encoder's vectors for a paper and for its title as a query, the first two rows, (>= 2, dim). If the two are less similar
            than neighbours are, the encoder separates queries from papers, and pairs of papers say nothing about queries. Without these
            vectors that cannot be checked.
    """
    if golden is None or len(rows) < FEWEST:
        return None
    metric = shards[0].metric
    sample = vectors_at(shards, rows)
    scores = _scores(sample, sample, metric)
    chance = float(np.percentile(scores[np.triu_indices(len(sample), 1)], CHANCE))
    np.fill_diagonal(scores, -np.inf)
    near, known_item = float(np.median(scores.max(axis=1))), float(_scores(golden[1:2], golden[:1], metric)[0, 0])
    return Scale(chance, near, rows) if chance < near <= known_item else None


def _scores(queries: Vectors, vectors: Vectors, metric: Metric) -> Vectors:
    """Scores as `exact.score` defines them, in one float32 product: (m, dim) and (n, dim) to (m, n)."""
    scores: Vectors = queries @ vectors.T
    query_lengths, lengths = np.linalg.norm(queries, axis=1)[:, None], np.linalg.norm(vectors, axis=1)
    if metric == "cosine":
        scores /= np.maximum(query_lengths * lengths, 1e-12)
    elif metric == "l2":
        scores = -np.sqrt(np.maximum(query_lengths**2 + lengths**2 - 2 * scores, 0))
    return scores
