"""A service that really listens, on a port of this machine that is free, for the programs of others that talk to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from sciretrieve.service.app import make_app
from sciretrieve.service.library import Library
from sciretrieve.service.settings import ServiceSettings

Serve = Callable[..., str]


class _Server(uvicorn.Server):
    """A server in a thread, which says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()

    @property
    def address(self) -> str:
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"


@pytest.fixture(scope="module")
def serve() -> Iterator[Serve]:
    """Starts a service over the indexes in some folders, with given settings, and gives its address; it ends with the module's tests."""
    running: list[tuple[_Server, threading.Thread]] = []

    def start(*paths: Path, **settings: Any) -> str:
        library = Library(paths)
        library.warm()
        app = make_app(library, ServiceSettings(**settings), log=lambda _: None)
        server = _Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", access_log=False))
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        assert server.listens.wait(30)
        return server.address

    yield start
    for server, _ in running:
        server.should_exit = True
    for _, thread in running:
        thread.join()
