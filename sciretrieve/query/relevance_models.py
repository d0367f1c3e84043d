"""RM3: a query expanded by the words that are commonest in the papers that it finds first, which are taken to be relevant.

Source: the relevance model of Lavrenko and Croft, "Relevance-Based Language Models", SIGIR 2001, mixed with the query as in Abdul-Jaleel
et al., "UMass at TREC 2004: Novelty and HARD". What these leave open is as in Anserini (`Rm3Reranker`), whose defaults are ours: papers
weigh by their BM25 scores, each has its commonest terms alone, and no term is added that more than a tenth of all papers have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..matching.search import NO_MATCH, Probe, Searcher
from ..runs import Ranking
from .index import Index
from .snapshot import Snapshot

COMMON = 0.1
"""A term that more than this share of all papers have says nothing of what a query is about."""
LENGTHS = range(2, 21)
"""Letters of a term that may be added."""


@dataclass(frozen=True, slots=True)
class Rm3:
    """How many papers a query is expanded by, by how many of their terms, and the share of its own."""

    papers: int = 10
    terms: int = 10
    own: float = 0.5


@dataclass(frozen=True, kw_only=True)
class ExpandingSearcher(Searcher):
    """Another searcher, which looks for what a probe says and RM3 adds to it.

    Attributes:
        inner: the other one.
        snapshot: the papers that it searches.
        rm3: how probes are expanded.
        known: expanded probes, by the searcher's parameters and the places in memory of the probes that they were; None to remember none.
    """

    inner: Searcher
    snapshot: Snapshot
    rm3: Rm3
    known: dict[Any, tuple[Sequence[Probe], Sequence[Probe]]] | None = None

    def search(self, probes: Sequence[Probe], k: int) -> list[Ranking]:
        """See `Searcher.search`. The papers that may answer a probe are those that its terms are taken from."""
        inner = replace(self.inner, effort=self.effort, fusion=self.fusion, weighted=self.weighted, matched=self.matched)
        known = {} if self.known is None else self.known
        key = inner.bm25 and inner.bm25.parameters, *map(id, probes)
        if key not in known:
            rankings = inner.search([replace(probe, named=NO_MATCH, mode="bm25") for probe in probes], self.rm3.papers)
            pairs = zip(probes, rankings, strict=True)
            known[key] = probes, [probe if probe.listing else self._expanded(probe, ranking) for probe, ranking in pairs]
        return inner.search(known[key][1], k)

    def _expanded(self, probe: Probe, ranking: Ranking) -> Probe:
        """A probe with the terms of the papers of its ranking. Its own keep their weights, and those that are added stand to them as `rm3`
        says."""
        bm25 = self.snapshot.bm25
        assert bm25 is not None
        most = COMMON * bm25.statistics.papers
        papers = self.snapshot.papers_at(ranking.rows)
        counts = [Counter(self.snapshot.analyzer.indexed(f"{paper.title} {paper.abstract}")) for paper in papers]
        model = relevance_model(counts, ranking.scores.tolist(), self.rm3.terms, lambda term: bm25.frequency(term) <= most)
        scale = (1 - self.rm3.own) / self.rm3.own * sum(probe.terms.values())
        return replace(probe, expansion={term: scale * weight for term, weight in model.items()} if scale else {})

    def close(self) -> None:
        """See `Searcher.close`."""
        self.inner.close()


def expanding(index: Index, rm3: Rm3, known: dict[Any, Any] | None = None) -> Index:
    """An index of the parts of another one, in whose place it is, whose queries are expanded; `known` as in `ExpandingSearcher`."""
    inner, snapshot = index.searcher, index.snapshot
    searcher = ExpandingSearcher.of(snapshot, inner=inner, snapshot=snapshot, rm3=rm3, known=known)
    return Index(snapshot, index.reader, searcher, index.reopened)


def relevance_model(
    papers: Sequence[Mapping[str, int]], scores: Sequence[float], terms: int, is_telling: Callable[[str], bool]
) -> dict[str, float]:
    """The terms that papers are likeliest to be about, with their probabilities, which add up to 1; none of papers without any.

    Args:
        papers: each paper's terms, with how often it has them.
        scores: how well each matches the query.
        terms: how many terms to keep, of each paper and of all together; of equal ones the alphabetically first.
        is_telling: whether a term may be added at all.
    """
    sums: dict[str, float] = {}
    for counts, score in zip(papers, scores, strict=True):
        told = {term: float(count) for term, count in counts.items() if len(term) in LENGTHS and term.isalnum() and is_telling(term)}
        kept = _commonest(told, terms)
        total = sum(kept.values())
        for term, count in kept.items():
            sums[term] = sums.get(term, 0.0) + count / total * score
    best = _commonest({term: weight for term, weight in sums.items() if weight > 0}, terms)
    total = sum(best.values())
    return {term: weight / total for term, weight in best.items()}


def _commonest(weights: Mapping[str, float], count: int) -> dict[str, float]:
    return {term: weights[term] for term in sorted(weights, key=lambda term: (-weights[term], term))[:count]}
