"""The tasks of a training: for each form of set, the texts of some examples and the loss of their vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import torch

from ...base.errors import InvalidRequest
from ...base.types import Paper
from ..forms import TrainingSet
from ..presets import DROPOUT, FACET_LOSSES, HEAD_DEVIATION, Plan
from . import losses
from .students import Student

Reading = tuple[str, str]
"""A format, and a text in that format."""
APART = 20
"""Of papers with labels or numbers, one in so many is held out."""
MOST_APART = 1000
"""The most papers that are held out, since each measurement encodes them."""
Alter = Callable[[Paper], Paper]
"""Returns the paper to read in place of the given one."""
ALTERATIONS: tuple[Alter, ...] = (
    lambda paper: replace(paper, title=paper.abstract, abstract=paper.title),
    lambda paper: replace(paper, abstract=" ".join(paper.abstract.split()[: (len(paper.abstract.split()) + 1) // 2])),
    lambda paper: replace(paper, abstract=""),
    lambda paper: replace(paper, title=""),
)
"""Alterations, all equally likely: the abstract before the title; its second half left out; the title alone; the abstract alone. Encoders
of papers find other neighbours for such texts (Singh and Singh 2022, tables 1 and 7: the classes of abstracts rotated and deleted by
thirds).
"""


def unaltered(paper: Paper) -> Paper:
    """Returns the paper unchanged: an `Alter`."""
    return paper


def altering(share: float, *key: object) -> Alter:
    """An `Alter` of a random share of papers. The key and the order of reading alone determine the result."""
    chance = Random(repr(key))

    def alter(paper: Paper) -> Paper:
        """A paper with only a title or only an abstract is not altered."""
        is_altered, change = chance.random() < share, chance.choice(ALTERATIONS)
        return change(paper) if is_altered and paper.title and paper.abstract else paper

    return alter


class TrainingDemand(ABC):
    """One task of a training.

    Attributes:
        name: the name of its losses.
        formats: the formats that it trains.
        head: a torch module that is trained beside the encoder and then discarded; None for none.
    """

    name: str
    formats: tuple[str, ...]
    head: Any = None

    @abstractmethod
    def __len__(self) -> int:
        """The number of examples."""

    @abstractmethod
    def readings(self, student: Student, examples: Sequence[int], alter: Alter = unaltered) -> list[Reading]:
        """The texts to encode for some examples, which may repeat."""

    @abstractmethod
    def loss(self, vectors: Any, examples: Sequence[int]) -> Any:
        """The loss of the vectors of `readings`, (readings, dim)."""


def split(ids: Iterable[str]) -> tuple[list[str], list[str]]:
    """The ids to train on, and those held out: every twentieth, or fewer so that they are at most a thousand."""
    ordered = sorted(ids)
    every = max(APART, -(-len(ordered) // MOST_APART))
    return [id for place, id in enumerate(ordered) if place % every], ordered[::every]


def reading(training_set: TrainingSet, student: Student, id: str, alter: Alter = unaltered) -> Reading:
    """A paper or a text query of a set, as a student reads it."""
    is_text = id in training_set.queries
    format = training_set.read_as or student.format_of(training_set.asked, is_text=is_text)
    if is_text:
        return format, student.of_query(format, training_set.queries[id])
    return format, student.of_paper(format, alter(training_set.papers[id]))


def head(dim: int, outputs: int) -> Any:
    """A linear layer behind a dropout, as it begins in SciRepEval's authors' code."""
    linear = torch.nn.Linear(dim, outputs)
    torch.nn.init.normal_(linear.weight, std=HEAD_DEVIATION)
    torch.nn.init.zeros_(linear.bias)
    return torch.nn.Sequential(torch.nn.Dropout(DROPOUT), linear)


def of_those_apart(demand: OfTexts) -> OfTexts:
    """The same task, with the same head, for the held-out texts."""
    other = copy(demand)
    other._ids = demand._apart
    return other


class Ranked(TrainingDemand):
    """Triplets or pairs: the right paper, or label, must be nearer to the query than others."""

    def __init__(self, name: str, training_set: TrainingSet, examples: Sequence[tuple[str, str, str]], plan: Plan) -> None:
        self.name, self._set, self._examples, self._plan = name, training_set, list(examples), plan
        self.formats = training_set.formats
        self._right: dict[str, set[str]] = defaultdict(set)
        for query, positive, _ in training_set.triplets:
            self._right[query].add(positive)
        if plan.loss in ("triplet", *FACET_LOSSES) and not all(negative for _, _, negative in self._examples):
            raise InvalidRequest(f"{name} has pairs without a negative, which the loss {plan.loss!r} needs; use `loss='contrastive'`")

    def __len__(self) -> int:
        return len(self._examples)

    def readings(self, student: Student, examples: Sequence[int], alter: Alter = unaltered) -> list[Reading]:
        """The queries, the right papers, then any wrong ones."""
        columns = zip(*(self._examples[example] for example in examples), strict=True)
        return [reading(self._set, student, id, alter) for ids in columns for id in ids if id]

    def loss(self, vectors: Any, examples: Sequence[int]) -> Any:
        """The plan's loss."""
        chosen = [self._examples[example] for example in examples]
        count = len(chosen)
        queries, positives, negatives = vectors[:count], vectors[count : 2 * count], vectors[2 * count :]
        if self._plan.loss == "triplet":
            return losses.triplet(queries, positives, negatives, self._plan.margin)
        if self._plan.loss in FACET_LOSSES:
            queries, positives, negatives = (part.unflatten(1, (self._plan.facets, -1)) for part in (queries, positives, negatives))
            loss = losses.facets if self._plan.loss == "facets" else losses.facets_apart
            return loss(queries, positives, negatives, self._plan.facet_share)
        unit = self._plan.unit
        if unit:
            queries, positives, negatives = (torch.nn.functional.normalize(part, dim=-1) for part in (queries, positives, negatives))
        ids = [*(positive for _, positive, _ in chosen), *(negative for _, _, negative in chosen if negative)]
        papers = torch.cat([positives, negatives])
        is_barred = np.zeros((count, len(ids)), bool)
        for row, (query, positive, _) in enumerate(chosen):
            others = (self._right[query] | {query, positive}) & set(ids) if self._plan.bars else set()
            is_barred[row] = [id in others for id in ids] if others else False
            is_barred[row, row] = False
        barred = torch.from_numpy(is_barred).to(vectors.device)
        right = torch.arange(count, device=vectors.device)
        return losses.contrastive(queries, papers, right, barred, self._plan.temperature, both=self._plan.both)


