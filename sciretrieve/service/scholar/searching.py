"""Searches for papers: by relevance, in bulk by boolean queries, by title, and for passages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...base.errors import InvalidRequest
from ...base.types import Rows
from ..desk import HEAVY
from ..parameters import check_query
from ..routes import FormRoute
from ..service import service_of
from . import models, narrowing
from .asking import KNOWN_ALONE, PaperFields, answered, paged
from .bulk import ORDERS, page_of
from .fields import PAPER, read
from .identifying import rows_of
from .passages import PATTERN, passages
from .ranking import best_match, ranked
from .records import Records

DEEPEST = 1000
"""The most papers of a search by relevance."""

A_WORD: dict[str, Any] = {"pattern": r"\S"}
"""The pattern of a query, in the description of the API."""

router = APIRouter(prefix="/graph/v1", tags=["Semantic Scholar: search"], dependencies=[KNOWN_ALONE], route_class=FormRoute)


class Relevance(narrowing.PaperFilters):
    """A search by relevance."""

    query: str = Field(min_length=1, json_schema_extra=A_WORD, description="Words, a sentence or a title.")
    fields: PaperFields = None
    offset: int = Field(0, ge=0, lt=DEEPEST, description="The place of the page's first paper, from 0.")
    limit: int = Field(100, ge=1, le=100, description="How many papers a page has at most.")


class Bulk(narrowing.PaperFilters):
    """A search for all papers that meet a boolean query."""

    query: str = Field("", description='Words that a paper must have, with +, |, -, "…", * and parentheses; without any, all papers.')
    fields: PaperFields = None
    token: str | None = Field(None, description="The token of the page before.")
    sort: str | None = Field(
        None, description="paperId, publicationDate or citationCount, with :asc or :desc.", json_schema_extra={"pattern": ORDERS}
    )


class TitleMatch(narrowing.PaperFilters):
    """A search for the paper with a title."""

    query: str = Field(min_length=1, json_schema_extra=A_WORD, description="A title, as far as it is known.")
    fields: PaperFields = None


class SnippetSearch(narrowing.Filters):
    """A search for passages."""

    query: str = Field(min_length=1, json_schema_extra=A_WORD, description="Words, or a sentence.")
    fields: str | None = Field(
        None,
        description="The fields of passages that are wanted, such as snippet.text; all by default.",
        json_schema_extra={"pattern": PATTERN},
    )
    limit: int = Field(10, ge=1, le=1000, description="How many passages are answered at most.")
    papers: str | None = Field(None, alias="paperIds", description="Papers that they stand in, by id, with commas between.")
    authors: str | None = Field(None, description="Names of authors, with commas between; a paper has all of them.")


@router.get("/paper/search", operation_id="get_graph_paper_relevance_search", responses={200: {"model": models.PaperPage}})
async def search(http: HttpRequest, asked: Annotated[Relevance, Query()]) -> Response:
    """Papers by relevance, up to 1,000. `total` is their number, so that a client can page to the end."""
    check_query(asked.query, service_of(http))
    wanted, depth = read(asked.fields, PAPER, "paperId", "title"), _depth(http)

    def make(records: Records) -> dict[str, Any]:
        ranking = ranked(records.index, asked.query, narrowing.rows_of(records.index, asked), depth)
        return paged(ranking.rows, asked.offset, asked.limit, lambda rows: records.papers(rows, wanted))

    return await answered(http, make)


@router.get("/paper/search/bulk", operation_id="get_graph_paper_bulk_search", responses={200: {"model": models.BulkPage}})
async def bulk(http: HttpRequest, asked: Annotated[Bulk, Query()]) -> Response:
    """All papers that have the words of a query and meet its operators, a thousand at a time, in the order of `sort`."""
    check_query(asked.query, service_of(http))
    wanted = read(asked.fields, PAPER, "paperId", "title")

    def make(records: Records) -> dict[str, Any]:
        page = page_of(records.index, asked.query, narrowing.rows_of(records.index, asked), asked.sort, asked.token)
        return {"total": page.total, "token": page.token, "data": records.papers(page.rows, wanted)}

    return await answered(http, make, heavy=True)


@router.get("/paper/search/match", operation_id="get_graph_paper_title_search", responses={200: {"model": models.MatchList}})
async def match(http: HttpRequest, asked: Annotated[TitleMatch, Query()]) -> Response:
    """The paper whose title is nearest to a query; 404 if none is near."""
    check_query(asked.query, service_of(http))
    wanted = read(asked.fields, PAPER, "paperId", "title")

    def make(records: Records) -> dict[str, Any]:
        row, score = best_match(records.index, asked.query, narrowing.rows_of(records.index, asked))
        return {"data": [{**records.papers([row], wanted)[0], "matchScore": score}]}

    return await answered(http, make)


@router.get("/snippet/search", operation_id="get_snippet_search", responses={200: {"model": models.SnippetList}})
async def snippets(http: HttpRequest, asked: Annotated[SnippetSearch, Query()]) -> Response:
    """Passages of full texts and abstracts, and titles of papers without either: the best of each paper, then further ones of full
    texts."""
    check_query(asked.query, service_of(http))
    limit = min(asked.limit, _depth(http))

    def make(records: Records) -> dict[str, Any]:
        by_authors = narrowing.by_authors(records.index, (asked.authors or "").split(","))
        rows = narrowing.rows_of(records.index, asked, _named_rows(records, asked.papers), by_authors)
        return {"data": passages(records, asked.query, rows, limit, asked.fields), "retrievalVersion": "sciretrieve"}

    return await answered(http, make, heavy=limit > HEAVY)


def _depth(http: HttpRequest) -> int:
    """The number of papers that a search by relevance ranks."""
    return min(DEEPEST, service_of(http).settings.most)


def _named_rows(records: Records, ids: str | None) -> Iterator[Rows]:
    """The ascending rows of the papers with ids separated by commas, if there are any. Raises InvalidRequest."""
    names = [id.strip() for id in (ids or "").split(",") if id.strip()]
    if len(names) > models.MOST_PAPERS:
        raise InvalidRequest(f"`paperIds` has {len(names):,} ids, and the limit is {models.MOST_PAPERS}; ask for less at a time")
    if names:
        yield np.array(sorted({row for row in rows_of(records.index, names) if row is not None}), np.int64)
