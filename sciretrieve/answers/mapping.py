"""An answer in two dimensions: what is near in meaning is near on the map, coloured by the groups that papers form.

Places are found by t-SNE (van der Maaten and Hinton, JMLR 2008), from the first two principal components, so that the same answer has the
same map.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..query.index import Index
from ..types import Vectors
from .answering import Answer, Request, answer
from .overview import groups_at

MAPPED = 100
"""How many papers a map has."""
PERPLEXITY = 15.0
"""How many neighbours each paper keeps near, about; fewer where there are few papers."""
STEPS, EARLY = 500, 100
"""Steps of gradient descent, in the first of which groups are drawn together."""
EXAGGERATED = 4.0
FEWEST = 4
"""Papers below which their principal components are their map."""

Points = npt.NDArray[np.float64]
"""Places on a plane, (n, 2)."""


@dataclass(frozen=True, slots=True)
class AnswerMap:
    """The first papers of an answer on a plane.

    Attributes:
        answer: the answer.
        points: where its hits are, (n, 2), from 0 to 1.
        labels: of each group the words that it is about.
        groups: of each hit the number of its group.
    """

    answer: Answer
    points: Points
    labels: Sequence[Sequence[str]]
    groups: Sequence[int]


def answer_map(index: Index, request: Request) -> AnswerMap:
    """The map of the hits of a request. Raises as `answer`, and InvalidRequest for an index without vectors or without BM25."""
    found = answer(index, request)
    groups = groups_at(index, found.ranking.rows, found.ranking.query.words)
    number_at = {place: number for number, group in enumerate(groups) for place in group.places}
    order = [hit.rank - 1 for hit in found.hits]
    points = places(index.snapshot.vectors_at(found.ranking.rows))[order]
    return AnswerMap(found, points, [group.label for group in groups], [number_at[place] for place in order])


def places(vectors: Vectors) -> Points:
    """Where vectors, (n, dim), are on a plane, (n, 2), from 0 to 1 in both directions; all in the middle where they do not differ."""
    points = vectors.astype(np.float64)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    points /= np.where(lengths > 0, lengths, 1)
    components = _principal(points)
    return _spread(components if len(points) < FEWEST or not components.any() else _neighbourly(points, components))


def _principal(points: Points) -> Points:
    """The first two principal components, (n, 2), the greatest value of each positive."""
    if not len(points):
        return np.zeros((0, 2))
    centred = points - points.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    components = np.zeros((len(points), 2))
    components[:, : min(2, len(sizes))] = (left * sizes)[:, :2]
    components[np.abs(components) < 1e-9] = 0
    largest = components[np.abs(components).argmax(axis=0), [0, 1]]
    found: Points = components * np.where(largest < 0, -1, 1)
    return found


def _spread(points: Points) -> Points:
    low, width = (points.min(axis=0), np.ptp(points, axis=0)) if len(points) else (0.0, np.ones(2))
    spread: Points = np.where(width > 0, (points - low) / np.where(width > 0, width, 1), 0.5)
    return spread


def _neighbourly(points: Points, start: Points) -> Points:
    """t-SNE: places whose neighbours are those of the points."""
    size = len(points)
    shares = _shares(_distances(points), min(PERPLEXITY, (size - 1) / 3))
    shares = np.maximum((shares + shares.T) / (2 * size), 1e-12)
    found: Points = start / start[:, 0].std() * 1e-2
    speed, gains = np.zeros_like(found), np.ones_like(found)
    rate = max(size / EXAGGERATED / 4, 10.0)
    for step in range(STEPS):
        is_early = step < EARLY
        near = 1 / (1 + _distances(found))
        np.fill_diagonal(near, 0)
        pull = (shares * (EXAGGERATED if is_early else 1.0) - near / near.sum()) * near
        slope = 4 * (pull.sum(axis=1, keepdims=True) * found - pull @ found)
        gains = np.maximum(np.where(np.sign(slope) == np.sign(speed), gains * 0.8, gains + 0.2), 0.01)
        speed = (0.5 if is_early else 0.8) * speed - rate * gains * slope
        found += speed
        found -= found.mean(axis=0)
    return found


def _distances(points: Points) -> Points:
    """Squared distances, (n, n)."""
    squares = (points**2).sum(axis=1)
    distances: Points = np.maximum(squares[:, None] + squares[None, :] - 2 * points @ points.T, 0)
    return distances


def _shares(distances: Points, perplexity: float) -> Points:
    """How much of each point's neighbourhood every other is, (n, n): as many count as the perplexity says, found by bisection."""
    size = len(distances)
    low, high, sharpness = np.zeros(size), np.full(size, np.inf), np.ones(size)
    is_other = ~np.eye(size, dtype=bool)
    offsets = distances - np.where(is_other, distances, np.inf).min(axis=1, keepdims=True)
    shares = np.zeros_like(distances)
    for _ in range(60):
        weights = np.where(is_other, np.exp(-np.maximum(offsets, 0) * sharpness[:, None]), 0.0)
        shares = weights / weights.sum(axis=1, keepdims=True)
        entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1)
        is_wide = entropy > np.log(perplexity)
        low, high = np.where(is_wide, sharpness, low), np.where(is_wide, high, sharpness)
        sharpness = np.where(np.isinf(high), sharpness * 2, (low + high) / 2)
    return shares
