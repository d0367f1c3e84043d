"""What an ensemble is made of: its name taken apart, and the request for each of its members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from ..errors import InvalidRequest
from .catalogue import CATALOGUE
from .faiss_file import FAISS_PREFIX
from .specs import EncoderRequest, Join
from .stored import PREFIX

JOINS: tuple[Join, ...] = get_args(Join)
SEPARATOR = "+"


def members_of(name: str) -> tuple[Join, tuple[str, ...]] | None:
    """How an ensemble joins vectors, and its members' names; None for an encoder that is no ensemble.

    Raises:
        InvalidRequest: `mean:` or `concat:` is not followed by two encoders that read texts.
    """
    row = CATALOGUE.get(name)
    if row is not None and row.members:
        return row.join, tuple(member.name for member in row.members)
    join = next((join for join in JOINS if name.startswith(f"{join}:")), None)
    if join is None:
        return None
    names = tuple(name.removeprefix(f"{join}:").split(SEPARATOR))
    if len(names) < 2 or not all(names):
        raise InvalidRequest(f"{name} is no ensemble; join two encoders or more, as in {join}:specter2+scincl")
    if stored := next((member for member in names if member.startswith((PREFIX, FAISS_PREFIX))), None):
        raise InvalidRequest(f"{stored} reads no texts, so it cannot be a member of {name}; join such vectors before you index them")
    return join, names


def member_requests(request: EncoderRequest, names: Sequence[str]) -> tuple[EncoderRequest, ...]:
    """The request for each member: its own adapters, of those that are separated by `+`, and everything else as for the ensemble.

    Raises:
        InvalidRequest: there are adapters for more or fewer members.
    """
    adapters = zip(_each("`adapter`", request.adapter, names), _each("`query_adapter`", request.query_adapter, names), strict=True)
    return tuple(
        replace(request, encoder=name, adapter=adapter, query_adapter=query_adapter)
        for name, (adapter, query_adapter) in zip(names, adapters, strict=True)
    )


def joined(adapters: Sequence[str | None]) -> str | None:
    """One adapter for each member as a request has them: None if none has one, a single name if all have the same."""
    names = [adapter or "" for adapter in adapters]
    return (names[0] if len(set(names)) == 1 else SEPARATOR.join(names)) or None


def _each(option: str, adapter: str | None, names: Sequence[str]) -> list[str | None]:
    """The adapter of each member; one without `+` is every member's."""
    if adapter is None or SEPARATOR not in adapter:
        return [adapter] * len(names)
    parts = adapter.split(SEPARATOR)
    if len(parts) != len(names):
        raise InvalidRequest(f"{option} {adapter} is for {len(parts)} encoders, and there are {len(names)}: {', '.join(names)}")
    return [part or None for part in parts]
