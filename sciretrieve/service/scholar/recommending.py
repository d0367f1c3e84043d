"""Recommendations: papers like one or several, and unlike others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...errors import NotFound
from . import models
from .answering import answered
from .fields import PAPER, Fields, read
from .identifying import row_of, rows_of
from .paging import PaperFields
from .records import Records

router = APIRouter(prefix="/recommendations/v1", tags=["Semantic Scholar: recommendations"])

Count = Annotated[int, Query(ge=1, le=500, description="How many papers are recommended at most.")]
Pool = Annotated[
    Literal["recent", "all-cs"], Query(alias="from", description="Taken as Semantic Scholar has it; papers of the index are recommended.")
]


@router.get("/papers/forpaper/{paper_id:path}", responses={200: {"model": models.RecommendedList}})
async def for_paper(
    http: HttpRequest,
    paper_id: str,
    pool: Pool = "recent",  # noqa: ARG001
    fields: PaperFields = None,
    limit: Count = 100,
) -> Response:
    """Papers like one."""
    wanted = read(fields, PAPER, "paperId", "title")
    return await answered(http, lambda records: _recommended(records, [row_of(records.index, paper_id)], [], wanted, limit))


@router.post("/papers", responses={200: {"model": models.RecommendedList}}, include_in_schema=False)
@router.post("/papers/", responses={200: {"model": models.RecommendedList}})
async def for_papers(http: HttpRequest, asked: models.Examples, fields: PaperFields = None, limit: Count = 100) -> Response:
    """Papers like some, and unlike others."""
    wanted = read(fields, PAPER, "paperId", "title")

    def make(records: Records) -> dict[str, Any]:
        liked, disliked = (_known(records, ids) for ids in (asked.positive_paper_ids, asked.negative_paper_ids or []))
        return _recommended(records, liked, disliked, wanted, limit)

    return await answered(http, make)


def _known(records: Records, ids: Sequence[str]) -> list[int]:
    """The rows of papers. Raises NotFound where an id means none."""
    rows = rows_of(records.index, ids)
    if missing := [id for id, row in zip(ids, rows, strict=True) if row is None]:
        raise NotFound(f"there is no paper {missing[0][:200]!r}; recommendations go by papers that are here, so leave it out")
    return [row for row in rows if row is not None]


def _recommended(records: Records, liked: Sequence[int], disliked: Sequence[int], wanted: Fields, limit: int) -> dict[str, Any]:
    """The papers most like some, and unlike others."""
    names = [records.index.whole_names(np.unique(np.array(rows, np.int64))) for rows in (liked, disliked)]
    run = records.index.similar(names[0], limit, negatives=names[1])
    return {"recommendedPapers": records.papers(run[0].rows[:limit], wanted)}
