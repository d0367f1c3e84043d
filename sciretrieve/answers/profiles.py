"""All that an index has of one paper: its columns, its near-duplicates, its nearest papers, the papers that it cites, and the papers that
cite it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.types import Hit, Paper
from ..papers.duplicates import groups
from ..query.index import Index
from ..query.ranking.linking import GRAPHED
from .cited import CitationsOf, citations_of

NEIGHBOURS = 5
"""How many of the nearest papers belong to a profile."""
DUPLICATES = 10
"""How many more are looked at, so that near-duplicates leave enough."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A paper and its surroundings.

    Attributes:
        paper: the paper, with all columns of its corpus.
        also: the ids of its near-duplicates, such as a preprint's journal version; where several indexes are searched as INDEX:ID.
        similar: the papers nearest to it, near-duplicates as one, as `Index.similar` finds them.
        citations: what it cites, and what cites it; None where no column has references, or where the index has more papers than
            `Index.similar` looks for citations in.
    """

    paper: Paper
    also: tuple[str, ...]
    similar: tuple[Hit, ...]
    citations: CitationsOf | None


def profile(index: Index, name: str) -> Profile:
    """The profile of the paper that a text names, as `Index.papers` finds it. Raises as `Index.papers` and `Index.similar`."""
    row = int(index.named_rows(name)[0])
    (paper,) = index.snapshot.papers_at(np.array([row]))
    whole_name = index.snapshot.whole_names(np.array([row]))[0]
    copies = index.snapshot.whole_names(index.snapshot.copies(np.array([row]))[0])
    hits = [hit for hit in index.similar(whole_name, NEIGHBOURS + DUPLICATES, group=False).hits if hit.name not in copies]
    own, *works = groups([paper, *(hit.paper for hit in hits)])
    similar = [
        replace(hits[first - 1], rank=rank, also=tuple(hits[other - 1].id for other in others), also_in=_indexes(hits, others))
        for rank, (first, *others) in enumerate(works[:NEIGHBOURS], start=1)
    ]
    citations = citations_of(index, whole_name) if index.snapshot.has_references and len(index) <= GRAPHED else None
    also = [*copies, *(hits[place - 1].name for place in own[1:])]
    return Profile(paper, tuple(also), tuple(similar), citations)


def _indexes(hits: Sequence[Hit], places: Sequence[int]) -> tuple[str, ...]:
    """The indexes of the hits at these places, counted from 1; none where only one is searched."""
    return tuple(name for place in places if (name := hits[place - 1].index) is not None)
