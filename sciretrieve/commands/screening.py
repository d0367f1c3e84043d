"""`sciretrieve screen`: begins, continues, merges and reports sessions of systematic reviews."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from ..base.choices import Help
from ..base.errors import InvalidRequest, NotFound, SciretrieveError
from ..base.wording import as_json, counted
from ..options import Passing
from .asking import ask, counts_of, shown
from .console import Console, given_ids, say
from .parameters import Generation, IndexPath, PlainFormatOption, QueryEncoder, argument, open_index

if TYPE_CHECKING:
    from ..base.types import Paper
    from ..query.index import Index
    from ..screening import Prisma, Screening

NEXT = 10
"""The number of papers to print by default, without a terminal."""
NO_HITS = ("score", "scores")
"""Fields of hits that other papers lack."""
CELLS = {"include": "1", "exclude": "0", "maybe": "maybe", None: ""}
"""Decisions, as tables show them."""
NAMED = 3
"""The most records without a paper that are named."""


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """A session's file and its index."""

    session: Annotated[Path, Help("The session's file, .jsonl.", "FILE", short="-d", name="decisions")]
    index: IndexPath = None
    encoder: QueryEncoder = None
    generation: Generation = None

    def open_index(self) -> Index:
        """Open the index."""
        return open_index(self.index, self.encoder, self.generation)


Reviewer: TypeAlias = Annotated[str | None, Help("Who decides from here on.", "NAME")]
Reasons: TypeAlias = Annotated[list[str] | None, Help("Reasons for exclusion, with commas between, beside earlier ones.", "TEXTS")]
Criteria: TypeAlias = Annotated[Path | None, Help("What is to be included: a text shown with every paper.", "FILE", setting=True)]
Relevant: TypeAlias = Annotated[
    list[str] | None, Help("This paper is relevant; - reads ids from stdin, one per line.", "ID", completes="ids")
]
TakeOver: TypeAlias = Annotated[
    Path | None,
    Help(
        "Take over decisions: a session's .jsonl; a table with id, doi or title, and relevant (1, 0, maybe); ASReview's or Rayyan's.",
        "FILE",
        name="import",
    ),
]


def screen() -> None:
    """Screen papers for a systematic review.

    A session says what to read next, how much of the relevant is read, and when to stop. Each decision is saved at once; the last one
    on a paper counts.
    """


def begin(
    at: SessionPlace,
    query: Annotated[str | None, Help("What the review is about.", "TEXT")] = None,
    include: Relevant = None,
    take_over: TakeOver = None,
    filter: Passing = None,
    first: Annotated[int | None, Help("Screen only the first N papers found for the query.", "N", least=1, setting=True)] = None,
    group: Annotated[bool | None, Help("Decide on near-identical papers as one (default), or on each.", setting=True)] = None,
    target: Annotated[float | None, Help("Share of the relevant papers to find; default: 0.95.", "SHARE")] = None,
    confidence: Annotated[float | None, Help("How sure to be of the target; default: 0.95.", "P", setting=True)] = None,
    rule: Annotated[
        str | None,
        Help(
            "When to stop: sample, by a random sample of the unread (guaranteed; default); not guaranteed: ranking, budget:N papers, "
            "consecutive:N irrelevant ones.",
            "RULE",
            setting=True,
        ),
    ] = None,
    reasons: Reasons = None,
    criteria: Criteria = None,
    reviewer: Reviewer = None,
) -> None:
    """Begin a session, with a query, or with papers that are known to be relevant.

    Its settings hold for the whole session. `screen next` then shows what to read.
    """
    from ..screening import Screening

    next_command = f"sciretrieve screen next -d {shlex.quote(str(at.session))}"
    if at.session.exists():
        raise InvalidRequest(f"{at.session} exists; go on with `{next_command}`, or name another file")
    if query is None and not include and take_over is None:
        raise InvalidRequest("say what the review is about, with --query, or name a relevant paper with --include")
    console = Console()
    settings: dict[str, Any] = {"filter": filter, "first": first, "target": target, "confidence": confidence, "rule": rule, "group": group}
    later_settings = _later_settings(reasons, criteria, reviewer)
    with Screening(at.open_index(), at.session, query, **settings, **later_settings) as opened:
        _remark(opened, console)
        try:
            if take_over is not None:
                _take_over(opened, take_over, console)
            opened.decide(given_ids(include))
        except SciretrieveError:
            opened.close()
            at.session.unlink()  # otherwise the corrected command would find it
            raise
        say(_status(opened))
        console.note(f"next: {next_command}{'' if at.index is None else f' -i {shlex.quote(str(at.index))}'}")


