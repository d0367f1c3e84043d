"""Middleware for every request: gives it an id, counts and logs it, and rejects it if the client may not ask or sends too much."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .access import AccessTokens, token_of
from .failures import GONE, Refused, client_error
from .measuring import OTHER, Measures, method_of
from .rates import Rates
from .settings import ServiceSettings

LOG = logging.getLogger(__name__)
REQUEST_ID = re.compile(r"[\w.-]{1,64}")
OPEN_TO_ALL = ("/healthz", "/readyz", "/static/")
"""Paths without token and rate limit: the liveness check, and the files of pages."""
APIS = ("/graph/", "/recommendations/", "/v1/", "/metrics", "/openapi.json")
"""Paths of programs: a missing token gives 403 there, as at Semantic Scholar. Elsewhere it gives 401, and a browser asks for one."""
SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"
    ),
}
"""Headers of every answer: nothing is loaded from other sites, and no page may frame it."""


class Ledger:
    """The outermost middleware: gives each request an id, times it, and logs it."""

    def __init__(self, app: ASGIApp, measures: Measures, write: Callable[[str], None] | None = None) -> None:
        self._app, self._measures = app, measures
        self._write = write or _print

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        requested_id = Headers(scope=scope).get("x-request-id", "")
        request_id = requested_id if REQUEST_ID.fullmatch(requested_id) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        method = method_of(scope["method"])
        if method == "HEAD":  # answered like GET, without a body
            scope = {**scope, "method": "GET"}
        start, status, sent = time.perf_counter(), 0, 0

        async def noting(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                if scope["state"].get("is_unread"):  # the unread rest would be taken for the next request
                    headers["Connection"] = "close"
                headers["X-Request-ID"] = request_id
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
            elif message["type"] == "http.response.body":
                message = {**message, "body": b""} if method == "HEAD" else message
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception as error:
            failure = client_error(error)
            if not status:
                await failure.response()(scope, receive, noting)
        finally:
            seconds = time.perf_counter() - start
            route = _route_of(scope)
            self._measures.count(method, route, status or GONE, seconds)
            self._write(_line(scope, request_id, (method, route), status or GONE, sent, seconds))


class Gate:
    """Rejects clients that may not ask, ask too often, or send too much or too slowly."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings, tokens: AccessTokens | None, rates: Rates | None) -> None:
        self._app, self._settings, self._tokens, self._rates = app, settings, tokens, rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it."""
        if scope["type"] != "http" or scope["path"].startswith(OPEN_TO_ALL):
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
        except Refused as refused:
            response = client_error(refused).response()
            if refused.status == 401:
                response.headers["WWW-Authenticate"] = 'Basic realm="sciretrieve", charset="UTF-8"'
            scope["state"]["is_unread"] = True
            await response(scope, receive, send)
            return
        await self._app(scope, _Body(scope, receive, self._settings).receive, send)

    def _check(self, scope: Scope) -> None:
        """Raise Refused."""
        headers = Headers(scope=scope)
        # the parser, httptools, leaves this to its user
        if len(headers.getlist("host")) != 1 and scope["http_version"] == "1.1":
            raise Refused(400, "the request does not name one host", "send a Host header")
        client = scope["client"][0] if scope.get("client") else ""
        if self._tokens is not None:
            token = token_of(headers)
            name = None if token is None else self._tokens.name_of(token)
            if name is None:
                status = 403 if scope["path"].startswith(APIS) else 401
                what = "this service requires a token" if token is None else "this token is not known here"
                raise Refused(status, what, "send it as `Authorization: Bearer TOKEN`, as x-api-key, or as a password")
            scope["state"]["client"] = client = name
        if self._rates is not None and not self._rates.allows(client):
            raise Refused(429, f"more than {self._settings.rate:,} requests in a minute", "ask again in a few seconds")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._settings.body:
            raise Refused(400, f"the request is longer than {self._settings.body:,} bytes", "send less at a time")


class _Body:
    """The body of a request as it arrives, limited in length and time."""

    def __init__(self, scope: Scope, receive: Receive, settings: ServiceSettings) -> None:
        self._scope, self._receive, self._settings = scope, receive, settings
        self._length, self._is_whole = 0, False
        self._end = asyncio.get_running_loop().time() + settings.seconds

    async def receive(self) -> Message:
        """The next part. Raises Refused."""
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError as error:
            self._scope["state"]["is_unread"] = True
            raise Refused(400, f"the request did not come within {self._settings.seconds:g} seconds", "send it faster") from error
        self._length += len(message.get("body", b""))
        if self._length > self._settings.body:
            self._scope["state"]["is_unread"] = True
            raise Refused(400, f"the request is longer than {self._settings.body:,} bytes", "send less at a time")
        self._is_whole = not message.get("more_body", False)
        return message


def _route_of(scope: Scope) -> str:
    """The route of a request, such as /v1/papers/{name}, without the client's values."""
    if (route := scope.get("route")) is None:  # rejected before it reached a route
        route = next((each for each in scope["app"].routes if each.matches(scope)[0] is not Match.NONE), None)
    return getattr(route, "path_format", OTHER)


def _line(scope: Scope, request_id: str, asked: tuple[str, str], status: int, sent: int, seconds: float) -> str:
    """The line of a request in the access log: method and route, without values, which are private."""
    facts = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "id": request_id,
        "client": scope.get("state", {}).get("client") or (scope["client"][0] if scope.get("client") else None),
        "method": asked[0],
        "route": asked[1],
        "status": status,
        "bytes": sent,
        "ms": round(1000 * seconds, 1),
    }
    return json.dumps(facts, ensure_ascii=True)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
