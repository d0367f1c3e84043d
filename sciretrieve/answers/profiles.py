"""All that an index has of one paper: its columns, its near-duplicates, its nearest papers, the papers that it cites, and the papers that
cite it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..papers.duplicates import groups
from ..query.index import Index
from ..query.ranking.linking import GRAPHED
from ..types import Hit, Paper
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
        also: the ids of its near-duplicates, such as a preprint's journal version.
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
    (paper,) = index.papers(name)
    hits = index.similar(paper.id, NEIGHBOURS + DUPLICATES, group=False).hits
    own, *works = groups([paper, *(hit.paper for hit in hits)])
    similar = [
        replace(hits[first - 1], rank=rank, also=tuple(hits[other - 1].id for other in others))
        for rank, (first, *others) in enumerate(works[:NEIGHBOURS], start=1)
    ]
    citations = citations_of(index, paper.id) if index.has_references and len(index) <= GRAPHED else None
    return Profile(paper, tuple(hits[place - 1].id for place in own[1:]), tuple(similar), citations)
