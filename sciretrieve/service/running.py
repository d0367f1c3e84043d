"""Runs a service until it is told to stop: address, processes, and time limits for slow clients."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from ..base import system
from ..base.errors import InvalidRequest, WordsAlone
from ..query.ranking.reranking import open_reranker
from .access import reread_at_hangup
from .app import make_app
from .discretion import be_discreet
from .library import Library
from .listening import divided, listen
from .measuring import SHARED
from .rates import make_table
from .settings import ServiceSettings

LOG = logging.getLogger(__name__)
HEAD_SECONDS = 10.0
"""Seconds within which the head of a request must arrive."""
LONGEST_HEAD = 1 << 16
"""The most bytes of an incomplete head that are kept."""
IDLE_SECONDS = 75
"""Seconds that a connection may be idle: longer than a proxy in front allows, so that the proxy closes it."""
YOUNG = 20_000
"""New objects before Python looks for garbage among them: requests in progress have thousands, none of which is garbage."""


class Patient(HttpToolsProtocol):
    """A connection that closes if a request takes too long to begin, so that slow senders hold nothing for ever, or has too long a head."""

    _beginning: asyncio.TimerHandle | None = None
    _awaits_head = True
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has disconnected."""
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The client has sent data."""
        super().data_received(data)
        if not self._awaits_head or self.transport.is_closing():
            return
        self._head += len(data)
        if self._head > LONGEST_HEAD:
            self.send_400_response("The head of the request is too long.")
        else:
            self._watch()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._awaits_head, self._head = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head of a request has arrived."""
        self._awaits_head = False
        self._unwatch()
        super().on_headers_complete()

    def _watch(self) -> None:
        """Start the timer for a request that has not begun, or whose head is incomplete."""
        if self._beginning is None:
            self._beginning = self.loop.call_later(HEAD_SECONDS, self._end)

    def _unwatch(self) -> None:
        if self._beginning is not None:
            self._beginning.cancel()
            self._beginning = None

    def _end(self) -> None:
        self._beginning = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
        else:  # the next request's head may wait for this one's answer
            self._watch()


def serve(
    paths: Sequence[Path],
    settings: ServiceSettings,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    workers: int = 1,
    encoder: str | None = None,
    reranker: str | None = None,
    listens: Callable[[int], None] | None = None,
) -> None:
    """Answer requests until SIGINT or SIGTERM; requests in progress are finished.

    Args:
        paths: the indexes.
        settings: the service's settings.
        host, port: the address to listen at.
        workers: the number of processes. Each has its own encoder and computes on its share of the cores, unless OMP_NUM_THREADS is set;
            all share one copy of the indexes.
        encoder: the encoder of queries, see `open_index`.
        reranker: the reranker for requests with `rerank`, as for `open_reranker`.
        listens: called with the port once the service listens.

    Raises as `listen`, `open_index`, `open_many`, `open_reranker` and `access.AccessTokens`.
    """
    make = partial(application, paths, settings, encoder, reranker)
    proxies = trusted(settings.proxies)
    app = make()  # errors appear before anything listens
    listening = listen(host, port)
    if listens is not None:
        listens(listening.getsockname()[1])
    system.allow_files()
    if workers == 1:
        uvicorn.Server(config(app, proxies)).run([listening])
        return
    app.state.service.library.close()
    with tempfile.TemporaryDirectory(prefix="sciretrieve-counts-", ignore_cleanup_errors=True) as counts:
        os.environ[SHARED] = counts
        # threads of one process would wait for cores on which another computes
        os.environ.setdefault("OMP_NUM_THREADS", str(max(system.threads() // workers, 1)))
        started = partial(make, make_table(Path(counts) / "rates"))
        with closing(divided(listening)) as shared:
            _Processes(config(started, proxies, factory=True, workers=workers), [shared]).run()


class _Processes(Multiprocess):
    """The processes of one service; on SIGHUP each reloads the tokens."""

    def handle_hup(self) -> None:
        """Handle SIGHUP."""
        for process in self.processes:
            if process.pid is not None:
                system.hang_up(process.pid)


def trusted(proxies: Sequence[str]) -> list[str]:
    """Addresses and networks of proxies in one form. Raises InvalidRequest for invalid ones."""
    try:
        return [str(ip_network(proxy, strict=False)) for proxy in proxies]
    except ValueError as error:
        raise InvalidRequest(f"{error}; give a proxy's address, such as 127.0.0.1, or a network, such as 10.0.0.0/8") from error


def application(
    paths: Sequence[Path], settings: ServiceSettings, encoder: str | None, reranker: str | None, counts: Path | None = None
) -> FastAPI:
    """The application of `serve`, which counts clients' requests in a file shared with other processes. Raises as `serve`."""
    be_discreet()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    warnings.simplefilter("ignore", WordsAlone)  # answers report it themselves
    chosen = None if reranker is None else open_reranker(reranker, device="cpu")
    app = make_app(Library(paths, encoder=encoder), settings, reranker=chosen, counts=counts)
    reread_at_hangup(app.state.tokens)
    return app


def config(app: FastAPI | Callable[[], FastAPI], proxies: Sequence[str] = (), **others: Any) -> uvicorn.Config:
    """uvicorn's configuration for an application behind some proxies, see `trusted`; only these may say for which client they ask."""
    return uvicorn.Config(
        app,
        http=Patient,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        server_header=False,
        log_level="warning",
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=30,
        timeout_worker_healthcheck=60,
        **others,
    )
