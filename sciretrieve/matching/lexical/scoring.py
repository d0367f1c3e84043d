"""Scoring of a shard's papers for a query, in a fixed order of additions, skipping what cannot change the best papers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.once import once
from ...base.types import Mask, Rows
from ..scope import NO_ROWS, are_among, places_among, union
from .fields import field_term
from .lexical_shard import NO_PLACES, LexicalShard, Weights

LOOKED_UP = 48
"""Most postings of a term per scored paper for which adding all of them is faster than looking the papers up."""
WEIGHED = 8
"""Postings that are added in the time that one is weighted."""
LONG = 3
"""Most papers of a shard per posting for a list to be long. Reading a long list takes as long as scanning all papers' scores."""
LEAST_WEIGHT = 1e-6
"""Least weight of terms and titles. With less, a float32 sum may be 0 for a paper that has the term, so all scores are scanned."""
GROUPS, LEAST_GROUPS = 16, 1024
"""Groups of papers per wanted paper, and least number of groups. The groups' best scores give a lower bound of the k-th score."""


class Best(NamedTuple):
    """Papers that may be among the k best, with their scores; and the scores of other papers: -inf without any of the terms."""

    rows: Rows
    scores: Weights
    other_scores: Weights


class Term(NamedTuple):
    """A query's term: its weight, its contribution to every paper's score, and its greatest further contribution to any paper's."""

    term: str
    weight: np.float32
    at_least: np.float32
    most: float


class Scoring:
    """Scores the papers of one shard after another for a query.

    Terms with the greatest possible contribution come first. Once k papers are known and the remaining terms cannot lift another paper to
    the k-th score, long lists are only looked up for papers that can still reach it (MaxScore: Turtle and Flood, "Query evaluation:
    strategies and optimizations", Information Processing & Management 1995). The order of additions is fixed, so scores are the same to the
    last bit.

    Attributes:
        terms: the query's terms, in the order of additions.
        in_fields: field words with their contributions, which follow.
        grows: whether a paper's score is above 0 exactly if it has a term, and no term lowers it.
    """

    def __init__(self, terms: Sequence[Term], in_fields: Mapping[str, np.float32], is_plain: bool, papers: int) -> None:
        """Prepare scoring by a query's terms, and by field words with their contributions.

        `is_plain` says whether a term raises the score of every paper that has it, beyond rounding, and of no others. `papers` is the
        largest shard's number of papers.
        """
        # by greatest possible contribution, then by term
        self.terms, self.in_fields = sorted(terms, key=lambda term: (-term.most, term.term)), in_fields
        least = self.terms[-1].most if self.terms else 1.0
        self.grows = is_plain and (min(least, *map(float, in_fields.values())) if in_fields else least) > LEAST_WEIGHT
        self._papers = papers

    @once
    def _scores(self) -> Weights:
        return np.empty(self._papers, np.float32)

    def _lists(self, shard: LexicalShard) -> list[_List]:
        """A shard's postings of the terms and field words, in the order of additions."""
        lists = []
        for weighted in self.terms:
            if (number := shard.number(weighted.term)) is None:
                continue
            known = shard.remembered.known(shard.first, number)
            most = weighted.most if known is None else float(weighted.weight) * known.most
            lists.append(_List(shard.rows_of(number), weighted.weight, most, shard, number, known and known.weights))
        for term, rows in rows_in_fields(shard, self.in_fields).items() if self.in_fields else ():
            weight = self.in_fields[term]
            lists.append(_List(rows, weight, 1.0001 * float(weight)))
        return lists

    def all(self, shard: LexicalShard) -> tuple[Weights, Mask]:
        """Scores of a shard's papers, and which papers have any of the terms. The next shard reuses the array of scores."""
        scores, matched = self._scores[: shard.papers], np.zeros(shard.papers, bool)
        scores.fill(0)
        for postings in self._lists(shard):
            postings.add_to(scores)
            matched[postings.rows] = True
        for term in self.terms:
            if term.at_least:
                scores += term.weight * term.at_least
        return scores, matched

    def best(self, shard: LexicalShard, k: int, edge: float, mask: Mask | None, others: Rows) -> Best:
        """Score a shard's papers for the k best.

        Args:
            shard: the shard.
            k: number of best papers wanted.
            edge: the k-th best score of earlier shards; -inf while fewer papers are known.
            mask: papers that may be among them, (papers,); None for all.
            others: further rows whose scores are wanted.
        """
        if not self.grows:
            scores, matched = self.all(shard)
            passing = np.flatnonzero((matched if mask is None else matched & mask) & (scores >= edge))
            return Best(passing, scores[passing], np.where(matched[others], scores[others], np.float32(-np.inf)))
        scores, lists = self._scores[: shard.papers], self._lists(shard)
        rests = _rests(lists)
        within = 0.9999 * edge  # leaves room for rounding errors, which are relative to scores
        rows: Rows | None = None  # papers that may still reach the edge, once determined
        if rests[0] < within:
            rows = NO_ROWS
        elif rests[1] < within:
            rows = lists[0].reaching(within - rests[1])
        if rows is not None and not len(rows) and not len(others):
            return Best(rows, scores[rows], scores[others])
        if rows is None:
            scores.fill(0)
        else:
            scores[_union(rows, others)] = 0
        for postings, rest in zip(lists, rests, strict=False):
            if rows is None and rest < within and postings.costs * LONG > shard.papers:
                rows = np.flatnonzero(scores >= within - rest)
            if rows is None:
                postings.add_to(scores)
                continue
            if rest < within:
                rows = rows[scores[rows] >= within - rest]
            postings.look_up(scores, _union(rows, others))
        if rows is not None:
            rows = rows[scores[rows] >= edge]
        elif edge > 0:
            rows = np.flatnonzero(scores >= edge)
        else:
            rows = _first(scores, k, mask)
        rows = rows if mask is None else rows[mask[rows]]
        other_scores = scores[others]
        other_scores[other_scores <= 0] = -np.inf
        return Best(rows, scores[rows], other_scores)


