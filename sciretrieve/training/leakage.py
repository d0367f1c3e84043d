"""Which papers that a benchmark tests stand in a training set: 40.5 % of SciDocs' did in SPECTER's (Ostendorff et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..types import Paper
from .forms import TrainingSet
from .held_out import names_of, read_tested
from .training_set import read_training_set


@dataclass(frozen=True, slots=True)
class Leak:
    """What a training set has of a benchmark.

    Attributes:
        training: where the training set is.
        benchmark: the benchmark's name.
        queries: how many of its queries are papers.
        trained_queries: the ids of those that are in a triplet, whatever their part in it.
        relevant: how many papers are relevant to any of its queries.
        trained_relevant: the ids of those that are in a triplet.
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
    """Find the papers of a benchmark in a training set, by id, or by a title of four words and more.

    Args:
        training: a folder of `build_triplets`, or a file in the format of SciRepEval's triplets.
        benchmark, data: as for `evaluate`: a name and the folder with its files, or beir:DIR, cite:DIR.

    Raises:
        NotFound, InvalidRequest: the training set or the benchmark cannot be read.
    """
    training_set, tested = read_training_set(training), read_tested(benchmark, data)
    same = _same_papers(training_set, {**tested.relevant, **tested.queries})
    trained = {frozenset((query, positive)) for query, positive, _ in training_set.triplets}
    return Leak(
        str(training),
        benchmark,
        len(tested.queries),
        tuple(sorted(same.keys() & tested.queries.keys())),
        len(tested.relevant),
        tuple(sorted(same.keys() & tested.relevant.keys())),
        len(tested.pairs),
        tuple(sorted(pair for pair in tested.pairs if _is_trained(pair, same, trained))),
    )


def _same_papers(training_set: TrainingSet, papers: Mapping[str, Paper]) -> dict[str, set[str]]:
    """The ids in a training set of those of some papers that are there, by their own id."""
    ids_of: dict[tuple[str, str], set[str]] = {}
    for paper in training_set.papers.values():
        for name in names_of(paper.id, paper.title):
            ids_of.setdefault(name, set()).add(paper.id)
    same = {id: {other for name in names_of(id, paper.title) for other in ids_of.get(name, ())} for id, paper in papers.items()}
    return {id: ids for id, ids in same.items() if ids}


def _is_trained(pair: tuple[str, str], same: Mapping[str, set[str]], trained: set[frozenset[str]]) -> bool:
    queries, positives = (same.get(id, set()) for id in pair)
    return any(frozenset((query, positive)) in trained for query in queries for positive in positives)
