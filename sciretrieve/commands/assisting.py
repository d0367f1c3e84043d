"""`sciretrieve mcp` and `mcp http`: tools for assistants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from ..base.choices import Help
from ..base.extras import need
from .console import Console
from .parameters import IndexPaths, QueryEncoder, chosen_index

SECONDS = 120.0
"""The time limit of a tool: the first call may have to read a large index."""


def mcp(index: IndexPaths = None, encoder: QueryEncoder = None) -> None:
    """Give assistants tools to search, over the Model Context Protocol.

    An assistant, such as a chat program or an editor, starts this command and talks to it over stdin and stdout. The tools find and
    cite papers, work offline and change nothing. They see changes of the index.
    """
    paths = _served(index)
    from ..service.assistants.running import run_stdio
    from ..service.settings import ServiceSettings

    Console()
    run_stdio(paths, ServiceSettings(seconds=SECONDS), encoder)


def http(
    index: IndexPaths = None,
    host: Annotated[str, Help("Where to listen; 0.0.0.0 for all of the network.", "ADDRESS")] = "127.0.0.1",
    port: Annotated[int, Help("At which port; 0 for any that is free.", "N", least=0, most=65535)] = 8000,
    address: Annotated[str | None, Help("Where others reach it, if not by this machine's own names.", "URL", setting=True)] = None,
    token_file: Annotated[Path | None, Help("Answer only tokens whose hash is in this file.", "FILE")] = None,
    encoder: QueryEncoder = None,
) -> None:
    """Give the same tools over HTTP, at /mcp."""
    paths = _served(index)
    from ..service.assistants.running import run_http
    from ..service.settings import ServiceSettings

    run_http(paths, ServiceSettings(seconds=SECONDS, token_file=token_file, address=address), host, port, Console().note, encoder)


def _served(index: Sequence[str] | None) -> list[Path]:
    """The indexes to serve. Raises MissingExtra without the protocol's package, and as `several`."""
    need("mcp", "a server for assistants")
    from ..storage.finding import several

    return several(index) if index else [chosen_index(None)]
