"""What is decided on: papers, of which near-identical ones are one.

The counts, the random sample and all that is said of the recall are of these units. One that a decision is made on is decided wholly, so
that the statistics need no word on groups: there are N units, of which K are relevant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..base.types import Paper, Rows
from ..papers.duplicates import same_works
from ..query.index import Index

NAMING = ("id", "title", "authors", "year", "doi", "pmid")
"""Columns that say which work a paper is."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a session, in the order of the index.

    Attributes:
        ids: of each, the paper that is shown.
        rows: its row, (n,).
        place_of: the id of any of its papers -> where the unit stands.
        also: the id of the shown paper -> those of its near-identical ones, if it has any.
    """

    ids: Sequence[str]
    rows: Rows
    place_of: Mapping[str, int]
    also: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, ids: Sequence[str], rows: Rows, groups: Sequence[Sequence[str]]) -> Units:
        """The units of some papers.

        Args:
            ids: the papers.
            rows: their rows, (n,), rising.
            groups: ids of near-identical ones; the first of each is shown.
        """
        also = {group[0]: group[1:] for group in groups}
        hidden = {id for others in also.values() for id in others}
        places = [place for place, id in enumerate(ids) if id not in hidden]
        shown = [ids[place] for place in places]
        place_of = {id: place for place, id in enumerate(shown)}
        place_of |= {id: place_of[first] for first, others in also.items() for id in others}
        return cls(shown, rows[places], place_of, also)


def naming(index: Index, rows: Rows) -> list[Paper]:
    """The papers at some rows of an index with no more than what says which work they are."""
    return index.snapshot.papers_at(rows, NAMING)


def near_identical(index: Index, rows: Rows) -> list[list[str]]:
    """The groups of papers at some rows that are one work; of each the first is the one to be shown: it has an abstract, if any has.

    They are those that `papers.duplicates.same_works` finds.
    """
    papers = naming(index, rows)
    groups = [[papers[place] for place in work.places] for work in same_works(papers)]
    members = [paper.id for group in groups for paper in group]
    with_abstract = {paper.id for paper in index.snapshot.papers_at(index.snapshot.rows(members)) if paper.abstract.strip()}
    # the sort keeps the order of those that are equal
    return [sorted((paper.id for paper in group), key=lambda id: id not in with_abstract) for group in groups]
