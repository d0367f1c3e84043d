"""The papers that a benchmark tests: which must be in no training set, and which stand in one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..evaluation import find_benchmark
from ..evaluation.benchmark_reading import read
from ..evaluation.material import Material, Task
from ..evaluation.readers.cite import COCITE
from ..matching.lexical.words import fold
from ..once import once
from ..types import Paper

FEWEST_WORDS = 4
"""Words of a title by which a paper is known: "Introduction" is the title of many."""


@dataclass(frozen=True)
class Tested:
    """What a benchmark tests, by its sets."""

    materials: Sequence[Material]

    @once
    def queries(self) -> Mapping[str, Paper]:
        """The queries that are papers, by id."""
        return {id: query.paper for task in self._tasks for id, query in task.queries.items() if query.paper is not None}

    @once
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Ids of a query, be it a paper or not, and of a paper that is relevant to it."""
        return frozenset(
            (query, id) for task in self._tasks for query, grades in task.qrels.items() for id, grade in grades.items() if grade > 0
        )

    @once
    def relevant(self) -> Mapping[str, Paper]:
        """The papers that are relevant to any query, by id; all papers of the benchmark are read."""
        wanted = {id for _, id in self.pairs}
        return {paper.id: paper for material in self.materials for paper in material.pool() if paper.id in wanted}

    @property
    def _tasks(self) -> Iterator[Task]:
        return (task for material in self.materials for task in material.tasks)


def read_tested(name: str, data: str | Path | None = None) -> Tested:
    """Read which papers a benchmark tests. Arguments and errors are those of `evaluate`: a name, beir:DIR or cite:DIR, and its folder."""
    spec = find_benchmark(name)
    splits = [spec.splits[0]]
    # a benchmark that `build_cite` made has its co-citations beside its citations
    if name.startswith("beir:") and (Path(name.removeprefix("beir:")) / "qrels" / f"{COCITE}.tsv").is_file():
        splits.append(COCITE)
    return Tested([material for split in splits for material in read(spec, data, split)])


def names_of(id: str, title: str) -> set[tuple[str, str]]:
    """By what a paper is known: its id, and its title in small plain letters, without marks, unless that has few words."""
    words = re.findall(r"\w+", fold(title))
    return {("id", id), *([("title", " ".join(words))] if len(words) >= FEWEST_WORDS else [])}
