"""The citation graph of a library: who cites whom in it, which outside works its papers cite, and how papers are related by that."""

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
    """Citations between `size` papers, each pair once, no paper citing itself.

    Attributes:
        size: the number of papers.
        cited: the cited rows, by citing row; those of row r are `cited[cited_ends[r]:cited_ends[r + 1]]`, rising.
        cited_ends: (size + 1,).
        citing: the citing rows, by cited row, in the same form.
        citing_ends: (size + 1,).
    """

    size: int
    cited: Rows
    cited_ends: Rows
    citing: Rows
    citing_ends: Rows

    @classmethod
    def of(cls, size: int, pairs: Rows) -> Graph:
        """The graph of `pairs` of citing and cited rows, (n, 2), which may repeat."""
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        keys = distinct(pairs[:, 0] * size + pairs[:, 1])
        reverse_keys = np.sort((keys % size) * size + keys // size) if size else keys
        ends = np.arange(size + 1) * size
        return cls(size, keys % max(size, 1), np.searchsorted(keys, ends), reverse_keys % max(size, 1), np.searchsorted(reverse_keys, ends))

    def __len__(self) -> int:
        return len(self.cited)

    def cites(self, row: int) -> Rows:
        """The papers that a paper cites, rising."""
        return self.cited[self.cited_ends[row] : self.cited_ends[row + 1]]

    def cited_by(self, row: int) -> Rows:
        """The papers that cite a paper, rising."""
        return self.citing[self.citing_ends[row] : self.citing_ends[row + 1]]

    def neighbours(self, row: int) -> Rows:
        """The papers that a paper cites or that cite it, rising."""
        rows: Rows = np.union1d(self.cites(row), self.cited_by(row))
        return rows

    @property
    def cites_counts(self) -> Rows:
        """How many papers each paper cites, (size,)."""
        return np.diff(self.cited_ends)

    @property
    def cited_counts(self) -> Rows:
        """How many papers cite each paper, (size,)."""
        return np.diff(self.citing_ends)

    def cocited(self, row: int, least: int) -> Rows:
        """The papers that at least `least` papers cite together with this one, rising."""
        citing = self.cited_by(row)
        if len(citing) < least:
            return np.empty(0, np.int64)
        others, counts = _counted([self.cites(other) for other in citing.tolist()])
        cocited_rows: Rows = others[(counts >= least) & (others != row)]
        return cocited_rows

    def two_steps(self, row: int) -> Rows:
        """The papers two citations away, in any direction, and no nearer: those with most ways first, then by row."""
        near = self.neighbours(row)
        if not len(near):
            return near
        others, counts = _counted([self.neighbours(other) for other in near.tolist()])
        is_far = (others != row) & ~np.isin(others, near, assume_unique=True)
        far: Rows = others[is_far][np.lexsort((others[is_far], -counts[is_far]))]
        return far


def distinct(keys: Rows) -> Rows:
    """The different numbers, rising: as `np.unique`, whose hash table takes ten times as long for millions."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _counted(lists: list[Rows]) -> tuple[Rows, Rows]:
    """The rows that lists name, rising, and in how many of them each is."""
    rows, counts = np.unique(np.concatenate(lists), return_counts=True)
    return rows, counts


UNKNOWN = 20
"""Works, in no other set, that each paper's set is taken to have besides. Without them two papers of which one citation is known, the same,
would be as close as two that have fifty of a hundred in common. Measured, see docs/quality.md."""
UNIT = 1 << 16
"""Squared weights are whole multiples of 1 / UNIT, so that their sums do not depend on the order of the works."""


@dataclass(frozen=True, slots=True)
class Link:
    """How a paper is linked with some others.

    Attributes:
        shared: how many works both it and one of them cite (bibliographic coupling).
        together: how many papers cite both it and one of them (co-citation).
        between: how many papers cite one of the two and are cited by the other.
        cites: whether it cites one of them.
        cited: whether one of them cites it.
    """

    shared: int
    together: int
    between: int
    cites: bool
    cited: bool


class CitationGraph:
    """Who cites whom, by rows.

    Attributes:
        papers: how many rows papers have, those of deleted papers among them.
        names: what finds papers by their names.
        graph: the citations. Works that are cited and not in the library have the rows from `papers` on; they cite nothing.
    """

    def __init__(self, papers: int, live: int, names: WorkNames, graph: Graph) -> None:
        """`live` is how many of the papers are not deleted."""
        self.papers = papers
        self.names = names
        self.graph = graph
        self._live = live

    @classmethod
    def of(cls, shards: Sequence[Shard]) -> CitationGraph:
        """The graph of the papers of an index that are not deleted, read a few row groups at a time."""
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
        """The neighbours of each row, once each: what it cites, what cites it, and for a paper its own row; and where the neighbours of
        each row end."""
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
        """What sharing a work or a paper counts, by row, (size,): its inverse document frequency, squared."""
        neighbours, ends = self._neighbours
        papers_with = np.bincount(neighbours[: ends[self.papers]], minlength=self.graph.size)
        return self._squared(np.log1p(self._live / np.maximum(papers_with, 1)))

    def _squared(self, rarities: Scores) -> Scores:
        weights: Scores = np.round(UNIT * rarities * rarities)
        return weights

    @once
    def _lengths(self) -> Scores:
        """The length of each paper's vector, (papers,)."""
        neighbours, ends = self._neighbours
        sums = np.concatenate([[0.0], np.cumsum(self._weights[neighbours[: ends[self.papers]]])])
        unknown = UNKNOWN * self._squared(np.log1p([float(self._live)]))
        lengths: Scores = np.sqrt(sums[ends[1 : self.papers + 1]] - sums[ends[: self.papers]] + unknown)
        return lengths

    def related(self, row: int) -> tuple[Rows, Scores]:
        """The papers that citations link with a paper, rising, and how closely, above 0 and below 1; not the paper itself.

        A paper is the set of what it cites, what cites it, and itself (Amsler, "Applications of citation-based automatic classification",
        1972, which joins bibliographic coupling, Kessler 1963, and co-citation, Small 1973). As it is in its own set, a direct citation
        counts, too, and so does a third paper between two. How close two papers are is the cosine of their sets (Salton and McGill,
        "Introduction to Modern Information Retrieval", 1983, section 4.1), where rare works weigh more, by their inverse document
        frequency, as in CiteSeer's common citations (Giles, Bollacker and Lawrence, Digital Libraries 1998), and each set is taken to have
        `UNKNOWN` works more, so that little evidence counts little.
        """
        own = self._near(row)
        lists = [near[: np.searchsorted(near, self.papers)] for near in map(self._near, own.tolist())]
        weights = np.repeat(self._weights[own], [len(near) for near in lists])
        rows, places = np.unique(np.concatenate(lists), return_inverse=True)
        scores = np.bincount(places, weights) / (self._lengths[row] * self._lengths[rows])
        others = rows != row
        return rows[others], scores[others]

    def link(self, given: Sequence[int], row: int) -> Link:
        """How the paper in a row is linked with the given ones."""
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
    """What finds the papers of an index that are not deleted by their names."""
    return WorkNames(_tables(shards, {shard: identifying_columns(shard.schema) for shard in shards}))


def references_from(shards: Sequence[Shard]) -> Iterator[tuple[Rows, References]]:
    """The references of the papers that are not deleted, a few row groups at a time: the rows of papers, and references, whose `citing`
    are places among these rows."""
    for rows, table in _tables(shards, {shard: [*reference_columns(shard.schema), *PUBMED] for shard in shards}):
        yield from ((rows, references) for references in read(table, reference_columns(table.schema)))


def _tables(shards: Sequence[Shard], columns: Mapping[Shard, Sequence[str]]) -> Iterator[tuple[Rows, pa.Table]]:
    """Those columns of each shard's papers that are not deleted, with the papers' rows."""
    for shard in shards:
        names = [name for name in shard.schema.names if name in columns[shard]]
        yield from ((rows + shard.first, table) for rows, table in shard.read_at(shard.scope.places, names))
