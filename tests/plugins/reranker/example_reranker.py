"""A reranker: short titles first."""

from collections.abc import Sequence

import sciretrieve as sr


class Shortest:
    name = "shortest"

    def score(self, query: sr.Query, papers: Sequence[sr.Paper]) -> list[float]:
        return [-len(paper.title) for paper in papers]


class Nothing(Shortest):
    def score(self, query: sr.Query, papers: Sequence[sr.Paper]) -> list[float]:
        return [float("nan")] * len(papers)
