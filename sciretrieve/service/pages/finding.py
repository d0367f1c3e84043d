"""How browsers find the service: its OpenSearch description, by which they add it to their own search box."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ..service import address_of, service_of
from .rendering import ANEW, TEMPLATES

router = APIRouter(include_in_schema=False)


@router.get("/opensearch.xml")
async def opensearch(http: HttpRequest) -> Response:
    """The service as OpenSearch 1.1 describes it."""
    names = service_of(http).library.names
    text = TEMPLATES.get_template("opensearch.xml").render(address=address_of(http), indexes=names)
    return Response(text, media_type="application/opensearchdescription+xml", headers={"Cache-Control": ANEW})
