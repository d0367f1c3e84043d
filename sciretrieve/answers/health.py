"""A library's health: what its papers lack, fields that look wrong, papers that it has twice, references that lead nowhere, retractions."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..base.types import Mask, Rows
from ..papers.checks import DOUBTFUL, FIELDS, MISSING, Look
from ..papers.duplicates import groups, key
from ..papers.references import name_of
from ..papers.retractions import retracted, retracted_by_notices, retraction_columns
from ..progress import shown
from ..protocols import Progress
from ..query.citations.citation_graph import names_of, references_from
from ..query.citations.cited_works import WorkNames, identified
from ..query.index import Index
from ..query.snapshot import Snapshot

CHECKS = (*MISSING, *DOUBTFUL)
TWICE = Look("near_duplicates", "near-duplicates", "`sciretrieve info duplicates` lists them side by side; an answer shows each work once")
RETRACTED = Look("retracted", "retracted", "`sciretrieve show ID` shows one, `sciretrieve delete ID` takes it out")
NOWHERE = Look(
    "references_nowhere", "references that lead nowhere", "give DOIs, or ids of papers in the index; keys of a bibliography are neither"
)
EXAMPLES = 3
NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Finding:
    """Something that may be wrong, and the papers of which it is true.

    Attributes:
        name: what it is called in JSON, such as "no_abstract".
        label: the same for people.
        remedy: what to do about it, in one clause.
        rows: the papers' rows, rising, (n,).
        index: whose papers they are.
    """

    name: str
    label: str
    remedy: str
    rows: Rows
    index: Index = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def ids(self) -> list[str]:
        """The papers' ids, in the order of their rows."""
        return self.index.snapshot.ids(self.rows)

    def examples(self) -> list[str]:
        """The first ids, three at most."""
        return self.index.snapshot.ids(self.rows[:EXAMPLES])

    @property
    def share(self) -> float:
        """The share of the index's papers, 0 to 1."""
        return len(self.rows) / len(self.index)


@dataclass(frozen=True, slots=True)
class ReferenceCounts:
    """Where the references of an index's papers lead.

    Attributes:
        total: how many there are.
        in_index: those to papers of the index.
        elsewhere: those to other works, by a DOI or another identifier that is the same everywhere.
        nowhere: all others: ids and texts by which nothing is found.
    """

    total: int
    in_index: int
    elsewhere: int
    nowhere: int


@dataclass(frozen=True, slots=True)
class Health:
    """What was found in an index.

    Attributes:
        index: where it was looked for.
        findings: what was looked for, also where nothing was found, in a fixed order.
        references: where references lead; None where no column has any.
    """

    index: Index
    findings: tuple[Finding, ...]
    references: ReferenceCounts | None

    def __getitem__(self, name: str) -> Finding:
        """The finding of that name. Raises KeyError if there is none."""
        return {finding.name: finding for finding in self.findings}[name]

    def to_dict(self) -> dict[str, Any]:
        """All of it with the ids of all papers, as `sciretrieve info health --format json` prints it."""
        counts = self.references
        return {
            "schema": 1,
            "index": str(self.index.path),
            "generation": None if len(self.index.members) > 1 else self.index.snapshot.manifest.generation,
            "papers": len(self.index),
            "findings": [
                {
                    "name": finding.name,
                    "label": finding.label,
                    "papers": len(finding),
                    "share": finding.share,
                    "ids": finding.ids,
                    "remedy": finding.remedy,
                }
                for finding in self.findings
            ],
            "references": counts and asdict(counts),
        }


def health(index: Index, *, progress: Progress | bool = True) -> Health:
    """Look for what is wrong with the papers of an open index, those that are deleted left out; nothing is changed.

    Papers are read a few thousand at a time; of each, a few numbers stay in memory, and of each reference none.

    Args:
        index: an open index; it needs neither vectors nor BM25.
        progress: what is told how far it is; by default a bar where a person looks, False for none.

    Raises:
        CorruptData: a file of the index is damaged.
    """
    snapshot = index.snapshot
    with shown(progress) as listener:
        listener.start(len(index))
        masks: list[list[Mask]] = []
        keys: list[Rows] = [NO_ROWS]
        notices: list[str] = []
        for shard in snapshot.shards:
            columns = [*FIELDS, *retraction_columns(shard.schema)]
            for _, table in shard.read_at(shard.scope.places, columns):
                masks.append([*(check.finds(table) for check in CHECKS), retracted(table)])
                keys.append(np.array([hash(key(title, ())) for title in table["title"].to_pylist()], np.int64))
                notices += retracted_by_notices(table)
                listener.advance(len(table))
        *checked, said = [snapshot.scope.places[np.concatenate(parts)] for parts in zip(*masks, strict=True)]
        names = names_of(snapshot.shards) if notices or snapshot.has_references else None
        noticed = [row for doi in notices if names is not None and (row := names.row([name_of(doi)])) is not None]
        found: list[tuple[Look, Rows]] = [*zip(CHECKS, checked, strict=True)]
        found += [(TWICE, _near_duplicates(snapshot, np.concatenate(keys))), (RETRACTED, np.union1d(said, np.array(noticed, np.int64)))]
        counts = None
        if names is not None and snapshot.has_references:
            counts, rows = _references(snapshot, names, listener)
            found.append((NOWHERE, rows))
        return Health(index, tuple(Finding(look.name, look.label, look.remedy, rows, index) for look, rows in found), counts)


def _near_duplicates(snapshot: Snapshot, keys: Rows) -> Rows:
    """The papers that are one work with others, as `info duplicates` finds them; those are looked at whose titles share a key, (n,)."""
    _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    is_shared = counts[places] > 1
    rows: Rows = snapshot.scope.places[is_shared]
    works = groups(snapshot.papers_at(rows, ["id", "title", "authors"]))
    return rows[np.array(sorted(place for work in works if len(work) > 1 for place in work), np.int64)]


def _references(snapshot: Snapshot, names: WorkNames, progress: Progress) -> tuple[ReferenceCounts, Rows]:
    """Where references lead, and the rows of the papers with one that leads nowhere."""
    progress.start(None, unit="references")
    total = in_index = elsewhere = 0
    parts = [NO_ROWS]
    for rows, references in references_from(snapshot.shards):
        is_here = names.resolved(references)[0] >= 0
        is_elsewhere = ~is_here & identified(references)
        total, in_index, elsewhere = total + len(is_here), in_index + int(is_here.sum()), elsewhere + int(is_elsewhere.sum())
        parts.append(np.unique(rows[references.citing[~is_here & ~is_elsewhere]]))
        progress.advance(len(is_here))
    return ReferenceCounts(total, in_index, elsewhere, total - in_index - elsewhere), np.unique(np.concatenate(parts))
