"""Joining the scores of dense and BM25 search into one: pure functions over aligned arrays, and the settings that choose one.

Both halves score the same candidates, the union of their proposals, so that no paper is judged by a missing score.
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
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009, section 2)."""


def unit(scores: Scores, low: float | None = None) -> Scores:
    """Scale `low` (by default the least score) to 0 and the greatest to 1; a missing score (-inf) gives 0."""
    finite = scores[np.isfinite(scores)]
    low = float(finite.min(initial=np.inf)) if low is None else low
    high = float(finite.max(initial=low)) if len(finite) else low
    if high <= low:
        return np.where(np.isfinite(scores), 1.0, 0.0) if 0 < high < np.inf else np.zeros(len(scores))
    return np.clip((scores - low) / (high - low), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class ByLength:
    """Shares that follow the length of a query: those of a short one, and of a long one; between them they change evenly.

    Attributes:
        alpha: the share of meaning, that is of the dense half and of late interaction, which a vector says little of for a few words.
        tokens: late interaction's part of that: the longer a query, the more of its tokens match something in any paper.
        terms: how many terms a short query has at the most, and a long one at least.
    """

    alpha: tuple[float, float]
    tokens: tuple[float, float]
    terms: tuple[int, int]

    def shares(self, terms: int) -> tuple[float, float]:
        """Alpha, and of that the tokens' share, for a query of so many terms."""
        few, many = self.terms
        length = min(max((terms - few) / (many - few), 0.0), 1.0)
        alpha, tokens = (short + length * (long - short) for short, long in (self.alpha, self.tokens))
        return alpha, tokens


HALVES = ByLength(alpha=(0.3, 0.6), tokens=(0.0, 0.0), terms=(2, 8))
LATE = ByLength(alpha=(0.4, 0.6), tokens=(0.3, 0.1), terms=(2, 8))
"""Without late interaction, and with it: see docs/quality.md."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """How hybrid search joins its halves. The defaults were measured: see docs/quality.md.

    Attributes:
        method: "convex", a convex combination of the scores, each half's from 0 to 1 (Bruch, Gai and Ingber, "An Analysis of Fusion
            Functions for Hybrid Retrieval", TOIS 2023), where late interaction is the third part if the index has
            token vectors; or "rrf".
        alpha: the share of meaning, that is of the dense half and of late interaction, beside BM25's, in "convex"; None for one that
            grows with the query's length.
        depth: how many papers each half proposes. It does not depend on k, so the top 5 are the first 5 of the top 10, and those of any
            longer answer: what deeper proposals bring follows.
        tokens: the share of late interaction in "convex", taken from alpha; None for one that falls with the length of the query.
        token_depth: how many papers, the first by the other parts as they are without it, late interaction orders anew.
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
        """What a manifest says; those of 2026-11-25 and before also say how scores were normalised, which was in one way."""
        return cls(**{name: value for name, value in fields.items() if name != "normalisation"})

    @property
    def takes_tokens(self) -> bool:
        """Whether late interaction has a part in it."""
        return self.method == "convex" and self.tokens != 0

    def shares(self, terms: int, late: bool) -> tuple[float, float, float]:
        """The shares of the dense half, of BM25 and of late interaction for a query of so many terms, together 1."""
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
        """One score for each candidate, (n,), from its scores in each half, both (n,) (-inf: no word of the query).

        `terms` is how many terms the query has, and `token_scores` are those of late interaction, -inf where it gave none.
        """
        if self.method == "rrf":
            return rrf(dense, lexical)
        dense_share, lexical_share, token_share = self.shares(terms, token_scores is not None)
        # BM25 from its least possible value, 0; the dense scores from the candidates' least
        scores = dense_share * unit(dense) + lexical_share * unit(lexical, 0.0)
        return scores if token_scores is None else scores + token_share * unit(token_scores)


def lifted(scores: Scores, first: Rows, new_scores: Scores) -> Scores:
    """Scores from 0 to 1, (n,), where the places in `first` get new ones, (n,), above all others, which stay as they are."""
    others = np.ones(len(scores), bool)
    others[first] = False
    highest = float(scores[others].max(initial=0.0))
    scores = scores.copy()
    scores[first] = highest + (1 - highest) * new_scores[first]
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
