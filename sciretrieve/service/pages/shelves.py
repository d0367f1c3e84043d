"""The shelf and saved searches, which the browser stores: their pages, exports, and the new papers of saved searches.

The service stores nothing of a user: each request contains the papers of a shelf, and the browser remembers the earlier results of a
search.
"""

from __future__ import annotations

import numpy as np
from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response

from ...answers import overview
from ...answers.answering import searched
from ...answers.outputs import FORMATS
from ...answers.saved import LEAST_SEEN
from ...base.errors import InvalidRequest, NotFound
from ...base.types import Rows
from ...query.index import Index
from ..desk import HEAVY
from ..exports import as_file, text_of
from ..service import service_of
from .cards import cards_of
from .rendering import ANEW, page
from .state import index_of, state_of, values_of

router = APIRouter(include_in_schema=False)

NEW_AMONG = 100
"""The number of first papers of a saved search among which new ones are looked for."""


@router.api_route("/shelf", methods=["GET", "POST"])
async def shelf(http: HttpRequest) -> Response:
    """The requested papers, as a list to export. Without any, the page loads the papers that the browser stores.

    Raises InvalidRequest for more papers than the limit.
    """
    service, names = service_of(http), await _names(http)
    if len(names) > service.settings.most:
        raise InvalidRequest(f"a list has up to {service.settings.most:,} papers; export these, and begin another")
    index = service.library.index()

    def shown() -> Response:
        rows = index.snapshot.find(names)
        known = [name for name in names if name in rows]
        cards = cards_of(index, list(zip(index.papers(known) if known else [], known, strict=True)))
        missing = [name for name in names if name not in rows]
        # papers in an address were sent by someone; the browser's own come in a body
        return page(http, "shelf.html", cards=cards, missing=missing, names=known, is_shared=http.method == "GET" and bool(names))

    return await service.do(http, shown, heavy=len(names) > HEAVY)


@router.api_route("/export", methods=["GET", "POST"])
async def export(http: HttpRequest) -> Response:
    """The requested papers as a file for reference managers, without papers that the index lacks.

    Raises InvalidRequest, and NotFound if the index has none of them.
    """
    service, names = service_of(http), await _names(http)
    form = (await values_of(http)).get("format", [""])[0]
    if form not in FORMATS:
        raise InvalidRequest(f"there is no format {form[:100]!r}; take one of {', '.join(FORMATS)}")
    if not names:
        raise InvalidRequest("no paper was chosen; put some on the shelf, and export that")
    index = service.library.index()
    text = await service.do(http, lambda: text_of(index, _rows(index, names), form), heavy=len(names) > HEAVY)
    response = as_file(text, form)
    response.headers["Cache-Control"] = ANEW
    return response


@router.get("/saved")
async def saved(http: HttpRequest) -> Response:
    """The page of saved searches, which loads those that the browser stores."""
    return page(http, "saved.html")


@router.get("/news")
async def news(http: HttpRequest) -> Response:
    """The current result of a saved search: its first papers that match, and all papers that are known from now on. Raises as searches."""
    state, service = state_of(http), service_of(http)
    if state.is_empty:
        raise InvalidRequest("nothing is asked for; add q=, or like= with a paper")
    index = index_of(service, state)

    def found() -> dict[str, list[str]]:
        request = state.request(min(LEAST_SEEN, service.settings.most))
        run = searched(index, request, request.k, request.options)
        ranking, matching = run.rankings[0], set(overview.matching(index, run).tolist())
        names = [state.name_of(name) for name in index.snapshot.whole_names(ranking.rows)]
        first = zip(names[:NEW_AMONG], ranking.rows.tolist(), strict=False)
        return {"first": [name for name, row in first if row in matching], "seen": names}

    return JSONResponse(await service.do(http, found), headers={"Cache-Control": ANEW})


def _rows(index: Index, names: list[str]) -> Rows:
    """The rows of papers by name, in order. Raises NotFound if there is none."""
    rows = index.snapshot.find(names)
    if not rows:
        raise NotFound("none of these papers is here any more; the shelf names them")
    return np.array([rows[name] for name in names if name in rows], np.int64)


async def _names(http: HttpRequest) -> list[str]:
    """The names of papers in a request, each once."""
    return list(dict.fromkeys((await values_of(http)).get("id", [])))
