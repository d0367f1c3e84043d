"""Pages of lists: `offset` and `limit`, and `next` only where there is a page that will be served."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import Query

Offset: TypeAlias = Annotated[int, Query(ge=0, le=1 << 31, description="The place of the page's first entry, from 0.")]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=1000, description="How many entries a page has at most.")]
FieldList: TypeAlias = Annotated[
    str | None, Query(description="The fields that are wanted, with commas between, and dots for those of lists: title,authors.name.")
]


def paged(data: list[Any], offset: int, limit: int, total: int) -> dict[str, Any]:
    """A page of a list that has `total` entries in all."""
    following = offset + limit
    return {"total": total, "offset": offset, **({"next": following} if following < total else {}), "data": data}
