"""What other libraries are told of a hit: its text, and the rest as metadata."""

from __future__ import annotations

from typing import Any

from ..base.types import Hit, Paper


def text_of(paper: Paper) -> str:
    """Title and abstract, with an empty line between them."""
    return "\n\n".join(part for part in (paper.title, paper.abstract) if part)


def about(hit: Hit) -> dict[str, Any]:
    """All of a hit but its abstract, see `Hit.to_dict`; all its values can be written as JSON."""
    return {name: value for name, value in hit.to_dict().items() if name != "abstract"}
