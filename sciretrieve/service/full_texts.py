"""Passages of named papers, for the page of a paper and for passages after the best of each paper."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ..base.errors import InvalidRequest
from ..base.types import Passage, Query
from ..query.index import Index


def passages_within(index: Index, query: str, k: int, names: str | Sequence[str]) -> list[Passage]:
    """The k best passages of some papers for a query as typed; none if they have no full texts, or share nothing with it.

    A query may demand what its papers have and their passages lack, such as an author. Then its words alone are searched for.
    """
    if index.snapshot.passages is not None and names:
        for asked in (query, Query("1", query)):
            with suppress(InvalidRequest):  # of a query that cannot be read, or has no words
                if found := index.passages(asked, k, within=names):
                    return found
    return []
