"""Measurements during a training: held-out queries and their right papers, or the loss of held-out examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

import numpy as np
import torch

from ...base.choices import Metric
from ...base.errors import InvalidRequest
from ...base.types import Vectors
from ...evaluation import find_benchmark
from ...evaluation.benchmark_reading import read
from ...matching.dense import full_corpus
from ...matching.dense.exact import score
from ...metrics.judgements import Qrels
from ...metrics.measures import Evaluator
from ...metrics.naming import parse_measure
from ..forms import TrainingSet
from .demands import Reading, TrainingDemand
from .devices import Arithmetic
from .gradients import BUDGET, chunks_of, encoded
from .students import Student

MEASURE = "nDCG@10"
SHARE, MOST_QUERIES, FEWEST_QUERIES = 0.05, 200, 5
"""The share of a training set's queries that is held out, and the most and the fewest; fewer tell nothing."""
PAPERS = 1000
"""The size of the pool of a training set's papers that is searched for the right ones, unless these are more. It is filled with wrong
papers of the same queries, then with random ones.
"""


@dataclass(frozen=True)
class RetrievalTask:
    """Queries and the papers to rank for them.

    Attributes:
        queries, papers: the texts as read, by id.
        qrels: the right papers.
        has_candidates: whether to rank only a query's own candidates, all in `qrels`, as MDCR does.
    """

    queries: Mapping[str, Reading]
    papers: Mapping[str, Reading]
    qrels: Qrels
    has_candidates: bool = False

    @property
    def measure(self) -> str:
        """The measure's name."""
        return "R@5" if self.has_candidates else MEASURE

    def values(self, student: Student, arithmetic: Arithmetic) -> dict[str, float]:
        """The measure of each query."""
        queries, papers = (vectors_of(student, list(texts.values()), arithmetic) for texts in (self.queries, self.papers))
        values = Evaluator(self.qrels, [parse_measure(self.measure)]).per_query(self._answers(queries, papers, student.spec.metric))
        return {query: values[query][self.measure] for query in self.queries}

    def _answers(self, queries: Vectors, papers: Vectors, metric: Metric) -> dict[str, dict[str, float]]:
        """The scores of each query's candidates or nearest papers, by the encoder's metric, without the query itself."""
        ids = list(self.papers)
        run: dict[str, dict[str, float]] = {}
        if self.has_candidates:
            place_of = {id: place for place, id in enumerate(ids)}
            for query, vector in zip(self.queries, queries, strict=True):
                scores = score(vector, papers[[place_of[id] for id in self.qrels[query]]], metric)
                run[query] = dict(zip(self.qrels[query], map(float, scores), strict=True))
            return run
        for query, (rows, scores) in zip(self.queries, full_corpus.top(queries, [papers], 11, metric, None), strict=True):
            run[query] = {ids[row]: score for row, score in zip(rows.tolist(), scores.tolist(), strict=True) if ids[row] != query}
        return run


@dataclass(frozen=True)
class LossOfExamples:
    """The loss of held-out single papers, where nothing is ranked."""

    demands: Sequence[TrainingDemand]
    measure: str = "negative loss"

    def values(self, student: Student, arithmetic: Arithmetic) -> dict[str, float]:
        """The negative loss of each example."""
        values = {}
        for demand in self.demands:
            examples = range(len(demand))
            vectors = torch.from_numpy(vectors_of(student, demand.readings(student, examples), arithmetic)).to(arithmetic.device)
            head = torch.nn.Identity() if demand.head is None else demand.head
            with torch.no_grad():
                head.eval()
                for place in examples:
                    values[f"{demand.name} {place}"] = -float(demand.loss(vectors[place : place + 1], [place]))
                head.train()
        return values


@dataclass(frozen=True)
class Several:
    """Queries of several sets, each with the papers of its set.

    Attributes:
        parts: each set, with the paper that each of its queries counts for: the query itself, or for a title or sentence of an index its
            paper.
    """

    parts: Sequence[tuple[RetrievalTask, Mapping[str, str]]]
    measure: str = MEASURE

    def values(self, student: Student, arithmetic: Arithmetic) -> dict[str, float]:
        """The mean over each paper's queries, which are not independent of each other."""
        values: dict[str, list[float]] = defaultdict(list)
        for part, paper_of in self.parts:
            for query, value in part.values(student, arithmetic).items():
                values[paper_of[query]].append(value)
        return {paper: float(np.mean(own)) for paper, own in values.items()}


