"""`sciretrieve screen`: a systematic review's screening session, one paper at a time or in lists, alone or with others."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..choices import Help
from ..errors import InvalidRequest, NotFound
from ..options import Passing
from ..wording import as_json, counted
from .asking import ask, counts_of, shown
from .console import Console, given_ids, say
from .parameters import Generation, IndexPath, QueryEncoder, open_index

if TYPE_CHECKING:
    from ..query.index import Index
    from ..screening import Prisma, Screening
    from ..types import Paper

NEXT = 10
"""Papers that are printed if nothing is said, and there is no terminal to ask at."""
NO_HITS = ("score", "scores")
"""What papers have as hits alone."""
CELLS = {"include": "1", "exclude": "0", "maybe": "maybe", None: ""}
"""Decisions in tables."""
NAMED = 3
"""Records without a paper that are named."""


def screen(
    decisions: Annotated[Path, Help("The session's file, .jsonl; a new one is made.", "FILE", short="-d")],
    index: IndexPath = None,
    query: Annotated[str | None, Help("What the review is about; said once, when the session begins.", "TEXT")] = None,
    include: Annotated[
        list[str] | None,
        Help("This paper is relevant; - reads ids from stdin, one per line.", "ID", completes="ids"),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        Help("This paper is not relevant; - likewise.", "ID", completes="ids"),
    ] = None,
    maybe: Annotated[
        list[str] | None,
        Help("This paper may be relevant; - likewise.", "ID", completes="ids"),
    ] = None,
    reason: Annotated[str, Help("Why those of --exclude are excluded.", "TEXT")] = "",
    note: Annotated[str, Help("A note on the papers that are decided on.", "TEXT")] = "",
    take_over: Annotated[
        Path | None,
        Help(
            "Take over decisions: another session's .jsonl; a table with id, doi or title, and relevant (1, 0, maybe); "
            "an export of ASReview or Rayyan.",
            "FILE",
            name="import",
        ),
    ] = None,
    merge: Annotated[
        list[Path] | None,
        Help("Make a new session of two or more of several people: --merge ada.jsonl --merge ben.jsonl.", "FILE"),
    ] = None,
    next: Annotated[int | None, Help("Print the next N papers to read; default: ask for each on a terminal.", "N", least=0)] = None,
    included: Annotated[bool, Help("Print the papers found relevant, instead of the next ones.")] = False,
    unresolved: Annotated[bool, Help("Maybes, and papers on which people disagree, instead of the next ones.")] = False,
    report: Annotated[
        Path | None,
        Help("Write PRISMA's numbers, its flow diagram, and all decisions: prisma.json, .svg, decisions.csv.", "DIR"),
    ] = None,
    log: Annotated[
        Path | None,
        Help("With --report: the log.json of `strategy run`, which says what was identified.", "FILE"),
    ] = None,
    sources: Annotated[
        str | None,
        Help("With --report: the column that says where a paper is from, without a log.", "COLUMN", completes="columns"),
    ] = None,
    filter: Passing = None,
    first: Annotated[int | None, Help("Screen only the first N papers of a search for the query.", "N", least=1)] = None,
    group: Annotated[bool | None, Help("Decide on near-identical papers as one, which is the default, or on each.", advanced=True)] = None,
    recall: Annotated[float | None, Help("Of the relevant papers, what is to be read; default: 0.95.", "SHARE", advanced=True)] = None,
    confidence: Annotated[float | None, Help("How sure to be of that recall; default: 0.95.", "P")] = None,
    rule: Annotated[
        str | None,
        Help(
            "When to stop: sample, by a random sample of the unread (guaranteed; default); not guaranteed: ranking, budget:N papers, "
            "consecutive:N irrelevant ones.",
            "RULE",
        ),
    ] = None,
    reasons: Annotated[
        list[str] | None,
        Help("Reasons for exclusion, with commas between; later ones add to them.", "TEXTS"),
    ] = None,
    criteria: Annotated[Path | None, Help("A text that is shown with every paper: what is to be included.", "FILE")] = None,
    reviewer: Annotated[str | None, Help("Who decides from here on.", "NAME")] = None,
    encoder: QueryEncoder = None,
    generation: Generation = None,
    format: Annotated[Literal["table", "jsonl", "csv", "bibtex", "ris"], Help("How to print the papers.", short="-f")] = "table",
) -> None:
    """Screen papers for a systematic review.

    It says which to read next, and when enough is read. On a terminal it shows one paper after the other and asks. With --next,
    --include or --exclude it prints a list, for scripts and for reading elsewhere. Every decision is on disk at once; a later one on the
    same paper counts. Papers are ranked by what was decided so far. The last line says how many of the relevant papers are read, how
    sure that is, and whether to stop.
    """
    from ..answers.outputs import left_out, words_alone

    console = Console()
    if not decisions.exists() and query is None and not include and take_over is None and not merge:
        raise NotFound(f"there is no session {decisions} yet; begin one with --query, or with --include and the id of a relevant paper")
    if included and unresolved:
        raise InvalidRequest("--included and --unresolved are different papers; ask for one of them")
    if report is None and (log or sources):
        raise InvalidRequest("--log and --sources say what a report counts; give --report, too")
    settings: dict[str, Any] = {
        "query": query,
        "filter": filter,
        "first": first,
        "recall": recall,
        "confidence": confidence,
        "rule": rule,
        "group": group,
    }
    said = {
        "reasons": [part for text in reasons or () for part in text.split(",") if part.strip()],
        "criteria": None if criteria is None else _text_of(criteria),
        "reviewer": reviewer,
    }
    with _session(open_index(index, encoder, generation), decisions, merge, settings, said) as session:
        if session.query and session.index.vectors:
            for remark in words_alone(session.index.query_encoder.lack("query")):
                console.note(remark)
        if session.undecided:
            console.note(left_out(session.undecided, len(session.undecided)))
        if take_over is not None:
            _take_over(session, take_over, console)
        session.decide(given_ids(include), given_ids(exclude), given_ids(maybe), reason=reason, note=note)
        is_list = any((include, exclude, maybe, take_over, merge, included, report)) or next is not None or format != "table"
        if report is not None:
            numbers = session.report(report, log=log, sources=sources)
            say(_numbers(numbers) if format == "table" else ())
            console.note(f"written to {report}: prisma.json, prisma.svg, decisions.csv")
        elif not is_list and sys.stdin.isatty() and sys.stdout.isatty():
            ask(session, console, unresolved=unresolved)
        elif included:
            _print(session, session.relevant, format)
        elif unresolved or merge:
            _print(session, session.unresolved[:next], format)
        elif next != 0:
            papers = session.next(NEXT if next is None else next) if session.status.unread else []
            _print(session, [paper.id for paper in papers], format)
        _tell(session, format, console, with_agreement=bool(unresolved or merge or report))


def _session(index: Index, path: Path, merge: Sequence[Path] | None, settings: dict[str, Any], said: dict[str, Any]) -> Screening:
    """The session in a file, or the one that others become there. Raises InvalidRequest where these are to have settings of their own."""
    from ..screening import Screening

    if merge:
        if given := [name for name, value in settings.items() if value is not None]:
            raise InvalidRequest(f"a merged session is as those it is made of; leave out --{given[0]}")
        Screening.merge(index, path, merge).close()
    return Screening(index, path, **settings, **said)


def _text_of(path: Path) -> str:
    """A text file's text. Raises InvalidRequest where it is none."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is no text in UTF-8; save it as one") from error


