"""BM25 by compiled code: for processes that search often, where numba is installed. Answers are the same without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from contextlib import suppress
from itertools import accumulate, pairwise
from threading import Lock, Thread
from typing import Any

import numpy as np

from ...base.system import threads
from ...base.types import Rows
from ...base.waiting import raise_if_abandoned
from ..parallel import in_threads, spans_of
from ..scope import NO_ROWS, Scope
from .lexical_shard import LIST, LexicalShard, TermWeights, Weights
from .scoring import Best, Scoring, rows_in_fields

AFTER = 256
"""Queries of a process after which the kernel is loaded. Importing numba takes as long as some hundred searches."""
CHUNKS = 16, 64
"""Fewest and most queries that a thread scores at a time."""
LARGE = 16_000_000
"""Most papers, times queries, for which a thread's postings are held at a time, unless the queries are the fewest."""
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
    if not queries:
        return []
    if len(queries) > CHUNKS[0]:
        most = threads() * max(LARGE // sum(shard.papers for shard, _ in shards), CHUNKS[0])
        if len(queries) > most:
            parts_of_list = (queries[start : start + most] for start in range(0, len(queries), most))
            return [answer for part in parts_of_list for answer in bests(best, shards, part, k)]
    flags = [None if scope.mask is None else np.ascontiguousarray(scope.mask) for _, scope in shards]
    facts = [(shard.papers, shard.first, 0 if own is None else own.ctypes.data) for (shard, _), own in zip(shards, flags, strict=True)]
    papers, firsts, flags_at = np.array(facts).T.copy()
    parts = [_lists(shard, scoring) for scoring, _ in queries for shard, _ in shards]
    lists = np.frombuffer(b"".join([weights.packed for part, _ in parts for weights in part]), LIST)
    factors = np.array([factor for _, part in parts for factor in part], np.float32)
    ends = _ends([part for part, _ in parts])
    heaps = np.full((len(queries), k), -np.inf, np.float32)
    others = [rows for _, rows in queries]
    other_rows, other_ends = np.concatenate([NO_ROWS, *others]), _ends(others)
    other_scores = np.full(len(other_rows), -np.inf, np.float32)

    def scored(span: range) -> tuple[Rows, Weights, Rows]:
        raise_if_abandoned()
        own_ends = ends[span.start * len(shards) : span.stop * len(shards) + 1]
        own = slice(own_ends[0], own_ends[-1])
        found: tuple[Rows, Weights, Rows] = best(
            lists[own],
            factors[own],
            own_ends - own_ends[0],
            papers,
            firsts,
            flags_at,
            WINDOW,
            heaps[span.start : span.stop],
            other_rows,
            other_ends[span.start : span.stop + 1],
            other_scores,
        )
        return found

    spans = _spans(len(queries))
    answers = []
    for span, (rows, scores, own_ends) in zip(spans, in_threads(scored, spans), strict=True):
        of_each = zip(pairwise(own_ends.tolist()), pairwise(other_ends[span.start : span.stop + 1].tolist()), strict=True)
        for (first, last), (start, stop) in of_each:
            answers.append(Best(rows[first:last], scores[first:last], other_scores[start:stop]))
    return answers


def _spans(queries: int) -> list[range]:
    """Spans of queries to score at a time, as many for each thread. Between them, a search can be abandoned."""
    fewest, most = CHUNKS
    if queries <= fewest:
        return [range(queries)]
    return spans_of(queries, max(-(-queries // (threads() * -(-queries // (threads() * most)))), fewest))


def _lists(shard: LexicalShard, scoring: Scoring) -> tuple[list[TermWeights], list[np.float32]]:
    """A shard's postings of a query's terms and field words, in the order of additions, and the weights of terms in the query."""
    number_of = shard.number
    asked = [(number, term.weight) for term in scoring.terms if (number := number_of(term.term)) is not None]
    lists, factors = shard.weighted_each([number for number, _ in asked]), [weight for _, weight in asked]
    for term, rows in rows_in_fields(shard, scoring.in_fields).items() if scoring.in_fields else ():
        lists.append(TermWeights.of(rows, np.ones(len(rows), np.float32)))
        factors.append(scoring.in_fields[term])
    return lists, factors


def _ends(parts: Sequence[Sized]) -> Rows:
    """Where parts begin, and the end of the last, (parts + 1,)."""
    return np.array([*accumulate(map(len, parts), initial=0)])
