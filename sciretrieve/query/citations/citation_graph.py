"""The citation graph of an index: citations among its papers and to outside works, and how closely papers are related by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ...base.once import once
from ...base.types import Rows, Scores
from ...papers.references import PUBMED, References, read, reference_columns
from ...storage.shards import Shard
from .cited_works import WorkNames, identifying_columns


@dataclass(frozen=True)
class Graph:
    """Citations between `size` papers: each pair once, no paper citing itself.

    Attributes:
        size: the number of papers.
        cited: the cited rows, grouped by citing row; row r cites `cited[cited_ends[r]:cited_ends[r + 1]]`, ascending.
        cited_ends: (size + 1,).
        citing: the citing rows, grouped by cited row, in the same form.
        citing_ends: (size + 1,).
    """

    size: int
    cited: Rows
    cited_ends: Rows
    citing: Rows
    citing_ends: Rows

    @classmethod
    def of(cls, size: int, pairs: Rows) -> Graph:
        """Build the graph from pairs of citing and cited rows, (n, 2). Pairs may repeat."""
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        keys = distinct(pairs[:, 0] * size + pairs[:, 1])
        reverse_keys = np.sort((keys % size) * size + keys // size) if size else keys
        ends = np.arange(size + 1) * size
        return cls(size, keys % max(size, 1), np.searchsorted(keys, ends), reverse_keys % max(size, 1), np.searchsorted(reverse_keys, ends))

    def __len__(self) -> int:
        return len(self.cited)

    def cites(self, row: int) -> Rows:
        """Rows that a paper cites, ascending."""
        return self.cited[self.cited_ends[row] : self.cited_ends[row + 1]]

    def cited_by(self, row: int) -> Rows:
        """Rows that cite a paper, ascending."""
        return self.citing[self.citing_ends[row] : self.citing_ends[row + 1]]

    def neighbours(self, row: int) -> Rows:
        """Rows that a paper cites or is cited by, ascending."""
        rows: Rows = np.union1d(self.cites(row), self.cited_by(row))
        return rows

    @property
    def pairs(self) -> Rows:
        """Citing and cited rows, ascending, (n, 2), as `of` takes them."""
        return np.stack([np.repeat(np.arange(self.size), self.cites_counts), self.cited], axis=1)

    @property
    def cites_counts(self) -> Rows:
        """Number of papers that each paper cites, (size,)."""
        return np.diff(self.cited_ends)

    @property
    def cited_counts(self) -> Rows:
        """Number of papers that cite each paper, (size,)."""
        return np.diff(self.citing_ends)

    def cocited(self, row: int, least: int) -> Rows:
        """Rows that at least `least` papers cite together with this one, ascending."""
        citing = self.cited_by(row)
        if len(citing) < least:
            return np.empty(0, np.int64)
        others, counts = _counted([self.cites(other) for other in citing.tolist()])
        cocited_rows: Rows = others[(counts >= least) & (others != row)]
        return cocited_rows

    def two_steps(self, row: int) -> Rows:
        """Rows exactly two citations away, in any direction. Rows with the most connecting paths come first, ties by row."""
        near = self.neighbours(row)
        if not len(near):
            return near
        others, counts = _counted([self.neighbours(other) for other in near.tolist()])
        is_far = (others != row) & ~np.isin(others, near, assume_unique=True)
        far: Rows = others[is_far][np.lexsort((others[is_far], -counts[is_far]))]
        return far


def distinct(keys: Rows) -> Rows:
    """Distinct numbers, ascending. `np.unique` uses a hash table, which takes ten times as long for millions."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _counted(lists: list[Rows]) -> tuple[Rows, Rows]:
    """Distinct rows in the lists, ascending, and the number of lists that contain each."""
    rows, counts = np.unique(np.concatenate(lists), return_counts=True)
    return rows, counts


UNKNOWN = 20
"""Extra unshared works that each paper's set is assumed to contain. Without them, two papers with one known citation in common would count
as close as two papers that share fifty of a hundred. Measured, see docs/quality.md."""
UNIT = 1 << 16
"""Squared weights are multiples of 1 / UNIT, so that a sum does not depend on the order of its works."""


@dataclass(frozen=True, slots=True)
class Link:
    """How a paper is linked with a group of papers.

    Attributes:
        shared: how many works the paper cites together with any of the group (bibliographic coupling).
        together: how many papers cite it together with any of the group (co-citation).
        between: how many papers stand between: they cite the paper and are cited by the group, or the reverse.
        cites: whether the paper cites any of the group.
        cited: whether any of the group cites the paper.
    """

    shared: int
    together: int
    between: int
    cites: bool
    cited: bool


