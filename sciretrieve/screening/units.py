"""Units of decision: papers, with near-identical papers merged into one unit.

Counts, the random sample and all statistics on recall refer to units. A decision applies to the whole unit, so the statistics need no
special case for groups: there are N units, of which K are relevant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..base.types import Paper, Rows
from ..papers.duplicates import same_works
from ..query.index import Index

NAMING = ("id", "title", "authors", "year", "doi", "pmid")
"""Columns that identify a paper's work."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a session, in the order of the index.

    Attributes:
        ids: the shown paper of each unit.
        rows: its row, (n,).
        place_of: id of any paper -> position of its unit.
        also: id of a shown paper -> ids of its near-identical papers, if any.
    """

    ids: Sequence[str]
    rows: Rows
    place_of: Mapping[str, int]
    also: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, ids: Sequence[str], rows: Rows, groups: Sequence[Sequence[str]]) -> Units:
        """Build the units of some papers.

        Args:
            ids: ids of the papers.
            rows: their rows, (n,), ascending.
            groups: ids of near-identical papers; the first of each group is shown.
        """
        also = {group[0]: group[1:] for group in groups}
        hidden = {id for others in also.values() for id in others}
        places = [place for place, id in enumerate(ids) if id not in hidden]
        shown = [ids[place] for place in places]
        place_of = {id: place for place, id in enumerate(shown)}
        place_of |= {id: place_of[first] for first, others in also.items() for id in others}
        return cls(shown, rows[places], place_of, also)


def naming(index: Index, rows: Rows) -> list[Paper]:
    """Papers at the given rows of an index, with the columns that identify their works."""
    return index.snapshot.papers_at(rows, NAMING)


def near_identical(index: Index, rows: Rows) -> list[list[str]]:
    """Groups of papers at the given rows that are the same work, as in `papers.duplicates.same_works`. The first of each group is the one
    to show: with an abstract, if any has one."""
    papers = naming(index, rows)
    groups = [[papers[place] for place in work.places] for work in same_works(papers)]
    members = [paper.id for group in groups for paper in group]
    with_abstract = {paper.id for paper in index.snapshot.papers_at(index.snapshot.rows(members)) if paper.abstract.strip()}
    # the sort is stable
    return [sorted((paper.id for paper in group), key=lambda id: id not in with_abstract) for group in groups]
