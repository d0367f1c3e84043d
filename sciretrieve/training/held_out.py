"""What a benchmark tests: which papers and texts must be in no training set, and which stand in one.

40.5 % of SciDocs' papers stood in SPECTER's (Ostendorff et al. 2022).
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
"""Words of a title by which a paper is known: "Introduction" is the title of many."""
TRAIN = "train"
"""The split of a BEIR folder's judgements that is learned from."""
Name = tuple[str, str]
"""By what a paper or a text is known: "id", "title" or "text", and that."""
Part = tuple[str, str]
"""What stands in a training set: "paper" or "text", and its id there."""


@dataclass(frozen=True)
class Tested:
    """What a benchmark tests, by its sets."""

    materials: Sequence[Material]

    @once
    def queries(self) -> Mapping[str, Query]:
        """The queries, by id: papers or texts; with the split's name too, where another one has the id."""
        return {key: query for key, query, _ in self._judged}

    @once
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Ids of a query, as in `queries`, and of a paper that is relevant to it."""
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
        """The papers that are relevant to any query, by id; all papers of the benchmark are read."""
        wanted = {id for _, id in self.pairs}
        return {paper.id: paper for material in self.materials for paper in material.pool() if paper.id in wanted}


@dataclass(frozen=True)
class HeldOut:
    """The names of all queries of some benchmarks: what they are must not be learned from."""

    names: frozenset[Name]

    @classmethod
    def of(cls, benchmarks: Sequence[str]) -> HeldOut:
        """Of benchmarks that are named "beir:DIR" or "cite:DIR". Raises as `evaluate` for these, and InvalidRequest for others."""
        if unknown := next((name for name in benchmarks if not name.startswith(("beir:", "cite:"))), None):
            raise InvalidRequest(f"`without` takes beir:DIR and cite:DIR, not {unknown!r}")
        return cls(
            frozenset(name for tested in map(read_tested, benchmarks) for query in tested.queries.values() for name in names_of(query))
        )

    def has_paper(self, id: str, title: str) -> bool:
        """Whether a paper is a query there, by its id or title."""
        return bool(self.names) and not self.names.isdisjoint(paper_names(id, title))

    def has_text(self, text: str) -> bool:
        """Whether a text is a query there, or the title of one."""
        return bool(self.names) and not self.names.isdisjoint(text_names(text))


def read_tested(name: str, data: str | Path | None = None) -> Tested:
    """Read what a benchmark tests: of a BEIR folder all that is judged, but for what is there to learn from.

    Arguments and errors are those of `evaluate`: a name, beir:DIR or cite:DIR, and its folder.
    """
    spec = find_benchmark(name)
    splits = [spec.splits[0]]
    if name.startswith("beir:"):
        files = (Path(name.removeprefix("beir:")) / "qrels").glob("*.tsv*")
        splits = sorted({file.name.partition(".tsv")[0] for file in files} - {TRAIN}) or splits
    return Tested([material for split in splits for material in read(spec, data, split)])


def names_of(query: Query) -> set[Name]:
    """By what a query of a test is known: a paper by its id and title, a text by itself."""
    return paper_names(query.paper.id, query.paper.title) if query.paper is not None else {("text", folded(query.text))}


def paper_names(id: str, title: str) -> set[Name]:
    """By what a paper is known: its id, and its title in small plain letters, without marks, unless that has few words."""
    return {("id", id), *_long(folded(title))}


def text_names(text: str) -> set[Name]:
    """By what a text is known: itself, in small plain letters, without marks; and as the title of a paper, unless it has few words."""
    words = folded(text)
    return {("text", words), *_long(words)}


def folded(text: str) -> str:
    """The words of a text in small plain letters, without marks."""
    return " ".join(re.findall(r"\w+", fold(text)))


def _long(words: str) -> set[Name]:
    return {("title", words)} if words.count(" ") + 1 >= FEWEST_WORDS else set()


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
