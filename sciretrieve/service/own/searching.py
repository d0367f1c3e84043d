"""Searches: by query, by similar papers, counts, and reasons for missing papers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...answers import outputs, overview
from ...answers.explaining import why_not
from ...runs import SCHEMA
from ..desk import HEAVY
from ..parameters import KnownParameters, check_count, check_query
from ..routes import FormRoute
from ..service import as_response, service_of
from .forms import Counted, CountedValues, PassageSearch, Search, Similar, WhyNot
from .schemas import returns

router = APIRouter(prefix="/v1", tags=["search"], dependencies=[Depends(KnownParameters())], route_class=FormRoute)


@router.get("/search", responses=returns("answer"))
async def search(http: HttpRequest, asked: Annotated[Search, Query()]) -> Response:
    """Find papers by meaning and by words. `like` and `unlike` are feedback: papers of an earlier answer that are what is looked for, or
    are not."""
    return await _answered(http, asked)


@router.post("/search", responses=returns("answer"))
async def search_by_body(http: HttpRequest, asked: Annotated[Search, Body()]) -> Response:
    """The same for what does not fit into an address, such as a pasted abstract."""
    return await _answered(http, asked)


@router.get("/similar", responses=returns("answer"))
async def similar(http: HttpRequest, asked: Annotated[Similar, Query()]) -> Response:
    """Find papers like given ones, and unlike others."""
    return await _answered(http, asked)


@router.post("/similar", responses=returns("answer"))
async def similar_by_body(http: HttpRequest, asked: Annotated[Similar, Body()]) -> Response:
    """The same for many papers, or a text."""
    return await _answered(http, asked)


@router.get("/passages", responses=returns("passages"))
async def passages(http: HttpRequest, asked: Annotated[PassageSearch, Query()]) -> Response:
    """Find passages of full texts, each with its page and section."""
    return await _passages(http, asked)


@router.post("/passages", responses=returns("passages"))
async def passages_by_body(http: HttpRequest, asked: Annotated[PassageSearch, Body()]) -> Response:
    """The same for a long text, or in many papers."""
    return await _passages(http, asked)


@router.get("/count", responses=returns("count"))
async def count(http: HttpRequest, asked: Annotated[Counted, Query()]) -> Response:
    """How many papers meet each part of a query, and all of it."""
    service = service_of(http)
    check_query(asked.q, service)
    index, conditions = service.library.index(asked.index), asked.options(service).filters
    lines = await service.do(http, lambda: index.count_lines(asked.q, conditions))
    return as_response(outputs.count_value(asked.q, conditions, lines))


@router.get("/facets", responses=returns("facet", listed=True))
async def facets(http: HttpRequest, asked: Annotated[CountedValues, Query()]) -> Response:
    """How often each value of a column occurs among the papers that meet the demands of a query and a filter."""
    service = service_of(http)
    check_query(asked.q, service)
    index, conditions = service.library.index(asked.index), asked.options(service).filters
    value = await service.do(http, lambda: overview.facets_at(index, index.matching(asked.q, conditions), asked.column))
    return as_response([asdict(facet) | {"papers_are": "meets demands"} for facet in value])


@router.get("/why-not", responses=returns("absence"))
async def why(http: HttpRequest, asked: Annotated[WhyNot, Query()]) -> Response:
    """Why a paper is not among the first k of an answer, and what would bring it in."""
    service = service_of(http)
    check_query(asked.q, service)
    check_count(asked.k, service)
    index, conditions = service.library.index(asked.index), asked.options(service).filters
    absence = await service.do(http, lambda: why_not(index, asked.id, asked.q, k=asked.k, mode=asked.mode, filter=conditions))
    return as_response(asdict(absence))


async def _passages(http: HttpRequest, asked: PassageSearch) -> Response:
    service = service_of(http)
    check_query(asked.q, service)
    check_count(asked.k, service, "passages")
    index, options = service.library.index(asked.index), asked.options(service)
    found = await service.do(http, lambda: index.passages(asked.q, asked.k, options, within=asked.within), heavy=asked.k > HEAVY)
    return as_response({"schema": SCHEMA, "query": asked.q, "passages": [passage.to_dict() for passage in found]})


async def _answered(http: HttpRequest, asked: Search | Similar) -> Response:
    service = service_of(http)
    answer = await service.answer(http, service.library.index(asked.index), asked.request(service))
    return as_response(answer.to_dict())
