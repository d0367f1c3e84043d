"""What a benchmark tests of a training set: 40.5 % of SciDocs' papers stood in SPECTER's (Ostendorff et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .forms import ORIGINAL, TrainingSet
from .held_out import Name, names_of, paper_names, read_tested, text_names
from .training_set import read_training_set

Part = tuple[str, str]
"""What stands in a training set: "paper" or "text", and its id there."""


@dataclass(frozen=True, slots=True)
class Leak:
    """What a training set has of a benchmark.

    Attributes:
        training: where the training set is.
        benchmark: the benchmark's name.
        queries: how many queries it has, papers or texts.
        trained_queries: the ids of those that are in the set: papers in any part, texts as a query.
        relevant: how many papers are relevant to any of its queries.
        trained_relevant: the ids of those that are in the set.
        pairs: how many pairs of a query and a relevant paper it has.
        trained_pairs: those that the training set has as query and positive, in either order.
    """

    training: str
    benchmark: str
    queries: int
    trained_queries: tuple[str, ...]
    relevant: int
    trained_relevant: tuple[str, ...]
    pairs: int
    trained_pairs: tuple[tuple[str, str], ...]


def leakage(training: str | Path, benchmark: str, data: str | Path | None = None) -> Leak:
    """Find what a benchmark tests in a training set: papers by id, or by a title of four words and more; texts by their words.

    Args:
        training: a folder that `train build` made to train on, or a file in the format of SciRepEval's training data.
        benchmark, data: as for `evaluate`: a name and the folder with its files, or beir:DIR, cite:DIR.

    Raises:
        NotFound, InvalidRequest: the training set or the benchmark cannot be read.
    """
    training_set, tested = read_training_set(training), read_tested(benchmark, data)
    parts = _parts(training_set)
    queries = _found(parts, {id: names_of(query) for id, query in tested.queries.items()})
    relevant = _found(parts, {id: paper_names(id, paper.title) for id, paper in tested.relevant.items()}, ("paper",))
    taught = [(query, positive) for query, positive, _ in training_set.triplets]
    taught += [(query, paper) for query, scores in training_set.rankings.items() for paper in scores]
    trained = {frozenset((("text" if query in training_set.queries else "paper", query), ("paper", paper))) for query, paper in taught}

    def is_trained(pair: tuple[str, str]) -> bool:
        query, paper = queries.get(pair[0], set()), relevant.get(pair[1], set())
        return any(frozenset((one, other)) in trained for one in query for other in paper)

    return Leak(
        str(training),
        benchmark,
        len(tested.queries),
        tuple(sorted(queries)),
        len(tested.relevant),
        tuple(sorted(relevant)),
        len(tested.pairs),
        tuple(sorted(filter(is_trained, tested.pairs))),
    )


def _parts(training_set: TrainingSet) -> Mapping[Name, set[Part]]:
    """All that stands in a training set, by its names."""
    parts: dict[Name, set[Part]] = {}
    for id, paper in training_set.papers.items():
        original = paper.extra.get(ORIGINAL) or {}  # of a paper whose text was changed
        for name in paper_names(str(original.get("id", id)), str(original.get("title", paper.title))):
            parts.setdefault(name, set()).add(("paper", id))
    for id, text in training_set.queries.items():
        for name in text_names(text):
            parts.setdefault(name, set()).add(("text", id))
    return parts


def _found(
    parts: Mapping[Name, set[Part]], names: Mapping[str, set[Name]], kinds: Sequence[str] = ("paper", "text")
) -> dict[str, set[Part]]:
    """What stands for each in a training set, of some kinds, for those that are there; not the title of a paper as a text, if not asked."""
    found = {id: {part for name in own for part in parts.get(name, ()) if part[0] in kinds} for id, own in names.items()}
    return {id: there for id, there in found.items() if there}
