"""The service as an application: its routes, its middleware, its start and its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ..base.errors import SciretrieveError
from ..protocols import Reranker
from . import own, pages, scholar, watching
from .access import AccessTokens
from .desk import AT_A_TIME, Desk
from .failures import ClientGone, Refused, client_error
from .guards import Gate, Ledger
from .library import Library
from .measuring import Measures
from .openapi import FAILURES, describe
from .rates import Rates
from .service import Service
from .settings import ServiceSettings

ROUTERS = (*own.ROUTERS, *scholar.ROUTERS, *pages.ROUTERS, watching.router)
"""All routes of the service."""


def make_app(
    library: Library,
    settings: ServiceSettings,
    *,
    reranker: Reranker | None = None,
    counts: Path | None = None,
    log: Callable[[str], None] | None = None,
) -> FastAPI:
    """The application of a service over some indexes.

    Args:
        library: the indexes, which are closed when the application ends.
        settings: the settings.
        reranker: the reranker for requests with `rerank`.
        counts: a file in which the processes of one service count clients' requests together, see `rates`; by default this process counts
            alone.
        log: called with each line of the access log; by default it is printed to stdout.

    Raises NotFound, InvalidRequest for an unreadable token file.
    """
    measures = Measures()
    service = Service(settings, library, Desk(settings, AT_A_TIME if counts is None else 1), reranker)
    app = FastAPI(
        title="sciretrieve",
        version=version("sciretrieve"),
        summary="Search scholarly papers by meaning and by words.",
        lifespan=_lifespan,
        responses=dict(FAILURES),
        generate_unique_id_function=lambda route: route.name,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service, app.state.measures = service, measures
    measures.waiting(lambda: service.desk.waiting)
    for router in ROUTERS:
        app.include_router(router)
    describe(app, needs_token=settings.token_file is not None)
    for kind in (SciretrieveError, Refused, ClientGone, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _failed)
    tokens = AccessTokens(settings.token_file) if settings.token_file else None
    rates = Rates(settings.rate, counts) if settings.rate else None
    app.state.tokens = tokens
    app.add_middleware(Gate, settings=settings, tokens=tokens, rates=rates)
    app.add_middleware(Ledger, measures=measures, write=log)
    return app


async def _failed(http: HttpRequest, error: Exception) -> Response:
    """The response to a failed request."""
    failure = client_error(error, http.app.state.service.library.public)
    if failure.status == HTTPStatus.METHOD_NOT_ALLOWED:
        failure = replace(failure, headers={"Allow": _methods(http.url.path)})
    return pages.failed(http, failure) if pages.wants_page(http) else failure.response()


def _methods(path: str) -> str:
    """All methods of an address, gathered from its routes."""
    routes = (route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute))
    methods = {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
    return ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods))


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Warm the indexes up, follow their changes while the service runs, and close them."""
    service: Service = app.state.service
    following = asyncio.create_task(_follow(service, app.state.measures))
    try:
        yield
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        await service.desk.close()
        service.library.close()


async def _follow(service: Service, measures: Measures) -> None:
    library = service.library
    while True:
        if not library.is_ready:
            await asyncio.to_thread(library.warm)
        for name in library.names:
            index = library.index(name)
            measures.index(name, len(index), index.snapshot.manifest.generation)
        await asyncio.sleep(service.settings.following)
        await asyncio.to_thread(library.follow)
