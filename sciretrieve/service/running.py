"""Running a service: uvicorn with its limits, in one process or several, until it is told to stop."""

from __future__ import annotations

from pathlib import Path

import uvicorn

from .app import make_app
from .library import Library
from .settings import ServiceSettings


def run(paths: list[Path], settings: ServiceSettings, host: str, port: int) -> None:
    """Run a service until it is told to stop."""
    library = Library(paths)
    uvicorn.run(make_app(library, settings), host=host, port=port, access_log=False, server_header=False, log_level="warning")
