"""What a request for a page asks, and which index it asks."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request as HttpRequest

from ...base.errors import NotFound
from ...query.index import Index
from ..parameters import check_query
from ..service import Service, service_of
from .state import SHOWN, State


def state_of(http: HttpRequest) -> State:
    """What a request's address asks for; the only index need not be named. Raises InvalidRequest."""
    state = State.of(http.query_params)
    return replace(state, index="") if service_of(http).library.names == (state.index,) else state


def index_of(service: Service, state: State) -> Index:
    """The index that is asked. Raises UnknownName, and InvalidRequest, NotFound where an address asks for more than the service answers."""
    check_query(state.q, service)
    if (state.page - 1) * SHOWN >= service.settings.most:
        raise NotFound(f"there are no answers beyond the first {service.settings.most:,}; narrow the query down")
    return service.library.index(state.index or None)
