"""`sciretrieve serve`: a service over indexes, with a search page; and `serve token`, which makes access tokens."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

from ..base.choices import Help
from ..base.extras import EXTRAS, need
from ..options import Rerank
from .console import Console, say
from .parameters import IndexPaths, QueryEncoder, argument, chosen_index

LOCAL = ("127.0.0.1", "localhost", "::1")


def serve(
    index: IndexPaths = None,
    host: Annotated[str, Help("Where to listen; 0.0.0.0 for all of the network.", "ADDRESS")] = "127.0.0.1",
    port: Annotated[int, Help("At which port; 0 for any that is free.", "N", least=0, most=65535)] = 8080,
    workers: Annotated[int, Help("Processes that share the work.", "N", least=1, most=64, setting=True)] = 1,
    token_file: Annotated[Path | None, Help("Answer only tokens whose hash is in this file.", "FILE")] = None,
    rate: Annotated[int | None, Help("Requests a minute of one client; default: no limit.", "N", least=1, setting=True)] = None,
    proxy: Annotated[list[str] | None, Help("A trusted proxy, or a network of them.", "ADDRESS")] = None,
    timeout: Annotated[float, Help("Seconds that an answer may take.", "SECONDS", least=0.1, setting=True)] = 30.0,
    in_browser: Annotated[bool, Help("Open the search page in the browser.", name="open")] = False,
    rerank: Rerank = None,
    encoder: QueryEncoder = None,
) -> None:
    """Serve a search page, Semantic Scholar's API and our own over HTTP.

    / is the page, /v1 our API, /graph/v1 and /recommendations/v1 Semantic Scholar's; /openapi.json describes all. Several indexes
    answer as one where none is named. Changes of indexes are seen in seconds; HTTP cannot change them. stdout has a line of JSON for
    each request. Ctrl-C ends it.
    """
    _check_extra()
    from ..service import running, settings

    console = Console()
    if host not in LOCAL and token_file is None:
        console.note(f"anyone who reaches {host}, port {port}, can search these indexes; --token-file requires a token")
    from ..storage.finding import several

    paths = several(index) if index else [chosen_index(None)]

    def listens(port: int) -> None:
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        console.note(f"{' + '.join(path.resolve().name for path in paths)} at {address}; Ctrl-C ends it")
        if in_browser:
            webbrowser.open(address)

    running.serve(
        paths,
        settings.ServiceSettings(rate=rate, seconds=timeout, token_file=token_file, proxies=tuple(proxy or ())),
        host=host,
        port=port,
        workers=workers,
        encoder=encoder,
        reranker=rerank,
        listens=listens,
    )


def token(
    name: Annotated[str, argument("NAME", "Whose token it is.")],
    file: Annotated[Path, argument("FILE", "The --token-file that gets its hash.")],
) -> None:
    """Print a new token, only this once, and add its hash to a token file."""
    _check_extra()
    from ..service import access

    say([access.new_token(file, name)])
    Console().note(f"the token of {name}, which is shown this once; send it as `Authorization: Bearer TOKEN`")


def _check_extra() -> None:
    """Raise MissingExtra if the service's libraries are not installed."""
    for module in EXTRAS["service"]:
        need(module, "`sciretrieve serve`")
