"""Fusion of dense and BM25 scores: pure functions over aligned arrays, and their settings.

Both halves score the same candidates, the union of their proposals, so no score is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.choices import FUSION_METHODS, FusionMethod, check_choice
from ..base.errors import InvalidRequest
from ..base.types import Rows, Scores

RRF_K = 60
"""Constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009, section 2)."""


def unit(scores: Scores, low: float | None = None) -> Scores:
    """Scale scores so that `low`, by default the least score, becomes 0 and the greatest 1. A missing score (-inf) becomes 0."""
    finite = scores[np.isfinite(scores)]
    low = float(finite.min(initial=np.inf)) if low is None else low
    high = float(finite.max(initial=low)) if len(finite) else low
    if high <= low:
        return np.where(np.isfinite(scores), 1.0, 0.0) if 0 < high < np.inf else np.zeros(len(scores))
    return np.clip((scores - low) / (high - low), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class ByLength:
    """Weights that depend on a query's length: the first value for a short query, the second for a long one, linear in between.

    Attributes:
        alpha: weight of the dense half and late interaction together. It is less for few words, since their vector says little.
        tokens: late interaction's part of alpha. It falls with length, since a long query's tokens match something in any paper.
        terms: greatest number of terms of a short query, and least of a long one.
    """

    alpha: tuple[float, float]
    tokens: tuple[float, float]
    terms: tuple[int, int]

    def shares(self, terms: int) -> tuple[float, float]:
        """Alpha, and late interaction's part of it, for a query of this many terms."""
        few, many = self.terms
        length = min(max((terms - few) / (many - few), 0.0), 1.0)
        alpha, tokens = (short + length * (long - short) for short, long in (self.alpha, self.tokens))
        return alpha, tokens


HALVES = ByLength(alpha=(0.3, 0.6), tokens=(0.0, 0.0), terms=(2, 8))
LATE = ByLength(alpha=(0.4, 0.6), tokens=(0.3, 0.1), terms=(2, 8))
"""Default weights without late interaction, and with it. Measured, see docs/quality.md."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """Settings of hybrid search's fusion. The defaults were measured, see docs/quality.md.

    Attributes:
        method: "rrf", or "convex", a convex combination of the halves' scores, each scaled from 0 to 1 (Bruch, Gai and Ingber, "An Analysis
            of Fusion Functions for Hybrid Retrieval", TOIS 2023). If the index has token vectors, late interaction is the third part.
        alpha: in "convex", the weight of the dense half and late interaction together, beside BM25's; None for a weight that grows with the
            query's length.
        depth: number of papers that each half proposes. It does not depend on k, so the top 5 are the first 5 of any longer answer. Papers
            from deeper proposals follow.
        tokens: in "convex", late interaction's weight, taken from alpha; None for a weight that falls with the query's length.
        token_depth: number of papers, best by the other parts, that late interaction re-scores.

    >>> fusion = sr.Fusion(alpha=0.3)
    """

    method: FusionMethod = "convex"
    alpha: float | None = None
    depth: int = 1000
    tokens: float | None = None
    token_depth: int = 100

    def __post_init__(self) -> None:
        check_choice("fusion", self.method, FUSION_METHODS)
        if self.alpha is not None and not 0 <= self.alpha <= 1:
            raise InvalidRequest(f"`alpha`, the dense half's share, lies between 0 and 1, not {self.alpha}")
        if (self.tokens is not None and not 0 <= self.tokens <= 1) or self.token_depth < 1 or self.depth < 1:
            raise InvalidRequest("a fusion needs tokens between 0 and 1, token_depth >= 1 and depth >= 1")

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Fusion:
        """Read from a manifest. Manifests until 2026-11-25 also name a normalisation, which is always the same."""
        return cls(**{name: value for name, value in fields.items() if name != "normalisation"})

    @property
    def takes_tokens(self) -> bool:
        """Whether late interaction takes part."""
        return self.method == "convex" and self.tokens != 0

    def shares(self, terms: int, late: bool) -> tuple[float, float, float]:
        """Weights of the dense half, BM25 and late interaction for a query of this many terms. They add up to 1."""
        alpha, tokens = (LATE if late else HALVES).shares(terms)
        alpha = alpha if self.alpha is None else self.alpha
        tokens = min(tokens if self.tokens is None or not late else self.tokens, alpha)
        return alpha - tokens, 1 - alpha, tokens

    def join(
        self,
        dense: Scores,
        lexical: Scores,
        terms: int = HALVES.terms[1],
        token_scores: Scores | None = None,
    ) -> Scores:
        """One score per candidate, (n,), from the scores in each half, both (n,) (-inf: no word of the query).

        `terms` is the number of terms in the query. `token_scores` are late interaction's scores, -inf where missing.
        """
        if self.method == "rrf":
            return rrf(dense, lexical)
        dense_share, lexical_share, token_share = self.shares(terms, token_scores is not None)
        # BM25 is scaled from its least possible value, 0; dense scores from the candidates' least
        scores = dense_share * unit(dense) + lexical_share * unit(lexical, 0.0)
        return scores if token_scores is None else scores + token_share * unit(token_scores)


def rescored_first(scores: Scores, first: Rows, new_scores: Scores) -> Scores:
    """Scores from 0 to 1, (n,), with new scores for the positions in `first`, raised above all others. The others stay unchanged."""
    others = np.ones(len(scores), bool)
    others[first] = False
    highest = float(scores[others].max(initial=0.0))
    scores = scores.copy()
    scores[first] = highest + (1 - highest) * new_scores[first]
    return scores


def rrf(dense: Scores, lexical: Scores) -> Scores:
    """Reciprocal rank fusion: the sum of 1 / (60 + rank) over both halves. Equal scores share the better rank.

    Source: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods", SIGIR 2009. A paper without a lexical score (-inf) gets 0 from that half.
    """
    total = np.zeros(len(dense))
    for scores in (dense, lexical):
        has_score = np.isfinite(scores)
        higher_counts = len(scores) - np.searchsorted(np.sort(scores), scores, side="right")  # papers that score higher
        total[has_score] += 1.0 / (RRF_K + 1 + higher_counts[has_score])
    return total
