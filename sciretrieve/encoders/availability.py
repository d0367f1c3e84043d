"""Which encoders of the catalogue are on this machine; no network is used."""

from __future__ import annotations

from .encoder_cache import models_directory
from .specs import EncoderSpec, ModelFiles
from .weights import locate


def status(spec: EncoderSpec) -> str:
    """In a few words: "ready" if all files are on this machine, else how to get them."""
    if spec.members:
        return _worst([status(member) for member in spec.members])
    roles = dict.fromkeys(role for task in spec.sides.tasks for role in spec.roles(task))
    return _worst([part_status(spec.parts[role]) for role in roles])


def part_status(part: ModelFiles) -> str:
    """The same for one part."""
    if locate(part) is not None:
        return "ready"
    return f"by hand: {models_directory() / part.source}; {part.note}" if part.note else "download"


def _worst(states: list[str]) -> str:
    missing_states = [state for state in states if state != "ready"]
    by_hand = [state for state in missing_states if state != "download"]
    return "by hand" if by_hand else "download" if missing_states else "ready"
