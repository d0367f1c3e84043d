"""Papers by id: one, many at once, their authors, references and citations; and suggestions of titles while typing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...answers.suggesting import suggest
from ...base.types import Paper
from ...papers.bibliographies.author_names import byline
from . import models
from .asking import KNOWN_ALONE, AuthorFields, Limit, LinkFields, Offset, PaperFields, answered, paged
from .fields import AUTHOR, CITATION, PAPER, Fields, read
from .identifying import row_of, rows_of
from .narrowing import Dates, in_dates
from .records import Cited, Records

SUGGESTED = 10
"""The most suggested papers."""
UNKNOWN: dict[str, Any] = {"contexts": [], "intents": [], "contextsWithIntent": [], "isInfluential": False}
"""The unknown facts of every citation: its place and purpose."""

router = APIRouter(prefix="/graph/v1/paper", tags=["Semantic Scholar: papers"], dependencies=[KNOWN_ALONE])


@router.get("/autocomplete", operation_id="get_graph_get_paper_autocomplete", responses={200: {"model": models.SuggestedList}})
async def autocomplete(http: HttpRequest, query: Annotated[str, Query(description="What was typed so far.")]) -> Response:
    """Papers whose titles have the typed words, of which the last may be unfinished."""

    def make(records: Records) -> dict[str, Any]:
        found = suggest(records.index, query, SUGGESTED)
        matches = [
            {"id": name, "title": paper.title, "authorsYear": ", ".join(filter(None, (byline(paper), str(paper.year or ""))))}
            for name, paper in zip(found.names, found.papers, strict=True)
        ]
        return {"matches": matches}

    return await answered(http, make)


@router.post("/batch", operation_id="post_graph_get_papers", responses={200: {"model": list[models.PaperRecord | None]}})
async def batch(http: HttpRequest, asked: models.PaperIds, fields: PaperFields = None) -> Response:
    """Up to 500 papers at once, in the order of the ids; null for an unknown id."""
    wanted = read(fields, PAPER, "paperId", "title")

    def make(records: Records) -> list[Any]:
        rows = rows_of(records.index, asked.ids)
        found = sorted({row for row in rows if row is not None})
        known = dict(zip(found, records.papers(found, wanted), strict=True))
        return [None if row is None else known[row] for row in rows]

    return await answered(http, make)


@router.get("/{paper_id:path}/authors", operation_id="get_graph_get_paper_authors", responses={200: {"model": models.AuthorPage}})
async def paper_authors(http: HttpRequest, paper_id: str, fields: AuthorFields = None, offset: Offset = 0, limit: Limit = 100) -> Response:
    """The authors of a paper."""
    wanted = read(fields, AUTHOR, "authorId", "name")

    def make(records: Records) -> dict[str, Any]:
        _, paper = _paper(records, paper_id)
        return paged(records.authors_of(paper, wanted), offset, limit)

    return await answered(http, make)


@router.get("/{paper_id:path}/citations", operation_id="get_graph_get_paper_citations", responses={200: {"model": models.CitationPage}})
async def citations(
    http: HttpRequest, paper_id: str, dates: Dates = None, fields: LinkFields = None, offset: Offset = 0, limit: Limit = 100
) -> Response:
    """The papers of the index that cite a paper, the latest first."""
    return await _linked(http, lambda records: records.citing(row_of(records.index, paper_id)), "citingPaper", dates, fields, offset, limit)


@router.get("/{paper_id:path}/references", operation_id="get_graph_get_paper_references", responses={200: {"model": models.ReferencePage}})
async def references(
    http: HttpRequest, paper_id: str, dates: Dates = None, fields: LinkFields = None, offset: Offset = 0, limit: Limit = 100
) -> Response:
    """The works that a paper cites, in its own order: papers of the index, and other works, with a null id and no date."""
    return await _linked(http, lambda records: records.cited(*_paper(records, paper_id)), "citedPaper", dates, fields, offset, limit)


@router.get("/{paper_id:path}", operation_id="get_graph_get_paper", responses={200: {"model": models.PaperRecord}})
async def paper(http: HttpRequest, paper_id: str, fields: PaperFields = None) -> Response:
    """A paper by its id: that of the index, or DOI:…, ARXIV:…, PMID:…, PMCID:…, MAG:…, ACL:…, CorpusId:…, URL:…."""
    wanted = read(fields, PAPER, "paperId", "title")
    return await answered(http, lambda records: records.papers([row_of(records.index, paper_id)], wanted)[0])


def _paper(records: Records, id: str) -> tuple[int, Paper]:
    """The paper with an id, and its row."""
    row = row_of(records.index, id)
    return row, records.index.snapshot.papers_at(np.array([row], np.int64))[0]


async def _linked(
    http: HttpRequest, find: Callable[[Records], Sequence[Cited]], end: str, dates: str | None, fields: str | None, offset: int, limit: int
) -> Response:
    """A page of citations to or from works of some dates; `end` is the name of the paper at the other end."""
    wanted = read(fields, CITATION | PAPER, "paperId", "title")
    of_paper = Fields({name: inner for name, inner in wanted.names.items() if name not in CITATION})
    facts = {name: value for name, value in UNKNOWN.items() if name in wanted}

    def make(records: Records) -> dict[str, Any]:
        works = find(records)
        if (rows := in_dates(records.index, dates)) is not None:
            passing = set(rows.tolist())
            works = [work for work in works if work.row in passing]
        return paged(works, offset, limit, lambda part: [{**facts, end: record} for record in records.works(part, of_paper)])

    return await answered(http, make)
