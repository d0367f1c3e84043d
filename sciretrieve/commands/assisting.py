"""`sciretrieve mcp`: tools for assistants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..base.choices import Help
from ..base.errors import InvalidRequest, MissingExtra
from .console import Console
from .parameters import IndexPaths, QueryEncoder, chosen_index

INSTALL = 'pip install "sciretrieve[mcp]"'
PORT = 8000
SECONDS = 120.0
"""How long a tool may take: a first one may have to read a large index."""


def mcp(
    index: IndexPaths = None,
    encoder: QueryEncoder = None,
    http: Annotated[bool, Help("Serve over HTTP, at /mcp, instead of stdin and stdout.")] = False,
    host: Annotated[str | None, Help("With --http, where to listen; default: 127.0.0.1, this machine alone.", "HOST")] = None,
    port: Annotated[int | None, Help(f"With --http, the port; default: {PORT}; 0: any free one.", "N", least=0, most=65535)] = None,
    address: Annotated[
        str | None,
        Help("With --http, where others reach it, if not by this machine's own names.", "URL", advanced=True),
    ] = None,
    token_file: Annotated[Path | None, Help("With --http, answer those who have one of this file's tokens.", "FILE")] = None,
) -> None:
    """Give assistants tools to search, over the Model Context Protocol.

    An assistant, such as a chat program or an editor, starts this command and talks to it over stdin and stdout. The tools find papers,
    papers like others, abstracts, citations and entries for bibliographies. They change nothing and work offline. Papers that are added
    while it runs are found, and those that are deleted are not.
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise MissingExtra("mcp", "a server for assistants", INSTALL)
    from ..service.settings import ServiceSettings
    from ..storage.finding import several

    given = {"--host": host, "--port": port, "--address": address, "--token-file": token_file}
    if not http and (names := [name for name, value in given.items() if value is not None]):
        raise InvalidRequest(f"{names[0]} is for a server over HTTP; add --http, or leave it out")
    paths = several(index) if index else [chosen_index(None)]
    settings = ServiceSettings(seconds=SECONDS, token_file=token_file, address=address)
    console = Console()
    from ..service.assistants.running import run_http, run_stdio

    if http:
        run_http(paths, settings, host or "127.0.0.1", PORT if port is None else port, console.note, encoder)
    else:
        run_stdio(paths, settings, encoder)
