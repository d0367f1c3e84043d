"""How a retriever of another library searches: as it was made, and as a call says."""

from __future__ import annotations

from dataclasses import replace

from ..options import SearchOptions, changed
from ..options.keywords import SearchKeywords


def narrowed(options: SearchOptions, changes: SearchKeywords) -> SearchOptions:
    """`options` with other values for some fields, and papers must pass the filters, `since` and `until` of both: no call lifts a filter.

    Raises UnknownName for a field that there is not, InvalidRequest for a value that it cannot have.
    """
    asked = changed(replace(options, filter=None, since=None, until=None), changes)
    return replace(asked, filter=(*options.filters, *asked.filters), since=None, until=None)
