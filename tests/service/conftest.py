"""A service that really listens, on a port of this machine that is free, for the programs of others that talk to it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.service.served import app_of, served

Serve = Callable[..., str]


@pytest.fixture(scope="module")
def serve() -> Iterator[Serve]:
    """Starts a service over the indexes in some folders, with given settings, and gives its address; it ends with the module's tests."""
    with ExitStack() as services:

        def start(*paths: Path, **settings: Any) -> str:
            return services.enter_context(served(app_of(*paths, **settings)))

        yield start
