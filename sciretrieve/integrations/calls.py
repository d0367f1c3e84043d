"""What retrievers of other libraries share: how they search, as they were made and as a call says, and what they tell of a hit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..base.types import Hit, Paper
from ..options import SearchOptions, changed
from ..options.keywords import SearchKeywords


def narrowed(options: SearchOptions, changes: SearchKeywords) -> SearchOptions:
    """`options` with other values for some fields, and papers must pass the filters, `since` and `until` of both: no call lifts a filter.

    Raises UnknownName for a field that there is not, InvalidRequest for a value that it cannot have.
    """
    asked = changed(replace(options, filter=None, since=None, until=None), changes)
    return replace(asked, filter=(*options.filters, *asked.filters), since=None, until=None)


def text_of(paper: Paper) -> str:
    """Title and abstract, with an empty line between them."""
    return "\n\n".join(part for part in (paper.title, paper.abstract) if part)


def about(hit: Hit) -> dict[str, Any]:
    """All of a hit but its abstract, see `Hit.to_dict`; all its values can be written as JSON."""
    return {name: value for name, value in hit.to_dict().items() if name != "abstract"}
