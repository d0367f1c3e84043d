"""Runs the server: over the standard streams of a process that an assistant starts, or over HTTP."""

from __future__ import annotations

import os
import signal
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import TextIO
from urllib.parse import urlsplit

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ...base.errors import InvalidRequest, WordsAlone
from ..access import AccessTokens, reread_at_hangup, token_of
from ..discretion import be_discreet
from ..library import Library
from ..listening import listen
from ..settings import ServiceSettings
from .server import Server, make_server

PATH = "/mcp"
"""The server's path over HTTP."""
LOCAL = ("127.0.0.1", "localhost", "[::1]")
EVERYWHERE = ("0.0.0.0", "::", "")
"""Hosts that mean all addresses of a machine."""
LEAVE = 2
"""Seconds that open connections have to end."""
INTERRUPTED = 130


def run_stdio(paths: Sequence[Path], settings: ServiceSettings, encoder: str | None = None) -> None:
    """Serve the indexes over stdin and stdout until stdin ends. Only the protocol writes to stdout, even if other code prints.

    Ctrl-C ends the process. Raises as `Library`.
    """
    try:
        with _streams() as (stdin, stdout):
            server = _opened(paths, settings, encoder)
            # a thread waits for the next line of stdin, and would keep an interrupted process alive until then
            signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
            anyio.run(server.serve, stdin, stdout)
    except* BrokenPipeError:  # the client no longer reads
        pass


def run_http(
    paths: Sequence[Path], settings: ServiceSettings, host: str, port: int, note: Callable[[str], None], encoder: str | None = None
) -> None:
    """Serve the indexes over streamable HTTP until the process is told to stop.

    Args:
        paths: the indexes.
        settings: the settings.
        host, port: the address to listen at; port 0 means any free port.
        note: called with each line for the user at the terminal.
        encoder: the encoder of queries.

    Raises as `Library`, `AccessTokens` and `listen`.
    """
    tokens = AccessTokens(settings.token_file) if settings.token_file else None
    security = _security(host, settings.address)
    server = _opened(paths, settings, encoder)
    app: ASGIApp = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, max_request_body_size=settings.body)
    app = app if tokens is None else Door(app, tokens)
    reread_at_hangup(tokens)
    with listen(host, port) as listening:
        name = f"[{host}]" if ":" in host else host
        note(f"the address for assistants is http://{name}:{listening.getsockname()[1]}{PATH}")
        if tokens is None and host not in (*LOCAL, "::1"):
            note("anyone who reaches it can search; --token-file requires a token")
        config = uvicorn.Config(
            app, access_log=False, log_config=None, proxy_headers=False, server_header=False, log_level="warning",
            timeout_graceful_shutdown=LEAVE,
        )  # fmt: skip
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


class Door:
    """Rejects requests without a valid token."""

    def __init__(self, app: ASGIApp, tokens: AccessTokens) -> None:
        self._app, self._tokens = app, tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it."""
        if scope["type"] == "http":
            token = token_of(Headers(scope=scope))
            if token is None or self._tokens.name_of(token) is None:
                error = {"error": "this server requires a token; send it as `Authorization: Bearer TOKEN`"}
                await JSONResponse(error, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _opened(paths: Sequence[Path], settings: ServiceSettings, encoder: str | None) -> Server:
    """A server over indexes, which are warmed up while it answers its first requests."""
    be_discreet()
    warnings.simplefilter("ignore", WordsAlone)  # answers report it themselves
    library = Library(paths, encoder=encoder)
    Thread(target=library.warm, daemon=True).start()
    return make_server(library, settings)


@contextmanager
def _streams() -> Iterator[tuple[TextIO, TextIO]]:
    """The standard streams for the protocol alone: other code reads nothing, and prints to stderr.

    This holds for the rest of the process, since buffered output may be written at its end.
    """
    stdin, stdout = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    with os.fdopen(stdin, encoding="utf-8", errors="replace") as reading, os.fdopen(stdout, "w", encoding="utf-8", newline="\n") as writing:
        yield reading, writing


def _security(host: str, address: str | None) -> TransportSecuritySettings:
    """The host names that browsers may use for this machine, so that no page of another site can reach it through a name of its own.

    Raises InvalidRequest for an invalid address.
    """
    names = {*LOCAL, socket.gethostname(), f"[{host}]" if ":" in host else host} - {*EVERYWHERE, "[::]"}
    origins = {f"{scheme}://{name}{port}" for scheme in ("http", "https") for name in names for port in ("", ":*")}
    hosts = {f"{name}{port}" for name in names for port in ("", ":*")}
    if address is not None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InvalidRequest(f"{address!r} is not an address; write it as in https://papers.example.org")
        hosts.add(parts.netloc)
        origins.add(f"{parts.scheme}://{parts.netloc}")
    return TransportSecuritySettings(allowed_hosts=sorted(hosts), allowed_origins=sorted(origins))
