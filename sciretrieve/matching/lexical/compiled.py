"""BM25 by compiled code: for processes that search often, where numba is installed. Answers are the same without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from itertools import accumulate, pairwise
from threading import Lock, Thread
from typing import Any

import numpy as np

from ...base.system import threads
from ...base.types import Rows
from ...base.waiting import raise_if_abandoned
from ..scope import Scope
from .lexical_shard import LIST, LexicalShard, TermWeights
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
    flags = [None if scope.mask is None else np.ascontiguousarray(scope.mask) for _, scope in shards]
    papers, firsts = (np.array(numbers) for numbers in zip(*((shard.papers, shard.first) for shard, _ in shards), strict=True))
    flags_at = np.array([0 if own is None else own.ctypes.data for own in flags])
    spans = [slice(start, start + CHUNK) for start in range(0, len(queries), CHUNK)]

    def scored(span: slice) -> list[Best]:
        raise_if_abandoned()
        scorings, others = zip(*queries[span], strict=True)
        parts = [_lists(shard, scoring) for scoring in scorings for shard, _ in shards]
        lists = np.frombuffer(b"".join([weights.packed for part in parts for weights, _ in part]), LIST)
        factors = np.array([factor for part in parts for _, factor in part], np.float32)
        heaps = np.full((len(scorings), k), -np.inf, np.float32)
        other_rows, other_ends = np.concatenate(others), _ends(others)
        other_scores = np.full(len(other_rows), -np.inf, np.float32)
        rows, scores, ends = best(
            lists, factors, _ends(parts), papers, firsts, flags_at, WINDOW, heaps, other_rows, other_ends, other_scores
        )
        answers = []
        for own, further, edge in zip(pairwise(ends.tolist()), pairwise(other_ends.tolist()), heaps[:, 0], strict=True):
            own_rows, own_scores = rows[slice(*own)], scores[slice(*own)]
            kept = own_scores >= edge
            answers.append(Best(own_rows[kept], own_scores[kept], other_scores[slice(*further)]))
        return answers

    if len(spans) <= 1 or threads() == 1:
        return [answer for span in spans for answer in scored(span)]
    with ThreadPoolExecutor(min(threads(), len(spans))) as pool:
        running = [pool.submit(copy_context().run, scored, span) for span in spans]
        return [answer for part in running for answer in part.result()]


def _lists(shard: LexicalShard, scoring: Scoring) -> list[tuple[TermWeights, np.float32]]:
    """A shard's postings of a query's terms and field words, in the order of additions, with the weights of terms in the query."""
    numbers = [(shard.number(term.term), term.weight) for term in scoring.terms]
    lists = [(shard.weighted(number), weight) for number, weight in numbers if number is not None]
    for term, rows in rows_in_fields(shard, scoring.in_fields).items() if scoring.in_fields else ():
        lists.append((TermWeights.of(rows, np.ones(len(rows), np.float32)), scoring.in_fields[term]))
    return lists


def _ends(parts: Sequence[Sized]) -> Rows:
    """Where parts begin, and the end of the last, (parts + 1,)."""
    return np.array([*accumulate(map(len, parts), initial=0)])
