"""Selection of the k best by score, with all ties at the cutoff, and ordering by score and then by paper id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.types import Rows


def best(scores: npt.NDArray[np.floating], k: int, slack: float = 0.0) -> Rows:
    """Positions of the k greatest scores, and of all others at most `slack` below the k-th.

    All ties at the cutoff are included, so that the caller can break them by paper id. Scores of -inf are never selected.
    """
    if k >= len(scores):
        return np.flatnonzero(scores > -np.inf)
    edge = np.partition(scores, len(scores) - k)[len(scores) - k]
    return np.flatnonzero((scores >= edge - slack) & (scores > -np.inf))


def order(ids: Sequence[str], scores: npt.NDArray[Any], groups: Rows | None = None) -> Rows:
    """Positions by descending score, ties by ascending id; with `groups`, (n,) ascending numbers, one group after the other."""
    values = scores.astype(np.float64)
    positions = np.argsort(-values, kind="stable") if groups is None else np.lexsort((-values, groups))
    is_tied = values[positions[1:]] == values[positions[:-1]]
    if groups is not None:
        is_tied &= groups[1:] == groups[:-1]
    edges = np.flatnonzero(np.diff(is_tied, prepend=False, append=False)).tolist() if is_tied.any() else []
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        positions[first : last + 1] = sorted(positions[first : last + 1].tolist(), key=ids.__getitem__)
    return positions
