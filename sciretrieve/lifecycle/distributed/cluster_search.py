"""Search on a Ray cluster: each node scores some memory-mapped shards, and the answers are merged here as for local shards.

Any node can answer for any shard. If a node is lost, others take over, so answers are always complete.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ...base.choices import Metric
from ...base.errors import CorruptData
from ...base.once import once
from ...base.types import Rows, Scores, Vectors
from ...matching import topk
from ...matching.dense import VectorShard, full_corpus
from ...matching.dense.exact import RowScores
from ...matching.dense.vectors import NearestRequest, answered
from ...matching.dense.vectors import search as search_vectors
from ...matching.late import QueryTokens, TokenShard, matches
from ...matching.lexical import Bm25
from ...matching.lexical.scoring import Best
from ...matching.scope import RowRange, Scope
from ...matching.search import Probe, Searcher
from ...options import Bm25Parameters
from ...query.snapshot import Snapshot
from ...storage.manifest import generation_file
from .cluster import RayCluster, cause_of

logger = logging.getLogger(__name__)

Call: TypeAlias = tuple[str, tuple[Any, ...]]
"""Name of a method of `_ScoringProcess`, and its arguments."""


@dataclass(frozen=True, kw_only=True)
class ClusterSearcher(Searcher):
    """A `Searcher` whose shards are scored on the nodes, with the same answers."""

    groups: NodeGroups

    def near(self, query_vectors: Vectors, k: int, scope: Scope) -> list[RowScores]:
        """See `Searcher.near`."""
        return search_vectors(self.halves.vectors, query_vectors, k, scope, self.effort, self.groups.nearest)

    def bests(self, probes: Sequence[Probe], k: int, others: Sequence[Rows]) -> Iterable[Best]:
        """See `Searcher.bests`."""
        assert self.bm25 is not None
        frequencies = [{term: self.bm25.frequency(term) for term in probe.all_terms} for probe in probes]
        return self.groups.bests(probes, k, others, frequencies, self.bm25.parameters)

    def match(self, tokens: QueryTokens, rows: Rows) -> Scores:
        """See `Searcher.match`."""
        return self.groups.match(tokens, rows)

    def top(self, query_vectors: Vectors, k: int, metric: Metric, device: str | None = None) -> Iterator[RowScores]:  # noqa: ARG002
        """See `Searcher.top`. Nodes multiply on their CPUs, whatever `device` says."""
        return self.groups.top(query_vectors, k, metric)

    def close(self) -> None:
        """End the searching processes."""
        self.groups.close()


@dataclass(frozen=True, slots=True)
class _Group:
    """Shards of one process: numbers of the first and after the last, and rows likewise."""

    shards: tuple[int, int]
    rows: tuple[int, int]


class _ScoringProcess:
    """The process on a node. It opens a snapshot and reads only the shards that it is asked about."""

    def __init__(self, path: str, generation: int, checksum: str) -> None:
        self._snapshot = Snapshot.of(path, generation)
        if self._snapshot.manifest.checksum != checksum:
            raise CorruptData(
                f"{path} is another index here than where it was opened; see that all nodes see the same one, and open it again"
            )
        self._vectors: dict[int, VectorShard] = {}
        self._bm25: dict[_Group, Bm25 | None] = {}
        self._tokens: dict[_Group, list[TokenShard]] = {}

    def _shard(self, number: int) -> VectorShard:
        if number not in self._vectors:
            (self._vectors[number],) = self._snapshot.vectors_of([self._snapshot.shards[number]])
        return self._vectors[number]

    def nearest(self, requests: Sequence[NearestRequest], k: int | None) -> list[list[RowScores]]:
        return answered({request.shard: self._shard(request.shard) for request in requests}, requests, k)

    def top(self, group: _Group, query_vectors: Vectors, k: int, metric: Metric) -> list[RowScores]:
        shards = [self._shard(number) for number in range(*group.shards)]
        return list(full_corpus.top(query_vectors, self._snapshot.live_vectors(shards), k, metric))

    def match(self, group: _Group, tokens: QueryTokens, rows: Rows) -> Scores:
        if group not in self._tokens:
            self._tokens[group] = self._snapshot.tokens_of(self._snapshot.shards[slice(*group.shards)])
        return matches(self._tokens[group], tokens, rows)

    def bests(self, group: _Group, words: Sequence[_Words]) -> list[Best]:
        if group not in self._bm25:
            self._bm25[group] = self._snapshot.bm25_of(self._snapshot.shards[slice(*group.shards)])
        bm25 = self._bm25[group]
        assert bm25 is not None
        if words and words[0].parameters != bm25.parameters:  # kept for later queries
            bm25 = self._bm25[group] = bm25.weighted(words[0].parameters)
        return [
            replace(bm25, frequencies=query.frequencies).best(query.terms, query.k, RowRange(group.rows[0], query.scope), query.others)
            for query in words
        ]


@dataclass(frozen=True, slots=True)
class _Words:
    """Arguments of `Bm25.best` for a group of shards. The scope covers only the group's rows."""

    terms: Mapping[str, float]
    frequencies: Mapping[str, int]
    parameters: Bm25Parameters
    k: int
    scope: Scope
    others: Rows


