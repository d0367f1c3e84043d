"""BM25 by compiled code: for processes that search often, where numba is installed. Answers are the same without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from threading import Lock, Thread
from typing import Any

import numpy as np

from ...base.system import threads
from ...base.types import Rows
from ...base.waiting import raise_if_abandoned
from ..scope import Scope
from .lexical_shard import LIST, LexicalShard, TermWeights, Weights
from .scoring import Best, Scoring, rows_in_fields

AFTER = 256
"""Queries of a process after which the kernel is loaded. Importing numba takes as long as some hundred searches."""
CHUNK = 16
"""Queries that a thread scores at a time."""
WINDOW = 65_536
"""Papers that are scored at a time. Their scores fit a core's cache."""


class Kernel:
    """The compiled kernel of this process. Thread-safe.

    It is loaded in a thread, while searches go on without it. After an installation it is also compiled, which takes seconds, and cached
    where numba caches.
    """

    def __init__(self) -> None:
        self._asked, self._lock = 0, Lock()
        self._best: Callable[..., Any] | None = None

    def after(self, queries: int) -> Callable[..., Any] | None:
        """`kernel.best`, or None if it is not loaded; called before this many queries are searched."""
        if self._best is None and self._asked < AFTER:
            with self._lock:
                self._asked, before = self._asked + queries, self._asked
            if before < AFTER <= before + queries:
                Thread(target=self.load, name="compile", daemon=True).start()
        return self._best

    def load(self) -> None:
        """Load it, if possible: numba may be missing, may not know this NumPy, or have no folder for what it compiles."""
        with suppress(ImportError, OSError, RuntimeError):
            from .kernel import best

            self._best = best


KERNEL = Kernel()


def bests(
    best: Callable[..., Any],
    shards: Sequence[tuple[LexicalShard, Scope]],
    queries: Sequence[tuple[Scoring, Rows]],
    k: int,
) -> list[Best]:
    """Answers to queries whose scoring `grows`, each given with further rows to score, in shards with the papers that may answer. Threads
    share the queries."""
    spans = [slice(start, start + CHUNK) for start in range(0, len(queries), CHUNK)]

    def scored(span: slice) -> list[Best]:
        return _chunk(best, shards, queries[span], k)

    if len(spans) <= 1 or threads() == 1:
        return [answer for span in spans for answer in scored(span)]
    with ThreadPoolExecutor(min(threads(), len(spans))) as pool:
        running = [pool.submit(copy_context().run, scored, span) for span in spans]
        return [answer for part in running for answer in part.result()]


def _chunk(
    best: Callable[..., Any],
    shards: Sequence[tuple[LexicalShard, Scope]],
    queries: Sequence[tuple[Scoring, Rows]],
    k: int,
) -> list[Best]:
    scorings, others = zip(*queries, strict=True)
    heaps = np.full((len(scorings), k), -np.inf, np.float32)
    other_rows, other_ends = np.concatenate(others), _ends(list(map(len, others)))
    other_scores = np.full(len(other_rows), -np.inf, np.float32)
    found: list[list[tuple[Rows, Weights]]] = [[] for _ in scorings]
    for shard, scope in shards:
        raise_if_abandoned()
        parts = [_lists(shard, scoring) for scoring in scorings]
        lists = np.frombuffer(b"".join(weights.packed for part in parts for weights, _ in part), LIST)
        factors = np.array([factor for part in parts for _, factor in part], np.float32)
        flags = None if scope.mask is None else np.ascontiguousarray(scope.mask)
        flags_at = 0 if flags is None else flags.ctypes.data
        ends = _ends(list(map(len, parts)))
        rows, scores, stops = best(
            lists, factors, ends, shard.papers, flags_at, WINDOW, heaps, other_rows - shard.first, other_ends, other_scores
        )
        rows += shard.first
        bounds = stops.tolist()
        for place, known in enumerate(found):
            span = slice(bounds[place], bounds[place + 1])
            known.append((rows[span], scores[span]))
    own = np.split(other_scores, other_ends[1:-1])
    return [Best(*_kept(parts, heap[0]), scores) for parts, heap, scores in zip(found, heaps, own, strict=True)]


def _lists(shard: LexicalShard, scoring: Scoring) -> list[tuple[TermWeights, np.float32]]:
    """A shard's postings of a query's terms and field words, in the order of additions, with the weights of terms in the query."""
    numbers = [(shard.number(term.term), term.weight) for term in scoring.terms]
    lists = [(shard.weighted(number), weight) for number, weight in numbers if number is not None]
    for term, rows in rows_in_fields(shard, scoring.in_fields).items() if scoring.in_fields else ():
        lists.append((TermWeights.of(rows, np.ones(len(rows), np.float32)), scoring.in_fields[term]))
    return lists


def _kept(parts: Sequence[tuple[Rows, Weights]], edge: np.float32) -> tuple[Rows, Weights]:
    """Papers of all shards with at least the k-th score."""
    rows, scores = parts[0] if len(parts) == 1 else (np.concatenate(part) for part in zip(*parts, strict=True))
    kept = scores >= edge
    return rows[kept], scores[kept]


def _ends(lengths: Sequence[int]) -> Rows:
    """Where parts of these lengths begin, and the end of the last, (parts + 1,)."""
    return np.cumsum([0, *lengths], dtype=np.int64)
