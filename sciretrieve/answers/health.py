"""Checks of an index's papers: missing values, suspicious fields, duplicates, unresolved references, and retractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arguments import checked
from ..base.forms import AsJson
from ..base.types import Mask, Rows
from ..papers.checks import DOUBTFUL, FIELDS, MISSING, Look
from ..papers.duplicates import groups, key
from ..papers.references import name_of
from ..papers.retractions import retracted, retracted_by_notices, retraction_columns
from ..progress import shown
from ..protocols import Progress
from ..query.citations.citation_graph import names_of, references_from
from ..query.citations.cited_works import WorkNames, identified
from ..query.ids import IdsAt
from ..query.opening import AnyIndex, opened
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
    """A possible fault, and the papers that have it.

    Attributes:
        name: its name in JSON, such as "no_abstract".
        label: its name for people.
        remedy: what to do about it, in one clause.
        rows: the papers' rows, ascending, (n,).
        ids: the papers' ids, in row order.
        share: their share of the index's papers, from 0 to 1.
    """

    name: str
    label: str
    remedy: str
    rows: Rows
    ids: Sequence[str] = field(repr=False)
    share: float

    def __len__(self) -> int:
        return len(self.rows)

    def examples(self) -> list[str]:
        """The first ids, at most three."""
        return list(self.ids[:EXAMPLES])


@dataclass(frozen=True, slots=True)
class ReferenceCounts:
    """Numbers of references by what they resolve to.

    Attributes:
        total: all references.
        in_index: references to papers in the index.
        elsewhere: references to other works, by a DOI or another globally unique identifier.
        nowhere: all others: ids and texts that identify nothing.
    """

    total: int
    in_index: int
    elsewhere: int
    nowhere: int


@dataclass(frozen=True, slots=True)
class Health(AsJson):
    """The result of an index's checks.

    Attributes:
        index: the index's directory; for several indexes, all names joined.
        generation: its generation; None for several indexes.
        papers: number of papers.
        findings: the checks in a fixed order, including those that found nothing.
        references: numbers of references; None if no column has any.
    """

    index: Path
    generation: int | None
    papers: int
    findings: tuple[Finding, ...]
    references: ReferenceCounts | None

    def __getitem__(self, name: str) -> Finding:
        """The finding with this name. Raises KeyError if there is none."""
        return {finding.name: finding for finding in self.findings}[name]

    def to_dict(self) -> dict[str, Any]:
        """All findings with the ids of their papers, as `sciretrieve info health --format json` prints them."""
        counts = self.references
        return {
            "schema": 1,
            "index": str(self.index),
            "generation": self.generation,
            "papers": self.papers,
            "findings": [
                {
                    "name": finding.name,
                    "label": finding.label,
                    "papers": len(finding),
                    "share": finding.share,
                    "ids": list(finding.ids),
                    "remedy": finding.remedy,
                }
                for finding in self.findings
            ],
            "references": counts and asdict(counts),
        }


@checked
def health(index: AnyIndex, *, progress: Progress | bool = True) -> Health:
    """Check the undeleted papers of an index. Nothing is changed.

    Papers are read a few thousand at a time. A few numbers per paper stay in memory, and none per reference.

    Args:
        index: an index, which needs neither vectors nor BM25.
        progress: receives progress; by default a progress bar on a terminal, False for none.

    Raises:
        CorruptData: a file of the index is damaged.

    >>> found = sr.health(index)
    >>> ids = found["no_abstract"].ids
    """
    with shown(progress) as listener, opened(index) as library:
        snapshot = library.snapshot
        listener.start(len(library))
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
        *checked, flagged = [snapshot.scope.places[np.concatenate(parts)] for parts in zip(*masks, strict=True)]
        names = names_of(snapshot.shards) if notices or snapshot.has_references else None
        noticed = [row for doi in notices if names is not None and (row := names.row([name_of(doi)])) is not None]
        results: list[tuple[Look, Rows]] = [*zip(CHECKS, checked, strict=True)]
        results += [
            (TWICE, _near_duplicates(snapshot, np.concatenate(keys))),
            (RETRACTED, np.union1d(flagged, np.array(noticed, np.int64))),
        ]
        counts = None
        if names is not None and snapshot.has_references:
            counts, rows = _references(snapshot, names, listener)
            results.append((NOWHERE, rows))
        findings = [
            Finding(look.name, look.label, look.remedy, rows, ids, len(rows) / len(library))
            for look, rows in results
            for ids in [IdsAt(snapshot, rows) if library is index else snapshot.ids(rows)]
        ]
        generation = None if len(library.members) > 1 else snapshot.manifest.generation
        return Health(library.path, generation, len(library), tuple(findings), counts)


def _near_duplicates(snapshot: Snapshot, keys: Rows) -> Rows:
    """Papers with another record of the same work, as in `info duplicates`. Only papers that share a title key, (n,), are compared."""
    _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    is_shared = counts[places] > 1
    rows: Rows = snapshot.scope.places[is_shared]
    works = groups(snapshot.papers_at(rows, ["id", "title", "authors"]))
    return rows[np.array(sorted(place for work in works if len(work) > 1 for place in work), np.int64)]


def _references(snapshot: Snapshot, names: WorkNames, progress: Progress) -> tuple[ReferenceCounts, Rows]:
    """Numbers of references, and rows of the papers with an unresolved one."""
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
