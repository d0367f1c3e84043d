"""Hard negatives for papers as queries, chosen as for MDCR (Medić and Šnajder 2022): candidates of several kinds for each query.

The kinds are MDCR's. Its repository does not say how many there are of each kind, how those of the graph are ordered, or whether fields
limit them. Our choices are in docs/own-benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from random import Random

import numpy as np

from ...base.choices import Mode
from ...base.errors import InvalidRequest
from ...base.types import Query, Rows
from ...protocols import Progress
from ...query.citations.citation_graph import Graph
from ...query.index import Index
from ..readers.cite import TRUE

POSITIVES, NEGATIVES = 10, 50
"""The most cited papers of a query, and the number of its other candidates. MDCR's queries have about 60, of which usually 10 are cited."""
BATCH = 64
"""Queries per search."""
Candidates = dict[str, list[int]]
"""By kind: rows, best first."""


class Negatives:
    """Chooses candidates for queries, by the rows of a corpus."""

    def __init__(self, graph: Graph, ids: Sequence[str], fields: Sequence[str] | None, indexes: Mapping[str, tuple[Index, Mode]]) -> None:
        """`fields` are the papers', if they have any; `indexes` have, by kind, an index to search and its mode."""
        self._graph = graph
        self._row_of = {id: row for row, id in enumerate(ids)}
        self._indexes = indexes
        most_cited_first = np.lexsort((np.arange(graph.size), -graph.cited_counts))
        self._field_of = np.unique(fields, return_inverse=True)[1] if fields is not None else np.zeros(graph.size, np.int64)
        self._members = [
            most_cited_first[self._field_of[most_cited_first] == field] for field in range(int(self._field_of.max(initial=0)) + 1)
        ]

    @property
    def kinds(self) -> list[str]:
        """The kinds of negatives, in the order of their turns."""
        return [*self._indexes, "graph", "most_cited", "random"]

    def choose(self, queries: Mapping[int, Query], seed: int, progress: Progress) -> Iterator[tuple[int, Candidates]]:
        """The candidates of each query, by its row: those of each kind, and "true", some of its cited papers.

        No candidate appears twice, and no negative cites the query or is cited by it. A kind that runs out leaves its share to random
        papers, of which there may be too few. Random and most cited papers are of the query's field, if papers have fields.
        """
        rows = list(queries)
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            near = {row: set(self._graph.neighbours(row).tolist()) | {row} for row in batch}
            searched = {kind: self._searched(kind, [queries[row] for row in batch], max(map(len, near.values()))) for kind in self._indexes}
            for place, row in enumerate(batch):
                chance = Random(f"{seed} {queries[row].id}")
                ranked = {kind: rows_of_queries[place] for kind, rows_of_queries in searched.items()}
                yield row, self._candidates(row, near[row], ranked, chance)
            progress.advance(len(batch))

    def _candidates(self, row: int, taken: set[int], ranked: Mapping[str, Iterable[int]], chance: Random) -> Candidates:
        cited = self._graph.cites(row).tolist()
        members = self._members[self._field_of[row]]
        kinds = self.kinds
        chosen: Candidates = {}
        sources: dict[str, Iterable[int]] = {
            **ranked,
            "graph": self._graph.two_steps(row).tolist(),
            "most_cited": map(int, members),
            "random": shuffled(members, chance),
        }
        left = NEGATIVES
        for place, kind in enumerate(kinds):
            share = -(-left // (len(kinds) - place))
            chosen[kind] = list(islice((other for other in sources[kind] if other not in taken), share))
            taken |= set(chosen[kind])
            left -= len(chosen[kind])
        chosen[TRUE] = sorted(chance.sample(cited, min(POSITIVES, len(cited))))
        return chosen

    def _searched(self, kind: str, queries: Sequence[Query], near: int) -> list[list[int]]:
        """The answers of a search to each query, long enough if `near` of them cannot be candidates."""
        index, mode = self._indexes[kind]
        rankings = index.search(queries, NEGATIVES + near, mode=mode, group=False)
        answers = []
        for ranking in rankings:
            if missing := [id for id in ranking.ids if id not in self._row_of]:
                raise InvalidRequest(f"{index.path} has papers that the corpus lacks, {missing[0]!r} first; index the corpus itself")
            answers.append([self._row_of[id] for id in ranking.ids])
        return answers


def shuffled(rows: Rows, chance: Random) -> Iterator[int]:
    """Rows in random order, each once: a shuffle by swaps, only as far as it is read."""
    moved: dict[int, int] = {}
    for place in range(len(rows)):
        other = chance.randrange(place, len(rows))
        drawn = moved.get(other, other)
        moved[other] = moved.get(place, place)
        yield int(rows[drawn])
