"""Systems to evaluate: vectors of an encoder, an index or a file; BM25 and hybrid search of an index; scores of a file.

Every system answers a task in the same way: with documents and scores for each query; greater is better.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..base.choices import Metric
from ..base.errors import InvalidRequest
from ..base.types import Paper, Query, Vectors
from ..matching import topk
from ..matching.dense import full_corpus
from ..matching.dense.exact import score
from ..metrics.judgements import RunScores, check_ids, read_pair_scores, read_scores
from ..options import KNOBS, OF_BOTH_HALVES, OF_RM3, OF_WORDS, EvaluationOptions, SearchOptions
from ..protocols import Reranker
from ..query.index import Index
from ..query.ranking.reranking import scores_of, stacked_scores
from .costs import Times
from .material import Material, Task
from .spaces import IndexSpace, Space

Answer: TypeAlias = tuple[str, Sequence[str], npt.NDArray[np.float64]]
"""A query's id, documents, and their scores; best first if a whole corpus is ranked."""
BATCH = 256
"""Queries per search of an index."""
LAST = -1e30
"""Lower than any score, also as float32, but finite."""
REVIEWER_PAPERS = 3
"""A reviewer's score is the mean over this number of their papers nearest to the query (SciRepEval, App. A)."""


class System(ABC):
    """Answers tasks. Missing papers and queries are found before anything is scored, see `requests`.

    Attributes:
        name: its name in reports.
        facts: its description, for a report and a receipt.
        known: the papers that it can rank; None if unknown, as for a file of scores.
        times: the counters of its times; None if they would be meaningless.
        index: the index behind it, if any.
        reads_texts: whether it reads papers itself, and so may lack papers without text.
    """

    name: str
    facts: Mapping[str, Any]
    known: Container[str] | None = None
    times: Times | None = None
    index: Index | None = None
    reads_texts = True

    @abstractmethod
    def has_query(self, query: Query) -> bool:
        """Whether it can answer a query."""

    @abstractmethod
    def answers(self, task: Task, depth: int, metric: Metric | None) -> Iterator[Answer]:
        """Answer each query of a task, over its candidates if it has any, else over the whole corpus to `depth`, without a paper with the
        query's own id.
        """


class Dense(System):
    """Nearest vectors; torch's `device` ranks a whole corpus, None for NumPy."""

    times: Times

    def __init__(self, name: str, space: Space, facts: Mapping[str, Any], device: str | None, times: Times) -> None:
        self.name, self.space, self.facts, self.times, self._device = name, space, facts, times, device
        self.known, self.index, self.reads_texts = space.rows, space.index, space.index is not None

    def has_query(self, query: Query) -> bool:
        """See `System`."""
        return self.space.has_query(query)

    def answers(self, task: Task, depth: int, metric: Metric | None) -> Iterator[Answer]:
        """See `System`. Queries and candidates without a vector are left out."""
        used_metric = metric or self.space.metric
        with self.times.prepared():
            query_ids, vectors = self.space.queries(task)
        if task.candidates is None:
            ids = self.space.ids
            if task.among is not None or task.standardise:
                papers, vectors = _prepared(self.space.matrices(), vectors, task.among, task.standardise)
                answers = full_corpus.top(vectors, papers, depth + 1, used_metric, self._device)
            else:
                answers = self.space.top(vectors, depth + 1, used_metric, self._device)
            for query, (rows, scores) in zip(query_ids, answers, strict=True):
                yield _to_depth(query, [ids[row] for row in rows.tolist()], scores, depth)
            return
        for query, vector in zip(query_ids, vectors, strict=True):
            candidate_ids = task.candidates.get(query, ())
            if task.groups is not None:
                group_ids, matrix = self.space.papers(_papers_of(candidate_ids, task.groups))
                yield _best_groups(query, candidate_ids, task.groups, group_ids, score(vector, matrix, "cosine"))
                continue
            paper_ids, matrix = self.space.papers(candidate_ids)
            scores = score(vector, matrix, used_metric) if paper_ids else np.empty(0)
            if task.single and used_metric == "l2":
                scores = -np.sqrt(np.square(scores).astype(np.float32)).astype(np.float64)
            # SciDocs' code scores an empty vector minus infinity: the candidate is ranked last, not missing
            empty_ids = [id for id in candidate_ids if id in self.space.empty]
            yield query, [*paper_ids, *empty_ids], np.concatenate([scores, np.full(len(empty_ids), LAST)])


