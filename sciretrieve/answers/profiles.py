"""A paper's profile: its columns, its near-duplicates, its nearest papers, the papers that it cites, and the papers that cite it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.arguments import checked
from ..base.forms import AsJson
from ..base.types import Hit, Paper
from ..matching.sharding import by_shard
from ..papers.duplicates import groups
from ..papers.references import Reference, reference_columns, references_of
from ..query.index import Index
from ..query.opening import AnyIndex, opened
from ..query.ranking.linking import GRAPHED

NEIGHBOURS = 5
"""Nearest papers in a profile."""
DUPLICATES = 10
"""Further papers fetched, so that enough remain after near-duplicates are merged."""


@dataclass(frozen=True, slots=True)
class CitationsOf(AsJson):
    """The citations of a paper.

    Attributes:
        cites: what it cites, in its own order: papers of the index, and references to other works as given.
        cited_by: papers in the index that cite it, latest first, ties by id.
        cites_names, cited_by_names: names of these papers, see `Snapshot.whole_names`; "" for a reference.
    """

    cites: tuple[Paper | Reference, ...]
    cited_by: tuple[Paper, ...]
    cites_names: tuple[str, ...]
    cited_by_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Profile(AsJson):
    """A paper and its relations to others.

    Attributes:
        paper: the paper, with all columns of its corpus.
        also: ids of its near-duplicates, such as a preprint's journal version; INDEX:ID if several indexes are searched.
        similar: the papers nearest to it, near-duplicates merged, as from `Index.similar`.
        citations: its citations; None if no column has references, or if the index is too large for `Index.similar` to use citations by
            default.
        sections: the heads of its full text's sections, each with its first page, None without pages; empty without a full text.
    """

    paper: Paper
    also: tuple[str, ...]
    similar: tuple[Hit, ...]
    citations: CitationsOf | None
    sections: tuple[tuple[str, int | None], ...] = ()


@checked
def profile(index: AnyIndex, name: str | Paper | Hit) -> Profile:
    """Profile of a paper, which is named as in `Index.papers`. Raises as `Index.papers` and `Index.similar`.

    >>> profile = sr.profile(index, "p0007")
    >>> profile.paper.id
    'p0007'
    """
    with opened(index) as library:
        return _profile(library, name)


def _profile(index: Index, name: str | Paper | Hit) -> Profile:
    row = int(index.named_rows([name])[0])
    (paper,) = index.snapshot.papers_at(np.array([row]))
    whole_name = index.snapshot.whole_names(np.array([row]))[0]
    copies = index.snapshot.whole_names(index.snapshot.copies(np.array([row]))[0])
    hits = [hit for hit in index.similar(whole_name, NEIGHBOURS + DUPLICATES, group=False).hits if hit.name not in copies]
    own, *works = groups([paper, *(hit.paper for hit in hits)])
    similar = [
        replace(hits[first - 1], rank=rank, also=tuple(hits[other - 1].id for other in others), also_in=_indexes(hits, others))
        for rank, (first, *others) in enumerate(works[:NEIGHBOURS], start=1)
    ]
    citations = _citations_of(index, row) if index.snapshot.has_references and len(index) <= GRAPHED else None
    also = [*copies, *(hits[place - 1].name for place in own[1:])]
    sections: dict[str, int | None] = {}
    for passage in index.full_text(whole_name):
        sections.setdefault(passage.section, passage.page)
    return Profile(paper, tuple(also), tuple(similar), citations, tuple(sections.items()))


def _indexes(hits: Sequence[Hit], places: Sequence[int]) -> tuple[str, ...]:
    """Index names of the hits at these ranks, counted from 1; empty if only one index is searched."""
    return tuple(name for place in places if (name := hits[place - 1].index) is not None)


@checked
def citations_of(index: AnyIndex, id: str | Paper | Hit) -> CitationsOf:
    """What a paper of an index cites, and what cites it.

    Raises:
        NoSuchPaper: the index has no paper with this id.
        InvalidRequest: no column of the index has references.

    >>> papers = [{"id": "a", "title": "Graph networks"}, {"id": "b", "title": "Graph trees", "references": ["a"]}]
    >>> cited = sr.build(papers, into="indexes/cited", encoder=None)
    >>> citations = sr.citations_of(cited, "a")
    >>> [paper.id for paper in citations.cited_by]
    ['b']
    """
    with opened(index) as library:
        return _citations_of(library, int(library.named_rows([id])[0]))


def _citations_of(index: Index, row: int) -> CitationsOf:
    cited: dict[int | str, int | Reference] = {}
    for reference in _references(index, row):
        cited_row = index.snapshot.citations.names.row(reference.names)
        if cited_row is None:
            cited.setdefault(str(reference), reference)
        elif cited_row != row:
            cited.setdefault(cited_row, cited_row)
    rows = np.array([item for item in cited.values() if isinstance(item, int)], np.int64)
    known = dict(zip(rows.tolist(), zip(index.snapshot.papers_at(rows), index.snapshot.whole_names(rows), strict=True), strict=True))
    cites = [known[item] if isinstance(item, int) else (item, "") for item in cited.values()]
    citing_rows = index.snapshot.citations.graph.cited_by(row)
    citing = sorted(
        zip(index.snapshot.papers_at(citing_rows), index.snapshot.whole_names(citing_rows), strict=True),
        key=lambda pair: (-(pair[0].year or 0), pair[0].id),
    )
    return CitationsOf(
        tuple(work for work, _ in cites),
        tuple(paper for paper, _ in citing),
        tuple(name for _, name in cites),
        tuple(name for _, name in citing),
    )


def _references(index: Index, row: int) -> Iterator[Reference]:
    for shard, _, shard_rows in by_shard(np.array([row]), index.snapshot.shards):
        for _, table in shard.read_at(shard_rows, shard.schema.names):
            yield from references_of(table.to_pylist()[0], reference_columns(shard.schema))
