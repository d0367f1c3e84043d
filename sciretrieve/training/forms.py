"""What a training set is: its four forms, with the files of its folder, and what an encoder reads of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ..errors import InvalidRequest
from ..types import Paper

SetTask: TypeAlias = Literal["triplets", "pairs", "labels", "targets"]
CORPUS, QUERIES, FACTS = "corpus.jsonl", "queries.jsonl", "training.json"
PAIRED = ("query-id", "positive-id", "negative-id", "kind")
HEADERS: Mapping[SetTask, tuple[str, ...]] = {
    "triplets": PAIRED,
    "pairs": PAIRED,
    "labels": ("paper-id", "label"),
    "targets": ("paper-id", "value"),
}
"""What a set is for, and the columns of its table, which is named after it: triplets.tsv."""
LABEL = "label:"
"""What the id of a label begins with where a label is in a pair as papers are."""
MAKE = "make one with `sciretrieve benchmarks build triplets`, pairs, labels or targets"


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """What an encoder learns from, with the texts of its papers. What a task has no use for is empty.

    Attributes:
        task: "triplets" and "pairs" are learned by nearness, "labels" by classification, "targets" by regression. Pairs may have queries
            that are texts, and may lack a negative; their papers may be labels, with the name as title, see `LABEL`.
        papers: by id.
        triplets: ids of a query, a positive and a negative paper; the last is "" where a pair has none.
        queries: the texts of queries that are no papers, by id; an id is looked up here before it is in `papers`.
        labels: the labels of each paper, one or more, by its id.
        targets: the number to predict of each paper, by its id.
    """

    task: SetTask
    papers: Mapping[str, Paper]
    triplets: list[tuple[str, str, str]]
    queries: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    targets: Mapping[str, float] = field(default_factory=dict)


def labels_as_pairs(training_set: TrainingSet) -> TrainingSet:
    """A set of labels as pairs: a paper, and a label of it by its name, without a negative (Zhang et al. 2023, SciMult, section 3.1)."""
    names = sorted({name for names in training_set.labels.values() for name in names})
    labels = {f"{LABEL}{name}": Paper(id=f"{LABEL}{name}", title=name) for name in names}
    pairs = [(id, f"{LABEL}{name}", "") for id, names in training_set.labels.items() for name in names]
    return replace(training_set, task="pairs", papers={**training_set.papers, **labels}, triplets=pairs, labels={})


def number_of(value: object, where: str) -> float:
    """A target as a finite number. Raises InvalidRequest, which says where it is."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidRequest(f"{where}: the value {value!r} is no number")
    return number
