"""`sciretrieve serve`: a service over indexes, with a search page."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InvalidRequest, MissingExtra
from ..options import Rerank
from .console import Console, say
from .parameters import Debug, IndexPaths, QueryEncoder, Quiet, chosen_index
from .signatures import takes_options

LOCAL = ("127.0.0.1", "localhost", "::1")


@takes_options
def serve(
    index: IndexPaths = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; 0.0.0.0 for all of the network.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="At which port; 0 for any that is free.")] = 8080,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, max=64, help="Processes that share the work.")] = 1,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", metavar="FILE", help="Answer only those whose token has its hash in this file.")
    ] = None,
    new_token: Annotated[
        str | None,
        typer.Option("--new-token", metavar="NAME", help="Print a new token, add its hash to the token file under that name, and stop."),
    ] = None,
    rate: Annotated[
        int | None, typer.Option("--rate", metavar="N", min=1, help="Requests a minute of one client; default: as many as it likes.")
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option("--proxy", metavar="ADDRESS", help="A proxy in front, or a network of them, that is believed whom it asks for."),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="How long an answer may take before it is given up.")
    ] = 30.0,
    in_browser: Annotated[bool, typer.Option("--open", help="Open the search page in the browser.")] = False,
    rerank: Rerank = None,
    encoder: QueryEncoder = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Serve a search page, Semantic Scholar's API and our own over HTTP.

    Several indexes answer as one where none is named. The page is at the address itself, our own API below /v1, Semantic Scholar's
    below /graph/v1 and /recommendations/v1, all described in /openapi.json. What is added to the indexes meanwhile is found a few
    seconds later. Nothing can be changed over HTTP. stdout has a line of JSON for each request; Ctrl-C ends it.
    """
    try:
        from ..service import access, running, settings
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "`sciretrieve serve`", "pip install 'sciretrieve[service]'") from error
    console = Console(quiet)
    if new_token is not None:
        if token_file is None:
            raise InvalidRequest("the hash of a token goes into a file; name it with --token-file")
        say([access.new_token(token_file, new_token)])
        console.note(f"the token of {new_token}, which is shown this once; send it as `Authorization: Bearer TOKEN`")
        return
    if host not in LOCAL and token_file is None:
        console.note(f"whoever reaches {host}, port {port}, may search these indexes; --token-file asks for a token")
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
