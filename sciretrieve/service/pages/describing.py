"""Descriptions of the service: its addresses for programs, as a page for people, and as a search engine for browsers."""

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
"""A parameter of an address: its name, its kind of values, its description, and whether it is required."""


@router.get("/docs")
async def description(http: HttpRequest) -> Response:
    """A page with all addresses for programs and their parameters, from `/openapi.json`."""
    described = http.app.openapi()
    sections: dict[str, list[tuple[str, str, list[Taken]]]] = {}
    for path, operations in described["paths"].items():
        for method, facts in operations.items():
            taken = list(_parameters_of(facts, described["components"]["schemas"]))
            sections.setdefault(facts["tags"][0], []).append((f"{method.upper()} {path}", facts["description"], taken))
    return page(http, "description.html", sections=sections)


@router.get("/opensearch.xml")
async def opensearch(http: HttpRequest) -> Response:
    """The service's description in OpenSearch 1.1."""
    names = service_of(http).library.names
    text = TEMPLATES.get_template("opensearch.xml").render(address=address_of(http), indexes=names)
    return Response(text, media_type="application/opensearchdescription+xml", headers={"Cache-Control": ANEW})


def _parameters_of(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Taken]:
    """The parameters of an operation, and the fields of its body."""
    for fact in operation.get("parameters", ()):
        yield fact["name"], _kind(fact["schema"]), fact.get("description", ""), fact["required"]
    if "requestBody" in operation:
        body = schemas[operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]]
        for name, fact in body["properties"].items():
            yield name, _kind(fact), fact.get("description", ""), name in body.get("required", ())


def _kind(schema: Mapping[str, Any]) -> str:
    """The kind of a schema's values, in a word or by name."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(kind for part in schema["anyOf"] if (kind := _kind(part)) != "null")
    if schema.get("type") == "array":
        return f"{_kind(schema.get('items', {}))}, repeated"
    return str(schema.get("const") or schema.get("type", "value"))