def _take_over(session: Screening, path: Path, console: Console) -> None:
    """Take over decisions from a file, and say which of its records are of no paper."""
    taken = session.take_over(path)
    console.note(f"{counted(taken.decisions, 'decision')} taken over from {path}")
    if taken.unmatched:
        names = ", ".join(taken.unmatched[:NAMED]) + ", …" * (len(taken.unmatched) > NAMED)
        console.note(f"{counted(len(taken.unmatched), 'record')} of no paper that is to be screened here, or of several: {names}")


def _print(session: Screening, ids: Sequence[str], format: str) -> None:
    """Papers for people, for programs, or as a table to be filled in and taken over with --import."""
    from ..answers.outputs import FORMATS
    from ..files.csv_files import csv_lines
    from ..types import Hit

    papers = session.index.papers_at(session.index.rows(list(ids)))
    hits = [Hit(rank, 0.0, paper, {}, tuple(session.units.also.get(paper.id, ()))) for rank, paper in enumerate(papers, start=1)]
    if format == "table":
        width = shutil.get_terminal_size((80, 24)).columns
        for paper in papers:
            say([*shown(session, paper, width), *(f"    {line}" for line in _said_of(session, paper.id))])
    elif format == "jsonl":
        for hit in hits:
            decision = session.decisions.get(hit.id)
            facts = {
                "relevant": None if decision is None else {"include": True, "exclude": False}.get(str(decision.verdict)),
                "decision": None if decision is None else decision.verdict or "conflict",
                "reason": decision.reason if decision else "",
                "note": session.notes.get(hit.id, ""),
                "votes": dict(session.votes.get(hit.id, {})),
            }
            row = {"rank": hit.rank} | facts | hit.to_dict()
            say([as_json({name: value for name, value in row.items() if name not in NO_HITS})])
    elif format == "csv":
        say(csv_lines(_rows(session, papers)))
    else:
        say(FORMATS[format](hits))


