"""Services for tests: with a client in this process, or listening on this machine."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.testclient import TestClient

from sciretrieve.service.app import make_app
from sciretrieve.service.library import Library
from sciretrieve.service.listening import listen
from sciretrieve.service.running import config, trusted
from sciretrieve.service.settings import ServiceSettings


def app_of(*paths: Path, lines: list[dict[str, Any]] | None = None, **settings: Any) -> FastAPI:
    """A service over the indexes in some folders, with given settings; the lines of its access log go to a list."""
    log = [] if lines is None else lines
    return make_app(Library(paths), ServiceSettings(**settings), log=lambda line: log.append(json.loads(line)))


@contextmanager
def client_of(*paths: Path, headers: dict[str, str] | None = None, **settings: Any) -> Iterator[TestClient]:
    """A client of such a service."""
    with TestClient(app_of(*paths, **settings), raise_server_exceptions=False, headers=headers) as client:
        yield client


@contextmanager
def served(app: FastAPI, proxies: Sequence[str] = ()) -> Iterator[str]:
    """The address of an application while it is served in a thread, `http://127.0.0.1:PORT`, behind proxies; its indexes are warm."""
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(config(app, trusted(proxies)))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        while not app.state.service.library.is_ready:
            thread.join(0.01)
            assert thread.is_alive()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
