"""Scoring a shard's papers for a query: what its terms add, in one order, and no more of it than tells the best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.types import Mask, Rows
from ..scope import NO_ROWS, are_among, places_among, union
from .fields import field_term
from .lexical_shard import NO_PLACES, LexicalShard, Weights

LOOKED_UP = 48
"""Postings of a term for each paper that is to be scored, up to which adding up all of them is quicker than looking for these papers."""
WEIGHED = 8
"""Postings that are added up in the time in which one is weighed."""
LONG = 3
"""Papers of a shard for each posting of a term, up to which it is long: reading it takes as long as looking through all papers' scores."""
LEAST_WEIGHT = 1e-6
"""Of a term or of titles: with less, sums of float32 may be 0 for a paper that has the term, so that all scores are looked at."""
GROUPS, LEAST_GROUPS = 16, 1024
"""Groups of papers for each that is asked for, and at least, of which the best scores tell what the last one's is at least."""


class Best(NamedTuple):
    """Those of a shard's papers that may be among the k best, and what others score: -inf for those that have none of the terms."""

    rows: Rows
    scores: Weights
    other_scores: Weights


class Term(NamedTuple):
    """A query's term: its weight, what it adds to every paper's score, and what it adds to any paper's beyond that at the most."""

    term: str
    weight: np.float32
    at_least: np.float32
    most: float


class Scoring:
    """Scores the papers of shards, one after the other, for one query.

    Terms that can add most come first. Once k papers are known, and the terms that are left cannot bring another paper up to the k-th's
    score, the long ones among these are looked up for those papers that still can reach it (MaxScore: Turtle and Flood, "Query evaluation:
    strategies and optimizations", Information Processing & Management 1995). Scores are added up in one order in any case, and so are the
    same to the last bit.
    """

    def __init__(self, terms: Sequence[Term], in_fields: Mapping[str, np.float32], is_plain: bool, papers: int) -> None:
        """Score by a query's terms, and by words in fields with what each of these adds.

        `is_plain` says whether a term adds something to the score of every paper that has it, which is not lost to rounding, and nothing to
        others; `papers` are the most that a shard has.
        """
        # by what they can add at the most, and then by themselves
        self._terms, self._in_fields = sorted(terms, key=lambda term: (-term.most, term.term)), in_fields
        # then a paper's score is above 0 just where it has any of the terms, and no term makes it less
        weights = [*(term.most for term in terms), *map(float, in_fields.values())]
        self._grows = is_plain and min(weights, default=1.0) > LEAST_WEIGHT
        self._scores = np.empty(papers, np.float32)

    def _lists(self, shard: LexicalShard) -> list[_List]:
        """The postings of the terms that a shard has, and those of words in fields, in the order in which scores are added up."""
        lists = []
        for weighted in self._terms:
            if (number := shard.number(weighted.term)) is None:
                continue
            known = shard.remembered.known(shard.first, number)
            most = weighted.most if known is None else float(weighted.weight) * known.most
            lists.append(_List(shard.rows_of(number), weighted.weight, most, shard, number, known and known.weights))
        for term, rows in rows_in_fields(shard, self._in_fields).items() if self._in_fields else ():
            weight = self._in_fields[term]
            lists.append(_List(rows, weight, 1.0001 * float(weight)))
        return lists

    def all(self, shard: LexicalShard) -> tuple[Weights, Mask]:
        """A shard's papers' scores, and which have any of the terms; the former are the next shard's when that is scored."""
        scores, matched = self._scores[: shard.papers], np.zeros(shard.papers, bool)
        scores.fill(0)
        for postings in self._lists(shard):
            postings.add_to(scores)
            matched[postings.rows] = True
        for term in self._terms:
            if term.at_least:
                scores += term.weight * term.at_least
        return scores, matched

    def best(self, shard: LexicalShard, k: int, edge: float, mask: Mask | None, others: Rows) -> Best:
        """Score a shard's papers.

        Args:
            shard: the shard.
            k: how many of the best papers are asked for.
            edge: the score of the k-th best of earlier shards; -inf as long as fewer are known.
            mask: which papers may be among them, (papers,); None for all.
            others: rows whose scores are asked for, too.
        """
        if not self._grows:
            scores, matched = self.all(shard)
            passing = np.flatnonzero((matched if mask is None else matched & mask) & (scores >= edge))
            return Best(passing, scores[passing], np.where(matched[others], scores[others], np.float32(-np.inf)))
        scores, lists = self._scores[: shard.papers], self._lists(shard)
        rests = _rests(lists)
        within = 0.9999 * edge  # the edge with room for rounding, whose errors are as large as scores, however little a term adds
        rows: Rows | None = None  # those that may still reach the edge, once these are told apart
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
    """A list of postings: the rows of a shard's papers, and what they add to the scores, at the most `most`: for a term of this number, its
    weights there, which may be known, times its weight in the query; for a word in a field, the same to all."""

    rows: npt.NDArray[np.int32]
    weight: np.float32
    most: float
    shard: LexicalShard | None = None
    number: int = 0
    known: Weights | None = None

    @property
    def costs(self) -> int:
        """How long it takes to add it up, in postings whose weights are known."""
        is_known = self.shard is None or self.known is not None
        return len(self.rows) if is_known else WEIGHED * len(self.rows)

    @property
    def _additions(self) -> Weights | np.float32:
        """What it adds to the score of each of its papers, (postings,), or to that of all."""
        if self.shard is None:
            return self.weight
        weights = self.shard.weights_of(self.number) if self.known is None else self.known
        return weights if self.weight == 1 else self.weight * weights

    def reaching(self, least: float) -> Rows:
        """The rows of its papers to which it adds so much."""
        rows = self.rows if self.shard is None else self.rows[self._additions >= least]
        return rows.astype(np.int64)

    def add_to(self, scores: Weights) -> None:
        """Add to the scores of all of its papers."""
        np.add.at(scores, self.rows, self._additions)  # in a third of the time of `scores[rows] +=`

    def look_up(self, scores: Weights, wanted: Rows) -> None:
        """Add to the scores of the rows that are wanted, which ascend, or of all where that is quicker."""
        if self.shard is None or self.costs < LOOKED_UP * len(wanted):
            self.add_to(scores)
        elif len(wanted):
            places = places_among(wanted, self.rows)
            has_term = self.rows[places] == wanted
            own_places = places[has_term]
            weights = self.shard.weights_at(self.number, own_places) if self.known is None else self.known[own_places]
            scores[wanted[has_term]] += self.weight * weights


