"""Selection of the k best by score, with all ties at the cutoff, and ordering by score and then by paper id."""

from __future__ import annotations

from collections.abc import Sequence

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


def order(ids: Sequence[str], scores: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
    """Positions by descending score, ties by ascending id."""
    values = scores.tolist()
    return np.array(sorted(range(len(ids)), key=lambda position: (-values[position], ids[position])), np.int64)
