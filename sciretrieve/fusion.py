"""Joining the scores of dense and BM25 search into one: pure functions over aligned arrays, and the settings that choose one.

Both halves score the same candidates, the union of their proposals, so that no paper is judged by a missing score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .choices import FUSION_METHODS, FusionMethod, check_choice
from .errors import InvalidRequest, UnknownName
from .types import Mask, Scores

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009, section 2)."""


def unit(scores: Scores, low: float | None = None) -> Scores:
    """Scale `low` (by default the least score) to 0 and the greatest to 1; a missing score (-inf) gives 0."""
    finite = scores[np.isfinite(scores)]
    low = float(finite.min(initial=np.inf)) if low is None else low
    high = float(finite.max(initial=low)) if len(finite) else low
    if high <= low:
        return np.where(np.isfinite(scores), 1.0, 0.0) if 0 < high < np.inf else np.zeros(len(scores))
    return np.clip((scores - low) / (high - low), 0.0, 1.0)


def _min_max(dense: Scores, lexical: Scores) -> tuple[Scores, Scores]:
    """BM25 from its least possible value, 0; the dense scores from the candidates' least."""
    return unit(dense), unit(lexical, 0.0)


def _theoretical(dense: Scores, lexical: Scores) -> tuple[Scores, Scores]:
    """Both from their least possible values, as the paper advises for cosines, which are never below -1."""
    return unit(dense, min(-1.0, float(dense.min(initial=0.0)))), unit(lexical, 0.0)


def _standard(dense: Scores, lexical: Scores) -> tuple[Scores, Scores]:
    """Each less its mean over the candidates, divided by its standard deviation; papers with no word of the query count as 0."""
    scaled_scores = []
    for scores in (dense, np.where(np.isfinite(lexical), lexical, 0.0)):
        spread = float(scores.std()) if len(scores) else 0.0
        scaled_scores.append((scores - scores.mean()) / spread if spread > 0 else np.zeros(len(scores)))
    return scaled_scores[0], scaled_scores[1]


NORMALISATIONS: Mapping[str, Callable[[Scores, Scores], tuple[Scores, Scores]]] = {
    "min-max": _min_max,
    "theoretical": _theoretical,
    "z-score": _standard,
}
"""Ways to make both halves' scores comparable (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
Retrieval", TOIS 2023, section 3)."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """How hybrid search joins its halves. The defaults were measured: see docs/quality.md.

    Attributes:
        method: "rrf"; "convex", a convex combination of the normalised scores; or "blend", which adds to that the title
            overlap, the share of a paper's title that the query covers, and whether the paper has all of the query's words.
        alpha: the dense half's share in the combination.
        normalisation: one of `NORMALISATIONS`.
        title: the weight, beside 1 for both halves together, of the title overlap in "blend".
        complete: the same weight of having all of the query's words.
        depth: how many papers each half proposes. It does not depend on k, so the top 5 are the first 5 of the top 10.
    """

    method: FusionMethod = "blend"
    alpha: float = 0.5
    normalisation: str = "min-max"
    title: float = 0.15
    complete: float = 0.1
    depth: int = 1000

    def __post_init__(self) -> None:
        check_choice("fusion", self.method, FUSION_METHODS)
        if self.normalisation not in NORMALISATIONS:
            raise UnknownName("normalisation", self.normalisation, NORMALISATIONS)
        if not 0 <= self.alpha <= 1:
            raise InvalidRequest(f"--alpha, the dense half's share, lies between 0 and 1, not {self.alpha}")
        if self.title < 0 or self.complete < 0 or self.depth < 1:
            raise InvalidRequest("a fusion needs title >= 0, complete >= 0 and depth >= 1")

    def join(self, dense: Scores, lexical: Scores, title_overlap: Scores, complete: Mask) -> Scores:
        """One score for each candidate, (n,), from its scores in each half (-inf: no word of the query), its title overlap
        (0 to 1), and whether it has all of the query's words; all (n,)."""
        if self.method == "rrf":
            return rrf(dense, lexical)
        scores = convex(dense, lexical, alpha=self.alpha, normalisation=self.normalisation)
        if self.method == "blend":
            scores = (scores + self.title * title_overlap + self.complete * complete) / (1 + self.title + self.complete)
        return scores


def rrf(dense: Scores, lexical: Scores) -> Scores:
    """Reciprocal rank fusion: the sum of 1 / (60 + rank) over both halves; equal scores share the better rank.

    Source: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods", SIGIR 2009. A paper without a lexical score (-inf) gets 0 from that half.
    """
    total = np.zeros(len(dense))
    for scores in (dense, lexical):
        has_score = np.isfinite(scores)
        higher_counts = len(scores) - np.searchsorted(np.sort(scores), scores, side="right")  # papers that score higher
        total[has_score] += 1.0 / (RRF_K + 1 + higher_counts[has_score])
    return total


def convex(dense: Scores, lexical: Scores, *, alpha: float, normalisation: str = "min-max") -> Scores:
    """A convex combination of normalised scores, `alpha` on the dense half.

    Source: Bruch, Gai and Ingber, TOIS 2023, section 3; `NORMALISATIONS` has theirs.
    """
    dense_part, lexical_part = NORMALISATIONS[normalisation](dense, lexical)
    return alpha * dense_part + (1 - alpha) * lexical_part
