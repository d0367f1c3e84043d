"""Shared by the retrievers of other libraries: options per call, and the text and metadata of a hit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..base.types import Hit, Paper
from ..options import SearchOptions, changed
from ..options.keywords import SearchKeywords


def narrowed(options: SearchOptions, changes: SearchKeywords) -> SearchOptions:
    """`options` with other values for some fields. Filters, `since` and `until` of both apply: no call lifts a filter.

    Raises UnknownName for an unknown field, InvalidRequest for an invalid value.
    """
    call_options = changed(replace(options, filter=None, since=None, until=None), changes)
    return replace(call_options, filter=(*options.filters, *call_options.filters), since=None, until=None)


def text_of(paper: Paper) -> str:
    """Title and abstract, with an empty line between them."""
    return "\n\n".join(part for part in (paper.title, paper.abstract) if part)


def about(hit: Hit) -> dict[str, Any]:
    """All fields of a hit except its abstract, see `Hit.to_dict`, as plain JSON values."""
    return {name: value for name, value in hit.to_dict().items() if name != "abstract"}
