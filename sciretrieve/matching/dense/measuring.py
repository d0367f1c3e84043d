"""Measurement of an approximate index on its own papers: recall and time by effort, and the least effort that is enough."""

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
"""Recall is the share found of this many best papers."""
QUERIES = 200
"""Papers used as queries. A recall of 0.98 is then known to within some 0.01."""
HELD_OUT = 10
"""At most one paper in this many is held out of the index to serve as a query."""
TIMED, LONG = 20, 5.0
"""Queries timed for exact search, and seconds after which no further one is: vectors beyond the memory are read from the disk for each."""
ENOUGH = 0.999
"""Recall from which no greater effort is tried."""
EFS = (48, 64, 96, 128, 192, 256, 384, 512)
"""Tried values of `ef`. An index keeps at least as many candidates as it is asked for."""


class Questions:
    """Queries with their exact answers: the scores of the best papers other than the query itself.

    Attributes:
        vectors: the queries' vectors, shape (n, dim).
        asked: number of papers to ask for: k, plus one if the queries are papers of the index.
    """

    def __init__(self, shards: Sequence[VectorShard], scope: Scope, vectors: Vectors, rows: Rows | None = None, k: int = K) -> None:
        """Search exactly.

        Args:
            shards: all papers.
            scope: papers that may answer.
            vectors: the queries' vectors, shape (n, dim).
            rows: the queries' rows, shape (n,); None if they are not in the index.
            k: recall is the share found of this many best papers.
        """
        self.vectors, self.asked = vectors, k if rows is None else k + 1
        self._scope = scope
        self._rows = np.full(len(vectors), -1) if rows is None else rows
        answers = search(shards, vectors, self.asked, scope, EXACT)
        self._edges = [_edge(answer, row, k) for answer, row in zip(answers, self._rows, strict=True)]

    def ask(self, shards: Sequence[VectorShard], effort: Effort, most: int | None = None) -> tuple[float, list[RowScores]]:
        """Answer the queries, or the first `most` of them within some seconds, one at a time. Returns the median milliseconds and the
        answers."""
        answers, seconds = [], list[float]()
        for query in self.vectors[:most]:
            start = time.perf_counter()
            answers += search(shards, query[None], self.asked, self._scope, effort)
            seconds.append(time.perf_counter() - start)
            if most is not None and sum(seconds) > LONG:
                break
        return round(1000 * median(seconds), 3), answers

    def shares(self, answers: Sequence[RowScores]) -> list[float]:
        """Share of the best papers in each answer. Papers with equal scores are interchangeable."""
        return [_found(answer, row, *edge) for answer, row, edge in zip(answers, self._rows, self._edges, strict=True)]

    def recall(self, answers: Sequence[RowScores]) -> float:
        """Mean of the shares."""
        return round(float(np.mean(self.shares(answers))), 4)

    def steps(self, shards: Sequence[VectorShard], knob: Knob | None, enough: float = ENOUGH, always: bool = False) -> Iterator[Step]:
        """Measure rising effort until it is enough; `always` as in `Effort`."""
        for value, effort in efforts(shards, knob, self.asked).items():
            milliseconds, answers = self.ask(shards, replace(effort, always=always))
            step = Step(value, self.recall(answers), milliseconds)
            yield step
            if step.recall >= enough:
                break


def try_out(shards: Sequence[VectorShard], scope: Scope, knob: Knob | None, target: float, size: int) -> Trial | None:
    """Search for the neighbours of papers with rising effort, until enough are found.

    Args:
        shards: the shards, with FAISS indexes.
        scope: the undeleted papers.
        knob: the effort setting of this index type.
        target: the wanted recall.
        size: size of the FAISS indexes in bytes.

    Returns:
        The measurement; None if so few papers are always searched exactly.
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
    """Up to `most` positions among `count`, ascending and evenly spread."""
    places: Rows = np.linspace(0, count - 1, min(count, most)).astype(np.int64)
    return places


def held_out(count: int) -> Mask:
    """Flags of the papers held out of an index as queries, (count,): a tenth of them, at most `QUERIES`, evenly spread."""
    is_query = np.zeros(count, bool)
    is_query[spread(count, min(QUERIES, count // HELD_OUT))] = True
    return is_query


def efforts(shards: Sequence[VectorShard], knob: Knob | None, k: int) -> dict[int | None, Effort]:
    """Efforts to try in a search for k papers, by the knob's value, ascending: from the least possible to all lists of an IVF."""
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
    """An answer without the query's own paper."""
    rows, scores = answer
    return rows[rows != row], scores[rows != row]


def _edge(answer: RowScores, row: int, k: int) -> tuple[float, int]:
    """Score of the last of the best papers, and their number."""
    _, scores = _others(answer, row)
    wanted = min(k, len(scores))
    return (float(np.sort(scores)[-wanted]) if wanted else 0.0), wanted


def _found(answer: RowScores, row: int, edge: float, wanted: int) -> float:
    """Share of the best papers in an answer. Papers with equal scores are interchangeable."""
    _, scores = _others(answer, row)
    return min(int((scores >= edge).sum()), wanted) / wanted if wanted else 1.0
