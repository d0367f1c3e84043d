"""A benchmark in memory: the papers that may be answered, and tasks with queries and judgements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..choices import Metric
from ..types import Paper, Query
from .judgements import Qrels

Rounding = Literal["printed", "numpy", "beir"]
"""How a figure in per cent is rounded: as it is printed with so many decimals; by NumPy, which may differ in ties; or as BEIR
does, which first rounds the value from 0 to 1 to five decimals."""
Average = Literal["none", "tasks", "rounded tasks", "figures"]
"""How the figures of several tasks become figures of the benchmark: not at all, where its authors define no average; for each
measure the mean of the tasks' means; the same after each was rounded (MDCR); or one mean of all tasks' figures of all measures."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a benchmark's authors score, as data.

    Attributes:
        measures: what is printed, by the names of `measures.parse_measure`.
        metric: how vectors are compared; None takes what the encoder was trained for.
        score_decimals: decimals that scores are rounded to before they are ranked (SciDocs: 5); None for no rounding.
        decimals: decimals of figures, which are in per cent.
        rounding: see `Rounding`.
        skips: whether queries and candidates without a vector are left out, as the authors' code does; otherwise
            they are an error, because a figure over the rest would be another figure.
        drop_self: whether a document with the query's own id is taken out of the answer (BEIR does).
        depth: how many documents of a whole corpus are ranked, the query's own not counted.
        average: see `Average`.
        bare_titles: whether a paper without an abstract is read as its title alone, without the separator (SciRepEval does).
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
        name: within the benchmark; a figure is printed for each where there are several.
        queries: by id, in the file's order.
        qrels: query id -> document id -> grade.
        candidates: query id -> the documents to rank; None where that is the whole corpus.
        groups: where sets of papers (reviewers) are ranked instead of papers, set id -> paper ids.
        first: query id -> documents that come before all others, whatever their scores (labels matched by name).
        among: how many papers of the pool, from its start, are candidates; None for all.
        standardise: whether vectors are first standardised over the candidates, dimension by dimension.
        single: whether a distance is the float32 root of its float32 square, as scikit-learn's is for float32 vectors.
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


@dataclass(frozen=True)
class Material:
    """A benchmark that was read; or one of its sets, where each set has its own papers.

    Attributes:
        pool: yields the papers that may be answered, anew each time it is called.
        tasks: what is asked of them.
        name: the set's, to keep its index apart from others'.
        fingerprint: changes when the papers do.
        notes: what was unusual in the files, and how it was handled.
        textless: the error to raise where texts are needed, if the benchmark's texts are missing; else "".
    """

    pool: Callable[[], Iterator[Paper]]
    tasks: tuple[Task, ...]
    name: str
    fingerprint: str
    notes: list[str] = field(default_factory=list)
    textless: str = ""