class CitationGraph:
    """The citations of an index, by row.

    Attributes:
        papers: number of rows that hold papers, deleted ones included.
        names: finds papers by their names.
        graph: the citations. Cited works outside the index have the rows from `papers` on, and cite nothing.
    """

    def __init__(self, papers: int, live: int, names: WorkNames, graph: Graph) -> None:
        """`live` is the number of undeleted papers."""
        self.papers = papers
        self.names = names
        self.graph = graph
        self._live = live

    @classmethod
    def of(cls, shards: Sequence[Shard]) -> CitationGraph:
        """Build the graph of an index's undeleted papers, a few row groups at a time."""
        papers, live = sum(shard.papers for shard in shards), sum(len(shard.scope) for shard in shards)
        names = names_of(shards)
        parts = [(np.empty(0, np.int64),) * 3]
        for rows, references in references_from(shards):
            targets, keys, is_named = names.resolved(references)
            parts.append((rows[references.citing[is_named]], targets[is_named], keys[is_named]))
        citing, cited, keys = map(np.concatenate, zip(*parts, strict=True))
        is_outside = cited < 0
        works, places = np.unique(keys[is_outside], return_inverse=True)
        cited[is_outside] = papers + places
        return cls(papers, live, names, Graph.of(papers + len(works), np.stack([citing, cited], axis=1)))

    @once
    def _neighbours(self) -> tuple[Rows, Rows]:
        """Neighbours of each row, without repeats, and where each row's neighbours end. A row's neighbours are what it cites, what cites
        it, and for a paper the row itself."""
        size = self.graph.size
        citing = np.repeat(np.arange(size), self.graph.cites_counts)
        itself = np.arange(self.papers)
        keys = distinct(np.concatenate([citing * size + self.graph.cited, self.graph.cited * size + citing, itself * size + itself]))
        return keys % max(size, 1), np.searchsorted(keys, np.arange(size + 1) * size)

    def _near(self, row: int) -> Rows:
        neighbours, ends = self._neighbours
        return neighbours[ends[row] : ends[row + 1]]

    @once
    def _weights(self) -> Scores:
        """Weight of sharing each work or paper, by row, (size,): its squared inverse document frequency."""
        neighbours, ends = self._neighbours
        papers_with = np.bincount(neighbours[: ends[self.papers]], minlength=self.graph.size)
        return self._squared(np.log1p(self._live / np.maximum(papers_with, 1)))

    def _squared(self, rarities: Scores) -> Scores:
        weights: Scores = np.round(UNIT * rarities * rarities)
        return weights

    @once
    def _lengths(self) -> Scores:
        """Length of each paper's vector, (papers,)."""
        neighbours, ends = self._neighbours
        sums = np.concatenate([[0.0], np.cumsum(self._weights[neighbours[: ends[self.papers]]])])
        unknown = UNKNOWN * self._squared(np.log1p([float(self._live)]))
        lengths: Scores = np.sqrt(sums[ends[1 : self.papers + 1]] - sums[ends[: self.papers]] + unknown)
        return lengths

    def related(self, row: int) -> tuple[Rows, Scores]:
        """Papers linked with a paper by citations, ascending, without the paper itself; and how closely, between 0 and 1.

        A paper is represented by a set: the works it cites, the papers that cite it, and itself. This joins bibliographic coupling (Kessler
        1963) and co-citation (Small 1973), as in Amsler, "Applications of citation-based automatic classification", 1972. Because the set
        includes the paper itself, direct citations and papers between two others also count. Closeness is the cosine of two sets (Salton
        and McGill, "Introduction to Modern Information Retrieval", 1983, section 4.1). Works are weighted by inverse document frequency, as
        in CiteSeer's common citations (Giles, Bollacker and Lawrence, Digital Libraries 1998). Each set is assumed to contain `UNKNOWN`
        further works, so that little evidence counts little.
        """
        own = self._near(row)
        lists = [near[: np.searchsorted(near, self.papers)] for near in map(self._near, own.tolist())]
        weights = np.repeat(self._weights[own], [len(near) for near in lists])
        rows, places = np.unique(np.concatenate(lists), return_inverse=True)
        scores = np.bincount(places, weights) / (self._lengths[row] * self._lengths[rows])
        others = rows != row
        return rows[others], scores[others]

    def link(self, given: Sequence[int], row: int) -> Link:
        """How the paper in a row is linked with the given papers."""
        cites, cited_by = self.graph.cites(row), self.graph.cited_by(row)
        given_cite, cite_given = (
            np.unique(np.concatenate([of(other) for other in given])) for of in (self.graph.cites, self.graph.cited_by)
        )
        return Link(
            len(np.intersect1d(cites, given_cite)),
            len(np.intersect1d(cited_by, cite_given)),
            len(np.intersect1d(cites, cite_given)) + len(np.intersect1d(cited_by, given_cite)),
            bool(np.isin(cites, given).any()),
            bool(np.isin(cited_by, given).any()),
        )


def names_of(shards: Sequence[Shard]) -> WorkNames:
    """Name lookup for the undeleted papers of an index."""
    return WorkNames(_tables(shards, {shard: identifying_columns(shard.schema) for shard in shards}))


def references_from(shards: Sequence[Shard]) -> Iterator[tuple[Rows, References]]:
    """References of the undeleted papers, a few row groups at a time: the papers' rows, and references whose `citing` is a position among
    these rows."""
    for rows, table in _tables(shards, {shard: [*reference_columns(shard.schema), *PUBMED] for shard in shards}):
        yield from ((rows, references) for references in read(table, reference_columns(table.schema)))


def _tables(shards: Sequence[Shard], columns: Mapping[Shard, Sequence[str]]) -> Iterator[tuple[Rows, pa.Table]]:
    """The named columns of each shard's undeleted papers, with the papers' rows."""
    for shard in shards:
        names = [name for name in shard.schema.names if name in columns[shard]]
        yield from ((rows + shard.first, table) for rows, table in shard.read_at(shard.scope.places, names))
