"""How encoders read benchmarks: the expert or instruction for a kind of benchmark, and its description in reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..encoders import CATALOGUE as ENCODERS
from ..encoders import CODES, members_of
from ..encoders.ensemble import joined
from ..encoders.resolving import kinds_of
from ..encoders.specs import Kind
from .material import Material

LABELS = {"paper": "papers", "query": "queries", "paper_as_query": "papers as queries"}
"""Names of sides in reports."""
OWN = {"": "no task", "adapter": "an adapter of your own", "query_adapter": "an adapter of your own"}
"""Names in reports for tasks outside the catalogue."""


def tasks_for(encoder: str, kind: Kind, adapter: str | None, query_adapter: str | None) -> tuple[str | None, str | None]:
    """The adapters for papers and for text queries: the requested ones, else the encoder's tasks for this kind of benchmark.

    None keeps the encoder's default: most encoders read papers and queries in the same way for every benchmark. In an ensemble, each member
    has its own.
    """
    task = _task(encoder, kind)
    return adapter or task, query_adapter or task


def sides_read(encoder: Mapping[str, Any], materials: Sequence[Material]) -> list[dict[str, str]]:
    """For each side that a benchmark uses, the text template and the task (adapter, expert or instruction; "" for none).

    Args:
        encoder: the identity in an index's manifest; an ensemble gives rows for each member, vectors from a file give none.
        materials: the benchmark's sets.
    """
    queries = [query for material in materials for task in material.tasks for query in task.queries.values()]
    side_names = ["paper"]
    side_names += ["query"] if any(query.paper is None for query in queries) else []
    side_names += ["paper_as_query"] if any(query.paper is not None for query in queries) else []
    return [
        {"encoder": str(member["name"]), "side": name, "text": str(sides[name]["text"]), "task": str(sides[name]["task"])}
        for member, sides in _members(encoder)
        for name in side_names
    ]


def lengths(encoder: Mapping[str, Any]) -> list[int]:
    """The most tokens of a text that an index's encoder, or each member of an ensemble, reads, if known."""
    return [int(member["max_length"]) for member, _ in _members(encoder) if member.get("max_length")]


def departures(encoder: Mapping[str, Any], kind: Kind, sides_read: Sequence[Mapping[str, str]]) -> list[str]:
    """Notes on encoders and members of ensembles that read a side for another task than their authors do for this kind."""
    notes = []
    for member, _ in _members(encoder):
        rows = [side for side in sides_read if side["encoder"] == member["name"]]
        usual_tasks = {side["side"]: _usual_task(_row(member), kind, side["side"]) for side in rows}
        for task in dict.fromkeys(filter(None, usual_tasks.values())):
            other_sides = {side["side"]: _read_for(side) for side in rows if usual_tasks[side["side"]] == task and _read_for(side) != task}
            if not other_sides:
                continue
            listing = " and ".join(f"{LABELS[side]} for {OWN.get(other, other)}" for side, other in other_sides.items())
            who = f"the authors of {_row(member)}" if "members" in encoder else "this encoder's authors"
            notes.append(f"{who} read {kind} benchmarks for {task}; here it read {listing}, so figures do not compare with theirs")
    return notes


def lines(sides_read: Sequence[Mapping[str, str]]) -> list[str]:
    """`sides_read`, in words."""
    is_ensemble = len({side["encoder"] for side in sides_read}) > 1
    return [
        (f"{side['encoder']}: " if is_ensemble else "")
        + f"{LABELS[side['side']]} are read as {side['text']}"
        + (f" through {side['task']}" if side["task"] else "")
        for side in sides_read
    ]


def _read_for(side: Mapping[str, str]) -> str:
    """The task of a side, or the control code before its text."""
    return side["task"] or next((code for code in CODES if side["text"].startswith(code)), "")


def _task(encoder: str, kind: Kind) -> str | None:
    """The task of an encoder, or of each member of an ensemble, for a kind of benchmark."""
    if ensemble := members_of(encoder):
        return joined([_task(member, kind) for member in ensemble[1]])
    return kinds_of(encoder).get(kind)


def _usual_task(encoder: str, kind: Kind, side: str) -> str | None:
    """The task for which an encoder's authors read a side in a kind of benchmark; None without their choice."""
    spec = ENCODERS.get(encoder)
    if spec is None or not spec.kinds:
        return None
    default = asdict(spec.sides)[side]
    return spec.kinds.get(kind) or (_read_for(default) if kind not in ("classification", "regression") else None)


def _row(encoder: Mapping[str, Any]) -> str:
    """The requested name of an encoder."""
    return str(encoder.get("asked", {}).get("encoder", encoder["name"]))


def _members(encoder: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Encoders that read texts, including all members of an ensemble, each with its sides."""
    if "members" in encoder:
        for member in encoder["members"]:
            yield from _members(member)
    elif "sides" in encoder:
        yield encoder, encoder["sides"]
