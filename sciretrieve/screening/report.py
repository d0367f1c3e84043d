"""Report of a review: a folder with PRISMA's numbers, their flow diagram, and all decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest
from ..base.wording import as_json
from ..files.appending import now
from ..files.csv_files import csv_rows
from ..files.writing import make_folder, write_whole
from ..papers.bibliographies.author_names import MORE_AUTHORS, all_authors
from .decisions import Verdict
from .flow_diagram import flow_diagram
from .prisma import Identified, Prisma, prisma
from .session import Session

NUMBERS, DIAGRAM, DECISIONS = "prisma.json", "prisma.svg", "decisions.csv"
FIELDS = ("id", "also", "decision", "reason", "note", "by", "votes", "time", "title", "authors", "year", "venue", "doi")
SHOWN = ("id", "title", "authors", MORE_AUTHORS, "year", "venue", "doi")
"""Columns read for each paper."""
SCHEMA = 1


def write_report(session: Session, folder: str | Path, identified: Identified | None = None) -> Prisma:
    """Write prisma.json, prisma.svg and decisions.csv into a folder, each atomically, and return the numbers.

    Args:
        session: the session.
        folder: a new folder, or one whose files of these names are replaced.
        identified: the records identified before screening, see `prisma`.

    Raises:
        InvalidRequest: the folder is a file, or any reason that `prisma` has.
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise InvalidRequest(f"{target} is a file; name a folder for the report")
    numbers = prisma(session, identified)
    make_folder(target)
    write_whole(target / DECISIONS, csv_rows(_rows(session)).encode())
    write_whole(target / DIAGRAM, flow_diagram(numbers, session.status.claim).encode())
    write_whole(target / NUMBERS, (as_json(report(session, numbers), indent=2) + "\n").encode())
    return numbers


def report(session: Session, numbers: Prisma) -> dict[str, Any]:
    """Content of prisma.json: the numbers, the statements on recall, the reviewers' agreement, and the session's settings."""
    status, agreement, settings = session.status, session.agreement, session.settings
    return {
        "schema": SCHEMA,
        "date": now(),
        "version": version("sciretrieve"),
        "session": {
            "file": session.path.name,
            "index": session.index.path.name,
            **{name: settings[name] for name in ("generation", "begun", "query", "filter", "first")},
            "criteria": session.criteria,
        },
        "identified": {"records": numbers.identified, "sources": dict(numbers.sources)},
        "removed": {"duplicates": numbers.duplicates, "not_indexed": numbers.not_indexed, "not_eligible": numbers.not_eligible},
        "to_screen": numbers.to_screen,
        "not_read": numbers.not_read,
        "screened": numbers.screened,
        "excluded": {"records": sum(numbers.excluded.values()), "reasons": dict(numbers.excluded)},
        "unresolved": {"maybe": numbers.maybe, "conflicts": numbers.conflicts},
        "included": numbers.included,
        "recall": {
            **{
                name: getattr(status, name)
                for name in ("recall", "low", "high", "confidence", "sampled", "sampled_relevant", "rule", "stop")
            },
            "claim": status.claim,
        },
        "agreement": None if agreement is None else asdict(agreement),
    }


def _rows(session: Session) -> Iterator[Sequence[Any]]:
    """Rows of the table of papers: read papers first, in the order of reading."""
    yield FIELDS
    units = session.units
    ids = [*session.decisions, *(id for id in units.ids if id not in session.decisions)]
    for paper in session.index.snapshot.papers_at(units.rows[[units.place_of[id] for id in ids]], SHOWN):
        decision = session.decisions.get(paper.id)
        yield (
            paper.id,
            "; ".join(units.also.get(paper.id, ())),
            (decision.verdict or "conflict") if decision else "",
            decision.reason if decision else "",
            session.notes.get(paper.id, ""),
            "; ".join(decision.by) if decision else "",
            votes_in_words(session.votes.get(paper.id, {})),
            decision.time if decision else "",
            paper.title,
            all_authors(paper),
            paper.year,
            paper.venue,
            paper.doi,
        )


def votes_in_words(votes: Mapping[str, Verdict]) -> str:
    """Verdicts by reviewer, as text: "Ada: include; Ben: maybe"."""
    return "; ".join(f"{name or 'not named'}: {verdict}" for name, verdict in votes.items())
