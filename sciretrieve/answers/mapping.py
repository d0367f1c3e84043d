"""A map of an answer: papers in two dimensions, close papers having similar vectors, coloured by group.

Positions come from scikit-learn's t-SNE (van der Maaten and Hinton, JMLR 2008), started from the first two principal components, so that
the same answer gives the same map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.extras import need
from ..base.types import Vectors
from ..query.index import Index
from .answering import Answer, Request, answer
from .overview import groups_at

MAPPED = 100
"""Papers on a map."""
PERPLEXITY = 15.0
"""t-SNE's perplexity: roughly how many neighbours each paper stays close to; less for few papers."""
FEWEST = 4
"""Fewest papers for a map."""

Points = npt.NDArray[np.float64]
"""Positions on a plane, (n, 2)."""


@dataclass(frozen=True, slots=True)
class AnswerMap:
    """The first papers of an answer on a plane.

    Attributes:
        answer: the answer.
        points: the hits' positions, (n, 2), from 0 to 1.
        labels: each group's words.
        groups: each hit's group number.
    """

    answer: Answer
    points: Points
    labels: Sequence[Sequence[str]]
    groups: Sequence[int]


def answer_map(index: Index, request: Request) -> AnswerMap:
    """Map of a request's hits. Raises as `answer`, and InvalidRequest for an index without vectors or without BM25."""
    response = answer(index, request)
    groups = groups_at(index, response.ranking.rows, response.ranking.query.words)
    number_at = {place: number for number, group in enumerate(groups) for place in group.places}
    order = response.places
    points = places(index.snapshot.vectors_at(response.ranking.rows))[order]
    return AnswerMap(response, points, [group.label for group in groups], [number_at[place] for place in order])


def places(vectors: Vectors) -> Points:
    """Positions of vectors, (n, dim), on a plane, (n, 2), from 0 to 1 in both directions. Few or equal vectors are placed in a row."""
    points = vectors.astype(np.float64)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    points /= np.where(lengths > 0, lengths, 1)
    drawn = np.column_stack([np.arange(len(points)), np.zeros(len(points))])
    if len(points) >= FEWEST and np.ptp(points, axis=0).max() > 1e-9:
        need("sklearn", "a map of an answer")
        from sklearn.manifold import TSNE

        perplexity = min(PERPLEXITY, (len(points) - 1) / 3)
        drawn = TSNE(perplexity=perplexity, init="pca", method="exact", max_iter=500, random_state=0).fit_transform(points)
    low, width = (drawn.min(axis=0), np.ptp(drawn, axis=0)) if len(drawn) else (0.0, np.ones(2))
    spread: Points = np.where(width > 0, (drawn - low) / np.where(width > 0, width, 1), 0.5)
    return spread
