"""Authors: by id, many at once, by their names, and their papers."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...answers.authors import Author, authors_of
from ...base.errors import NotFound
from . import models
from .asking import KNOWN_ALONE, AuthorFields, Limit, Offset, PaperFields, answered, paged
from .fields import AUTHOR, PAPER, read
from .narrowing import Dates, in_dates
from .records import Records

router = APIRouter(prefix="/graph/v1/author", tags=["Semantic Scholar: authors"], dependencies=[KNOWN_ALONE])


@router.get("/search", operation_id="get_graph_get_author_search", responses={200: {"model": models.AuthorPage}})
async def search(
    http: HttpRequest,
    query: Annotated[str, Query(description="A name, or its beginning, in any order, with initials or in full.")],
    fields: AuthorFields = None,
    offset: Offset = 0,
    limit: Limit = 100,
) -> Response:
    """Authors by name: exact matches first, then those with the most papers."""
    wanted = read(fields, AUTHOR, "authorId", "name")

    def make(records: Records) -> dict[str, Any]:
        every = authors_of(records.index)
        found = every.search(query)
        return paged(found, offset, limit, lambda part: records.authors(every.at(part), wanted))

    return await answered(http, make)


@router.post("/batch", operation_id="post_graph_get_authors", responses={200: {"model": list[models.AuthorRecord | None]}})
async def batch(http: HttpRequest, asked: models.AuthorIds, fields: AuthorFields = None) -> Response:
    """Up to 1,000 authors at once, in the order of the ids; null for an unknown id."""
    wanted = read(fields, AUTHOR, "authorId", "name")

    def make(records: Records) -> list[Any]:
        every = authors_of(records.index)
        found: dict[str, Author] = {}
        for id in asked.ids:
            with suppress(NotFound):
                found[id] = every[id]
        known = dict(zip(found, records.authors(list(found.values()), wanted), strict=True))
        return [known.get(id) for id in asked.ids]

    return await answered(http, make)


@router.get("/{author_id}", operation_id="get_graph_get_author", responses={200: {"model": models.AuthorRecord}})
async def author(http: HttpRequest, author_id: str, fields: AuthorFields = None) -> Response:
    """An author by id, which is made of the name."""
    wanted = read(fields, AUTHOR, "authorId", "name")
    return await answered(http, lambda records: records.authors([authors_of(records.index)[author_id]], wanted)[0])


@router.get("/{author_id}/papers", operation_id="get_graph_get_author_papers", responses={200: {"model": models.PaperPage}})
async def author_papers(
    http: HttpRequest, author_id: str, dates: Dates = None, fields: PaperFields = None, offset: Offset = 0, limit: Limit = 100
) -> Response:
    """The papers of an author, the latest first."""
    wanted = read(fields, PAPER, "paperId", "title")

    def make(records: Records) -> dict[str, Any]:
        rows, passing = records.works_by(authors_of(records.index)[author_id]), in_dates(records.index, dates)
        rows = records.latest_first(rows if passing is None else np.intersect1d(rows, passing))
        return paged(rows, offset, limit, lambda part: records.papers(part, wanted))

    return await answered(http, make)
