"""What the service says of itself: its addresses for programs, as a page for people, and how browsers add it to their own search box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ..service import address_of, service_of
from .rendering import ANEW, TEMPLATES, page

router = APIRouter(include_in_schema=False)

Taken: TypeAlias = tuple[str, str, str, bool]
"""What an address takes: its name, what values there are, what it is, and whether it is needed."""


@router.get("/docs")
async def description(http: HttpRequest) -> Response:
    """All addresses that programs may ask, with what each takes: what `/openapi.json` says, for people."""
    described = http.app.openapi()
    sections: dict[str, list[tuple[str, str, list[Taken]]]] = {}
    for path, operations in described["paths"].items():
        for method, facts in operations.items():
            taken = list(_taken(facts, described["components"]["schemas"]))
            sections.setdefault(facts["tags"][0], []).append((f"{method.upper()} {path}", facts["description"], taken))
    return page(http, "description.html", sections=sections)


@router.get("/opensearch.xml")
async def opensearch(http: HttpRequest) -> Response:
    """The service as OpenSearch 1.1 describes it."""
    names = service_of(http).library.names
    text = TEMPLATES.get_template("opensearch.xml").render(address=address_of(http), indexes=names)
    return Response(text, media_type="application/opensearchdescription+xml", headers={"Cache-Control": ANEW})


def _taken(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Taken]:
    """The parameters of an operation, and the fields of its body."""
    for fact in operation.get("parameters", ()):
        yield fact["name"], _kind(fact["schema"]), fact.get("description", ""), fact["required"]
    if "requestBody" in operation:
        body = schemas[operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]]
        for name, fact in body["properties"].items():
            yield name, _kind(fact), fact.get("description", ""), name in body.get("required", ())


def _kind(schema: Mapping[str, Any]) -> str:
    """What values there are, in a word or by name."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(kind for part in schema["anyOf"] if (kind := _kind(part)) != "null")
    if schema.get("type") == "array":
        return f"{_kind(schema.get('items', {}))}, repeated"
    return str(schema.get("const") or schema.get("type", "value"))
