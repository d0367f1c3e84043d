"""`sciretrieve screen`: a systematic review's screening session, one paper at a time or in lists."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ..errors import NotFound
from ..options import Passing
from ..wording import as_json, counted
from . import completing
from .console import Console, given_ids, say
from .parameters import Debug, Generation, IndexPath, QueryEncoder, Quiet, open_index
from .signatures import takes_options

if TYPE_CHECKING:
    from ..screening import Screening, Status
    from ..types import Paper

NEXT = 10
"""Papers that are printed if nothing is said, and there is no terminal to ask at."""
NO_HITS = ("score", "scores", "also")
"""What papers have as hits alone."""
KEYS = "y: relevant, n: not relevant, s: skip for now, u: decide on the paper before again, q: quit"


@takes_options
def screen(
    decisions: Annotated[Path, typer.Option("--decisions", "-d", metavar="FILE", help="The session's file, .jsonl; a new one is made.")],
    index: IndexPath = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="What the review is about; said once, when the session begins.")
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            "--include", metavar="ID", help="This paper is relevant; - reads ids from stdin, one per line.", autocompletion=completing.ids
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="ID", help="This paper is not relevant; - likewise.", autocompletion=completing.ids),
    ] = None,
    take_over: Annotated[
        Path | None,
        typer.Option(
            "--import", metavar="FILE", help="Take over decisions: another session's .jsonl, or a .csv with id and relevant (1, 0)."
        ),
    ] = None,
    next: Annotated[
        int | None, typer.Option("--next", metavar="N", min=0, help="Print the next N papers to read; default: ask for each on a terminal.")
    ] = None,
    included: Annotated[bool, typer.Option("--included", help="Print the papers found relevant, instead of the next ones.")] = False,
    filter: Passing = None,
    first: Annotated[
        int | None, typer.Option("--first", metavar="N", min=1, help="Screen only the first N papers of a search for the query.")
    ] = None,
    recall: Annotated[
        float | None, typer.Option("--recall", metavar="SHARE", help="Of the relevant papers, what is to be read; default: 0.95.")
    ] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="P", help="How sure to be of that recall; default: 0.95.")
    ] = None,
    rule: Annotated[
        Literal["sample", "ranking"] | None,
        typer.Option(
            "--rule", help="When to stop: by a random sample of the unread (guaranteed; default), or by the ranking (not guaranteed)."
        ),
    ] = None,
    encoder: QueryEncoder = None,
    generation: Generation = None,
    format: Annotated[
        Literal["table", "jsonl", "csv", "bibtex", "ris"], typer.Option("--format", "-f", help="How to print the papers.")
    ] = "table",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Screen papers for a systematic review.

    It says which to read next, and when enough is read. On a terminal it shows one paper after the other and asks. With --next,
    --include or --exclude it prints a list, for scripts and for reading elsewhere. Every decision is on disk at once; a later one on the
    same paper counts. Papers are ranked by what was decided so far. The last line says how many of the relevant papers are read, how
    sure that is, and whether to stop.
    """
    from ..answers.outputs import left_out, words_alone
    from ..screening import Screening

    console = Console(quiet)
    if not decisions.exists() and query is None and not include and take_over is None:
        raise NotFound(f"there is no session {decisions} yet; begin one with --query, or with --include and the id of a relevant paper")
    with Screening(
        open_index(index, encoder, generation),
        decisions,
        query,
        filter=filter,
        first=first,
        recall=recall,
        confidence=confidence,
        rule=rule,
    ) as session:
        if session.query and session.index.vectors:
            for note in words_alone(session.index.query_encoder.lack("query")):
                console.note(note)
        if session.undecided:
            console.note(left_out(session.undecided, len(session.undecided)))
        if take_over is not None:
            console.note(f"{counted(session.take_over(take_over), 'decision')} taken over from {take_over}")
        session.decide(given_ids(include), given_ids(exclude))
        if included:
            _print(session.index.papers(session.relevant), session.decisions, format)
        elif next is None and format == "table" and not (include or exclude or take_over) and sys.stdin.isatty() and sys.stdout.isatty():
            _ask(session, console)
        elif next != 0:
            wanted = NEXT if next is None else next
            papers = session.next(wanted) if session.status.unread else []
            _print(papers, session.decisions, format)
        _tell(session.status, format, console)