def next_papers(
    at: SessionPlace,
    k: Annotated[int | None, Help("Print the next N; default: ask on a terminal, else 10.", "N", least=1, short="-n")] = None,
    unresolved: Annotated[bool, Help("Maybes and disagreements, instead of the next ones.")] = False,
    included: Annotated[bool, Help("The relevant papers, instead of the next ones.")] = False,
    reasons: Reasons = None,
    criteria: Criteria = None,
    reviewer: Reviewer = None,
    format: Annotated[Literal["table", "jsonl", "csv", "bibtex", "ris"], Help("How to print the papers.", short="-f")] = "table",
) -> None:
    """Show the papers to read next, the likeliest to be relevant first.

    On a terminal it shows paper after paper and asks. With -n, or in another format, it prints a list.
    """
    if included and unresolved:
        raise InvalidRequest("use either --included or --unresolved")
    console = Console()
    with _opened(at, console, **_later_settings(reasons, criteria, reviewer)) as opened:
        if included:
            _print(opened, opened.relevant[:k], format)
        elif k is None and format == "table" and sys.stdin.isatty() and sys.stdout.isatty():
            ask(opened, console, unresolved=unresolved)
        elif unresolved:
            _print(opened, opened.unresolved[:k], format)
        else:
            papers = opened.next(NEXT if k is None else k) if opened.status.unread else []
            _print(opened, [paper.id for paper in papers], format)
        if format == "jsonl":
            say([_as_json(opened)])
            return
        lines = _status(opened, with_agreement=unresolved)
        if format == "table":
            say(lines)
        else:
            for line in lines:
                console.note(line)


def decide(
    at: SessionPlace,
    include: Relevant = None,
    exclude: Annotated[list[str] | None, Help("This paper is not relevant; - likewise.", "ID", completes="ids")] = None,
    maybe: Annotated[list[str] | None, Help("This paper may be relevant; - likewise.", "ID", completes="ids")] = None,
    reason: Annotated[str, Help("Why those of --exclude are excluded.", "TEXT")] = "",
    note: Annotated[str, Help("A note on the papers that are decided on.", "TEXT")] = "",
    take_over: TakeOver = None,
    reviewer: Reviewer = None,
    format: PlainFormatOption = "table",
) -> None:
    """Decide on papers by their ids, or by a table or a session that was filled in elsewhere.

    It prints the progress. A paper may be decided on again.
    """
    console = Console()
    with _opened(at, console, reviewer=reviewer) as opened:
        if take_over is not None:
            _take_over(opened, take_over, console)
        opened.decide(given_ids(include), given_ids(exclude), given_ids(maybe), reason=reason, note=note)
        say(_status(opened) if format == "table" else [_as_json(opened)])


def merge(
    files: Annotated[list[Path], argument("FILE", "The sessions of two or more people, over the same papers.")], at: SessionPlace
) -> None:
    """Make a new session of those of several people, and say how far they agree.

    Papers on which all agree are decided; `screen next --unresolved` shows the rest.
    """
    from ..screening import Screening

    with Screening.merge(at.open_index(), at.session, files) as merged:
        say(_status(merged, with_agreement=True))


def report(
    at: SessionPlace,
    output: Annotated[Path, Help("For prisma.json, prisma.svg (flow diagram) and decisions.csv.", "DIR", short="-o")],
    log: Annotated[Path | None, Help("The log.json of `strategy run`, for what was identified.", "FILE")] = None,
    sources: Annotated[str | None, Help("Without a log: the column with a paper's source.", "COLUMN", completes="columns")] = None,
) -> None:
    """Write PRISMA's numbers, its flow diagram, and all decisions."""
    console = Console()
    with _opened(at, console) as opened:
        numbers = opened.report(output, log=log, sources=sources)
        say(_numbers(numbers))
        console.note(f"written to {output}: prisma.json, prisma.svg, decisions.csv")
        say(_status(opened, with_agreement=True))


