"""The numbers of a review as PRISMA 2020 wants them: Page and others, "The PRISMA 2020 statement", BMJ 372, 2021, n71.

Every record that was identified is in one of them, once: identified = duplicates + not indexed + not eligible + not read + excluded +
maybe + conflicts + included.
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
    """What was found before anybody read: the records by source, of which some were duplicates, and how many of the others are left."""

    sources: Mapping[str, int]
    duplicates: int
    records: int


@dataclass(frozen=True, slots=True)
class Prisma:
    """PRISMA's numbers, of records; a work of which there are several records counts as one from `duplicates` on.

    Attributes:
        sources: how many were identified, by source.
        duplicates: how many of these were removed: by the search strategy, and since they are near-identical to another.
        not_indexed: how many of the strategy's papers are not in the index.
        not_eligible: how many the session leaves out from the beginning, by its filter or as not among the first of a search.
        screened: how many were read.
        not_read: how many were not, because reading stopped.
        excluded: how many were excluded, by reason.
        maybe: how many may be included.
        conflicts: on how many people disagree.
        included: how many are included by what was screened.
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
        """How many records were identified."""
        return sum(self.sources.values())

    @property
    def to_screen(self) -> int:
        """How many were left to be read."""
        return self.screened + self.not_read


def prisma(session: Session, identified: Identified | None = None) -> Prisma:
    """The numbers of a session.

    Args:
        session: the session as it is now.
        identified: what was identified; if nothing is said, the papers of the index, which is one source.

    Raises:
        InvalidRequest: less was identified than the index has.
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
    """What a search strategy identified, by the log of it, log.json.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: it is no such log, or one of a later version.
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
    """The papers of an index by what a column says of where they are from. Raises InvalidRequest where there is no such column."""
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
