"""What an approximate index is worth on its own papers: the recall and the time of each effort, and the least that is enough."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from ...base.types import Mask, Rows, Vectors
from ..effort import EXACT, USUAL, Effort, Knob, Step, Trial
from ..scope import Scope
from .exact import RowScores
from .vectors import VectorShard, candidates, search, vectors_at

K = 10
"""Of how many best papers recall is the share that is found."""
QUERIES = 200
"""Papers that are queries: recall of 0.98 is then known to within some 0.01."""
HELD_OUT = 10
"""Of so many papers, at most one is a query that is held out of what is built."""
TIMED = 20
"""Queries whose time is taken where every vector is scored."""
ENOUGH = 0.999
"""No more effort is tried when so much is found."""
EFS = (48, 64, 96, 128, 192, 256, 384, 512)
"""Values of `ef` that are tried; fewer than it is asked for, an index never keeps."""


class Questions:
    """Queries, with what an exact search finds for each: the scores of the best papers other than itself.

    Attributes:
        vectors: the queries', shape (n, dim).
        asked: for how many papers a search is asked: k, and one more where each query is among the papers.
    """

    def __init__(self, shards: Sequence[VectorShard], scope: Scope, vectors: Vectors, rows: Rows | None = None, k: int = K) -> None:
        """Search exactly.

        Args:
            shards: all papers.
            scope: which of them may answer.
            vectors: the queries', shape (n, dim).
            rows: where the queries are among the papers, shape (n,); None where they are not.
            k: of how many best papers recall is the share that is found.
        """
        self.vectors, self.asked = vectors, k if rows is None else k + 1
        self._scope = scope
        self._rows = np.full(len(vectors), -1) if rows is None else rows
        answers = search(shards, vectors, self.asked, scope, EXACT)
        self._edges = [_edge(answer, row, k) for answer, row in zip(answers, self._rows, strict=True)]

    def ask(self, shards: Sequence[VectorShard], effort: Effort, most: int | None = None) -> tuple[float, list[RowScores]]:
        """The answers to the queries, or to the first of them, one at a time, and the median of their milliseconds."""
        answers, seconds = [], []
        for query in self.vectors[:most]:
            start = time.perf_counter()
            answers += search(shards, query[None], self.asked, self._scope, effort)
            seconds.append(time.perf_counter() - start)
        return round(1000 * median(seconds), 3), answers

    def shares(self, answers: Sequence[RowScores]) -> list[float]:
        """The share of the best papers that each answer has. Of papers with equal scores, any will do."""
        return [_found(answer, row, *edge) for answer, row, edge in zip(answers, self._rows, self._edges, strict=True)]

    def recall(self, answers: Sequence[RowScores]) -> float:
        """The mean of these shares."""
        return round(float(np.mean(self.shares(answers))), 4)

    def steps(self, shards: Sequence[VectorShard], knob: Knob | None, enough: float = ENOUGH, always: bool = False) -> Iterator[Step]:
        """What rising effort gives, until it is enough; `always` is as in `Effort`."""
        for value, effort in efforts(shards, knob, self.asked).items():
            milliseconds, answers = self.ask(shards, replace(effort, always=always))
            step = Step(value, self.recall(answers), milliseconds)
            yield step
            if step.recall >= enough:
                break


def try_out(shards: Sequence[VectorShard], scope: Scope, knob: Knob | None, target: float, size: int) -> Trial | None:
    """Search for the neighbours of papers, with rising effort, until enough of them are found.

    Args:
        shards: with their FAISS indexes.
        scope: which papers are not deleted.
        knob: what says how hard this type of index is searched.
        target: the recall that is wanted.
        size: of the FAISS indexes, in bytes.

    Returns:
        What was found; None where the search for so few papers scores every vector anyway, so that there is nothing to measure.
    """
    parts = [(shard, scope.part(shard.first, shard.papers)) for shard in shards]
    if not len(scope) or all(shard.ann_path is None or shard.scans(K + 1, part, USUAL) for shard, part in parts):
        return None
    rows = scope.places[spread(len(scope), QUERIES)]
    questions = Questions(shards, scope, vectors_at(shards, rows), rows)
    exact_milliseconds, _ = questions.ask(shards, EXACT, TIMED)
    steps = tuple(questions.steps(shards, knob, max(ENOUGH, target)))
    chosen = next((step for step in steps if step.recall >= target), steps[-1])
    return Trial(knob, target, chosen.value, steps, K, len(rows), exact_milliseconds, size)


def spread(count: int, most: int) -> Rows:
    """Places among so many, ascending and evenly spread: so many at most."""
    places: Rows = np.linspace(0, count - 1, min(count, most)).astype(np.int64)
    return places


def held_out(count: int) -> Mask:
    """Which of so many papers are queries, and so not in what is built: a tenth of them, `QUERIES` at most, evenly spread, (count,)."""
    is_query = np.zeros(count, bool)
    is_query[spread(count, min(QUERIES, count // HELD_OUT))] = True
    return is_query


def efforts(shards: Sequence[VectorShard], knob: Knob | None, k: int) -> dict[int | None, Effort]:
    """How hard a search for k papers is tried, by the knob's values, rising: from the least that it ever is to all lists of an IVF."""
    return {value: Effort.at(knob, value) for value in _values(knob, shards, k)} if knob else {None: USUAL}


def _values(knob: Knob, shards: Sequence[VectorShard], k: int) -> Iterator[int]:
    if knob == "ef":
        yield from EFS
        return
    counts = [shard.ann.lists(candidates(k)) for shard in shards if shard.ann is not None]
    probes, lists = (max(column) for column in zip(*counts, strict=True))
    while probes < lists:
        yield probes
        probes *= 2
    yield lists


def _others(answer: RowScores, row: int) -> tuple[Rows, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """An answer without the paper that was the query."""
    rows, scores = answer
    return rows[rows != row], scores[rows != row]


def _edge(answer: RowScores, row: int, k: int) -> tuple[float, int]:
    """The score of the last of the best papers, and how many these are."""
    _, scores = _others(answer, row)
    wanted = min(k, len(scores))
    return (float(np.sort(scores)[-wanted]) if wanted else 0.0), wanted


def _found(answer: RowScores, row: int, edge: float, wanted: int) -> float:
    """The share of the best papers that an answer has. Of papers with equal scores, any will do."""
    _, scores = _others(answer, row)
    return min(int((scores >= edge).sum()), wanted) / wanted if wanted else 1.0
