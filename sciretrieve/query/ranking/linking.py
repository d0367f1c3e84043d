"""Papers that citations link with given ones: a ranking of their own, or joined with the ranking by text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...matching import topk
from ...matching.fusion import unit
from ...runs import Ranking
from ...types import Query, Rows, Scores

SHARE = 0.9
"""What citations count in a joined score, and the text the rest. Their scores are low, 0.1 is close. Measured, see docs/quality.md."""
DEPTH = 1000
"""How many papers by text are joined, at least. It does not depend on k, so that the top 5 are the first 5 of the top 10."""


@dataclass(frozen=True, slots=True, eq=False)
class Linked:
    """Papers that citations link with the given ones.

    Attributes:
        rows: (n,), rising.
        scores: how closely, (n,), above 0 and below 1.
        ids: gives the ids of rows, to break ties by.
        alone: whether they are the answer, without the ranking by text.
    """

    rows: Rows
    scores: Scores
    ids: Callable[[Rows], list[str]]
    alone: bool

    def ranking(self, query: Query, k: int) -> Ranking:
        """The k that are linked most closely."""
        return self._best(Ranking(query, (), self.scores, self.rows), {"citations": self.scores}, k)

    def joined(self, ranking: Ranking, k: int) -> Ranking:
        """The k best by a ranking's scores, scaled to between 0 and 1, and by citations; papers that have no part in one get 0 there.

        Papers that nothing links follow in the order of the ranking.
        """
        rows = np.union1d(ranking.rows, self.rows)
        by_text, by_citations = np.searchsorted(rows, ranking.rows), np.searchsorted(rows, self.rows)
        scores, parts = np.zeros(len(rows)), {}
        scores[by_text] += (1 - SHARE) * unit(ranking.scores)
        scores[by_citations] += SHARE * self.scores
        for name, places, values in (
            *((name, by_text, part) for name, part in ranking.parts.items()),
            ("citations", by_citations, self.scores),
        ):
            parts[name] = np.full(len(rows), np.nan)
            parts[name][places] = values
        return self._best(replace(ranking, scores=scores, rows=rows), parts, k)

    def _best(self, ranking: Ranking, parts: Mapping[str, Scores], k: int) -> Ranking:
        """The k best of papers in any order, without their ids."""
        best = topk.best(ranking.scores, k)
        scores, rows = ranking.scores[best], ranking.rows[best]
        ids = self.ids(rows)
        best_parts = {name: values[best] for name, values in parts.items()}
        return replace(ranking, ids=ids, scores=scores, rows=rows, parts=best_parts).take(topk.order(ids, scores)[:k])
