"""Failures as pages, with the same words as programs are told."""

from __future__ import annotations

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ..failures import ToldError
from ..guards import APIS
from .rendering import page
from .state import State

KEPT = ("retry-after", "allow")
"""Headers of a failure that are those of its page, too."""


def wants_page(http: HttpRequest) -> bool:
    """Whether who asks reads pages: a browser, and not at an address where programs ask."""
    return "text/html" in http.headers.get("accept", "") and not http.url.path.startswith(APIS)


def failed(http: HttpRequest, failure: ToldError, state: State | None = None) -> Response:
    """A failure as a page, with what was asked in its box."""
    asked = state or State(http.query_params.get("q", ""))
    response = page(http, "refused.html", state=asked, status=failure.status, error=failure.error, hint=failure.hint)
    plain = failure.response()
    for name in KEPT:
        if name in plain.headers:
            response.headers[name] = plain.headers[name]
    return response
