"""Groups among the first papers of an answer, labelled by distinguishing words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.extras import need
from ..base.types import Rows, Vectors

FEWEST = 6
"""Fewest papers for several groups."""
TIGHTEST, LOOSEST = 6, 25
"""Least and greatest mean size of a group."""
SHARP = 1.5
"""Factor by which a merge must cost more than the previous merge to separate groups sharply. Real papers reached at most 1.25."""
SAME = 1e-3
"""Distance below which unit vectors count as equal."""
WORDS = 3
"""Most words in a group's label."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of papers: their positions in the answer, ascending, and up to three words as a label."""

    members: tuple[int, ...]
    label: tuple[str, ...]


def clusters(vectors: Vectors, terms: Sequence[Collection[str]], word_of_term: Mapping[str, str], most: int = 8) -> list[Cluster]:
    """Divide the papers of an answer, at most about 200, into groups: the largest first, ties by their first paper.

    `vectors` are the papers' vectors in rank order, (n, dim) float32; `terms` are each paper's distinct index terms. `word_of_term` maps a
    term to the word to show; other terms label no group. The result is deterministic.

    Groups come from Ward's linkage of the unit-length vectors (Ward 1963), at most `most` of them. A label has the words with the greatest
    log-likelihood ratio (Dunning 1993) between the papers inside and outside. This favours words that most papers inside and few outside
    contain. A word labels one group only, unless a group would have no label.
    """
    need("scipy", "groups of papers")
    numbers = _numbers(vectors, most)
    groups = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
    groups.sort(key=lambda members: (-len(members), members[0]))
    return [Cluster(tuple(members.tolist()), label) for members, label in zip(groups, _labels(groups, terms, word_of_term), strict=True)]


def _numbers(vectors: Vectors, most: int) -> npt.NDArray[np.integer[Any]]:
    """Group number of each paper, (n,)."""
    if len(vectors) < FEWEST or most < 2:
        return np.zeros(len(vectors), np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage  # slow import

    points = vectors.astype(np.float64)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    tree = linkage(points / np.where(lengths > 0, lengths, 1), "ward")
    numbers: npt.NDArray[np.integer[Any]] = fcluster(tree, _how_many(tree[:, 2], most), "maxclust")
    return numbers


def _how_many(heights: npt.NDArray[np.float64], most: int) -> int:
    """Number of groups for which the next merge costs most relative to the previous one; ties go to fewer groups.

    Without a sharp separation the papers form a continuum, and the greatest relative cost could give two groups of a hundred papers as well
    as eight of twenty-five. Then only numbers that give groups of useful size are considered. `heights` are the merges' costs, (n - 1,).
    """
    papers = len(heights) + 1
    high = min(most, max(2, papers // TIGHTEST))
    low = min(high, max(2, papers // LOOSEST))
    leaps = {number: float((heights[1 - number] + SAME) / (heights[-number] + SAME)) for number in range(2, high + 1)}
    sharpest = max(leaps, key=leaps.__getitem__)
    return sharpest if leaps[sharpest] >= SHARP else max(range(low, high + 1), key=leaps.__getitem__)


def _labels(groups: Sequence[Rows], terms: Sequence[Collection[str]], word_of_term: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Label of each group. All groups choose their words together, the clearest choice first."""
    # terms shown as the same word count as one, so that no label repeats it
    words_of = [{word_of_term[term] for term in paper_terms if term in word_of_term} for paper_terms in terms]
    words = sorted(set().union(*words_of))
    column = {word: number for number, word in enumerate(words)}
    has_word = np.zeros((len(terms), len(words)), np.bool_)
    for paper, paper_words in enumerate(words_of):
        has_word[paper, [column[word] for word in paper_words]] = True
    inside = np.array([has_word[members].sum(axis=0) for members in groups], np.int64).reshape(len(groups), len(words))
    sizes = np.array([len(members) for members in groups], np.int64)[:, None]
    contrast = _contrast(inside, sizes)

    labels: list[list[int]] = [[] for _ in groups]
    used_words: set[int] = set()
    # a word in one paper says little about a group; the sort is stable, so ties stay alphabetical
    eligible = (contrast >= 0) & (inside >= np.minimum(2, sizes))
    for cell in np.lexsort((-inside.ravel(), -contrast.ravel())).tolist():
        group, word = divmod(cell, len(words))
        if eligible[group, word] and word not in used_words and len(labels[group]) < WORDS:
            labels[group].append(word)
            used_words.add(word)
    for group, label in enumerate(labels):
        if not label:
            ranked = np.lexsort((-inside[group], -contrast[group])).tolist()
            label += [word for word in ranked if inside[group, word]][:WORDS]
    return [tuple(words[word] for word in label) for label in labels]


def _contrast(inside: Counts, sizes: Counts) -> npt.NDArray[np.float64]:
    """Dunning's log-likelihood ratio for each group and word, (groups, words); -1 if the word is not more frequent inside.

    It compares papers inside and outside, with and without the word. `inside` counts a group's papers with the word, (groups, words);
    `sizes` counts all of its papers, (groups, 1). For a single group, all ratios are 0.
    """
    from scipy.special import xlogy  # slow import

    papers, papers_with_word = sizes.sum(), inside.sum(axis=0)
    outside, outside_sizes = papers_with_word - inside, papers - sizes
    cells = (inside, sizes - inside, outside, outside_sizes - outside)
    ratio = 2 * (
        sum(xlogy(count, count) for count in cells)
        - sum(xlogy(count, count) for count in (sizes, outside_sizes, papers_with_word, papers - papers_with_word))
        + xlogy(papers, papers)
    )
    commoner = (inside * outside_sizes > outside * sizes) | (outside_sizes == 0)
    # counts in equal proportion differ randomly in the last digits; rounding makes them ties
    return np.where(commoner, np.round(np.maximum(ratio, 0), 9), -1.0)
