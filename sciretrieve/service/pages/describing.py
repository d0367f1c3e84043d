"""The service's addresses for programs, as a page: what `/openapi.json` says, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from .rendering import page

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """What an address takes."""

    name: str
    kind: str
    about: str
    required: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """What a method does at an address."""

    method: str
    path: str
    about: str
    parameters: tuple[Parameter, ...]


@router.get("/docs")
async def description(http: HttpRequest) -> Response:
    """All addresses that programs may ask, with what each takes."""
    sections: dict[str, list[Operation]] = {}
    for tag, operation in _operations(http.app.openapi()):
        sections.setdefault(tag, []).append(operation)
    return page(http, "description.html", sections=sections)


def _operations(description: Mapping[str, Any]) -> Iterator[tuple[str, Operation]]:
    """The operations of an OpenAPI description, each with the part that it belongs to."""
    schemas = description["components"]["schemas"]
    for path, methods in description["paths"].items():
        for method, facts in methods.items():
            parameters = [
                Parameter(fact["name"], _kind(fact.get("schema", {})), _about(fact), fact.get("required", False))
                for fact in facts.get("parameters", [])
            ]
            if content := facts.get("requestBody", {}).get("content", {}).get("application/json"):
                parameters += _fields(content["schema"], schemas)
            tag = (facts.get("tags") or ["other"])[0]
            yield tag, Operation(method.upper(), path, facts.get("description") or facts.get("summary") or "", tuple(parameters))


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Parameter]:
    """The fields of a body."""
    found = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    for name, fact in found.get("properties", {}).items():
        yield Parameter(name, _kind(fact), _about(fact), name in found.get("required", ()))


def _about(fact: Mapping[str, Any]) -> str:
    return str(fact.get("description") or fact.get("schema", {}).get("description") or "")


def _kind(schema: Mapping[str, Any]) -> str:
    """What values there are, in a word or by name."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if "anyOf" in schema:
        return " | ".join(kind for part in schema["anyOf"] if (kind := _kind(part)) != "null")
    if schema.get("type") == "array":
        return f"{_kind(schema.get('items', {}))}, repeated"
    return str(schema.get("type", "value"))
