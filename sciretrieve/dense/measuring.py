"""What an approximate index is worth on its own papers: the recall and the time of each effort, and the least that is enough."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from statistics import median

import numpy as np

from ..effort import EXACT, USUAL, Effort, Knob, Step, Trial
from ..scope import Scope
from ..types import Rows, Vectors
from .exact import RowScores
from .vectors import VectorShard, candidates, search, vectors_at

K = 10
"""Of how many best papers recall is the share that is found."""
QUERIES = 200
"""Papers that are queries: recall of 0.98 is then known to within some 0.01."""
TIMED = 20
"""Queries whose time is taken where every vector is scored."""
ENOUGH = 0.999
"""No more effort is tried when so much is found."""
EFS = (48, 64, 96, 128, 192, 256, 384, 512)
"""Values of `ef` that are tried; fewer than it is asked for, an index never keeps."""


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
    efforts = {value: Effort.at(knob, value) for value in _values(knob, shards)} if knob else {None: USUAL}
    rows = scope.places[np.linspace(0, len(scope) - 1, min(len(scope), QUERIES)).astype(np.int64)]
    queries = vectors_at(shards, rows)
    exact = [_edge(answer, row) for answer, row in zip(search(shards, queries, K + 1, scope, EXACT), rows, strict=True)]
    exact_milliseconds, _ = _timed(shards, queries[:TIMED], scope, EXACT)
    steps: list[Step] = []
    for value, effort in efforts.items():
        milliseconds, answers = _timed(shards, queries, scope, effort)
        recalls = [_found(answer, row, edge, wanted) for answer, row, (edge, wanted) in zip(answers, rows, exact, strict=True)]
        steps.append(Step(value, round(float(np.mean(recalls)), 4), milliseconds))
        if steps[-1].recall >= max(ENOUGH, target):
            break
    chosen = next((step for step in steps if step.recall >= target), steps[-1])
    return Trial(knob, target, chosen.value, tuple(steps), K, len(rows), exact_milliseconds, size)


def _values(knob: Knob, shards: Sequence[VectorShard]) -> Iterator[int]:
    """The values that are tried, rising."""
    if knob == "ef":
        yield from EFS
        return
    counts = [shard.ann.lists(candidates(K + 1)) for shard in shards if shard.ann is not None]
    probes, lists = (max(column) for column in zip(*counts, strict=True))
    while probes < lists:
        yield probes
        probes *= 2
    yield lists


def _timed(shards: Sequence[VectorShard], queries: Vectors, scope: Scope, effort: Effort) -> tuple[float, list[RowScores]]:
    """The answers to queries that come one at a time, and the median of their milliseconds."""
    answers, seconds = [], []
    for query in queries:
        start = time.perf_counter()
        answers += search(shards, query[None], K + 1, scope, effort)
        seconds.append(time.perf_counter() - start)
    return round(1000 * median(seconds), 3), answers


def _others(answer: RowScores, row: int) -> tuple[Rows, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """An answer without the paper that was the query."""
    rows, scores = answer
    return rows[rows != row], scores[rows != row]


def _edge(answer: RowScores, row: int) -> tuple[float, int]:
    """The score of the last of the best papers, and how many these are."""
    _, scores = _others(answer, row)
    wanted = min(K, len(scores))
    return (float(np.sort(scores)[-wanted]) if wanted else 0.0), wanted


def _found(answer: RowScores, row: int, edge: float, wanted: int) -> float:
    """The share of the best papers that an answer has. Of papers with equal scores, any will do."""
    _, scores = _others(answer, row)
    return min(int((scores >= edge).sum()), wanted) / wanted if wanted else 1.0
