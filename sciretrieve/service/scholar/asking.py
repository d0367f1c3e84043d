"""Shared by all of these routes: their parameters, and responses with records of the service's papers.

Parameters of Semantic Scholar's that have no effect here are rejected with a reason, or ignored where its own client sends them.
`tests/service/scholar/test_parameters.py` compares all of its documented parameters with ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Query
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...base.types import Rows
from ..parameters import KnownParameters
from ..service import address_of, as_response, service_of
from .fields import AUTHOR, CITATION, PAPER, pattern_of
from .records import Records

NAMES = frozenset(
    {
        *("query", "fields", "offset", "limit", "token", "sort", "year", "venue", "fieldsOfStudy", "publicationTypes", "openAccessPdf"),
        *("minCitationCount", "publicationDateOrYear", "insertedBefore", "paperIds", "authors", "from"),
    }
)
"""All parameters of Semantic Scholar's API."""
KNOWN_ALONE = Depends(
    KnownParameters(
        refused={"insertedBefore": "an index does not keep when each paper was added"},
        left_out={f"/graph/v1/paper/search/{kind}": ("offset", "limit") for kind in ("bulk", "match")},  # its client always sends them
        strict=NAMES,  # its client escapes no &
    )
)
"""Makes all routes of a router reject unknown parameters."""
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


async def answered(http: HttpRequest, make: Callable[[Records], Any], *, heavy: bool = False) -> Response:
    """A response with the result of `make` for the records of all of the service's indexes, see `Desk.do`."""
    service = service_of(http)
    records = Records(service.library.index(), address_of(http))
    value = await service.do(http, lambda: make(records), heavy=heavy)
    return as_response(value)


def paged(every: Sequence[Any] | Rows, offset: int, limit: int, make: Callable[[Any], list[Any]] = list) -> dict[str, Any]:
    """A page of a list, with its entries made by `make`; `next` is only there if the next page will be served."""
    following = offset + limit
    more = {"next": following} if following < len(every) else {}
    return {"total": len(every), "offset": offset, **more, "data": make(every[offset:following])}
