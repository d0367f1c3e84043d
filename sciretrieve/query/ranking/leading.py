"""Papers that a query names, put first in a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...runs import Ranking
from ...types import Match, Scores

LEAST = 1.0
"""What a paper scores at least that the query names: as much as fused scores have for a paper that has all of the query."""


def led(ranking: Ranking, match: Match, ids: Sequence[str], k: int) -> Ranking:
    """The first k papers of a ranking in which the papers that the query names, by an id, a title and so on, are put first.

    Papers that are named stay in the ranking's order; those that it lacks come after these, in the order given. They all have the
    best score of the ranking, or 1 if that is less, so that no score rises down the ranking.

    Args:
        ranking: a search's ranking.
        match: the papers that are named.
        ids: their ids.
        k: how many papers to keep.
    """
    rows = match.rows
    place_of = {row: place for place, row in enumerate(ranking.rows.tolist())}
    is_there = [row in place_of for row in rows.tolist()]
    first = sorted(place_of[row] for row, there in zip(rows.tolist(), is_there, strict=True) if there)
    others = np.setdiff1d(np.arange(len(ranking)), first)
    new = [place for place, there in enumerate(is_there) if not there]
    score = max(LEAST, float(ranking.scores.max(initial=LEAST)))

    def joined(values: Scores, new_values: Scores) -> Scores:
        return np.concatenate([values[first], new_values, values[others]])

    # late is better than twice: what the search does not score has no part of a score
    unknown = np.full(len(new), np.nan)
    scores = joined(ranking.scores, unknown)
    scores[: len(first) + len(new)] = score
    whole = replace(
        ranking,
        ids=[*(ranking.ids[place] for place in first), *(ids[place] for place in new), *(ranking.ids[place] for place in others)],
        scores=scores,
        rows=np.concatenate([ranking.rows[first], rows[new], ranking.rows[others]]).astype(np.int64),
        parts={name: joined(values, unknown) for name, values in ranking.parts.items()},
        known=dict.fromkeys(ids, match.by),
    )
    return whole.take(range(min(k, len(whole))))
