"""The papers that a benchmark tests: which must be in no training set, and which stand in one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..evaluation import find_benchmark
from ..evaluation.benchmark_reading import read
from ..evaluation.readers.cite import COCITE
from ..matching.lexical.words import fold
from ..types import Paper

FEWEST_WORDS = 4
"""Words of a title by which a paper is known: "Introduction" is the title of many."""


@dataclass(frozen=True, slots=True)
class Names:
    """Ids and titles by which papers are known; titles in small plain letters, without marks."""

    ids: frozenset[str]
    titles: frozenset[str]

    @classmethod
    def of(cls, papers: Iterable[Paper]) -> Names:
        """Those of papers."""
        named = list(papers)
        titles = (plain_title(paper.title) for paper in named)
        return cls(frozenset(paper.id for paper in named), frozenset(title for title in titles if title))

    def has(self, id: str, title: str) -> bool:
        """Whether a paper has one of these ids or titles."""
        return id in self.ids or (bool(self.titles) and plain_title(title) in self.titles)


@dataclass(frozen=True, slots=True)
class Tested:
    """What a benchmark tests.

    Attributes:
        name: the benchmark's.
        queries: the queries that are papers, by id.
        relevant: the papers that are relevant to any query, by id.
        pairs: ids of a query, be it a paper or not, and of a paper that is relevant to it.
    """

    name: str
    queries: Mapping[str, Paper]
    relevant: Mapping[str, Paper]
    pairs: frozenset[tuple[str, str]]


def read_tested(name: str, data: str | Path | None = None) -> Tested:
    """Read which papers a benchmark tests. Arguments and errors are those of `evaluate`: a name, beir:DIR or cite:DIR, and its folder."""
    spec = find_benchmark(name)
    # a benchmark that `build_cite` made has its co-citations beside its citations
    folder = Path(name.partition(":")[2])
    splits = ["test", COCITE] if name.startswith("beir:") and (folder / "qrels" / f"{COCITE}.tsv").is_file() else [spec.splits[0]]
    queries: dict[str, Paper] = {}
    relevant: dict[str, Paper] = {}
    pairs: set[tuple[str, str]] = set()
    for material in [material for split in splits for material in read(spec, data, split)]:
        for task in material.tasks:
            queries |= {id: query.paper for id, query in task.queries.items() if query.paper is not None}
            pairs |= {(query, id) for query, grades in task.qrels.items() for id, grade in grades.items() if grade > 0}
        wanted = {id for _, id in pairs}
        relevant |= {paper.id: paper for paper in material.pool() if paper.id in wanted}
    return Tested(name, queries, relevant, frozenset(pairs))


def plain_title(title: str) -> str:
    """A title in small plain letters, without marks; "" for one of few words."""
    words = re.findall(r"\w+", fold(title))
    return " ".join(words) if len(words) >= FEWEST_WORDS else ""
