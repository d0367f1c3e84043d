"""RM3: expands a query by the most frequent words of its first papers, which are assumed relevant.

Source: the relevance model of Lavrenko and Croft, "Relevance-Based Language Models", SIGIR 2001, mixed with the query as in Abdul-Jaleel et
al., "UMass at TREC 2004: Novelty and HARD". Where these leave a choice, we follow Anserini (`Rm3Reranker`) and its defaults: papers weigh
by their BM25 scores, each contributes only its most frequent terms, and no term is added that more than a tenth of all papers contain.
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
"""Share of papers above which a term is too common to be added."""
LENGTHS = range(2, 21)
"""Letters in an added term."""


@dataclass(frozen=True, slots=True)
class Rm3:
    """Settings of RM3: how many papers and how many of their terms expand a query, and the weight of the query's own terms."""

    papers: int = 10
    terms: int = 10
    own: float = 0.5


@dataclass(frozen=True, kw_only=True)
class ExpandingSearcher(Searcher):
    """Searches with probes that RM3 has expanded.

    Attributes:
        inner: the searcher that is called.
        snapshot: the papers that it searches.
        rm3: how probes are expanded.
        known: cached probes, by the searcher's parameters and the `id()` of the original probes; None to cache none.
    """

    inner: Searcher
    snapshot: Snapshot
    rm3: Rm3
    known: dict[Any, tuple[Sequence[Probe], Sequence[Probe]]] | None = None

    def search(self, probes: Sequence[Probe], k: int) -> list[Ranking]:
        """See `Searcher.search`. Expansion terms come from papers that may answer the probe."""
        inner = replace(self.inner, effort=self.effort, fusion=self.fusion, weighted=self.weighted, matched=self.matched)
        known = {} if self.known is None else self.known
        key = inner.bm25 and inner.bm25.parameters, *map(id, probes)
        if key not in known:
            rankings = inner.search([replace(probe, named=NO_MATCH, mode="bm25") for probe in probes], self.rm3.papers)
            pairs = zip(probes, rankings, strict=True)
            known[key] = probes, [probe if probe.listing else self._expand(probe, ranking) for probe, ranking in pairs]
        return inner.search(known[key][1], k)

    def _expand(self, probe: Probe, ranking: Ranking) -> Probe:
        """A probe with the terms of its ranking's papers. Its own terms keep their weights; added terms are scaled to them by `rm3`."""
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
    """An index with the same parts as another, which it replaces, and expanded queries. `known` as in `ExpandingSearcher`."""
    inner, snapshot = index.searcher, index.snapshot
    searcher = ExpandingSearcher.of(snapshot, inner=inner, snapshot=snapshot, rm3=rm3, known=known)
    return Index(snapshot, index.reader, searcher, index.reopened)


def relevance_model(
    papers: Sequence[Mapping[str, int]], scores: Sequence[float], terms: int, is_telling: Callable[[str], bool]
) -> dict[str, float]:
    """Terms that the papers are most likely about, with probabilities that add up to 1; empty if there are no papers.

    Args:
        papers: terms of each paper, with their counts.
        scores: each paper's score for the query.
        terms: number of terms to keep, per paper and in total; ties alphabetically.
        is_telling: whether a term may be added.
    """
    sums: dict[str, float] = {}
    for counts, score in zip(papers, scores, strict=True):
        telling = {term: float(count) for term, count in counts.items() if len(term) in LENGTHS and term.isalnum() and is_telling(term)}
        kept = _most_frequent(telling, terms)
        total = sum(kept.values())
        for term, count in kept.items():
            sums[term] = sums.get(term, 0.0) + count / total * score
    best = _most_frequent({term: weight for term, weight in sums.items() if weight > 0}, terms)
    total = sum(best.values())
    return {term: weight / total for term, weight in best.items()}


def _most_frequent(weights: Mapping[str, float], count: int) -> dict[str, float]:
    return {term: weights[term] for term in sorted(weights, key=lambda term: (-weights[term], term))[:count]}