def _papers_of(names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The papers of some sets, each once."""
    return list(dict.fromkeys(id for name in names for id in groups.get(name, ())))


def _best_groups(
    query: str, names: Sequence[str], groups: Mapping[str, Sequence[str]], ids: Sequence[str], scores: npt.NDArray[np.float64]
) -> Answer:
    """Sets of papers, each scored by the mean of its papers' best scores; sets without a scored paper are left out."""
    score_of = dict(zip(ids, scores.tolist(), strict=True))
    rows = {name: sorted((score_of[id] for id in groups.get(name, ()) if id in score_of), reverse=True) for name in names}
    means = {name: float(np.mean(row[:REVIEWER_PAPERS])) for name, row in rows.items() if row}
    return query, list(means), np.array(list(means.values()))


def _to_depth(query: str, ids: Sequence[str], scores: npt.NDArray[np.float64], depth: int) -> Answer:
    """The first `depth` papers besides the query's own; ties at the end are cut by falling id, in trec_eval's order.

    This limits answers, however many papers tie.
    """
    limit = depth + (query in ids)
    if len(ids) <= limit:
        return query, ids, scores
    start = int(np.count_nonzero(scores > scores[limit - 1]))
    stop = start + int(np.count_nonzero(scores == scores[limit - 1]))
    tied_ids = sorted(ids[start:stop], key=lambda id: (id == query, id.encode()), reverse=True)  # the query's own does not count
    return query, [*ids[:start], *tied_ids][:limit], scores[:limit]


def _prepared(papers: Sequence[Vectors], queries: Vectors, among: int | None, standardise: bool) -> tuple[Sequence[Vectors], Vectors]:
    """The first `among` papers, and both sides standardised over them, in memory.

    Standardisation is Timkey and van Schijndel's (2021): each dimension minus its mean, over its standard deviation.
    """
    candidates = np.concatenate([np.asarray(part[: len(part)], np.float32) for part in papers])[:among]
    if standardise:
        mean, spread = candidates.mean(axis=0), np.maximum(candidates.std(axis=0), 1e-12)
        candidates, queries = (candidates - mean) / spread, (queries - mean) / spread
    return [candidates], queries


class IndexSearch(System):
    """An index's own search. The options name its mode; `settings` has the other settings, see `settings_of`."""

    index: Index
    times: Times
    known: Container[str]

    def __init__(self, name: str, index: Index, options: SearchOptions, settings: Mapping[str, Any], times: Times) -> None:
        self.name, self.index, self.options, self.times = name, index, options, times
        self.known = set(index.snapshot.live_ids())
        effort = {knob: value for knob in KNOBS if (value := getattr(options, knob)) is not None}
        self.facts = {"index": str(index.path), "mode": options.mode, "fusion": options.fusion if options.mode == "hybrid" else None}
        self.facts |= ({"effort": effort} if effort else {}) | ({"settings": settings} if settings else {})

    @cached_property
    def _space(self) -> IndexSpace:
        return IndexSpace(self.index)

    def has_query(self, query: Query) -> bool:
        """See `System`. A paper without any text is a query without answers, since its vector means nothing in mode dense."""
        return query.paper is not None or bool(query.words.strip())

    def answers(self, task: Task, depth: int, metric: Metric | None) -> Iterator[Answer]:
        """See `System`. Scores are the search's own. Candidates without a word of the query rank below all others."""
        queries = [query for query in task.queries.values() if self.has_query(query)]
        # stored vectors are used, as in mode dense: a paper in the index is not encoded again
        with self.times.prepared():
            vectors = self._space.queries(task)[1] if self.options.mode != "bm25" else None
        if task.candidates is None:
            last_row = self.index.snapshot.scope.rows if task.among is None else task.among
            k = depth + 1 + self.index.snapshot.scope.rows - last_row  # papers outside the candidates may come first
            batch_size = max(1, BATCH * (depth + 1) // k)
            for start in range(0, len(queries), batch_size):
                places = [place for place in range(start, min(start + batch_size, len(queries))) if queries[place].words.strip()]
                known = vectors[places] if vectors is not None else None
                rankings = iter(self.index.search([queries[place] for place in places], k, self.options, vectors=known) if places else ())
                for query in queries[start : start + batch_size]:
                    if not query.words.strip():
                        yield query.id, [], np.empty(0)
                        continue
                    ranking = next(rankings)
                    positions = np.flatnonzero(ranking.rows < last_row)[: depth + 1]
                    yield _to_depth(query.id, [ranking.ids[position] for position in positions], ranking.scores[positions], depth)
            return
        for place, query in enumerate(queries):
            names = task.candidates.get(query.id, ())
            papers = names if task.groups is None else _papers_of(names, task.groups)
            ids = [id for id in papers if id in self.known]
            vector = vectors[place] if vectors is not None else None
            scores = self.index.score(query, ids, self.options, vector=vector)
            yield (query.id, ids, scores) if task.groups is None else _best_groups(query.id, names, task.groups, ids, scores)


def settings_of(options: EvaluationOptions) -> dict[str, Any]:
    """The settings of hybrid search and of BM25 that are given, except the fusion's method; for RM3 all or none."""
    names = [name for name in (*OF_BOTH_HALVES, *OF_WORDS) if getattr(options, name) is not None and name != "fusion"]
    return {name: getattr(options, name) for name in (*names, *(OF_RM3 if options.rm3 else ()))}


class RerankedSystem(System):
    """A system whose first answers a reranker reorders."""

    def __init__(self, system: System, reranker: Reranker, depth: int, material: Material) -> None:
        self.name, self.times = f"{system.name}, first {depth} by {reranker.name}", system.times
        self.facts = {**system.facts, "rerank": reranker.name, "rerank_depth": depth}
        self._system, self._reranker, self._depth, self._material = system, reranker, depth, material

    def has_query(self, query: Query) -> bool:
        """See `System`."""
        return self._system.has_query(query)

    @cached_property
    def _papers(self) -> dict[str, Paper]:
        return {paper.id: paper for paper in self._material.pool()}

    def answers(self, task: Task, depth: int, metric: Metric | None) -> Iterator[Answer]:
        """See `System`."""
        if task.groups is not None:
            raise InvalidRequest("sets of papers are scored by their vectors, so a reranker cannot order them")
        for query, ids, scores in self._system.answers(task, depth, metric):
            order = topk.order(ids, scores)
            first_ids = [ids[place] for place in order[: self._depth]]
            if (textless_id := next((id for id in first_ids if id not in self._papers), None)) is not None:
                raise InvalidRequest(
                    f"query {query!r}: {self._system.name} answers with {textless_id!r}, which has no text to rerank it by"
                )
            first_scores = scores_of(self._reranker, task.queries[query], [self._papers[id] for id in first_ids])
            yield query, [ids[place] for place in order], stacked_scores(first_scores, scores[order[self._depth :]])


class StoredScores(System):
    """Stored scores from a file."""

    reads_texts = False

    def __init__(self, path: Path, pairs: bool) -> None:
        """`pairs` is whether the file has MDCR's form, one number per `query_candidate`."""
        self.name, self.facts, self.path, self.pairs = path.name, {"scores": str(path)}, path, pairs

    def has_query(self, query: Query) -> bool:
        """See `System`: a query missing from the file counts as unanswered."""
        return True

    @cached_property
    def _scores(self) -> RunScores:
        return read_scores(self.path)

    @cached_property
    def _pairs(self) -> dict[str, float]:
        return read_pair_scores(self.path)

    def answers(self, task: Task, depth: int, metric: Metric | None) -> Iterator[Answer]:
        """See `System`. In MDCR's form every pair must be there; in others, a missing query counts as unanswered."""
        pairs = self._pairs if self.pairs else {}
        if not self.pairs and not self._scores.keys().isdisjoint(task.qrels):
            check_ids(self._scores, self.path, task.qrels, task.name)
        for query in task.queries:
            candidates = (task.candidates or {}).get(query, ())
            if self.pairs:
                if (missing_id := next((id for id in candidates if f"{query}_{id}" not in pairs), None)) is not None:
                    raise InvalidRequest(f"{self.path} has no score {query}_{missing_id}; the protocol needs every pair")
                yield query, list(candidates), np.array([pairs[f"{query}_{id}"] for id in candidates])
            elif (row := self._scores.get(query)) is not None:
                scores = row if task.candidates is None else {id: row[id] for id in candidates if id in row}
                yield query, list(scores), np.array(list(scores.values()))
