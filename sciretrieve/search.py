"""The three ways to search: dense, BM25, and both fused. A batch of probes in, a ranking a probe out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from . import topk
from .dense import VectorShard
from .dense import vectors as dense
from .dense.exact import Found
from .fusion import FUSIONS, Scores
from .lexical import Bm25
from .runs import Ranking
from .types import Mask, Mode, Query, Rows, Vectors

DEPTH = 1000
"""How deep each half looks before fusion. The same for every k, so that the top 5 are the first 5 of the top 10."""
BATCH = 256
"""Queries whose candidates are held at a time."""


Fusion: TypeAlias = Callable[[Scores, Scores], Scores]


@dataclass(frozen=True, slots=True)
class Probe:
    """A query made ready: its vector (dim,) for dense search, its weighted terms for BM25."""

    query: Query
    vector: Vectors | None
    terms: Mapping[str, float]


@dataclass(frozen=True)
class Searcher:
    """What searching needs of an index: the halves that it has, and the ids to break ties by."""

    vectors: Sequence[VectorShard]
    bm25: Bm25 | None
    ids: Callable[[Rows], list[str]]

    def search(self, probes: Sequence[Probe], k: int, mode: Mode, fusion: str, mask: Mask | None) -> list[Ranking]:
        """Rank the papers that pass `mask` (None: all) for each probe; see `Index.search` for what is promised."""
        rankings: list[Ranking] = []
        for start in range(0, len(probes), BATCH):
            some = probes[start : start + BATCH]
            if mode == "bm25":
                rankings += [self._bm25(probe, k, mask) for probe in some]
                continue
            near = self._nearest(some, k if mode == "dense" else max(k, DEPTH), mask)
            for probe, (rows, scores) in zip(some, near, strict=True):
                if mode == "dense":
                    rankings.append(self._ranked(probe, k, rows, scores, {"dense": scores}))
                else:
                    rankings.append(self._hybrid(probe, k, mask, (rows, scores), FUSIONS[fusion]))
        return rankings

    def _nearest(self, probes: Sequence[Probe], k: int, mask: Mask | None) -> list[Found]:
        return dense.search(self.vectors, np.stack([_vector(probe) for probe in probes]), k, mask)

    def _bm25(self, probe: Probe, k: int, mask: Mask | None) -> Ranking:
        scores, _ = self._lexical(probe, mask)
        rows = topk.best(scores, k)
        return self._ranked(probe, k, rows, scores[rows], {"bm25": scores[rows]})

    def _hybrid(self, probe: Probe, k: int, mask: Mask | None, near: Found, fuse: Fusion) -> Ranking:
        """Both halves score the union of what each finds, so that fusion never guesses a score."""
        passing, every = self._lexical(probe, mask)
        rows = np.union1d(near[0], topk.best(passing, max(k, DEPTH)))
        known = np.isin(rows, near[0], assume_unique=True)
        meaning, words = np.empty(len(rows)), every[rows]
        meaning[known] = near[1][np.argsort(near[0])]
        meaning[~known] = dense.score_rows(self.vectors, _vector(probe), rows[~known])
        fused = fuse(meaning, words)
        best = topk.best(fused, k)
        return self._ranked(probe, k, rows[best], fused[best], {"dense": meaning[best], "bm25": words[best]})

    def _lexical(self, probe: Probe, mask: Mask | None) -> tuple[Scores, Scores]:
        """Every paper's BM25 score, -inf where it has no term of the query; and, first, also where the mask drops it."""
        assert self.bm25 is not None
        scores, matched = self.bm25.scores(probe.terms)
        every = np.where(matched, scores.astype(np.float64), -np.inf)
        return (every if mask is None else np.where(mask, every, -np.inf)), every

    def _ranked(self, probe: Probe, k: int, rows: Rows, scores: Scores, parts: Mapping[str, Scores]) -> Ranking:
        ids = self.ids(rows)
        order = topk.order(ids, scores)[:k]
        kept = {name: np.where(np.isfinite(part), part, np.nan)[order] for name, part in parts.items()}
        return Ranking(probe.query, [ids[at] for at in order], scores[order], rows[order], kept)


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
