"""The one paper whose title is nearest to what was asked for."""

from __future__ import annotations

import numpy as np

from ...base.errors import NotFound
from ...base.types import Rows
from ...query.index import Index
from ...query.lookup.texts import TypedText
from .ranking import ranked

LOOKED_AT = 20
"""Papers that a search proposes where the index knows no such title."""
NEAR = 0.7
"""The share of letters that a title must have in common with what was asked for. At 0.7, half of a title is near, a subject is not."""
TITLES = ("title", "beginning of a title", "misspelt title", "reference")
"""What a text may be of the papers that an index finds by it."""


def best_match(index: Index, text: str, among: Rows | None) -> tuple[int, float]:
    """The row of the paper whose title is nearest to a text, and how near it is, from 0 to 100. Raises NotFound where none is near."""
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
