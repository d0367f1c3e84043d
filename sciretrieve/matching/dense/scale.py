"""What the dense scores of a collection mean: how near two of its papers are by chance, and how near neighbours are.

Cosines are not comparable between encoders: for some, all are above 0.7. But the encoder that compares papers with
queries can also compare papers with each other, and most papers of a collection are unrelated.
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
"""The most papers that are compared with each other; and the fewest that are enough to tell."""
CHANCE = 90
"""The percentile of the scores of pairs that counts as chance: a few pairs are of the same field."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The dense score of unrelated texts, and that of a paper and its nearest neighbour.

    Attributes:
        chance: the score that all but a tenth of the pairs of papers stay below.
        near: the median, over papers, of the score of the nearest other paper.
        rows: the papers that were compared, counted over all shards, (n,).
    """

    chance: float
    near: float
    rows: Rows

    def strength(self, scores: Scores) -> Scores:
        """How much scores mean, (n,), from 0 (no more than chance) to 1 (as near as neighbours)."""
        return np.clip(self.scaled(scores), 0.0, 1.0)

    def scaled(self, scores: Scores) -> Scores:
        """Scores on this scale, (n,): 0 is chance, 1 as near as neighbours; these compare with those of other encoders."""
        return (scores - self.chance) / (self.near - self.chance)


@dataclass(frozen=True, kw_only=True)
class ScaledShard(VectorShard):
    """A shard whose scores are on its collection's scale, for queries that several encoders read: their vectors stand one after the other.

    Attributes:
        start: where the vector by this shard's encoder begins in that of a query.
        scale: of the collection.
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
        edges: Scores | None = None,  # noqa: ARG002 - they are on the scale of all collections
    ) -> list[RowScores]:
        """See `VectorShard.search`; the queries have the vectors of all encoders, and no row is left out."""
        answers = super().search(np.ascontiguousarray(query_vectors[:, self.start : self.start + self.dim]), k, scope, effort)
        return [(rows, self.scale.scaled(scores)) for rows, scores in answers]


def scale(shards: Sequence[VectorShard], golden: Vectors | None, rows: Rows) -> Scale | None:
    """The scale of a collection's scores, or None if it cannot be determined.

    Args:
        shards: the collection's vectors.
        rows: the papers that are compared, of those that are not deleted: all, or `SAMPLE_SIZE` that are drawn, (n,).
        golden: the encoder's vectors for one paper and for its title as a query, the first two rows, (>= 2, dim). If these
            are less near than neighbours are, the encoder puts queries in another region than papers, and pairs of papers say
            nothing about queries. Without such vectors that cannot be checked.
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
    """Scores as `exact.score` defines them, but all at once in float32: (m, dim) and (n, dim) to (m, n)."""
    scores: Vectors = queries @ vectors.T
    query_lengths, lengths = np.linalg.norm(queries, axis=1)[:, None], np.linalg.norm(vectors, axis=1)
    if metric == "cosine":
        scores /= np.maximum(query_lengths * lengths, 1e-12)
    elif metric == "l2":
        scores = -np.sqrt(np.maximum(query_lengths**2 + lengths**2 - 2 * scores, 0))
    return scores
