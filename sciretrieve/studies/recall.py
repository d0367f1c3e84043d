"""The current recall of an index's dense half against exact search, searched as by a user, with some of its own papers as queries.

A commit measures the same, to choose the effort of searches (`matching.dense.measuring`). This measures again, with other papers, in the
present index. Papers of the index are found a little more easily than other texts, see `dense_types`: this shows whether a promise is kept,
not what to expect of other texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arguments import checked
from ..base.choices import check_count
from ..base.forms import AsJson
from ..base.types import Rows
from ..matching.dense import VectorShard
from ..matching.dense.measuring import QUERIES, K, Questions
from ..matching.dense.vectors import search, vectors_at
from ..matching.effort import Effort
from ..metrics.significance import Values, interval
from ..progress import shown
from ..protocols import Progress
from ..query.index import Index
from ..query.opening import AnyIndex, opened
from ..query.snapshot import Snapshot

EXACT_TYPE = "exact"
AT_ONCE = 20
"""Queries between two updates of the progress."""
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class RecallPart:
    """The recall in some of an index's shards.

    Attributes:
        type: their search: a type of dense index, as for `--dense`, or "exact"; "all" for all shards.
        shards, papers: their numbers, without deleted papers.
        recall: the mean share of the true best papers that is found, 0 to 1.
        low, high: the ends of its 95 % interval over queries.
    """

    type: str
    shards: int
    papers: int
    recall: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Recall(AsJson):
    """The recall of an index.

    Attributes:
        promised: the recall that the index was built for; None if every vector is scored, so that nothing was measured.
        k: the number of best papers for recall.
        queries: the number of papers used as queries; none counts as an answer to itself.
        ef, nprobe: the effort of a search, as in `SearchOptions`; None if unused, or if nothing was measured.
        whole: the recall in all shards.
        parts: the recall in shards of each kind of search, among the best papers of these, if there are several kinds.
    """

    promised: float | None
    k: int
    queries: int
    ef: int | None
    nprobe: int | None
    whole: RecallPart
    parts: tuple[RecallPart, ...]

    @property
    def is_exact(self) -> bool:
        """Whether every vector is scored, or there are none, so that nothing is missed."""
        return self.promised is None

    @property
    def holds(self) -> bool:
        """Whether the promise may be kept: the interval does not lie below it."""
        return self.promised is None or self.whole.high >= self.promised


@checked
def measure_recall(index: AnyIndex, *, queries: int = QUERIES, seed: int = 0, progress: Progress | bool = True) -> Recall:
    """Search an index, with the effort of a search, for the neighbours of some of its own papers, and compare with an exact search.

    Args:
        index: an index. One without vectors is searched by BM25, which is exact.
        queries: the most papers to search for; 200 give the recall to within some 0.01.
        seed: the random seed.
        progress: a listener for progress; by default a bar on a terminal or in a notebook, False for none.

    Raises:
        InvalidRequest: `queries` is below 1.
        CorruptData: a file of the index is damaged.

    >>> recall = sr.measure_recall(index)
    >>> recall.holds
    True
    """
    check_count(queries, "queries")
    with opened(index) as library:
        return _recall_of(library, queries, seed, progress)


def _recall_of(index: Index, queries: int, seed: int, progress: Progress | bool) -> Recall:
    snapshot, effort = index.snapshot, index.searcher.effort
    scope = snapshot.scope
    parts_of: dict[str, list[VectorShard]] = {}
    for shard in snapshot.vectors:
        scans = shard.scans(K + 1, scope.part(shard.first, shard.papers), effort)
        parts_of.setdefault(EXACT_TYPE if scans else snapshot.manifest.dense, []).append(shard)
    if not parts_of.keys() - {EXACT_TYPE}:
        return Recall(None, K, 0, None, None, RecallPart(EXACT_TYPE, len(snapshot.shards), len(index), 1.0, 1.0, 1.0), ())
    chosen = np.random.default_rng(seed).choice(len(scope), min(queries, len(scope)), replace=False)
    rows = scope.places[np.sort(chosen)]
    with shown(progress) as listener:
        listener.start(len(rows) * len(parts_of), unit="queries")
        whole = _measured(snapshot.manifest.dense if len(parts_of) == 1 else "all", snapshot, snapshot.vectors, effort, rows, listener)
        parts = [_measured(name, snapshot, shards, effort, rows, listener) for name, shards in parts_of.items() if len(parts_of) > 1]
    return Recall(snapshot.manifest.recall, K, len(rows), effort.ef, effort.nprobe, whole, tuple(parts))


def _measured(name: str, snapshot: Snapshot, shards: Sequence[VectorShard], effort: Effort, rows: Rows, progress: Progress) -> RecallPart:
    """The recall of some shards for the papers at these rows, which may be in other shards."""
    papers = sum(len(snapshot.scope.part(shard.first, shard.papers)) for shard in shards)
    if name == EXACT_TYPE:
        return RecallPart(name, len(shards), papers, 1.0, 1.0, 1.0)
    shares: list[float] = []
    for first in range(0, len(rows), AT_ONCE):
        queries = rows[first : first + AT_ONCE]
        questions = Questions(shards, snapshot.scope, vectors_at(snapshot.vectors, queries), queries)
        shares += questions.shares(search(shards, questions.vectors, questions.asked, snapshot.scope, effort))
        progress.advance(len(queries))
    low, high = _interval(np.array(shares))
    return RecallPart(name, len(shards), papers, round(float(np.mean(shares)), 4), round(low, 4), round(high, 4))


def _interval(shares: Values) -> tuple[float, float]:
    """The bootstrap's interval of the mean, see `metrics.significance.interval`. If each query finds all, where the bootstrap would be
    certain, the lower end is that of the share of such queries (Clopper and Pearson 1934), which the mean is never below.
    """
    if shares.min() == 1:
        return float(((1 - LEVEL) / 2) ** (1 / len(shares))), 1.0
    return interval(shares, LEVEL)