Measuring: TypeAlias = RetrievalTask | LossOfExamples | Several
"""Measures a training; greater is better."""


def vectors_of(student: Student, readings: Sequence[Reading], arithmetic: Arithmetic) -> Vectors:
    """Vectors of texts, without gradients and dropout: (texts, dim) float32."""
    vectors: Vectors | None = None
    with evaluating(student), torch.inference_mode():
        for chunk in chunks_of(student, readings, 2 * BUDGET):
            part = student.searched(encoded(student, chunk, arithmetic)).cpu().numpy()
            if vectors is None:
                vectors = np.empty((len(readings), part.shape[1]), np.float32)
            vectors[chunk.places] = part
    assert vectors is not None
    return vectors


@contextmanager
def evaluating(student: Student) -> Iterator[None]:
    """A context without dropout."""
    was_training = student.module.training
    student.module.eval()
    try:
        yield
    finally:
        student.module.train(was_training)


def set_apart(training_set: TrainingSet, seed: int) -> tuple[list[tuple[str, str, str]], tuple[list[str], list[str], Qrels] | None]:
    """The examples to train on; and the held-out queries, papers and judgements, None for a set with few queries.

    No example contains a held-out query, neither as a positive nor as a negative.
    """
    queries = list(dict.fromkeys(query for query, _, _ in training_set.triplets))
    count = min(int(SHARE * len(queries)), MOST_QUERIES)
    if count < FEWEST_QUERIES:
        return training_set.triplets, None
    chosen = set(Random(f"{seed} held out").sample(queries, count))
    examples = [row for row in training_set.triplets if chosen.isdisjoint(row)]
    held_out_rows = [row for row in training_set.triplets if row[0] in chosen]
    if not examples:
        raise InvalidRequest("all examples name a held-out query; measure on another benchmark with `held_out`")
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for query, positive, _ in held_out_rows:
        qrels[query][positive] = 1
    papers = dict.fromkeys(positive for _, positive, _ in held_out_rows)
    for source, rows in (("wrong", held_out_rows), ("others", examples)):
        further = [id for id in dict.fromkeys(id for row in rows for id in row[1:]) if id and id not in papers]
        papers |= dict.fromkeys(Random(f"{seed} {source}").sample(further, max(min(PAPERS - len(papers), len(further)), 0)))
    return examples, ([query for query in queries if query in chosen], list(papers), qrels)


def benchmark(name: str, student: Student) -> RetrievalTask:
    """A benchmark's queries and papers, as the student reads them; for cite:DIR each field's queries with their candidates.

    Raises:
        NotFound, InvalidRequest: the benchmark cannot be read, or ranks no papers.
    """
    if not name.startswith(("beir:", "cite:")):
        raise InvalidRequest(f"`held_out` takes beir:DIR or cite:DIR, not {name!r}; evaluate others when the training is done")
    spec = find_benchmark(name)
    materials = list(read(spec, None, spec.splits[0]))
    has_texts = any(query.paper is None for material in materials for task in material.tasks for query in task.queries.values())
    task_format = "adhoc_query" if has_texts and "adhoc_query" in student.formats else "proximity"
    of_papers, of_queries = (student.format_of(task_format, is_text=is_text) for is_text in (False, True))
    queries: dict[str, Reading] = {}
    papers: dict[str, Reading] = {}
    qrels: dict[str, dict[str, int]] = {}
    is_by_field = name.startswith("cite:")
    for material in materials:
        for task in material.tasks:
            prefix = f"{task.name} " if is_by_field else ""
            for id, query in task.queries.items():
                queries[f"{prefix}{id}"] = (
                    (of_papers, student.of_paper(of_papers, query.paper))
                    if query.paper is not None
                    else (of_queries, student.of_query(of_queries, query.text))
                )
            qrels |= {f"{prefix}{id}": dict(row) for id, row in task.qrels.items()}
        papers |= {paper.id: (of_papers, student.of_paper(of_papers, paper)) for paper in material.pool()}
    queries = {id: reading for id, reading in queries.items() if any(grade > 0 for grade in qrels.get(id, {}).values())}
    if not queries:
        raise InvalidRequest(f"{name} has no queries with relevant papers, so it measures no training")
    if is_by_field:
        wanted = {id for query in queries for id in qrels[query]}
        papers = {id: reading for id, reading in papers.items() if id in wanted}
    return RetrievalTask(queries, papers, qrels, is_by_field)


def mean_of(values: Mapping[str, Any]) -> float:
    """The mean over queries."""
    return float(np.mean(list(values.values())))
