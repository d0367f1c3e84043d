"""Turns training sets into tasks and measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...base.errors import InvalidRequest
from ...metrics.judgements import Qrels
from ..forms import FORMATS, ORIGINAL, Splits, TrainingSet
from ..presets import Plan
from .demands import Labelled, Measured, OfTexts, Ranked, Reading, TrainingDemand, of_those_apart, reading
from .measuring import LossOfExamples, Measuring, RetrievalTask, Several, benchmark, set_apart
from .students import Student
from .taught import Distilled, Imitating, ScoredLists, Teacher


@dataclass(frozen=True)
class Tasks:
    """The tasks of a training, its measurements during and after it, and notes for the user."""

    demands: Sequence[TrainingDemand]
    held_out: Measuring | None
    judged: Measuring | None
    notes: Sequence[str]


def formats_of(splits: Splits, plan: Plan) -> list[str]:
    """The formats of the tasks, in the order of `FORMATS`."""
    needed = {format for _, training_set in splits.sets.values() for format in _as_read(training_set, plan).formats}
    return [format for format in FORMATS if format in needed]


def _as_read(training_set: TrainingSet, plan: Plan) -> TrainingSet:
    """A set in the format to learn from: for a teacher's vectors, labels and targets are plain papers."""
    is_taught = plan.loss == "distil" and training_set.task in ("labels", "targets") and not training_set.read_as
    return replace(training_set, read_as="proximity") if is_taught else training_set


def tasks_of(splits: Splits, plan: Plan, student: Student, teacher: Teacher | None) -> Tasks:
    """The tasks of a training. Raises InvalidRequest for a set that the plan cannot learn from."""
    demands: list[TrainingDemand] = []
    retrievals: list[RetrievalTask] = []
    notes: list[str] = []
    is_apart = not plan.held_out and not splits.choosing
    for name, (_, whole_set) in splits.sets.items():
        training_set = _as_read(whole_set, plan)
        if not training_set.triplets:
            demands.append(_of_single(name, training_set, plan, student, teacher))
            continue
        examples, held_out = set_apart(training_set, plan.seed) if is_apart else (training_set.triplets, None)
        if not examples:
            raise InvalidRequest(f"{name} has no examples to train on")
        demands.append(_of_pairs(name, training_set, examples, plan, student, teacher))
        if held_out is not None:
            retrievals.append(_retrieval(training_set, student, *held_out))
            notes.append(f"{len(held_out[0]):,} queries of {name} are held out, and measured among {len(held_out[1]):,} papers")
    judged = _of_library(splits.judging, student) if splits.judging else None
    if plan.held_out:
        return Tasks(demands, benchmark(plan.held_out, student), judged, notes)
    if splits.choosing:
        return Tasks(demands, _of_library(splits.choosing, student), judged, notes)
    if retrievals:
        parts = [(part, {query: f"{number} {query}" for query in part.queries}) for number, part in enumerate(retrievals)]
        return Tasks(demands, retrievals[0] if len(retrievals) == 1 else Several(parts), judged, notes)
    single = [demand for demand in demands if isinstance(demand, OfTexts)]
    if len(single) == len(demands):
        return Tasks(demands, LossOfExamples([of_those_apart(demand) for demand in single]), judged, notes)
    return Tasks(demands, None, judged, notes)


def _of_single(name: str, training_set: TrainingSet, plan: Plan, student: Student, teacher: Teacher | None) -> TrainingDemand:
    if training_set.rankings and plan.loss != "distil":
        return ScoredLists(name, training_set, training_set.rankings, plan)
    if teacher is not None and plan.loss == "distil":
        return Distilled(name, training_set, {**training_set.papers, **training_set.queries}, student.dim, teacher, plan.seed)
    if training_set.task == "labels":
        return Labelled(name, training_set, student.dim)
    return Measured(name, training_set, student.dim, standardise=plan.standardise)


def _of_pairs(
    name: str, training_set: TrainingSet, examples: list[tuple[str, str, str]], plan: Plan, student: Student, teacher: Teacher | None
) -> TrainingDemand:
    if teacher is None:
        return Ranked(name, training_set, examples, plan)
    if plan.loss == "rank":
        return Imitating(name, training_set, examples, plan, teacher)
    return Distilled(name, training_set, dict.fromkeys(id for row in examples for id in row if id), student.dim, teacher, plan.seed)


def _retrieval(training_set: TrainingSet, student: Student, queries: Sequence[str], papers: Sequence[str], qrels: Qrels) -> RetrievalTask:
    def read(ids: Sequence[str]) -> dict[str, Reading]:
        return {id: reading(training_set, student, id) for id in ids}

    return RetrievalTask(read(queries), read(papers), qrels)


def _of_library(sets: Sequence[TrainingSet], student: Student) -> Several:
    """Each set's queries, to be found among all of its papers; a text query counts for the paper that it comes from."""
    parts = []
    for training_set in sets:
        qrels: dict[str, dict[str, int]] = {}
        paper_of: dict[str, str] = {}
        for query, positive, _ in training_set.triplets:
            qrels.setdefault(query, {})[positive] = 1
            original = training_set.papers[positive].extra.get(ORIGINAL) or {}
            paper_of[query] = str(original.get("id", positive)) if query in training_set.queries else query
        parts.append((_retrieval(training_set, student, list(qrels), list(training_set.papers), qrels), paper_of))
    return Several(parts)