class NodeGroups:
    """An index's shards in one group per node, and the processes that answer for the groups."""

    def __init__(self, cluster: RayCluster, snapshot: Snapshot) -> None:
        self._cluster, manifest, scope = cluster, snapshot.manifest, snapshot.scope
        self._place = str(snapshot.path.absolute()), manifest.generation, manifest.checksum
        file = generation_file(snapshot.path, manifest.generation)
        nodes = [node for node in self._cluster.nodes() if self._cluster.check(node, file)]
        self._processes = [self._cluster.started(_ScoringProcess, node, *self._place, reserves=False) for node in nodes]
        firsts = [*(shard.first for shard in snapshot.shards), scope.rows]
        count = max(min(len(nodes), len(snapshot.shards)), 1)
        edges = [round(place * len(snapshot.shards) / count) for place in range(count + 1)]
        self._groups = [_Group((first, end), (firsts[first], firsts[end])) for first, end in pairwise(edges)]
        self._live_before = [len(scope.part(0, group.rows[0])) for group in self._groups]

    def nearest(self, requests: Sequence[NearestRequest], k: int | None) -> list[list[RowScores]]:
        """Answers of the shards, see `matching.dense.vectors.answered`."""
        of_groups = [[request for request in requests if group.shards[0] <= request.shard < group.shards[1]] for group in self._groups]
        answers = self._ask_groups([("nearest", (mine, k)) if mine else None for mine in of_groups])
        answer_of = {
            id(request): answer
            for mine, given in zip(of_groups, answers, strict=True)
            for request, answer in zip(mine, given or (), strict=True)
        }
        return [answer_of[id(request)] for request in requests]

    def top(self, query_vectors: Vectors, k: int, metric: Metric) -> Iterator[RowScores]:
        """See `ClusterSearcher.top`."""
        for batch in full_corpus.batches(query_vectors, k * len(self._groups)):
            answers = self._ask_groups([("top", (group, batch, k, metric)) for group in self._groups])
            for parts in zip(*answers, strict=True):
                rows = np.concatenate([part_rows + first for (part_rows, _), first in zip(parts, self._live_before, strict=True)])
                scores = np.concatenate([part_scores for _, part_scores in parts])
                best_places = topk.best(scores, k)
                yield full_corpus.ordered(rows[best_places], scores[best_places])

    def bests(
        self, probes: Sequence[Probe], k: int, others: Sequence[Rows], frequencies: Sequence[Mapping[str, int]], parameters: Bm25Parameters
    ) -> Iterator[Best]:
        """Best papers by words for each probe, see `Bm25.best`."""
        calls: list[Call | None] = []
        places = []
        for group in self._groups:
            first, end = group.rows
            in_group = [np.flatnonzero((rows >= first) & (rows < end)) for rows in others]
            places.append(in_group)
            words = [
                _Words(probe.all_terms, known, parameters, k, probe.scope.part(first, end - first), rows[mine])
                for probe, known, rows, mine in zip(probes, frequencies, others, in_group, strict=True)
            ]
            calls.append(("bests", (group, words)))
        answers = self._ask_groups(calls)
        for number, other_rows in enumerate(others):
            rows = np.concatenate([given[number].rows for given in answers])
            scores = np.concatenate([given[number].scores for given in answers])
            best_places = topk.best(scores, k) if len(rows) > k else slice(None)
            other_scores = np.full(len(other_rows), -np.inf, np.float32)
            for given, in_group in zip(answers, places, strict=True):
                other_scores[in_group[number]] = given[number].other_scores
            yield Best(rows[best_places], scores[best_places], other_scores)

    def match(self, tokens: QueryTokens, rows: Rows) -> Scores:
        """Match of a query's token vectors with the papers at the given rows, see `matching.late.matches`."""
        in_groups = [np.flatnonzero((rows >= group.rows[0]) & (rows < group.rows[1])) for group in self._groups]
        calls: list[Call | None] = [
            ("match", (group, tokens, rows[mine])) if len(mine) else None for group, mine in zip(self._groups, in_groups, strict=True)
        ]
        scores = np.full(len(rows), -np.inf)
        for mine, given in zip(in_groups, self._ask_groups(calls), strict=True):
            if given is not None:
                scores[mine] = given
        return scores

    def _ask_groups(self, calls: Sequence[Call | None]) -> list[Any]:
        """Each group's answer to its call. Groups of a lost process go to the others, or to this process."""
        ray = self._cluster.ray
        answers: list[Any] = [None] * len(calls)
        open_calls = {number: call for number, call in enumerate(calls) if call is not None}
        while open_calls:
            asked = {}
            for number, (method, arguments) in open_calls.items():
                process = self._processes[number % len(self._processes)] if self._processes else None
                if process is None:
                    answers[number] = getattr(self._here, method)(*arguments)
                else:
                    asked[number] = process, getattr(process, method).remote(*arguments)
            for number, (process, answer) in asked.items():
                try:
                    answers[number] = ray.get(answer)
                except ray.exceptions.RayActorError as error:
                    logger.warning("a node that searched was lost, others take over: %s", " ".join(str(error).split())[:200])
                    self._processes = [other for other in self._processes if other is not process]
                except ray.exceptions.RayTaskError as error:
                    raise cause_of(error) from None
            open_calls = {number: call for number, call in open_calls.items() if answers[number] is None}
        return answers

    @once
    def _here(self) -> _ScoringProcess:
        logger.warning("no node is left to search, so this machine does it alone")
        return _ScoringProcess(*self._place)

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            with suppress(Exception):
                self._cluster.ray.kill(process)
        self._processes = []
