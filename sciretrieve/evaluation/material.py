"""A benchmark in memory: the papers that may be answered, and tasks with queries and judgements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy.typing as npt

from ..base.choices import Metric
from ..base.types import Paper, Query
from ..metrics.judgements import Qrels

Rounding = Literal["printed", "summed", "numpy", "beir"]
"""How a figure in per cent is rounded: as printing does; the same of a sum to which queries are added one by one, in their order, as in
SciMult's code, so that a figure in the middle of two falls to the same side; by NumPy, which may differ in ties; or as by BEIR, which first
rounds the value from 0 to 1 to five decimals."""
Average = Literal["none", "tasks", "rounded tasks", "figures"]
"""How the figures of several tasks become figures of the benchmark: not at all, where its authors define no average; for each
measure the mean of the tasks' means; the same after each was rounded (MDCR); or one mean of all tasks' figures of all measures."""

Label = Literal["class", "classes", "number"]
"""What is predicted of a paper: one class of several, any of several classes, or a number."""
Solver = Literal["scirepeval", "scidocs"]
"""Whose evaluator fits the model: SciRepEval's leaves out a paper without a vector, SciDocs' takes zeros; the values of C differ, too."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a benchmark's authors score, as data.

    Attributes:
        measures: the printed measures, by the names of `measures.parse_measure`.
        metric: how vectors are compared; None for the metric that the encoder was trained for.
        score_decimals: decimals that scores are rounded to before they are ranked (SciDocs: 5); None for no rounding.
        decimals: decimals of figures, which are in per cent.
        rounding: see `Rounding`.
        skips: whether queries and candidates without a vector are left out, as in the authors' code; otherwise
            they are an error, because a figure over the rest would not compare.
        drop_self: whether a document with the query's own id is removed from the answer (as by BEIR).
        depth: how many documents of a whole corpus are ranked, the query's own not counted.
        average: see `Average`.
        bare_titles: whether a paper without an abstract is read as its title alone, without the separator (as by SciRepEval, also of MDCR).
        beir_mrr: whether the reciprocal rank is BEIR's, see `measures.BEIR`.
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
        name: the task's name; if a benchmark has several tasks, figures are printed for each.
        queries: by id, in the file's order.
        qrels: query id -> document id -> grade.
        candidates: query id -> the documents to rank; None for the whole corpus.
        groups: if sets of papers (reviewers) are ranked instead of papers, set id -> paper ids.
        first: query id -> documents ranked before all others regardless of score (labels matched by name).
        among: how many papers of the pool, from its start, are candidates; None for all.
        standardise: whether vectors are first standardised over the candidates, dimension by dimension.
        single: whether a distance is the float32 root of its float32 square, as scikit-learn's is for float32 vectors.
        classes: whether candidates are classes, the first of which is the query's predicted one: scored by F1, not by a mean over queries.
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
    """Learning from few papers: so many in each sample, and how many samples, whose figures are averaged."""

    size: int
    runs: int


@dataclass(frozen=True, slots=True)
class LabelledPapers:
    """Papers with a label each: the ids, and an array (n,) of classes or numbers or (n, classes) of 0 and 1."""

    ids: tuple[str, ...]
    labels: npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Prediction:
    """A task of predicting labels of papers from their vectors, by a model that is fitted on other papers.

    Attributes:
        what, learner, runs: of this and other such tasks, what is predicted, what learns it from vectors, and how many models are fitted.
        name: the task's name.
        label: see `Label`.
        measure: F1 of the class 1, macro-F1 or tau.
        train: what is learnt from.
        test: what is predicted.
        few_shot: how much of that is learnt from; None for all.
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
        """How many models are fitted."""
        return self.few_shot.runs if self.few_shot else 1


@dataclass(frozen=True, slots=True)
class Handover:
    """A task that its authors' own code scores: it is given the papers' vectors as a file, and its figures are read back.

    Attributes:
        name: the task's name, which is its data set's.
        root: the folder that has the folders of all data sets.
        blocks: the folder of the files that say which blocks are in which split.
        learnt: for each mention of an author that is learnt from, the paper's id.
        test: the same of those that are scored.
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
    """A paper that a reader of `query` clicked, among those `shown`, in their order; ids."""

    query: str
    clicked: str
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkedPaper:
    """What is known of a paper beside its text: authors, citing and cited papers, and the year, None if that is no number."""

    title: str
    authors: frozenset[str]
    cited_by: frozenset[str]
    references: frozenset[str]
    year: float | None


@dataclass(frozen=True, slots=True)
class Clicks:
    """A task of predicting clicks on recommended papers, by a model that is fitted on other clicks.

    Attributes:
        name: the task's name.
        train: what is learnt from.
        val: what the best epoch is chosen on; empty for the last one.
        test: what is predicted.
        propensities: how often each place of a list is clicked, from the first one.
        papers: what is known of papers, by id.
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
    """A benchmark in memory; or one of its sets, if each set has its own papers.

    Attributes:
        pool: yields the papers that may be answered, anew each time it is called.
        tasks: the tasks on these papers.
        name: the set's name, which keeps its index apart from others.
        fingerprint: changes when the papers do.
        notes: what was unusual in the files, and how it was handled.
        textless: the error to raise where texts are needed, if the benchmark's texts are missing; else "".
        predictions: the tasks of predicting labels of these papers, clusters of their authors, or clicks on them.
        missing: the names of the benchmark's tasks that are left out, because their files are not there.
    """

    pool: Callable[[], Iterable[Paper]]
    tasks: tuple[Task, ...]
    name: str
    fingerprint: str
    notes: list[str] = field(default_factory=list)
    textless: str = ""
    predictions: tuple[Prediction | Handover | Clicks, ...] = ()
    missing: tuple[str, ...] = ()
