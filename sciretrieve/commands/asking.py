"""Asks for decisions on a terminal, for `screen next` and `benchmarks pool`: shows a paper and waits for a key."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import typer

from .console import Console, say

if TYPE_CHECKING:
    from ..base.types import Paper
    from ..screening import Screening, Status

KEYS = (
    "y: relevant, n: not relevant, m: maybe, w: write a note, s: skip for now, u: decide on the paper before again, q: quit; "
    "everything is on disk at once"
)
VERDICTS = {"y": "relevant", "n": "irrelevant", "m": "maybe"}
CHOICES = "123456789abcdefghijklmnopqrstuvwxyz"
"""Keys of the reasons for exclusion."""
END = ("q", "\x03", "\x04")


T = TypeVar("T")


def ask_each(
    upcoming: Callable[[list[T]], T | None],
    show: Callable[[T], str],
    answered: Callable[[str, T], bool | None],
    keys: str,
    console: Console,
) -> None:
    """Show items one by one, and wait for a key on each, until the user quits or none is left.

    Args:
        upcoming: returns the next item, given the skipped ones.
        show: prints an item, and returns the question.
        answered: acts on a key. Returns whether the item is done, or shown again; None for an unknown key.
        keys: the meaning of each key; s, u and q are handled here.
        console: prints notes.
    """
    passed: list[T] = []
    before: T | None = None
    again: T | None = None
    console.note(keys)
    with suppress(KeyboardInterrupt, EOFError):
        while (shown := again or upcoming(passed)) is not None:
            console.note(show(shown))
            key = typer.getchar().lower()
            again = None
            if key in END:
                break
            if key == "s":
                passed.append(shown)
            elif key == "u":
                again = before or shown
            elif is_done := answered(key, shown):
                passed.append(shown)
                before = shown
            else:
                again = shown
                if is_done is None:
                    console.note(keys)


def ask(session: Screening, console: Console, *, unresolved: bool) -> None:
    """Ask for decisions on the papers of a session.

    Args:
        session: the session.
        console: prints notes.
        unresolved: whether to show papers that were read without a clear decision, instead of those to read next.
    """

    def show(paper: Paper) -> str:
        _show(session, paper)
        return f"[{counts_of(session.status)}] relevant? y n m w s u q"

    def answered(key: str, paper: Paper) -> bool | None:
        if key in VERDICTS:
            reason = _reason(session, console) if key == "n" else ""
            session.decide(**{VERDICTS[key]: paper.id}, reason=reason)
            return True
        if key != "w":
            return None
        console.note(f"note on {paper.id}:")
        session.note(paper.id, sys.stdin.readline())
        return False

    ask_each(lambda passed: _next(session, [paper.id for paper in passed], unresolved=unresolved), show, answered, KEYS, console)
    console.note(f"kept in {session.path}; the same command continues")


def counts_of(status: Status) -> str:
    """The numbers of papers read and of decisions of each kind."""
    counts = [f"{status.read:,} of {status.papers:,} read", f"{status.relevant:,} relevant"]
    counts += [f"{count:,} {name}" for name, count in (("maybe", status.maybe), ("in conflict", status.conflicts)) if count]
    return ", ".join(counts)


def shown(session: Screening, paper: Paper, width: int) -> list[str]:
    """A paper's title, with its authors, its id and the ids of its near-duplicates below."""
    from ..papers.bibliographies.author_names import all_authors
    from ..papers.formulas import in_unicode

    title = in_unicode(" ".join((paper.title or paper.abstract).split())) or "(no title)"
    about = " · ".join(part for part in (all_authors(paper), paper.venue or "", str(paper.year or ""), paper.id) if part)
    also = session.units.also.get(paper.id, ())
    lines = [about, *([f"also: {', '.join(also)}"] if also else [])]
    return [*_wrapped(title, width), *(f"    {part}" for line in lines for part in _wrapped(line, width - 4))]


def _next(session: Screening, passed: list[str], *, unresolved: bool) -> Paper | None:
    """The next paper to show, without skipped ones; None if there is none."""
    if unresolved:
        ids = [id for id in session.unresolved if id not in passed]
        return session.index.snapshot.papers_at(session.index.snapshot.rows(ids[:1]))[0] if ids else None
    skipped = sum(id not in session.decisions for id in passed)
    papers = session.next(skipped + 1) if session.status.unread else []
    return next((paper for paper in papers if paper.id not in passed), None)


def _show(session: Screening, paper: Paper) -> None:
    """Print a paper with its abstract, its decisions and the criteria."""
    from ..papers.formulas import in_unicode
    from ..screening import votes_in_words

    width = min(shutil.get_terminal_size((80, 24)).columns, 100)
    texts = [in_unicode(paper.abstract)] if paper.title and paper.abstract.strip() else []
    note = session.notes.get(paper.id)
    if votes := session.votes.get(paper.id):
        texts.append(f"decided: {votes_in_words(votes)}")
    elif decision := session.decisions.get(paper.id):
        texts.append(f"decided: {decision.verdict}{f', {decision.reason}' * bool(decision.reason)}")
    texts += [f"note: {note}"] if note else []
    texts += [f"criteria: {session.criteria}"] if session.criteria else []
    say(["", *shown(session, paper, width), *(line for text in texts for line in ("", *_wrapped(text, width)))])


def _reason(session: Screening, console: Console) -> str:
    """The user's reason to exclude a paper: a known one by its key, a new one, or none. Without known reasons the user is not asked."""
    if not session.reasons:
        return ""
    choices = dict(zip(CHOICES, session.reasons, strict=False))
    question = "why? " + " · ".join([*(f"{key} {reason}" for key, reason in choices.items()), "+ another", "Enter none"])
    while True:
        console.note(question)
        key = typer.getchar().lower()
        if key in choices:
            return choices[key]
        if key in ("\r", "\n"):
            return ""
        if key == "+":
            console.note("another reason:")
            return sys.stdin.readline().strip()
        if key in END[1:]:
            raise KeyboardInterrupt


def _wrapped(text: str, width: int) -> Iterator[str]:
    """A text in lines that end between words; only a word longer than a line is broken."""
    import textwrap

    yield from textwrap.wrap(" ".join(text.split()), max(width, 10), break_on_hyphens=False)
