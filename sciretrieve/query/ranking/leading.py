"""Moving papers that a query names to the front of a ranking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...matching.scope import are_among
from ...matching.search import Match
from ...runs import Ranking

LEAST = 1.0
"""Least score of a named paper: the fused score of a paper that matches the whole query."""


def named_first(ranking: Ranking, match: Match, k: int) -> Ranking:
    """The first k papers of a ranking, with papers that the query names, by id, title and so on, moved to the front.

    Named papers keep the ranking's order, by score and id. All get the ranking's best score, or 1 if that is less, so that scores never
    rise down the ranking.

    Args:
        ranking: a ranking that contains all named papers, however deep.
        match: the named papers.
        k: number of papers to keep.
    """
    is_named = are_among(ranking.rows, np.sort(match.rows))
    named, others = np.flatnonzero(is_named), np.flatnonzero(~is_named)
    scores = np.where(is_named, max(LEAST, float(ranking.scores.max(initial=LEAST))), ranking.scores)
    known = dict.fromkeys([ranking.ids[place] for place in named.tolist()], match.by)
    return replace(ranking, scores=scores, known=known).take(np.concatenate([named, others])[:k])
