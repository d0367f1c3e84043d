"""The three ways to search: dense, BM25, and both fused. A batch of probes in, a ranking a probe out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from . import topk
from .choices import Mode
from .dense import VectorShard
from .dense import vectors as dense
from .dense.exact import Found
from .fusion import Fusion
from .lexical import Bm25
from .runs import Ranking
from .types import Mask, Query, Rows, Scores, Vectors

BATCH = 256
"""Queries whose candidates are held at a time."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A query made ready: its vector (dim,) for dense search, its weighted terms for BM25, and which papers may answer it
    (None: all)."""

    query: Query
    vector: Vectors | None
    terms: Mapping[str, float]
    mask: Mask | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What both halves propose for a probe, all (n,): rows, their scores in each half (BM25's -inf without a common word),
    the share of each title that the query covers, and whether the paper has all of the query's words that any paper has."""

    probe: Probe
    rows: Rows
    dense: Scores
    bm25: Scores
    title_overlap: Scores
    complete: Mask


@dataclass(frozen=True)
class Searcher:
    """What searching needs of an index: the halves that it has, and the ids to break ties by."""

    vectors: Sequence[VectorShard]
    bm25: Bm25 | None
    ids: Callable[[Rows], list[str]]

    def search(self, probes: Sequence[Probe], k: int, mode: Mode, fusion: Fusion) -> list[Ranking]:
        """Rank the papers that may answer for each probe; see `Index.search` for what is promised."""
        rankings: list[Ranking] = []
        for batch in _batches(probes):
            if mode == "bm25":
                rankings += [self._bm25(probe, k) for probe in batch]
            elif mode == "dense":
                nearest = zip(batch, self._nearest(batch, k), strict=True)
                rankings += [self._ranked(probe, k, rows, scores, {"dense": scores}) for probe, (rows, scores) in nearest]
            else:
                rankings += [self.fused(candidates, k, fusion) for candidates in self.candidates(batch, max(k, fusion.depth))]
        return rankings

    def _nearest(self, probes: Sequence[Probe], k: int) -> list[Found]:
        """The nearest vectors of probes that the same papers may answer."""
        return dense.search(self.vectors, np.stack([_vector(probe) for probe in probes]), k, probes[0].mask)

    def _bm25(self, probe: Probe, k: int) -> Ranking:
        scores, _ = self._lexical(probe)
        rows = topk.best(scores, k)
        return self._ranked(probe, k, rows, scores[rows], {"bm25": scores[rows]})

    def candidates(self, probes: Sequence[Probe], depth: int) -> Iterator[Candidates]:
        """What both halves propose for each probe, the first `depth` of each, scored by both."""
        for batch in _batches(probes):
            for probe, nearest in zip(batch, self._nearest(batch, depth), strict=True):
                yield self._candidates(probe, nearest, depth)

    def _candidates(self, probe: Probe, nearest: Found, depth: int) -> Candidates:
        """Both halves score the union of what each proposes, so that fusion never guesses a score."""
        assert self.bm25 is not None
        passing, every = self._lexical(probe)
        rows = np.union1d(nearest[0], topk.best(passing, depth))
        scored = np.isin(rows, nearest[0], assume_unique=True)
        meaning = np.empty(len(rows))
        meaning[scored] = nearest[1][np.argsort(nearest[0])]
        meaning[~scored] = dense.score_rows(self.vectors, _vector(probe), rows[~scored])
        complete = np.isin(rows, self.bm25.rows_with(self.bm25.known(probe.terms)), assume_unique=True)
        return Candidates(probe, rows, meaning, every[rows], self.bm25.title_overlap(probe.terms, rows), complete)

    def fused(self, candidates: Candidates, k: int, fusion: Fusion) -> Ranking:
        """The k best of the candidates."""
        scores = fusion.join(candidates.dense, candidates.bm25, candidates.title_overlap, candidates.complete)
        best = topk.best(scores, k)
        parts = {"dense": candidates.dense[best], "bm25": candidates.bm25[best]}
        return self._ranked(candidates.probe, k, candidates.rows[best], scores[best], parts)

    def _lexical(self, probe: Probe) -> tuple[Scores, Scores]:
        """Every paper's BM25 score, -inf where it has no term of the query; and, first, also where it may not answer."""
        assert self.bm25 is not None
        scores, matched = self.bm25.scores(probe.terms)
        every = np.where(matched, scores.astype(np.float64), -np.inf)
        return (every if probe.mask is None else np.where(probe.mask, every, -np.inf)), every

    def _ranked(self, probe: Probe, k: int, rows: Rows, scores: Scores, parts: Mapping[str, Scores]) -> Ranking:
        ids = self.ids(rows)
        order = topk.order(ids, scores)[:k]
        ordered_parts = {name: np.where(np.isfinite(part), part, np.nan)[order] for name, part in parts.items()}
        return Ranking(probe.query, [ids[place] for place in order], scores[order], rows[order], ordered_parts)


def _batches(probes: Sequence[Probe]) -> Iterator[Sequence[Probe]]:
    """Probes in their order, together as long as the same papers may answer them."""
    for _, group in groupby(probes, key=lambda probe: id(probe.mask)):
        alike = list(group)
        yield from (alike[start : start + BATCH] for start in range(0, len(alike), BATCH))


def _vector(probe: Probe) -> Vectors:
    assert probe.vector is not None
    return probe.vector


def rocchio(positives: Vectors, negatives: Vectors) -> Vectors:
    """The mean of the positives less a fraction of the mean of the negatives: shapes (p, dim) and (n, dim) to (dim,).

    Rocchio's relevance feedback without a first query, with the usual weights 0.75 and 0.15 (Manning, Raghavan and
    Schuetze, "Introduction to Information Retrieval", 2008, section 9.1.1).
    """
    target = positives.mean(axis=0)
    if len(negatives):
        target = target - NEGATIVE_WEIGHT * negatives.mean(axis=0)
    return np.asarray(target, np.float32)


def rocchio_terms(positives: Sequence[Mapping[str, float]], negatives: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """`rocchio` over weighted terms; terms that the negatives outweigh are dropped, as is usual for sparse vectors."""
    weights: dict[str, float] = {}
    for group, share in ((positives, 1.0), (negatives, -NEGATIVE_WEIGHT)):
        for terms in group:
            for term, weight in terms.items():
                weights[term] = weights.get(term, 0.0) + share * weight / len(group)
    return {term: weight for term, weight in weights.items() if weight > 0}


NEGATIVE_WEIGHT = 0.15 / 0.75
