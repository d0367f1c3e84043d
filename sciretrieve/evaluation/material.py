"""A benchmark in memory: the papers to rank, and tasks with queries and judgements."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy.typing as npt

from ..base.choices import Metric
from ..base.types import Paper, Query
from ..metrics.judgements import Qrels

Rounding = Literal["printed", "summed", "numpy", "beir"]
"""The rounding of a figure in per cent: as in printing; the same after adding the queries' values one by one in order, as in SciMult's
code, so that ties fall to the same side; by NumPy, which may differ in ties; or as in BEIR, after rounding the value from 0 to 1 to five
decimals.
"""
Average = Literal["none", "tasks", "rounded tasks", "figures"]
"""The averages of several tasks: none, if the authors define none; for each measure the mean of the tasks' means; the same after rounding
each (MDCR); or one mean of all tasks' figures of all measures.
"""

Label = Literal["class", "classes", "number"]
"""The label to predict for a paper: one of several classes, any of several classes, or a number."""
Solver = Literal["scirepeval", "scidocs"]
"""The evaluator that fits the model: SciRepEval's skips a paper without a vector, SciDocs' uses zeros; the values of C also differ."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A benchmark's scoring, as data.

    Attributes:
        measures: the printed measures, by the names of `naming.parse_measure`.
        metric: the metric of vectors; None for the encoder's own.
        score_decimals: decimals to which scores are rounded before ranking (SciDocs: 5); None for no rounding.
        decimals: decimals of figures, which are in per cent.
        rounding: see `Rounding`.
        skips: whether queries and candidates without a vector are left out, as in the authors' code; otherwise they are an error, because a
            figure over the rest would not be comparable.
        drop_self: whether a document with the query's own id is removed from the answer (as by BEIR).
        depth: the number of ranked documents of a whole corpus, without the query's own.
        average: see `Average`.
        bare_titles: whether a paper without an abstract is read as its title alone, without the separator (as by SciRepEval, also for
            MDCR).
        beir_mrr: whether the reciprocal rank is BEIR's, see `naming.BEIR`.
    """

    measures: tuple[str, ...]
    metric: Metric | None = None
    score_decimals: int | None = None
    decimals: int = 2
    rounding: Rounding = "printed"
    skips: bool = False
    drop_self: bool = False
    depth: int = 1000
    average: Average = "none"
    bare_titles: bool = False
    beir_mrr: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """Queries and their judgements.

    Attributes:
        name: the task's name; with several tasks, a benchmark prints figures for each.
        queries: by id, in the file's order.
        qrels: by query id and document id, the grade.
        candidates: by query id, the documents to rank; None for the whole corpus.
        groups: if sets of papers (reviewers) are ranked instead of papers, the paper ids of each set.
        first: by query id, documents ranked before all others regardless of score (labels matched by name).
        among: the number of candidates from the start of the pool; None for all.
        standardise: whether vectors are standardised over the candidates, dimension by dimension.
        single: whether a distance is the float32 root of its float32 square, as scikit-learn's is for float32 vectors.
        classes: whether candidates are classes, scored by F1 instead of a mean over queries; the first one is the predicted class.
    """

    name: str
    queries: Mapping[str, Query]
    qrels: Qrels
    candidates: Mapping[str, Sequence[str]] | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    first: Mapping[str, set[str]] | None = None
    among: int | None = None
    standardise: bool = False
    single: bool = False
    classes: bool = False

    @classmethod
    def reranked(cls, name: str, queries: Mapping[str, Query], qrels: Qrels, *, single: bool = False) -> Task:
        """A task that ranks the judged documents of each query."""
        return cls(name, queries, qrels, {id: tuple(row) for id, row in qrels.items()}, single=single)


@dataclass(frozen=True, slots=True)
class FewShot:
    """Few-shot learning: the number of papers of a sample, and the number of samples, whose figures are averaged."""

    size: int
    runs: int


@dataclass(frozen=True, slots=True)
class LabelledPapers:
    """Papers with a label each: the ids, and an array, (n,) of classes or numbers or (n, classes) of 0 and 1."""

    ids: tuple[str, ...]
    labels: npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Prediction:
    """A task of predicting papers' labels from their vectors, with a model trained on other papers.

    Attributes:
        what, learner, runs: for all kinds of such tasks: the thing predicted, the model, and the number of models.
        name: the task's name.
        label: see `Label`.
        measure: F1 of the class 1, macro-F1 or tau.
        train: the training papers.
        test: the test papers.
        few_shot: the samples of training papers; None for all papers.
        solver: see `Solver`.
    """

    what: ClassVar[str] = "labels"
    learner: ClassVar[str] = "linear support vectors"
    name: str
    label: Label
    measure: str
    train: LabelledPapers
    test: LabelledPapers
    few_shot: FewShot | None = None
    solver: Solver = "scirepeval"

    @property
    def runs(self) -> int:
        """The number of models."""
        return self.few_shot.runs if self.few_shot else 1


@dataclass(frozen=True, slots=True)
class Handover:
    """A task that its authors' own code scores, from a file of the papers' vectors.

    Attributes:
        name: the name of the task and its data set.
        root: the folder with the folders of all data sets.
        blocks: the folder of the files with the blocks of each split.
        learnt: the paper's id for each training mention of an author.
        test: the same for test mentions.
    """

    what: ClassVar[str] = "clusters"
    learner: ClassVar[str] = "S2AND's own code"
    runs: ClassVar[int] = 1
    name: str
    root: Path
    blocks: Path
    learnt: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Click:
    """A paper that a reader of `query` clicked, and the papers that were `shown`, in order; all by id."""

    query: str
    clicked: str
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkedPaper:
    """The metadata of a paper: authors, citing and cited papers, and the year, None if it is not a number."""

    title: str
    authors: frozenset[str]
    cited_by: frozenset[str]
    references: frozenset[str]
    year: float | None


@dataclass(frozen=True, slots=True)
class Clicks:
    """A task of predicting clicks on recommended papers, with a model trained on other clicks.

    Attributes:
        name: the task's name.
        train: the training clicks.
        val: the clicks to choose the best epoch by; empty for the last epoch.
        test: the test clicks.
        propensities: the frequency of clicks on each place of a list, from the first one.
        papers: the metadata of papers, by id.
    """

    what: ClassVar[str] = "clicks"
    learner: ClassVar[str] = "a network that learns clicks from the cosine and metadata"
    runs: ClassVar[int] = 1
    name: str
    train: tuple[Click, ...]
    val: tuple[Click, ...]
    test: tuple[Click, ...]
    propensities: tuple[float, ...]
    papers: Mapping[str, LinkedPaper]


@dataclass(frozen=True)
class Material:
    """A benchmark in memory, or one of its sets, if each set has its own papers.

    Attributes:
        pool: yields the papers to rank, anew at each call.
        tasks: the tasks on these papers.
        name: the set's name, which separates its index from others.
        fingerprint: changes when the papers do.
        notes: unusual features of the files, and their treatment.
        textless: the error to raise when texts are needed but missing; else "".
        predictions: the tasks of predicting labels of these papers, clusters of their authors, or clicks on them.
        missing: the names of tasks left out because their files are missing.
    """

    pool: Callable[[], Iterable[Paper]]
    tasks: tuple[Task, ...]
    name: str
    fingerprint: str
    notes: list[str] = field(default_factory=list)
    textless: str = ""
    predictions: tuple[Prediction | Handover | Clicks, ...] = ()
    missing: tuple[str, ...] = ()

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        """SHA-256 of the judgements, queries, candidates and papers, of their contents and not of their files."""
        learnt = {one.name: _learnt(one) for one in self.predictions}
        rows = ([paper.id, paper.title, paper.abstract] for paper in self.pool())
        return {
            "judgements": _hash([[task.name, task.qrels] for task in self.tasks] + ([learnt] if learnt else [])),
            "queries": _hash(
                [task.name, id, query.text, query.paper and query.words] for task in self.tasks for id, query in task.queries.items()
            ),
            "candidates": _hash([task.name, task.candidates, task.groups, task.first, task.among] for task in self.tasks),
            "corpus": _hash(rows),
        }


def _learnt(prediction: Prediction | Handover | Clicks) -> Any:
    """The examples of a prediction, to train on and to test."""
    if isinstance(prediction, Prediction):
        return [[part.ids, part.labels.tolist()] for part in (prediction.train, prediction.test)]
    if isinstance(prediction, Handover):
        return [prediction.learnt, prediction.test]
    return [[astuple(click) for click in part] for part in (prediction.train, prediction.val, prediction.test)]


def _hash(values: Iterable[Any]) -> str:
    digest, encoder = hashlib.sha256(), json.JSONEncoder(sort_keys=True, default=sorted)
    for value in values:
        digest.update(encoder.encode(value).encode() + b"\n")
    return digest.hexdigest()
