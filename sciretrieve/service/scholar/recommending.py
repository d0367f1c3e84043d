"""Recommendations: papers like one or several, and unlike others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...base.errors import InvalidRequest, NotFound
from . import models
from .asking import KNOWN_ALONE, PaperFields, answered
from .fields import PAPER, Fields, read
from .identifying import row_of, rows_of
from .records import Records

router = APIRouter(prefix="/recommendations/v1", tags=["Semantic Scholar: recommendations"], dependencies=[KNOWN_ALONE])

Count = Annotated[int, Query(ge=1, le=500, description="How many papers are recommended at most.")]
Pool = Annotated[
    Literal["recent", "all-cs"], Query(alias="from", description="What is recommended: here papers of the index, whatever their date.")
]


@router.get("/papers/forpaper/{paper_id:path}", operation_id="get_papers_for_paper", responses={200: {"model": models.RecommendedList}})
async def for_paper(http: HttpRequest, paper_id: str, pool: Pool = "recent", fields: PaperFields = None, limit: Count = 100) -> Response:
    """Papers like one."""
    if pool != "recent":
        raise InvalidRequest(f"`from={pool}` is a pool of Semantic Scholar's; here papers of the index are recommended, so leave it out")
    wanted = read(fields, PAPER, "paperId", "title")
    return await answered(http, lambda records: _recommended(records, [row_of(records.index, paper_id)], [], wanted, limit))


@router.post("/papers", responses={200: {"model": models.RecommendedList}}, include_in_schema=False)
@router.post("/papers/", operation_id="post_papers", responses={200: {"model": models.RecommendedList}})
async def for_papers(http: HttpRequest, asked: models.Examples, fields: PaperFields = None, limit: Count = 100) -> Response:
    """Papers like some, and unlike others."""
    wanted = read(fields, PAPER, "paperId", "title")

    def make(records: Records) -> dict[str, Any]:
        liked, disliked = (_rows_of(records, ids) for ids in (asked.positive_paper_ids, asked.negative_paper_ids or []))
        return _recommended(records, liked, disliked, wanted, limit)

    return await answered(http, make)


def _rows_of(records: Records, ids: Sequence[str]) -> list[int]:
    """The rows of papers. Raises NotFound for an unknown id."""
    rows = rows_of(records.index, ids)
    if missing := [id for id, row in zip(ids, rows, strict=True) if row is None]:
        raise NotFound(f"there is no paper {missing[0][:200]!r}; recommendations need papers of the index, so leave it out")
    return [row for row in rows if row is not None]


def _recommended(records: Records, liked: Sequence[int], disliked: Sequence[int], wanted: Fields, limit: int) -> dict[str, Any]:
    """The papers most like some, and unlike others."""
    names = [records.index.snapshot.whole_names(np.unique(np.array(rows, np.int64))) for rows in (liked, disliked)]
    run = records.index.similar(names[0], limit, negatives=names[1])
    return {"recommendedPapers": records.papers(run[0].rows[:limit], wanted)}