class _List(NamedTuple):
    """A list of postings: rows of a shard's papers, and their contributions, at most `most`. A term's contribution is its weight there,
    which may be cached, times its weight in the query. A field word's is the same for all papers."""

    rows: npt.NDArray[np.int32]
    weight: np.float32
    most: float
    shard: LexicalShard | None = None
    number: int = 0
    known: Weights | None = None

    @property
    def costs(self) -> int:
        """Cost of adding the list, in postings with known weights."""
        is_known = self.shard is None or self.known is not None
        return len(self.rows) if is_known else WEIGHED * len(self.rows)

    @property
    def _additions(self) -> Weights | np.float32:
        """Contributions to the scores of its papers, (postings,), or one for all."""
        if self.shard is None:
            return self.weight
        weights = self.shard.weights_of(self.number) if self.known is None else self.known
        return weights if self.weight == 1 else self.weight * weights

    def reaching(self, least: float) -> Rows:
        """Rows of its papers with at least this contribution."""
        rows = self.rows if self.shard is None else self.rows[self._additions >= least]
        return rows.astype(np.int64)

    def add_to(self, scores: Weights) -> None:
        """Add to the scores of all of its papers."""
        np.add.at(scores, self.rows, self._additions)  # three times as fast as `scores[rows] +=`

    def look_up(self, scores: Weights, wanted: Rows) -> None:
        """Add to the scores of the wanted rows, ascending, or of all rows where that is faster."""
        if self.shard is None or self.costs < LOOKED_UP * len(wanted):
            self.add_to(scores)
        elif len(wanted):
            places = places_among(wanted, self.rows)
            has_term = self.rows[places] == wanted
            own_places = places[has_term]
            weights = self.shard.weights_at(self.number, own_places) if self.known is None else self.known[own_places]
            scores[wanted[has_term]] += self.weight * weights


def _rests(lists: Sequence[_List]) -> list[float]:
    """Greatest possible contribution of the lists from each position on, followed by two zeros."""
    return [0.0, 0.0, *accumulate(postings.most for postings in reversed(lists))][::-1]


def _union(rows: Rows, others: Rows) -> Rows:
    """Union of two sets of rows, ascending. The first must be ascending."""
    return union(rows, others) if len(others) else rows


def _first(scores: Weights, k: int, mask: Mask | None) -> Rows:
    """Rows of the k best papers of the mask with scores above 0, and of few others. Papers are split into groups, and papers that reach the
    k-th of the groups' best scores are taken."""
    if mask is not None:
        scores = scores * mask
    groups = max(LEAST_GROUPS, GROUPS * k)
    if not 0 < k <= groups <= len(scores):
        return np.flatnonzero(scores)
    bests = scores[: len(scores) // groups * groups].reshape(-1, groups).max(axis=0)
    least = np.partition(bests, groups - k)[groups - k]
    return np.flatnonzero(scores >= least if least > 0 else scores)


def rows_in_fields(shard: LexicalShard, terms: Iterable[str]) -> dict[str, npt.NDArray[np.int32]]:
    """Rows of a shard's papers to which each field word contributes, in a fixed order.

    A year contributes only to papers with another field word, since alone it says nothing about the subject.
    """
    rows_of = {term: shard.rows_in_field(term) for term in sorted(terms)}
    if years := [term for term in rows_of if term.startswith(field_term("year", ""))]:
        named = np.unique(np.concatenate([NO_PLACES, *(rows for term, rows in rows_of.items() if term not in years)]))
        rows_of |= {term: named[are_among(named, rows_of[term])] for term in years}
    return rows_of
