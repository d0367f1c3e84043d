"""How an encoder reads a benchmark: the expert or instruction for its kind, and what a report says about each side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..encoders import CATALOGUE as ENCODERS
from ..encoders import CODES
from ..encoders.specs import Kind
from .material import Material

LABELS = {"paper": "papers", "query": "queries", "paper_as_query": "papers as queries"}
"""A side -> what a report calls it."""


def tasks_for(encoder: str, kind: Kind, adapter: str | None, query_adapter: str | None) -> tuple[str | None, str | None]:
    """The adapters of papers and of text queries to load an encoder with: those requested, else its task for this kind.

    None keeps the encoder's default: most encoders read papers and queries in the same way for every benchmark.
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


def departures(encoder: Mapping[str, Any], kind: Kind, sides_read: Sequence[Mapping[str, str]]) -> list[str]:
    """A note if papers or queries were read for another task than the one that the encoder's authors use for this kind."""
    task = _task(str(encoder.get("asked", encoder).get("encoder", encoder.get("name", ""))), kind)
    other_sides = {side["side"]: _read_for(side) for side in sides_read if task is not None and _read_for(side) != task}
    if not other_sides:
        return []
    listing = " and ".join(f"{LABELS[side]} for {other or 'no task'}" for side, other in other_sides.items())
    return [f"this encoder's authors read {kind} benchmarks for {task}; here it read {listing}, so figures do not compare with theirs"]


def lines(sides_read: Sequence[Mapping[str, str]]) -> list[str]:
    """`sides_read` for people."""
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
    return ENCODERS[encoder].kinds.get(kind) if encoder in ENCODERS else None


def _members(encoder: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for member in encoder.get("members", [encoder]):
        if "sides" in member:
            yield member, member["sides"]