def _rests(lists: Sequence[_List]) -> list[float]:
    """What the lists from each on add to a score at the most; and twice 0 at the end."""
    return [0.0, 0.0, *accumulate(postings.most for postings in reversed(lists))][::-1]


def _union(rows: Rows, others: Rows) -> Rows:
    """Two sets of rows as one, ascending; the first is it already."""
    return union(rows, others) if len(others) else rows


def _first(scores: Weights, k: int, mask: Mask | None) -> Rows:
    """The rows of the k best papers of the mask with scores above 0, and of few others: groups of papers are formed, and those papers taken
    that reach the k-th of the groups' best scores."""
    if mask is not None:
        scores = scores * mask
    groups = max(LEAST_GROUPS, GROUPS * k)
    if not 0 < k <= groups <= len(scores):
        return np.flatnonzero(scores)
    bests = scores[: len(scores) // groups * groups].reshape(-1, groups).max(axis=0)
    least = np.partition(bests, groups - k)[groups - k]
    return np.flatnonzero(scores >= least if least > 0 else scores)


def rows_in_fields(shard: LexicalShard, terms: Iterable[str]) -> dict[str, npt.NDArray[np.int32]]:
    """The rows of a shard's papers to whose scores each word in a field adds, in one order.

    A year adds only to papers that have another of the words: by itself it says when, and not about what.
    """
    rows_of = {term: shard.rows_in_field(term) for term in sorted(terms)}
    if years := [term for term in rows_of if term.startswith(field_term("year", ""))]:
        named = np.unique(np.concatenate([NO_PLACES, *(rows for term, rows in rows_of.items() if term not in years)]))
        rows_of |= {term: named[are_among(named, rows_of[term])] for term in years}
    return rows_of
