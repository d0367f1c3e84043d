"""Merging copies of a session that several people decided in: papers on which they agree are decided, others are listed.

The random sample continues with the copy in which it began first. A sample's order is drawn before any of it is read, so this choice is
independent of the results, and the bound stays valid for the joint decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from ..base.errors import InvalidRequest, NotFound
from ..files.appending import now
from .decisions import WRITTEN, Decision, DecisionFile, Verdict


def merged_lines(files: Sequence[Path]) -> list[Mapping[str, Any]]:
    """Lines of the merged session.

    Raises:
        InvalidRequest: the sessions have different papers, or two have the same reviewer.
        NotFound: a file does not exist.
        IndexBusy: another process has a file open.
    """
    if len(set(files)) < 2:
        raise InvalidRequest("there is nothing to merge; name two sessions or more")
    for path in files:
        if not path.is_file():
            raise NotFound(f"there is no session {path}")
    with ExitStack() as stack:
        opened = [stack.enter_context(DecisionFile(path)) for path in dict.fromkeys(files)]
        return list(_lines(_by_reviewer(opened)))


def _by_reviewer(files: Sequence[DecisionFile]) -> Mapping[str, DecisionFile]:
    """Sessions by reviewer. Raises InvalidRequest."""
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
    """Lines of the new session."""
    first, time = next(iter(named.values())), now()
    yield {**first.start, "time": time, "merged": list(named)}
    if reasons := list(dict.fromkeys(reason for file in named.values() for reason in file.reasons)):
        yield {"time": time, "reasons": reasons}
    if first.criteria:
        yield {"time": time, "criteria": first.criteria}
    begun = [file for file in named.values() if file.sample is not None]
    leading = min(begun, key=lambda file: file.sample.time if file.sample else "", default=first)
    before = [decision.id for decision in leading.decisions[: leading.sample.after]] if leading.sample else []
    after = [decision.id for file in (leading, *named.values()) for decision in file.decisions]
    shown = {id: group[0] for group in first.start.get("groups", []) for id in group}
    votes_on: dict[str, list[_Vote]] = {}
    for file in named.values():
        of_file = {shown.get(vote.decision.id, vote.decision.id): votes for votes in _votes(file, named) for vote in votes}
        for id, votes in of_file.items():
            votes_on.setdefault(id, []).extend(votes)
    seen: set[str] = set()
    for id in [*before, None, *after]:
        if id is None:
            if leading.sample is not None:
                yield {"time": leading.sample.time, "seed": leading.sample.seed}
        elif (id := shown.get(id, id)) not in seen:
            seen.add(id)
            yield {"time": time, "id": id, **_vote_line(votes_on[id])}
    for id in dict.fromkeys(id for file in named.values() for id in file.notes):
        notes: dict[str, tuple[str, str]] = {}
        for name, file in named.items():
            if note := file.notes.get(id):
                by, when = file.noted[id]
                notes[by or name] = max(notes.get(by or name, ("", "")), (when, note))
        texts = list(dict.fromkeys(note for _, note in notes.values()))
        if texts:
            whole = texts[0] if len(texts) == 1 else "; ".join(f"{name}: {note}" for name, (_, note) in notes.items())
            yield {"time": time, "id": id, "note": whole, "by": ""}


class _Vote(NamedTuple):
    """A reviewer's vote: the reviewer, "" if unnamed; the verdict; and the decision with it."""

    name: str
    verdict: Verdict
    decision: Decision


def _votes(file: DecisionFile, named: Mapping[str, DecisionFile]) -> Iterator[list[_Vote]]:
    """Last votes on each paper in a session, one per reviewer. A line may name its reviewer; otherwise it is the session's reviewer. A line
    shared by several copies belongs to their common reviewer, or else to the only unnamed copy."""
    copies = {
        id(other): sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(file.decisions, other.decisions, strict=False)))
        for other in named.values()
    }
    last = {decision.id: place for place, decision in enumerate(file.decisions)}
    for place in last.values():
        decision = file.decisions[place]
        if decision.verdict is None:
            yield [_Vote(name, verdict, decision) for name, verdict in file.votes[decision.id].items()]
        elif decision.by or decision.is_foreign:
            yield [_Vote(name, decision.verdict, decision) for name in decision.by or ("",)]
        else:
            of = [other for other in named.values() if place < copies[id(other)]]
            names = {other.first_reviewer for other in of}
            if names == {""}:
                names = {file.path.stem}
            elif len(names) > 1:
                names = {other.path.stem for other in of if not other.first_reviewer}
            yield [_Vote(names.pop() if len(names) == 1 else "", decision.verdict, decision)]


def _vote_line(votes: Sequence[_Vote]) -> Mapping[str, Any]:
    """Last verdict of each reviewer on a paper, and the first reason given for its exclusion."""
    last: dict[str, _Vote] = {}
    for vote in votes:
        if vote.name not in last or vote.decision.time > last[vote.name].decision.time:
            last[vote.name] = vote
    reason = next((vote.decision.reason for vote in last.values() if vote.decision.reason and vote.decision.verdict == "exclude"), "")
    return {"votes": {name: WRITTEN[vote.verdict] for name, vote in last.items()}, **({"reason": reason} if reason else {})}
