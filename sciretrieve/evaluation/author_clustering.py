"""Authors of one name told apart by their papers' vectors alone: average linkage, and B³ F1 as S2AND computes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidRequest
from .material import Clustering, LabelledPapers
from .predicting import Predicted, with_vectors
from .spaces import Space

THRESHOLDS = 200
"""At most so many heights at which clusters of the development blocks join are tried as the threshold."""

Array = npt.NDArray[Any]


def cluster(clustering: Clustering, space: Space, advance: Callable[[], None]) -> Predicted:
    """Cluster the mentions of each test block, and score all of them together; mentions of papers without a vector are left out.

    Two mentions are as far apart as their papers' vectors by cosine, which is what S2AND's own features have of the vectors. Trees of
    average linkage are cut at the threshold with the best B³ F1 on the development blocks, the lowest of equals.

    Raises:
        InvalidRequest: no mention of the development or of the test blocks has a vector.
    """
    dev, test = (_known(blocks, space) for blocks in (clustering.dev, clustering.test))
    if not dev or not test:
        raise InvalidRequest(f"none of the papers of {clustering.name} has a vector; are these its ids?")
    dev_trees, test_trees = ([_tree(vectors) for vectors, _ in blocks] for blocks in (dev, test))
    dev_truth, test_truth = (np.concatenate([authors for _, authors in blocks]) for blocks in (dev, test))
    heights = np.unique(np.concatenate([[0.0], *(tree[:, 2] for tree in dev_trees)]))
    places = np.unique(np.linspace(0, len(heights) - 1, min(THRESHOLDS, len(heights))).round().astype(int))
    scores = [b_cubed(dev_truth, _cut(dev_trees, threshold)) for threshold in heights[places].tolist()]
    threshold = float(heights[places][int(np.argmax(scores))])
    figure = float(np.round(100 * b_cubed(test_truth, _cut(test_trees, threshold)), 2))
    advance()
    mentions = sum(len(block.ids) for block in (*clustering.dev, *clustering.test))
    left_out = mentions - len(dev_truth) - len(test_truth)
    return Predicted([figure], len(dev_truth), len(test_truth), left_out, unit="mentions of authors")


def b_cubed(truth: Array, clusters: Array) -> float:
    """B³ F1 (Bagga and Baldwin 1998): the harmonic mean of precision and recall, each the mean over all mentions.

    Args:
        truth: the author of each mention, (n,).
        clusters: the cluster of each, (n,).
    """
    _, authors, author_sizes = np.unique(truth, return_inverse=True, return_counts=True)
    _, groups, group_sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    _, both, both_sizes = np.unique(authors * (int(groups.max()) + 1) + groups, return_inverse=True, return_counts=True)
    precision, recall = (float(np.mean(both_sizes[both] / sizes)) for sizes in (group_sizes[groups], author_sizes[authors]))
    return 2 * precision * recall / (precision + recall)


def _known(blocks: Sequence[LabelledPapers], space: Space) -> list[tuple[Array, Array]]:
    """Unit vectors (n, dim) and authors of each block's mentions that have a vector, without empty blocks."""
    result = []
    for vectors, authors in filter(None, (with_vectors(block, space) for block in blocks)):
        rows = np.asarray(vectors, np.float64)
        result.append((rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), authors))
    return result


def _tree(vectors: Array) -> Array:
    """The steps of average linkage, (n - 1, 4), with the heights in the third column; none for one mention."""
    from scipy.cluster.hierarchy import linkage

    if len(vectors) == 1:
        return np.empty((0, 4))
    above = np.triu_indices(len(vectors), 1)
    return np.asarray(linkage(np.maximum(1 - (vectors @ vectors.T)[above], 0), "average"))


def _cut(trees: Sequence[Array], threshold: float) -> Array:
    """The clusters of all blocks' mentions: those that join at the threshold or below."""
    from scipy.cluster.hierarchy import fcluster

    parts, first = [], 0
    for tree in trees:
        part = np.asarray(fcluster(tree, threshold, "distance")) if len(tree) else np.ones(1, int)
        parts.append(part + first)
        first += int(part.max())
    return np.concatenate(parts)
