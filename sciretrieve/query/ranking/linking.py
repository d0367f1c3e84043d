"""Papers linked with given papers by citations: as their own ranking, or joined with a ranking by text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...base.choices import SimilarBy
from ...base.errors import InvalidRequest
from ...base.types import Papers, Rows, Scores, names_of
from ...matching import topk
from ...matching.fusion import unit
from ...matching.scope import Scope, union
from ...matching.search import Probe
from ...runs import Ranking
from ..reading.rocchio import NEGATIVE_WEIGHT
from ..snapshot import Snapshot

SHARE = 0.9
"""Weight of citations in a joined score; the rest is the text's. Citation scores are low: 0.1 is close. Measured, see docs/quality.md."""
DEPTH = 1000
"""Papers by text that are joined. The number does not depend on k, so that the top 5 are the first 5 of the top 10. Further papers
follow."""

GRAPHED = 100_000
"""Most papers for which `Index.similar` uses citations by default. Reading the citations of this many takes some seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class LinkedPapers:
    """Papers that citations link with the given papers.

    Attributes:
        rows: (n,), ascending.
        scores: how closely each is linked, (n,), between 0 and 1.
        ids: returns the ids of rows, for breaking ties.
        alone: whether they are the whole answer, without a ranking by text.
    """

    rows: Rows
    scores: Scores
    ids: Callable[[Rows], list[str]]
    alone: bool

    def ranking(self, probe: Probe, k: int) -> Ranking:
        """The k most closely linked papers that may answer a probe."""
        facts = Ranking(probe.query, (), self.scores, self.rows, total=probe.total, total_is=probe.total_is)
        return self._best(replace(facts, undecided=probe.scope.undecided), {"citations": self.scores}, k)

    def joined(self, ranking: Ranking, k: int) -> Ranking:
        """The k best papers by joined scores. A joined score adds the text score, scaled to between 0 and 1, and the citation score; a
        paper without one of the two gets 0 for it.

        Papers without links follow in the order of the ranking.
        """
        is_further = ~np.isin(ranking.rows, self.rows)
        is_further[:DEPTH] = False
        others, ranking = ranking.take(np.flatnonzero(is_further)), ranking.take(range(min(DEPTH, len(ranking))))
        rows = union(ranking.rows, self.rows)
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
        passages = None
        if ranking.passages is not None:
            passages = np.full(len(rows), -1, np.int64)
            passages[by_text] = ranking.passages
        best = self._best(replace(ranking, scores=scores, rows=rows, passages=passages), parts, k)
        return best.followed_by(others.take(range(min(k - len(best), len(others))))) if len(best) < k else best

    def _best(self, ranking: Ranking, parts: Mapping[str, Scores], k: int) -> Ranking:
        """The k best of unordered papers, without their ids."""
        best = topk.best(ranking.scores, k)
        scores, rows = ranking.scores[best], ranking.rows[best]
        ids = self.ids(rows)
        best_parts = {name: values[best] for name, values in parts.items()}
        passages = None if ranking.passages is None else ranking.passages[best]
        ordered = replace(ranking, ids=ids, scores=scores, rows=rows, parts=best_parts, passages=passages)
        return ordered.take(topk.order(ids, scores)[:k])


def linked_papers(
    snapshot: Snapshot,
    ids: Papers,
    negatives: Papers,
    text: str | None,
    by: SimilarBy | None,
    scope: Scope,
) -> LinkedPapers | None:
    """Papers in a scope that citations link with the given papers; None if citations are not used. The score is the mean over the given
    papers minus a fifth of the mean over the negatives, as in Rocchio's formula. Raises as `Index.similar`."""
    if by == "text" or (by is None and (not names_of(ids) or len(snapshot) > GRAPHED or not snapshot.has_references)):
        return None
    if by == "citations" and text is not None:
        raise InvalidRequest("a text cites nothing; give ids with `by='citations'`, or leave it out")
    positive_rows, negative_rows = snapshot.named_rows(ids), snapshot.named_rows(negatives)
    if not len(positive_rows):
        raise InvalidRequest(f"`by={by!r}` compares citations of papers in the index; give their ids")
    scores = np.zeros(snapshot.scope.rows)
    for rows, weight in ((positive_rows, 1.0), (negative_rows, -NEGATIVE_WEIGHT)):
        for row in rows.tolist():
            related, closeness = snapshot.citations.related(row)
            scores[related] += weight / len(rows) * closeness
    rows = np.flatnonzero((scores > 0) & scope.without(np.concatenate([positive_rows, negative_rows])).flags)
    alone = by == "citations"
    return LinkedPapers(rows, scores[rows], snapshot.ids, alone) if alone or len(rows) else None
