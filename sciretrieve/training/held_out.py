"""Keeps a benchmark's queries out of training sets, and finds those in existing sets.

40.5 % of SciDocs' papers were in SPECTER's training set (Ostendorff et al. 2022).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import InvalidRequest
from ..base.once import once
from ..base.types import Paper, Query
from ..evaluation import find_benchmark
from ..evaluation.benchmark_reading import read
from ..evaluation.material import Material
from ..papers.folding import fold
from .forms import ORIGINAL, TrainingSet
from .training_set import read_training_set

FEWEST_WORDS = 4
"""The fewest words of a title that identifies a paper: many papers are called "Introduction"."""
TRAIN = "train"
"""The split of a BEIR folder's judgements to train on."""
Name = tuple[str, str]
"""An identifier of a paper or a text: its kind, "id", "title" or "text", and its value."""
Part = tuple[str, str]
"""A member of a training set: "paper" or "text", and its id there."""


@dataclass(frozen=True)
class Tested:
    """A benchmark's test sets, by name."""

    materials: Sequence[Material]

    @once
    def queries(self) -> Mapping[str, Query]:
        """The queries, papers or texts, by id; ids that two splits share get the split's name."""
        return {key: query for key, query, _ in self._judged}

    @once
    def pairs(self) -> frozenset[tuple[str, str]]:
        """The id of a query, as in `queries`, with the id of each relevant paper."""
        return frozenset((key, id) for key, _, grades in self._judged for id, grade in grades.items() if grade > 0)

    @once
    def _judged(self) -> Sequence[tuple[str, Query, Mapping[str, float]]]:
        first_of: dict[str, Query] = {}
        judged: list[tuple[str, Query, Mapping[str, float]]] = []
        for material in self.materials:
            for task in material.tasks:
                for id, query in task.queries.items():
                    key = id if first_of.setdefault(id, query) == query else f"{id} ({task.name})"
                    judged.append((key, query, task.qrels.get(id, {})))
        return judged

    @once
    def relevant(self) -> Mapping[str, Paper]:
        """The papers that are relevant to any query, by id. This reads all papers of the benchmark."""
        wanted = {id for _, id in self.pairs}
        return {paper.id: paper for material in self.materials for paper in material.pool() if paper.id in wanted}


@dataclass(frozen=True)
class HeldOut:
    """The names of all queries of some benchmarks, which no training set may contain."""

    names: frozenset[Name]

    @classmethod
    def of(cls, benchmarks: Sequence[str]) -> HeldOut:
        """The queries of benchmarks named "beir:DIR" or "cite:DIR". Raises as `evaluate` for these, and InvalidRequest for others."""
        if unknown := next((name for name in benchmarks if not name.startswith(("beir:", "cite:"))), None):
            raise InvalidRequest(f"`without` takes beir:DIR and cite:DIR, not {unknown!r}")
        return cls(
            frozenset(name for tested in map(read_tested, benchmarks) for query in tested.queries.values() for name in names_of(query))
        )

    def has_paper(self, id: str, title: str) -> bool:
        """Whether a paper is a query of a benchmark, by its id or title."""
        return bool(self.names) and not self.names.isdisjoint(paper_names(id, title))

    def has_text(self, text: str) -> bool:
        """Whether a text is a query of a benchmark, or the title of one."""
        return bool(self.names) and not self.names.isdisjoint(text_names(text))


def read_tested(name: str, data: str | Path | None = None) -> Tested:
    """Read the test sets of a benchmark; of a BEIR folder all judged queries except those of the train split.

    Arguments and errors are those of `evaluate`: a name, beir:DIR or cite:DIR, and its folder.
    """
    spec = find_benchmark(name)
    splits = [spec.splits[0]]
    if name.startswith("beir:"):
        files = (Path(name.removeprefix("beir:")) / "qrels").glob("*.tsv*")
        splits = sorted({file.name.partition(".tsv")[0] for file in files} - {TRAIN}) or splits
    return Tested([material for split in splits for material in read(spec, data, split)])


def names_of(query: Query) -> set[Name]:
    """The names of a test query: of a paper by its id and title, of a text by itself."""
    return paper_names(query.paper.id, query.paper.title) if query.paper is not None else {("text", folded(query.text))}


def paper_names(id: str, title: str) -> set[Name]:
    """The names of a paper: its id, and its title as folded words, unless it is too short."""
    return {("id", id), *_title_names(folded(title))}


def text_names(text: str) -> set[Name]:
    """The names of a text: its folded words, also as the title of a paper, unless it is too short."""
    words = folded(text)
    return {("text", words), *_title_names(words)}


def folded(text: str) -> str:
    """The words of a text in lower case, without accents and punctuation."""
    return " ".join(re.findall(r"\w+", fold(text)))


def _title_names(words: str) -> set[Name]:
    return {("title", words)} if words.count(" ") + 1 >= FEWEST_WORDS else set()


@dataclass(frozen=True, slots=True)
class Leak:
    """The overlap of a training set with a benchmark.

    Attributes:
        training: the training set's path.
        benchmark: the benchmark's name.
        queries: the number of its queries, papers or texts.
        trained_queries: the ids of queries in the training set: papers in any role, texts as a query.
        relevant: the number of papers that are relevant to any query.
        trained_relevant: the ids of relevant papers in the training set.
        pairs: the number of pairs of a query and a relevant paper.
        trained_pairs: pairs that the training set has as query and positive, in either order.
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
    """Find a benchmark's queries and relevant papers in a training set: papers by id, or by a title of four words or more; texts by their
    words.

    Args:
        training: a training set's folder, or a file in the format of SciRepEval's training data.
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
    """The members of a training set, by their names."""
    parts: dict[Name, set[Part]] = {}
    for id, paper in training_set.papers.items():
        original = paper.extra.get(ORIGINAL) or {}  # set for a paper with changed text
        for name in paper_names(str(original.get("id", id)), str(original.get("title", paper.title))):
            parts.setdefault(name, set()).add(("paper", id))
    for id, text in training_set.queries.items():
        for name in text_names(text):
            parts.setdefault(name, set()).add(("text", id))
    return parts


def _found(
    parts: Mapping[Name, set[Part]], names: Mapping[str, set[Name]], kinds: Sequence[str] = ("paper", "text")
) -> dict[str, set[Part]]:
    """The members of a training set that have a query's names, by query, for queries that have any; only members of the given kinds."""
    found = {id: {part for name in own for part in parts.get(name, ()) if part[0] in kinds} for id, own in names.items()}
    return {id: there for id, there in found.items() if there}
