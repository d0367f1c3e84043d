"""Copies of one session, on which several people decided, become one session: what they agree on is decided, the rest is listed.

The random sample goes on. It is that of the copy in which it began first: a sample's order is drawn before anything in it is read, so that
this choice knows nothing of what the samples turn up, and the bound keeps its promise for what the people decide together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from ..errors import InvalidRequest, NotFound
from ..files.appending import now
from .decisions import FORMAT, WRITTEN, Decision, DecisionFile


def merged_lines(files: Sequence[Path]) -> list[Mapping[str, Any]]:
    """The lines of the session that several become.

    Raises:
        InvalidRequest: they are over other papers, or two have the same reviewer.
        NotFound: there is no such file.
        IndexBusy: another process has one open.
    """
    if len(set(files)) < 2:
        raise InvalidRequest("there is nothing to merge; name two sessions or more")
    for path in files:
        if not path.is_file():
            raise NotFound(f"there is no session {path}")
    with ExitStack() as stack:
        opened = [stack.enter_context(closing(DecisionFile(path))) for path in dict.fromkeys(files)]
        return list(_lines(_named(opened)))


def _named(files: Sequence[DecisionFile]) -> Mapping[str, DecisionFile]:
    """The sessions by their reviewers. Raises InvalidRequest."""
    first, named = files[0], dict[str, DecisionFile]()
    for file in files:
        if any(file.start.get(name) != first.start.get(name) for name in ("ids", "papers")):
            raise InvalidRequest(f"{file.path} is over other papers than {first.path}; only sessions over the same papers can be merged")
        if file.start.get("groups", []) != first.start.get("groups", []):
            raise InvalidRequest(f"{file.path} has other groups of near-identical papers than {first.path}; begin both as one and copy it")
        name = file.reviewer or file.path.stem
        if name in named:
            raise InvalidRequest(
                f"{named[name].path} and {file.path} are both by {name!r}; say whose one of them is, with --reviewer, and merge again"
            )
        named[name] = file
    return named


def _lines(named: Mapping[str, DecisionFile]) -> Iterator[Mapping[str, Any]]:
    """The lines of the new session."""
    first, time = next(iter(named.values())), now()
    yield {**first.start, "screening": FORMAT, "time": time, "group": bool(first.start.get("group")), "merged": list(named)}
    if reasons := list(dict.fromkeys(reason for file in named.values() for reason in file.reasons)):
        yield {"time": time, "reasons": reasons}
    if first.criteria:
        yield {"time": time, "criteria": first.criteria}
    begun = [file for file in named.values() if file.sample is not None]
    leading = min(begun, key=lambda file: file.sample.time if file.sample else "", default=first)
    before = [decision.id for decision in leading.decisions[: leading.sample.after]] if leading.sample else []
    after = [decision.id for file in (leading, *named.values()) for decision in file.decisions]
    shown = {id: group[0] for group in first.start.get("groups", []) for id in group}
    last = {name: {shown.get(decision.id, decision.id): decision for decision in file.decisions} for name, file in named.items()}
    seen: set[str] = set()
    for id in [*before, None, *after]:
        if id is None:
            if leading.sample is not None:
                yield {"time": leading.sample.time, "seed": leading.sample.seed}
        elif (id := shown.get(id, id)) not in seen:
            seen.add(id)
            yield {"time": time, "id": id, **_voted(named, {name: said[id] for name, said in last.items() if id in said})}
    for id in dict.fromkeys(id for file in named.values() for id in file.notes):
        notes = {name: note for name, file in named.items() if (note := file.notes.get(id))}
        texts = list(dict.fromkeys(notes.values()))
        if texts:
            yield {
                "time": time,
                "id": id,
                "note": texts[0] if len(texts) == 1 else "; ".join(f"{name}: {note}" for name, note in notes.items()),
            }


def _voted(named: Mapping[str, DecisionFile], decisions: Mapping[str, Decision]) -> Mapping[str, Any]:
    """What each decided on a paper, and the first reason that one gave for excluding it. Of those who disagree within a session that was
    merged already, each counts."""
    votes: dict[str, bool | str] = {}
    for name, decision in decisions.items():
        verdicts = named[name].votes[decision.id] if decision.verdict is None else {name: decision.verdict}
        votes |= {voter: WRITTEN[verdict] for voter, verdict in verdicts.items()}
    reason = next((decision.reason for decision in decisions.values() if decision.reason and decision.verdict == "exclude"), "")
    return {"votes": votes, **({"reason": reason} if reason else {})}
