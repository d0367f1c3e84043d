"""The ranking of a search by relevance, and the paper with the title nearest to a query."""

from __future__ import annotations

from hashlib import blake2b
from threading import Lock
from typing import TypeAlias

import numpy as np

from ...answers.remembering import once_for_each
from ...base.errors import InvalidRequest, NotFound
from ...base.types import Query, Rows
from ...query.index import Index
from ...query.lookup.texts import TypedText
from ...runs import Ranking

REMEMBERED = 128
"""The number of cached rankings per index, of up to 40 kB each, since clients ask for them in pages."""
LOOKED_AT = 20
"""The number of papers to search if the index knows no such title."""
NEAR = 0.7
"""The least share of letters that a title and a query have in common. At 0.7, half of a title is near; a subject is not."""
TITLES = ("title", "beginning of a title", "misspelt title", "reference")
"""Kinds of texts by which an index finds papers by title."""
LOCK = Lock()

Key: TypeAlias = tuple[str, int, bytes]


@once_for_each
def _recent(index: Index) -> dict[Key, Ranking]:  # noqa: ARG001
    """The latest rankings of an index."""
    return {}


def ranked(index: Index, query: str, among: Rows | None, depth: int) -> Ranking:
    """The best papers for a query, at most `depth`, among the given rows. Raises InvalidRequest for an empty query."""
    recent = _recent(index)
    key = query, depth, b"" if among is None else blake2b(among.tobytes()).digest()
    if (known := recent.get(key)) is not None:
        return known
    try:
        ranking = index.search(query, depth, among=among)[0]
    except InvalidRequest:  # invalid operators are only words here
        ranking = index.search(Query("1", query), depth, among=among)[0]
    with LOCK:
        if len(recent) >= REMEMBERED:
            del recent[next(iter(recent))]
        recent[key] = ranking
    return ranking


def best_match(index: Index, text: str, among: Rows | None) -> tuple[int, float]:
    """The row of the paper whose title is nearest to a text, and their nearness, from 0 to 100. Raises NotFound if none is near."""
    scope = index.snapshot.scope if among is None else index.snapshot.scope.among(among)
    meant = index.snapshot.lookup.meant(text, scope)
    is_title = meant.by in TITLES
    rows = meant.rows if is_title else ranked(index, text, among, LOOKED_AT).rows
    typed = TypedText(text)
    likeness = [typed.likeness(paper.title) for paper in index.snapshot.papers_at(rows, ("id", "title"))]
    best = int(np.argmax(likeness)) if likeness else -1
    if best < 0 or not (is_title or likeness[best] >= NEAR):
        raise NotFound("no paper has such a title; search for its words instead")
    return int(rows[best]), round(100 * likeness[best], 2)