class OfTexts(TrainingDemand):
    """A task of single texts, of which every twentieth is held out."""

    def __init__(self, name: str, training_set: TrainingSet, ids: Iterable[str]) -> None:
        self.name, self.formats, self._set = name, training_set.formats, training_set
        self._ids, self._apart = split(ids)

    def __len__(self) -> int:
        return len(self._ids)

    def readings(self, student: Student, examples: Sequence[int], alter: Alter = unaltered) -> list[Reading]:
        """The texts."""
        return [reading(self._set, student, self._ids[place], alter) for place in examples]


class Labelled(OfTexts):
    """Papers with classes, which a linear head predicts from their vectors (SciRepEval, §4.1)."""

    def __init__(self, name: str, training_set: TrainingSet, dim: int) -> None:
        super().__init__(name, training_set, training_set.labels)
        self._classes = sorted({label for labels in training_set.labels.values() for label in labels})
        self._number: Mapping[str, int] = {label: number for number, label in enumerate(self._classes)}
        if not training_set.several:
            self._ids, self._apart = ([id for id in ids for _ in training_set.labels[id]] for ids in (self._ids, self._apart))
        if len(self._classes) < 2:
            raise InvalidRequest(f"{name} has {len(self._classes)} label; a classifier needs two or more")
        self.head = head(dim, len(self._classes))

    def loss(self, vectors: Any, examples: Sequence[int]) -> Any:
        """Cross entropy; binary if a paper may have several labels."""
        rows = [[self._number[label] for label in self._labels(place)] for place in examples]
        if self._set.several:
            labels = torch.zeros(len(rows), len(self._classes))
            for row, numbers in enumerate(rows):
                labels[row, numbers] = 1.0
        else:
            labels = torch.tensor([numbers[0] for numbers in rows])
        return losses.classes(self.head(vectors), labels.to(vectors.device))

    def _labels(self, place: int) -> Sequence[str]:
        """The labels of an example; one, if the paper is several examples."""
        id = self._ids[place]
        labels = self._set.labels[id]
        return labels if self._set.several else (labels[place - bisect_left(self._ids, id)],)


class Measured(OfTexts):
    """Papers with a number, which a linear head predicts from their vectors (SciRepEval, §4.1)."""

    def __init__(self, name: str, training_set: TrainingSet, dim: int, *, standardise: bool) -> None:
        super().__init__(name, training_set, training_set.targets)
        values = np.array([training_set.targets[id] for id in self._ids])
        if not len(values) or not np.ptp(values):
            raise InvalidRequest(f"{name} has the same number for all papers, so there is nothing to learn")
        self._mean, self._deviation = (float(values.mean()), float(values.std())) if standardise else (0.0, 1.0)
        self.head = head(dim, 1)

    def loss(self, vectors: Any, examples: Sequence[int]) -> Any:
        """The squared error of the numbers, or of standardised ones, so that years weigh no more than counts."""
        values = [(self._set.targets[self._ids[place]] - self._mean) / self._deviation for place in examples]
        return losses.numbers(self.head(vectors).squeeze(1), torch.tensor(values, dtype=torch.float32, device=vectors.device))
