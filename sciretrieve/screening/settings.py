"""How a session begins: its settings, which stay as they are, and the first line of its file that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.errors import InvalidRequest
from .decisions import DecisionFile

DEFAULTS: Mapping[str, Any] = {"recall": 0.95, "confidence": 0.95, "rule": "sample", "group": True}


def chosen_settings(file: DecisionFile, given: Mapping[str, Any]) -> dict[str, Any]:
    """A session's settings: those it began with, or for a new one the given ones.

    Args:
        file: the session's file.
        given: query, filter, first, recall, confidence, rule and group; None is what it was, or the default.

    Raises:
        InvalidRequest: there are no such settings, the session began with others, or the file does not say how it began.
    """
    if start := file.start:
        began: dict[str, Any] = {name: start.get(name) for name in given}
        if not all(_is_value(name, began[name]) for name in given):
            raise InvalidRequest(f"{file.path}, line 1: not the first line of a screening session; name another file")
        for name, value in given.items():
            if value is not None and value != began[name]:
                was, said = _in_words(name, began[name]), _in_words(name, value)
                raise InvalidRequest(f"{file.path} was begun with {was}, not {said}; leave it out to continue, or name another file")
        chosen = began
    else:
        if given["query"] is not None and not given["query"].strip():
            raise InvalidRequest("the query is empty; give some words, a sentence or a title")
        chosen = {name: DEFAULTS.get(name) if value is None else value for name, value in given.items()}
    if not 0 < chosen["recall"] <= 1:
        raise InvalidRequest(f"`target`, the share of the relevant papers to read, is above 0 and at most 1, not {chosen['recall']}")
    if not 0 < chosen["confidence"] < 1:
        raise InvalidRequest(f"a confidence lies between 0 and 1, not {chosen['confidence']}")
    if chosen["first"] is not None and (chosen["first"] < 1 or not (chosen["query"] or "").strip()):
        raise InvalidRequest("the first papers of a query are screened: at least one, and there must be a query")
    return chosen


def are_groups(groups: Any, ids: set[str]) -> bool:
    """Whether these are lists of two papers or more, none of which is in two."""
    if not isinstance(groups, list) or not all(isinstance(group, list) and len(group) > 1 for group in groups):
        return False
    members = [id for group in groups for id in group]
    return all(isinstance(id, str) and id in ids for id in members) and len(set(members)) == len(members)


def _is_value(name: str, value: Any) -> bool:
    """Whether a file may say this of a setting."""
    if name == "filter":
        return value is None or (isinstance(value, list) and all(isinstance(condition, str) for condition in value))
    numbers, kinds = int | float, {"query": str | None, "first": int | None, "rule": str, "group": bool}
    return isinstance(value, kinds.get(name, numbers))


def _in_words(name: str, value: Any) -> str:
    name = {"recall": "target"}.get(name, name)
    return f"no {name}" if value is None else f"{name} {value!r}"