@contextmanager
def _opened(at: SessionPlace, console: Console, **said: Any) -> Iterator[Screening]:
    """A context with an open session, after remarks on its limits. Raises NotFound."""
    from ..screening import Screening

    if not at.session.exists():
        raise NotFound(f"there is no session {at.session} yet; begin one with `sciretrieve screen begin -d {shlex.quote(str(at.session))}`")
    with Screening(at.open_index(), at.session, **said) as session:
        _remark(session, console)
        yield session


def _remark(session: Screening, console: Console) -> None:
    """Print what the ranking lacks, and the papers that the filter leaves out."""
    from ..answers.outputs import left_out, words_alone

    if session.query and session.index.snapshot.vectors:
        for remark in words_alone(session.index.reader.query_encoder.lack("query")):
            console.note(remark)
    if session.undecided:
        console.note(left_out(session.undecided, len(session.undecided)))


def _later_settings(reasons: Sequence[str] | None, criteria: Path | None, reviewer: str | None) -> dict[str, Any]:
    """The settings of a session that may be given at any time."""
    return {
        "reasons": [part for text in reasons or () for part in text.split(",") if part.strip()],
        "criteria": None if criteria is None else _text_of(criteria),
        "reviewer": reviewer,
    }


def _text_of(path: Path) -> str:
    """The text of a file. Raises InvalidRequest if it is unreadable."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is not UTF-8 text; save it as such") from error


def _take_over(session: Screening, path: Path, console: Console) -> None:
    """Import decisions from a file, and name its records without a paper."""
    taken = session.take_over(path)
    console.note(f"{counted(taken.decisions, 'decision')} taken over from {path}")
    if taken.unmatched:
        names = ", ".join(taken.unmatched[:NAMED]) + ", …" * (len(taken.unmatched) > NAMED)
        console.note(f"{counted(len(taken.unmatched), 'record')} without a paper to screen here, or with several: {names}")


def _print(session: Screening, ids: Sequence[str], format: str) -> None:
    """Print papers for people, for programs, or as a table to fill in and import."""
    from ..answers.outputs import FORMATS
    from ..base.types import Hit
    from ..files.csv_files import csv_lines

    papers = session.index.papers_at(session.index.snapshot.rows(list(ids)))
    hits = [Hit(rank, 0.0, paper, {}, tuple(session.units.also.get(paper.id, ()))) for rank, paper in enumerate(papers, start=1)]
    if format == "table":
        width = shutil.get_terminal_size((80, 24)).columns
        for paper in papers:
            say([*shown(session, paper, width), *(f"    {line}" for line in _remarks_on(session, paper.id))])
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
    """A table to fill in, with the reviewer's name if the session has one, so that it can be imported again; and a column for each
    reviewer's decisions, if there are several.
    """
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


def _remarks_on(session: Screening, id: str) -> Iterator[str]:
    """The remarks on a paper: the decisions of several people, and the note."""
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


def _as_json(session: Screening) -> str:
    """The status of a session, as JSON."""
    status, agreement = session.status, session.agreement
    row: dict[str, Any] = {"schema": 1, "status": asdict(status) | {"claim": status.claim}}
    return as_json(row | {"agreement": None if agreement is None else asdict(agreement)})


def _status(session: Screening, *, with_agreement: bool = False) -> list[str]:
    """The status of a session, and the reviewers' agreement."""
    status, agreement = session.status, session.agreement
    estimate = ""
    if status.recall is not None:
        estimate = f"; recall {100 * status.recall:.1f} % [{100 * (status.low or 0):.1f}, {100 * (status.high or 1):.1f}]"
    lines = [str(agreement)] if with_agreement and agreement is not None else []
    return [*lines, f"{counts_of(status)}{estimate}; {status.claim}"]
