"""Pages from templates, and static files: each file is read once, and its address changes when it does."""

from __future__ import annotations

import hashlib
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, Response

from ...base.errors import InvalidRequest
from ...papers.bibliographies.addresses import addresses_of
from ...papers.bibliographies.author_names import byline
from ...papers.formulas import in_unicode
from ..failures import ClientError, Refused
from ..guards import APIS
from ..service import address_of, service_of
from .state import State, author_path, paper_path, passages_path, shelf_path
from .zotero import coins, unapi_id

router = APIRouter(include_in_schema=False)

HERE = Path(__file__).parent
FILES = {path.name: path.read_bytes() for path in sorted((HERE / "static").iterdir()) if path.is_file()}
VERSION = hashlib.sha256(b"".join(FILES.values())).hexdigest()[:12]
STATIC = f"/static/{VERSION}"
"""The folder of the files, one for all, since modules import each other."""
FOR_EVER = "public, max-age=31536000, immutable"
ANEW = "no-cache"
"""Caches must check before use."""
KEPT = ("retry-after", "allow")
"""Headers of a failure that its page also has."""
THEMES = ("dark", "light")
"""Themes that a browser's cookie may choose instead of its own setting."""
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
)
TEMPLATES.filters["in_unicode"] = in_unicode
TEMPLATES.globals.update(static=STATIC, paper_path=paper_path, author_path=author_path, shelf_path=shelf_path, passages_path=passages_path)
TEMPLATES.globals.update(addresses_of=addresses_of, byline=byline, coins=coins, unapi_id=unapi_id)
TEMPLATES.globals.update({name: TEMPLATES.get_template(f"{name}.html").module for name in ("parts", "answering")})


def page(http: HttpRequest, template: str, *, state: State | None = None, status: int = 200, **values: Any) -> HTMLResponse:
    """A page from a template. `state` fills its search box and its choice of an index."""
    service = service_of(http)
    names = service.library.names
    text = TEMPLATES.get_template(template).render(
        state=state or State(),
        theme=theme if (theme := http.cookies.get("theme")) in THEMES else "",
        indexes=names,
        papers=len(service.library.index()),
        address=address_of(http),
        **values,
    )
    return HTMLResponse(text, status, {"Cache-Control": f"private, {ANEW}"})


def wants_page(http: HttpRequest) -> bool:
    """Whether to answer with a page: the client is a browser, and the address is not for programs."""
    return "text/html" in http.headers.get("accept", "") and not http.url.path.startswith(APIS)


def failed(http: HttpRequest, failure: ClientError) -> Response:
    """A failure as a page, with the query in its box."""
    try:
        state = State.of(http.query_params)
    except InvalidRequest:
        state = State(http.query_params.get("q", ""))
    response = page(http, "refused.html", state=state, status=failure.status, error=failure.error, hint=failure.hint)
    plain = failure.response()
    for name in KEPT:
        if name in plain.headers:
            response.headers[name] = plain.headers[name]
    return response


@router.get("/static/{version}/{name}")
async def static_file(http: HttpRequest, version: str, name: str) -> Response:
    """A file that pages load."""
    return _file(http, name, FOR_EVER if version == VERSION else ANEW)


@router.get("/favicon.ico")
async def favicon(http: HttpRequest) -> Response:
    """The service's icon."""
    return _file(http, "favicon.svg", ANEW)


@router.get("/robots.txt")
async def robots(http: HttpRequest) -> Response:
    """The rules for web crawlers: no answers, of which there is no end."""
    return _file(http, "robots.txt", ANEW)


def _file(http: HttpRequest, name: str, caching: str) -> Response:
    """A file, or 304 if it is unchanged. Raises Refused."""
    content = FILES.get(name)
    if content is None:
        raise Refused(404, f"there is no file {name[:100]!r} here", "reload the page")
    tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
    headers = {"ETag": tag, "Cache-Control": caching}
    if tag in http.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=guess_type(name)[0], headers=headers)