def _print(papers: Sequence[Paper], labels: Mapping[str, bool], format: str) -> None:
    """Papers for people, for programs, or as a table to be filled in and taken over with --import."""
    from ..answers.outputs import FORMATS, csv_row
    from ..papers.bibliographies.author_names import all_authors
    from ..types import Hit

    hits = [Hit(rank, 0.0, paper, {}) for rank, paper in enumerate(papers, start=1)]
    if format == "table":
        width = shutil.get_terminal_size((80, 24)).columns
        for paper in papers:
            say(_shown(paper, width))
    elif format == "jsonl":
        for hit in hits:
            row = {"rank": hit.rank, "relevant": labels.get(hit.id)} | hit.to_dict()
            say([as_json({name: value for name, value in row.items() if name not in NO_HITS})])
    elif format == "csv":
        say([csv_row(("id", "relevant", "title", "year", "venue", "authors", "abstract", "doi", "url"))])
        for paper in papers:
            label = {True: "1", False: "0", None: ""}[labels.get(paper.id)]
            about = (paper.title, paper.year, paper.venue, all_authors(paper), paper.abstract, paper.doi, paper.url)
            say([csv_row((paper.id, label, *about))])
    else:
        say(FORMATS[format](hits))


def _shown(paper: Paper, width: int) -> list[str]:
    """A paper's title, and below it who wrote it, and its id."""
    from ..papers.bibliographies.author_names import all_authors

    title = " ".join((paper.title or paper.abstract).split()) or "(no title)"
    about = " · ".join(part for part in (all_authors(paper), paper.venue or "", str(paper.year or ""), paper.id) if part)
    return [*_wrapped(title, width), *(f"    {line}" for line in _wrapped(about, width - 4))]


def _wrapped(text: str, width: int) -> list[str]:
    """A text in lines that end between words; only a word that is longer than a line is broken."""
    import textwrap

    return textwrap.wrap(" ".join(text.split()), max(width, 10), break_on_hyphens=False)


def _ask(session: Screening, console: Console) -> None:
    """Show a paper, and wait for a key, until somebody quits or there is no paper left."""
    skipped: list[str] = []
    before: Paper | None = None
    again: Paper | None = None
    console.note(KEYS)
    try:
        while True:
            papers = [again] if again is not None else session.next(len(skipped) + 1) if session.status.unread else []
            paper = next((paper for paper in papers if paper.id not in skipped or paper is again), None)
            if paper is None:
                break
            width = min(shutil.get_terminal_size((80, 24)).columns, 100)
            abstract = _wrapped(paper.abstract, width) if paper.title else []
            say(["", *_shown(paper, width), *([""] if abstract else []), *abstract])
            console.note(f"[{_counts(session.status)}] relevant? y n s u q")
            key = typer.getchar().lower()
            again = None
            if key in ("y", "n"):
                session.decide([paper.id] if key == "y" else [], [paper.id] if key == "n" else [])
                before = paper
            elif key == "s":
                skipped.append(paper.id)
            elif key == "u":
                again = before or paper
            elif key in ("q", "\x03", "\x04"):
                break
            else:
                again = paper
                console.note(KEYS)
    except (KeyboardInterrupt, EOFError):
        pass
    console.note(f"kept in {session.path}; the same command continues")


def _counts(status: Status) -> str:
    return f"{status.read:,} of {status.papers:,} read, {status.relevant:,} relevant"


def _tell(status: Status, format: str, console: Console) -> None:
    """The status: a line for people, or a JSON object as the last line of JSON Lines."""
    if format == "jsonl":
        say([json.dumps({"schema": 1, "status": asdict(status) | {"claim": status.claim}})])
        return
    estimate = (
        ""
        if status.recall is None
        else f"; recall {100 * status.recall:.1f} % [{100 * (status.low or 0):.1f}, {100 * (status.high or 1):.1f}]"
    )
    line = f"{_counts(status)}{estimate}; {status.claim}"
    if format == "table":
        say([line])
    else:
        console.note(line)
