"""The search page: the start, answers, suggestions while typing, and the map of an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response

from ...answers import outputs
from ...answers.answering import Answer, answer
from ...answers.mapping import MAPPED, answer_map
from ...answers.suggesting import suggest
from ...base.errors import InvalidRequest
from ...base.wording import counted
from ...papers.bibliographies.author_names import byline
from ...papers.formulas import in_unicode
from ...query.index import Index
from ..service import Service, address_of, service_of
from .cards import cards_of_answer
from .charts import MAP_HEIGHT, MAP_WIDTH, bars, histogram, map_groups
from .rendering import ANEW, page
from .state import SHOWN, State, author_path, index_of, paper_path, state_of

router = APIRouter(include_in_schema=False)

FACETS = (("venue", "venue", 8), ("author", "authors", 8))
"""Facets that narrow an answer, besides years: the name in addresses, the column, and the number of values."""
YEARS = "year:300"
SUGGESTED = 6


@router.get("/")
async def start(http: HttpRequest) -> Response:
    """The start, or the answers to the query in the address."""
    state = state_of(http)
    if state.is_empty:
        return page(http, "start.html", state=state)
    return page(http, "answers.html", state=state, **await _answers(http, service_of(http), state))


@router.get("/map")
async def mapped(http: HttpRequest) -> Response:
    """The first papers of an answer in two dimensions."""
    state, service = state_of(http), service_of(http)
    if state.is_empty:
        return page(http, "start.html", state=state)
    request = replace(state.request(min(MAPPED, service.settings.most)), sort=None)

    def drawn() -> dict[str, Any]:
        index = index_of(service, state)
        found = answer_map(index, request)
        return {"groups": map_groups(found), "count": len(found.answer.hits), "examples": _examples(index, state)}

    return page(http, "map.html", state=state, width=MAP_WIDTH, height=MAP_HEIGHT, **await service.do(http, drawn))


@router.get("/suggest")
async def suggested(http: HttpRequest, format: str = "") -> Response:
    """Papers and authors that match a partly typed query; with format=opensearch in the form for browsers' own search boxes."""
    service = service_of(http)
    state = state_of(http)
    found = await service.do(http, lambda: suggest(index_of(service, state), state.q, SUGGESTED))
    papers = [
        {
            "title": in_unicode(paper.title),
            "about": " · ".join(filter(None, (byline(paper), str(paper.year or "")))),
            "address": paper_path(state.name_of(name)),
        }
        for paper, name in zip(found.papers, found.names, strict=True)
    ]
    authors = [
        {"title": author.name, "about": counted(len(author), "paper"), "address": author_path(author.name)} for author in found.authors
    ]
    if format != "opensearch":
        return JSONResponse({"papers": papers, "authors": authors}, headers={"Cache-Control": ANEW})
    every = [(each["title"], each["about"], address_of(http) + each["address"]) for each in (*papers, *authors)]
    columns = [[row[place] for row in every] for place in range(3)]
    return JSONResponse([state.q, *columns], media_type="application/x-suggestions+json", headers={"Cache-Control": ANEW})


async def _answers(http: HttpRequest, service: Service, state: State) -> dict[str, Any]:
    """The values of an answer's page. Raises as `answer`."""
    index = index_of(service, state)
    k = min(state.depth, service.settings.most)
    first = (state.page - 1) * SHOWN
    found = await service.answer(http, index, state.request(k, explain="why" in state.extra))
    return await service.do(http, lambda: _shown(index, state, found, first))


def _shown(index: Index, state: State, found: Answer, first: int) -> dict[str, Any]:
    last = first + SHOWN
    shown = replace(found, hits=found.hits[:last], explanations=found.explanations[:last])
    return {
        "cards": cards_of_answer(index, shown, first, state),
        "first": first,
        "has_more": len(found.hits) > last,
        "total": outputs.total(found),
        "notes": list(outputs.notes(found)),
        "examples": _examples(index, state),
        "narrowing": _narrowing(index, state) if "facets" in state.extra else None,
        "is_mapped": _is_mapped(index),
    }


def _is_mapped(index: Index) -> bool:
    """Whether the index's answers can be drawn as a map."""
    try:
        index.snapshot.check_comparable()
    except InvalidRequest:
        return False
    return bool(index.snapshot.vectors) and index.snapshot.bm25 is not None


def _examples(index: Index, state: State) -> dict[str, list[tuple[str, str]]]:
    """The liked and disliked papers, each by its name and its title. Raises NotFound."""
    request = state.request(1)
    return {
        kind: [(name, in_unicode(paper.headline(70))) for name, paper in zip(names, index.papers(ids), strict=True)]
        for kind, names, ids in (("like", state.like, request.like), ("unlike", state.unlike, request.unlike))
    }


def _narrowing(index: Index, state: State) -> dict[str, Any]:
    """The values that narrow an answer: a histogram of all years, bars with their names in addresses and headings, and the columns for a
    filter.
    """
    facets = [(name, column, most) for name, column, most in FACETS if column in index.snapshot.columns.names]
    found = answer(index, state.request(1, facets=tuple(f"{column}:{most}" for _, column, most in facets))).facets
    years = answer(index, replace(state, year="").request(1, facets=(YEARS,))).facets[0]
    shown = [(name, column, bars(facet, getattr(state, name))) for (name, column, _), facet in zip(facets, found, strict=True)]
    columns = index.snapshot.columns.names
    return {"years": histogram(years, state.years), "bars": [part for part in shown if part[2]], "columns": columns}
