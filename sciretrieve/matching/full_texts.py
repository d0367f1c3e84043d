"""How passages of a full text count for their paper: what they add to its own score, in each half by itself, before the halves are fused.

    S = A + SHARE (P - A - usual)

A is the score of a paper's title and abstract, P the mean of its two best passages' scores, and `usual` the mean of P - A over a sample of
papers with full texts. Passages score differently from abstracts, and the best of many higher than one; of a book's thousand the best two
higher still, so `usual` grows with their number. A paper without a full text keeps A, and neither gains nor loses by the full texts of
others on average. Measured, see docs/fulltext.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from ..base.once import once
from ..base.types import Mask, Rows, Scores
from .scope import Scope

SHARE = 0.85
"""Share of the passages in a score."""
USUAL_LENGTH = 2.0
"""How many times as many passages as papers usually have count as many."""
SAMPLE = 32
"""Papers of the sample. Sixteen give the same answers, to a tenth of a point."""
READ = 50
"""Papers that each half proposes first, whose passages are read. Others are not among the first ten, whatever their passages say."""
WORDS = 100
"""Passages with the query's words whose papers are candidates, and whose passages are read, too."""


class Scoped(Protocol):
    """Passages of which some may answer."""

    @property
    def scope(self) -> Scope:
        """The undeleted passages."""


Kind = TypeVar("Kind", bound=Scoped, covariant=True)


@dataclass(frozen=True, eq=False)
class FullText(Generic[Kind]):
    """The full texts of an index's papers.

    Attributes:
        halves: the halves of their passages, whose rows are passages.
        owners: the row of each passage's paper, (passages,); -1 for a deleted passage.
        papers: number of rows of papers.
        sample: rows of some papers with a full text, ascending.
    """

    halves: Kind
    owners: Rows
    papers: int
    sample: Rows

    @once
    def readable(self) -> Mask:
        """Which papers have a full text, (papers,)."""
        return readable(self.owners, self.papers)

    def scope(self, papers: Scope) -> Scope:
        """The passages of the papers that may answer."""
        return self._owned if papers.mask is None else self._owned.passing(papers.flags[self.owners])

    @once
    def _owned(self) -> Scope:
        """The passages that belong to a paper: all, unless an index was put together by hand."""
        scope, is_owned = self.halves.scope, self.owners >= 0
        return scope if is_owned[scope.places].all() else scope.passing(is_owned)

    def passages_of(self, papers: Rows) -> tuple[Rows, Rows]:
        """Rows of the passages of papers that have any, paper after paper, and where those of each paper begin."""
        order, starts = self._by_paper
        counts = starts[papers + 1] - starts[papers]
        firsts = np.cumsum(counts) - counts
        rows = order[np.repeat(starts[papers] - firsts, counts) + np.arange(int(counts.sum()))]
        return rows, firsts

    @once
    def _by_paper(self) -> tuple[Rows, Rows]:
        """Rows of the passages ordered by their papers, and where each paper's begin, with the end after the last."""
        order: Rows = np.argsort(self.owners, kind="stable")
        starts: Rows = np.searchsorted(self.owners[order], np.arange(self.papers + 1))
        return order, starts


@dataclass(frozen=True, slots=True)
class Passages:
    """Passages of some papers with their scores in each half, (n,); -inf without a word of the query, or without the half."""

    rows: Rows
    dense: Scores
    bm25: Scores

    def shown(self, owners: Rows, bonus: Scores) -> tuple[Rows, Rows]:
        """The passage to show of each paper: rows of papers, ascending, and of passages.

        The halves count alike, each scaled within the paper. Of equal passages the first is best.

        Args:
            owners: the row of each passage's paper, over all passages.
            bonus: for each passage, what counts before all else, in whole numbers, (n,).
        """
        paper_of = owners[self.rows]
        papers, places, counts = np.unique(paper_of, return_inverse=True, return_counts=True)
        order = np.lexsort((self.rows, places))
        firsts = np.cumsum(counts) - counts
        scores = np.zeros(len(order))
        for half in (self.dense, self.bm25):
            ordered = zeroed(half)[order]
            low, high = np.minimum.reduceat(ordered, firsts), np.maximum.reduceat(ordered, firsts)
            scores += (ordered - np.repeat(low, counts)) / np.repeat(np.where(high > low, high - low, 1.0), counts) / 2
        scores += 2 * bonus[order]
        best = np.lexsort((self.rows[order], -scores, places[order]))[firsts]
        return papers, self.rows[order][best]


def readable(owners: Rows, papers: int) -> Mask:
    """Which papers are owners of passages, (papers,)."""
    flags = np.zeros(papers, bool)
    flags[owners[owners >= 0]] = True
    return flags


def two_best(scores: Scores, firsts: Rows) -> Scores:
    """Mean of the two best scores of each paper's passages, or its only one. A missing score (-inf) counts as 0.

    Args:
        scores: scores of passages, paper after paper, (n,).
        firsts: where those of each paper begin, (papers,).
    """
    if not len(firsts):
        return np.empty(0)
    scores = zeroed(scores)
    best = np.maximum.reduceat(scores, firsts)
    counts = np.diff(firsts, append=len(scores))
    paper_of = np.repeat(np.arange(len(firsts)), counts)
    places = np.flatnonzero(scores == best[paper_of])
    _, first_places = np.unique(paper_of[places], return_index=True)
    others = scores.copy()
    others[places[first_places]] = -np.inf
    second = np.maximum.reduceat(others, firsts)
    return np.where(np.isfinite(second), (best + np.where(np.isfinite(second), second, 0.0)) / 2, best)


def usual_gains(gains: Scores, scores: Scores, firsts: Rows, is_sample: Mask) -> Scores:
    """The gain over its own score that a paper's passages usually bring, by their number, (papers,).

    The best of n equal draws lies some sqrt(2 ln n) standard deviations above their mean.

    Args:
        gains: how much higher the passages of papers score than their abstracts, (papers,).
        scores: scores of passages, paper after paper; a missing one (-inf) counts as 0.
        firsts: where those of each paper begin, (papers,).
        is_sample: which papers are of the sample.
    """
    counts = np.diff(firsts, append=len(scores))
    scores = zeroed(scores)
    deviations = scores - np.repeat(np.add.reduceat(scores, firsts) / counts, counts)
    spread = np.sqrt(np.mean(deviations[np.repeat(is_sample, counts)] ** 2))
    usual_length = USUAL_LENGTH * np.exp(np.log(counts[is_sample]).mean())
    highest = np.sqrt(2 * np.log(np.maximum(counts, usual_length))) - np.sqrt(2 * np.log(usual_length))
    usual: Scores = gains[is_sample].mean() + spread * highest
    return usual


def zeroed(scores: Scores) -> Scores:
    """Scores with 0 for a missing one (-inf)."""
    return np.where(np.isfinite(scores), scores, 0.0)
