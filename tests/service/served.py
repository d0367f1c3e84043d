"""A service that listens on this machine, for tests of what clients and connections do."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from sciretrieve.service.listening import listen
from sciretrieve.service.running import config, trusted


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
