"""Papers that a query names, put first in a ranking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...matching.search import Match
from ...runs import Ranking

LEAST = 1.0
"""What a paper scores at least that the query names: as much as fused scores have for a paper that has all of the query."""


def led(ranking: Ranking, match: Match, k: int) -> Ranking:
    """The first k papers of a ranking in which the papers that the query names, by an id, a title and so on, are put first.

    They stay in the ranking's order, which is by score and id. They all have the best score of the ranking, or 1 if that is less, so that
    no score rises down the ranking.

    Args:
        ranking: a search's ranking, which has all of them, however deep.
        match: the papers that are named.
        k: how many papers to keep.
    """
    is_named = np.isin(ranking.rows, match.rows)
    named, others = np.flatnonzero(is_named), np.flatnonzero(~is_named)
    scores = np.where(is_named, max(LEAST, float(ranking.scores.max(initial=LEAST))), ranking.scores)
    known = dict.fromkeys([ranking.ids[place] for place in named.tolist()], match.by)
    return replace(ranking, scores=scores, known=known).take(np.concatenate([named, others])[:k])
