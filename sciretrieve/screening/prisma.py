"""Numbers of a review for PRISMA 2020: Page and others, "The PRISMA 2020 statement", BMJ 372, 2021, n71.

Every identified record is counted once: identified = duplicates + not indexed + not eligible + not read + excluded + maybe + conflicts +
included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest, NotFound
from ..files.strict_json import RepeatedKey, parsed
from ..query.index import Index
from .session import Session

NO_REASON = "no reason given"
NO_SOURCE = "no source given"


@dataclass(frozen=True, slots=True)
class Identified:
    """Records before screening: number by source, number of duplicates, and number of papers left."""

    sources: Mapping[str, int]
    duplicates: int
    records: int


@dataclass(frozen=True, slots=True)
class Prisma:
    """PRISMA's numbers. They count records; once `duplicates` are removed, several records of one work count as one.

    Attributes:
        sources: identified records, by source.
        duplicates: removed duplicates, by the search strategy and as near-identical papers.
        not_indexed: papers of the strategy that are not in the index.
        not_eligible: papers excluded before reading, by the filter or because they are not among the first of a search.
        screened: papers read.
        not_read: papers left unread when reading stopped.
        excluded: excluded papers, by reason.
        maybe: papers that may be included.
        conflicts: papers on which reviewers disagree.
        included: papers included after screening.
    """

    sources: Mapping[str, int]
    duplicates: int
    not_indexed: int
    not_eligible: int
    screened: int
    not_read: int
    excluded: Mapping[str, int]
    maybe: int
    conflicts: int
    included: int

    @property
    def identified(self) -> int:
        """Number of identified records."""
        return sum(self.sources.values())

    @property
    def to_screen(self) -> int:
        """Number of papers left for reading."""
        return self.screened + self.not_read


def prisma(session: Session, identified: Identified | None = None) -> Prisma:
    """Numbers of a session.

    Args:
        session: the session.
        identified: the identified records; by default the index's papers, as one source.

    Raises:
        InvalidRequest: fewer records were identified than the index has.
    """
    status, indexed, papers = session.status, len(session.index), session.settings["papers"]
    identified = identified or Identified({session.index.path.name: indexed}, 0, indexed)
    if identified.records < indexed:
        raise InvalidRequest(
            f"{session.index.path} has {indexed:,} papers, and the search strategy found {identified.records:,}: the log is that of another"
        )
    reasons = Counter(session.decisions[id].reason or NO_REASON for id in session.irrelevant)
    in_order = [*session.reasons, *sorted(reasons.keys() - {*session.reasons, NO_REASON}), NO_REASON]
    return Prisma(
        sources=identified.sources,
        duplicates=identified.duplicates + papers - len(session),
        not_indexed=identified.records - indexed,
        not_eligible=indexed - papers,
        screened=status.read,
        not_read=status.unread,
        excluded={reason: reasons[reason] for reason in in_order if reasons[reason]},
        maybe=status.maybe,
        conflicts=status.conflicts,
        included=status.relevant,
    )


def identified_by_log(path: Path) -> Identified:
    """Records identified by a search strategy, from its log.json.

    Raises:
        NotFound: the file does not exist.
        InvalidRequest: the file is no such log, or of a later version.
    """
    if not path.is_file():
        raise NotFound(f"there is no file {path}; `sciretrieve strategy run` writes a log.json")
    try:
        log = parsed(path.read_bytes())
    except RepeatedKey as error:
        raise InvalidRequest(f"{path}: {error}") from error
    except (ValueError, RecursionError):
        log = None
    match log:
        case {"schema": 1, "result": {"identified": dict(sources), "duplicates": int(duplicates), "papers": int(papers)}} if (
            all(isinstance(count, int) for count in sources.values()) and sum(sources.values()) == duplicates + papers
        ):
            return Identified(sources, duplicates, papers)
        case {"schema": int(version)} if version > 1:
            raise InvalidRequest(f"{path} is a log of version {version}, and this version of sciretrieve reads 1")
        case _:
            raise InvalidRequest(f"{path} is no log of a search strategy; `sciretrieve strategy run` writes one, log.json")


def identified_by_column(index: Index, column: str) -> Identified:
    """Papers of an index by the source in a column. Raises InvalidRequest if the column does not exist."""
    if column not in index.snapshot.columns.names:
        raise InvalidRequest(f"{index.path} has no column {column!r}; it has {', '.join(index.snapshot.columns.names)}")
    sources: Counter[str] = Counter()
    for table in index.snapshot.tables([column]):
        values: Sequence[Any] = table[column].to_pylist() if column in table.column_names else [None] * len(table)
        sources.update(_source(value) for value in values)
    return Identified(dict(sorted(sources.items())), 0, len(index))


def _source(value: Any) -> str:
    text = "; ".join(map(str, value)) if isinstance(value, list) else str(value if value is not None else "")
    return text.strip() or NO_SOURCE
