"""Tasks with a teacher: to imitate its vectors, or its rankings, or stored scores of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...base.errors import InvalidRequest
from ...base.types import Paper, Query, Vectors
from ...encoders import load_encoder, reads_texts
from ...encoders.remembered import RememberingEncoder
from ..forms import TrainingSet
from ..presets import Plan
from . import losses
from .demands import Alter, OfTexts, Ranked, Reading, TrainingDemand, reading, unaltered
from .gradients import draw
from .students import Student


class Teacher:
    """An encoder to learn from. It reads each text once on this machine, unaltered."""

    def __init__(self, name: str) -> None:
        """Raises as `load_encoder`; InvalidRequest for vectors from elsewhere, which cannot read texts."""
        self.encoder = load_encoder(name)
        if not reads_texts(self.encoder):
            raise InvalidRequest(f"{name} reads no texts, so it cannot be a teacher; name an encoder")
        self._remembering = RememberingEncoder(self.encoder)
        self.is_unit = self.encoder.metric == "cosine"

    def identity(self) -> dict[str, Any]:
        """Everything that determines its vectors."""
        return {**self.encoder.identity(), "precision": self.encoder.precision}

    def vectors(self, training_set: TrainingSet, ids: Sequence[str]) -> Vectors:
        """The vectors of papers and text queries of a set, (n, dim); of unit length if the teacher's metric is the cosine."""
        places = {True: [], False: []}  # type: dict[bool, list[int]]
        for place, id in enumerate(ids):
            places[id in training_set.queries].append(place)
        vectors = np.empty((len(ids), self.encoder.dim), np.float32)
        if texts := places[True]:
            queries = [Query(ids[place], training_set.queries[ids[place]]) for place in texts]
            vectors[texts] = self._remembering.encode_queries(queries)
        if papers := places[False]:
            plain = [Paper(one.id, one.title, one.abstract) for one in (training_set.papers[ids[place]] for place in papers)]
            vectors[papers] = self._remembering.encode_papers(plain)
        if self.is_unit:
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return vectors

    def scores(self, queries: Vectors, papers: Vectors) -> Vectors:
        """The scores of papers for queries by the teacher's metric, (n, m); greater is nearer."""
        products: Vectors = queries @ papers.T
        if self.encoder.metric != "l2":
            return products
        squares = (queries**2).sum(axis=1)[:, None] + (papers**2).sum(axis=1)[None] - 2 * products
        distances: Vectors = np.sqrt(np.maximum(squares, 0.0))
        return -distances


class Distilled(OfTexts):
    """All texts of a set: their vectors must match the teacher's, through a linear layer if the dimensions differ."""

    def __init__(self, name: str, training_set: TrainingSet, ids: Iterable[str], dim: int, teacher: Teacher, seed: int) -> None:
        """`ids` are those of the papers and text queries."""
        super().__init__(name, training_set, ids)
        self._is_unit = teacher.is_unit
        ordered = [*self._ids, *self._apart]
        self._place = {id: place for place, id in enumerate(ordered)}
        self._teacher = teacher.vectors(training_set, ordered)
        other = self._teacher.shape[1]
        draw(seed, name, "head")  # the teacher may have drawn random numbers for its conversion
        self.head = None if other == dim else torch.nn.Linear(dim, other, bias=False)

    def loss(self, vectors: Any, examples: Sequence[int]) -> Any:
        """The distance from the teacher's vectors, between unit vectors if its metric is the cosine."""
        wanted = torch.from_numpy(self._teacher[[self._place[self._ids[place]] for place in examples]]).to(vectors.device)
        own = vectors if self.head is None else self.head(vectors)
        return losses.distil(torch.nn.functional.normalize(own, dim=-1) if self._is_unit else own, wanted)


class Imitating(Ranked):
    """Triplets or pairs, used as a batch of texts: its papers must be as near to its queries as they are to the teacher."""

    def __init__(
        self, name: str, training_set: TrainingSet, examples: Sequence[tuple[str, str, str]], plan: Plan, teacher: Teacher
    ) -> None:
        super().__init__(name, training_set, examples, plan)
        self._teacher = teacher
        ids = dict.fromkeys(id for example in examples for id in example if id)
        self._vectors = teacher.vectors(training_set, list(ids))
        self._place = {id: place for place, id in enumerate(ids)}

    def loss(self, vectors: Any, examples: Sequence[int]) -> Any:
        """The divergence from the teacher's ranking of all papers of the batch, each once."""
        chosen = [self._examples[example] for example in examples]
        count = len(chosen)
        queries = [query for query, _, _ in chosen]
        row_of: dict[str, int] = {}
        others = [*(positive for _, positive, _ in chosen), *(negative for _, _, negative in chosen if negative)]
        for row, id in enumerate(others, count):
            row_of.setdefault(id, row)
        papers = list(row_of)
        scores = self._teacher.scores(*(self._vectors[[self._place[id] for id in ids]] for ids in (queries, papers)))
        is_barred = np.array([[query == paper for paper in papers] for query in queries])
        if self._plan.unit:
            vectors = torch.nn.functional.normalize(vectors, dim=-1)
        similarities = vectors[:count] @ vectors[[row_of[id] for id in papers]].T
        return losses.rank(
            similarities,
            torch.from_numpy(scores).to(vectors.device),
            torch.from_numpy(is_barred).to(vectors.device),
            self._plan.temperature,
        )


class ScoredLists(TrainingDemand):
    """Queries with papers that a teacher has scored, to be ranked by these scores."""

    def __init__(self, name: str, training_set: TrainingSet, rankings: Mapping[str, Mapping[str, float]], plan: Plan) -> None:
        self.name, self._set, self._plan = name, training_set, plan
        self._lists = [(query, dict(scores)) for query, scores in rankings.items() if len(scores) > 1]
        if not self._lists:
            raise InvalidRequest(f"{name} has no query with two papers, so there is nothing to rank")
        self.formats = training_set.formats

    def __len__(self) -> int:
        return len(self._lists)

    def readings(self, student: Student, examples: Sequence[int], alter: Alter = unaltered) -> list[Reading]:
        """The queries, then the papers of each."""
        chosen = [self._lists[place] for place in examples]
        ids = [*(query for query, _ in chosen), *(id for _, scores in chosen for id in scores)]
        return [reading(self._set, student, id, alter) for id in ids]

    def loss(self, vectors: Any, examples: Sequence[int]) -> Any:
        """The divergence from the teacher's ranking of each query's own papers."""
        lists = [list(self._lists[place][1].values()) for place in examples]
        longest = max(map(len, lists))
        first = len(lists)
        rows, scores, is_barred = [], np.zeros((len(lists), longest), np.float32), np.ones((len(lists), longest), bool)
        for number, values in enumerate(lists):
            rows.append([min(first + place, first + len(values) - 1) for place in range(longest)])
            scores[number, : len(values)], is_barred[number, : len(values)] = values, False
            first += len(values)
        if self._plan.unit:
            vectors = torch.nn.functional.normalize(vectors, dim=-1)
        similarities = (vectors[: len(lists)].unsqueeze(1) * vectors[torch.tensor(rows, device=vectors.device)]).sum(dim=2)
        device = vectors.device
        return losses.rank(
            similarities, torch.from_numpy(scores).to(device), torch.from_numpy(is_barred).to(device), self._plan.temperature
        )
