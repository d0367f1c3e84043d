"""RM3: a query expanded by the words that are commonest in the papers that it finds first, which are taken to be relevant.

Source: the relevance model of Lavrenko and Croft, "Relevance-Based Language Models", SIGIR 2001, mixed with the query as in Abdul-Jaleel
et al., "UMass at TREC 2004: Novelty and HARD". What these leave open is as in Anserini (`Rm3Reranker`), whose defaults are ours: papers
weigh by their BM25 scores, each has its commonest terms alone, and no term is added that more than a tenth of all papers have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ...matching.search import Probe
from ...options import SearchOptions
from ...runs import Ranking
from ..snapshot import Snapshot

COMMON = 0.1
"""A term that more than this share of all papers have says nothing of what a query is about."""
LENGTHS = range(2, 21)
"""Letters of a term that may be added."""


def expanded(snapshot: Snapshot, probe: Probe, ranking: Ranking, options: SearchOptions) -> Probe:
    """A probe with the terms that RM3 adds to its own, of the papers of its ranking by BM25, (at most `fb_docs`).

    The query's own terms keep their weights, so those added are scaled to stand to them as `original_weight` says.
    """
    bm25 = snapshot.bm25
    assert bm25 is not None
    most = COMMON * bm25.statistics.papers
    papers = snapshot.papers_at(ranking.rows)
    counts = [Counter(snapshot.analyzer.indexed(f"{paper.title} {paper.abstract}")) for paper in papers]
    model = relevance_model(counts, ranking.scores.tolist(), options.fb_terms, lambda term: bm25.frequency(term) <= most)
    scale = (1 - options.original_weight) / options.original_weight * sum(probe.terms.values())
    return replace(probe, expansion={term: scale * weight for term, weight in model.items()} if scale else {})


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
