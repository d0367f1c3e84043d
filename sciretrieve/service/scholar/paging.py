"""Pages of lists: `offset` and `limit`, and `next` only where there is a page that will be served."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import Query

from .fields import AUTHOR, CITATION, PAPER, pattern_of

Offset: TypeAlias = Annotated[int, Query(ge=0, le=1 << 31, description="The place of the page's first entry, from 0.")]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=1000, description="How many entries a page has at most.")]
NAMED = "The fields that are wanted, with commas between, and dots for those of lists: "
PaperFields: TypeAlias = Annotated[
    str | None, Query(description=f"{NAMED}title,authors.name.", json_schema_extra={"pattern": pattern_of(PAPER)})
]
LinkFields: TypeAlias = Annotated[
    str | None, Query(description=f"{NAMED}contexts,title,authors.name.", json_schema_extra={"pattern": pattern_of(CITATION | PAPER)})
]
AuthorFields: TypeAlias = Annotated[
    str | None, Query(description=f"{NAMED}name,papers.title.", json_schema_extra={"pattern": pattern_of(AUTHOR)})
]


def paged(data: list[Any], offset: int, limit: int, total: int) -> dict[str, Any]:
    """A page of a list that has `total` entries in all."""
    following = offset + limit
    return {"total": total, "offset": offset, **({"next": following} if following < total else {}), "data": data}