def _rows(session: Screening, papers: Sequence[Paper]) -> Iterator[Sequence[Any]]:
    """A table to be filled in, which says by whom if the session does, so that what comes back is that person's; a column has what each
    decided, where several did."""
    from ..papers.bibliographies.author_names import all_authors
    from ..screening import votes_in_words

    has_votes = any(paper.id in session.votes for paper in papers)
    has_by = bool(session.reviewer)
    about_paper = ("title", "year", "venue", "authors", "abstract", "doi", "url")
    yield ("id", "relevant", "reason", "note", *["by"] * has_by, *["votes"] * has_votes, *about_paper)
    for paper in papers:
        decision = session.decisions.get(paper.id)
        label, why = (CELLS[decision.verdict], decision.reason) if decision else ("", "")
        is_settled = decision is not None and decision.verdict in ("include", "exclude")
        by = [session.reviewer if decision is None or not is_settled else decision.by[0] if len(decision.by) == 1 else ""] * has_by
        votes = [votes_in_words(session.votes.get(paper.id, {}))] * has_votes
        about = (paper.title, paper.year, paper.venue, all_authors(paper), paper.abstract, paper.doi, paper.url)
        yield (paper.id, label, why, session.notes.get(paper.id, ""), *by, *votes, *about)


def _said_of(session: Screening, id: str) -> Iterator[str]:
    """What was said of a paper: the decisions of several people, the note."""
    from ..screening import votes_in_words

    if votes := session.votes.get(id):
        yield votes_in_words(votes)
    if note := session.notes.get(id):
        yield f"note: {note}"


def _numbers(numbers: Prisma) -> Iterator[str]:
    """PRISMA's numbers, a line each."""
    rows: list[tuple[str, int]] = [("identified", numbers.identified), *((f"  {name}", count) for name, count in numbers.sources.items())]
    rows += [("duplicates removed", numbers.duplicates)]
    rows += [(name, count) for name, count in (("not in the index", numbers.not_indexed), ("not eligible", numbers.not_eligible)) if count]
    rows += [("to screen", numbers.to_screen), ("not read", numbers.not_read), ("screened", numbers.screened)]
    rows += [("excluded", sum(numbers.excluded.values())), *((f"  {reason}", count) for reason, count in numbers.excluded.items())]
    rows += [(name, count) for name, count in (("maybe", numbers.maybe), ("in conflict", numbers.conflicts)) if count]
    rows += [("included", numbers.included)]
    width = max(len(f"{count:,}") for _, count in rows)
    yield from (f"{count:>{width},}  {name}" for name, count in rows)


def _tell(session: Screening, format: str, console: Console, *, with_agreement: bool) -> None:
    """The status: a line for people, or a JSON object as the last line of JSON Lines. And how far people agree, if that is asked for."""
    status, agreement = session.status, session.agreement
    if format == "jsonl":
        row: dict[str, Any] = {"schema": 1, "status": asdict(status) | {"claim": status.claim}}
        say([json.dumps(row | {"agreement": None if agreement is None else asdict(agreement)})])
        return
    estimate = (
        ""
        if status.recall is None
        else f"; recall {100 * status.recall:.1f} % [{100 * (status.low or 0):.1f}, {100 * (status.high or 1):.1f}]"
    )
    lines = [str(agreement)] if with_agreement and agreement is not None else []
    lines.append(f"{counts_of(status)}{estimate}; {status.claim}")
    if format == "table":
        say(lines)
    else:
        for line in lines:
            console.note(line)
