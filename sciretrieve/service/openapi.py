"""The service's OpenAPI description, from which programs generate clients: only statuses that are really sent, in schemas that generators
can read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from ..answers.schemas import schema
from .failures import Failure
from .own.schemas import COMPONENTS, OWN

DEFINITIONS = "#/$defs/"
SCHEMES: Mapping[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A token, where the service has tokens."},
    "key": {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "The same, as clients of Semantic Scholar send it."},
    "password": {"type": "http", "scheme": "basic", "description": "The same, as browsers send it, with any name."},
}
"""The ways to send a token."""
FAILURES: Mapping[int | str, dict[str, Any]] = {
    status: {"model": Failure, "description": about}
    for status, about in {
        400: "The request cannot be answered as it stands.",
        403: "The token is missing or unknown, where the service has tokens.",
        404: "There is no such paper, author or address.",
        429: "Too many requests; ask again after the seconds in Retry-After.",
        500: "Something went wrong in the service.",
        504: "The answer took too long.",
    }.items()
}
"""The failures of every request except those of `OPEN`; 404 only if something is named."""
OPEN = ("/healthz", "/readyz")
NAMELESS = ("/v1/count", "/v1/facets", "/v1/indexes", "/v1/strategies", "/metrics", "/batch", "/autocomplete", "/search", "/bulk")
"""Ends of addresses without names that may be unknown; our own search does have them, in its liked papers."""
BODIES = ("Search", "Similar", "PassageSearch", "Export", "PaperIds", "AuthorIds", "Examples")
"""The names of bodies."""
EXAMPLES: Mapping[str, Any] = {
    "q": "graph neural networks",
    "query": "graph neural networks",
    "id": ["10.48550/arXiv.1706.03762"],
    "ids": ["DOI:10.48550/arXiv.1706.03762", "ARXIV:1810.04805"],
    "paper_id": "DOI:10.48550/arXiv.1706.03762",
    "author_id": "ada-lovelace",
    "fields": ("title,year", "name,paperCount", "snippet.text"),
    "within": ["10.48550/arXiv.1706.03762"],
    "filter": ["year >= 2018"],
    "facets": ["year"],
    "column": ["year"],
    "year": "2016-2020",
    "publicationDateOrYear": "2016-03-05:2020-06-06",
    "venue": "Nature",
    "fieldsOfStudy": "Computer Science",
    "publicationTypes": "Review",
    "minCitationCount": 10,
    "since": 2018,
    "until": 2020,
    "sort": "citationCount:desc",
    "positivePaperIds": ["DOI:10.48550/arXiv.1706.03762"],
    "negativePaperIds": ["ARXIV:1810.04805"],
}
"""Example values of parameters and body fields, by name; of several the first that fits."""


def describe(app: FastAPI, *, needs_token: bool) -> None:
    """Add to an application's description the published schema's definitions, which responses refer to, and facts that FastAPI lacks."""
    generate = app.openapi

    def described() -> dict[str, Any]:
        value = generate()
        components = value.setdefault("components", {})
        schemas = components.setdefault("schemas", {})
        for name, definition in {**_readable(schema("answer")["$defs"]), **OWN}.items():
            schemas.setdefault(name, definition)
        for name in ("HTTPValidationError", "ValidationError"):  # never sent
            schemas.pop(name, None)
        components["securitySchemes"] = dict(SCHEMES)
        tokens: list[dict[str, list[str]]] = [{name: []} for name in SCHEMES]
        value["security"] = tokens if needs_token else [{}, *tokens]
        value["servers"] = [{"url": "/", "description": "This service."}]
        for path, operation in ((path, each) for path, operations in value["paths"].items() for each in operations.values()):
            responses = operation["responses"]
            for status in _not_sent(path) & {*responses}:
                del responses[status]
            if path in OPEN:
                operation["security"] = []
            for parameter in operation.get("parameters", ()):
                if (example := _example(parameter["name"], parameter["schema"])) is not None:
                    parameter["example"] = example
        for definition in schemas.values():
            for name, fact in definition.get("properties", {}).items():
                if definition.get("title") in BODIES and (example := _example(name, fact)) is not None:
                    fact["examples"] = [example]
        return value

    vars(app)["openapi"] = described


def _not_sent(path: str) -> set[str]:
    """Statuses that an operation never sends, although FastAPI or the shared responses declare them."""
    if path in OPEN:
        return {"422", *map(str, FAILURES)}
    names = path == "/v1/search" or not path.endswith(NAMELESS)
    return {"422"} if names else {"422", "404"}


def _example(name: str, kind: Mapping[str, Any]) -> Any:
    """An example of a parameter or field, if there is one; a list of it for lists."""
    values = EXAMPLES.get(name)
    for value in values if isinstance(values, tuple) else (values,):
        chosen = value[0] if isinstance(value, list) and kind.get("type") == "string" else value
        if "enum" not in str(kind) and ("pattern" not in kind or re.search(kind["pattern"], str(chosen))):
            return chosen
    return None


def _readable(value: Any) -> Any:
    """A part of a schema whose references point to an application's components; the length of a list replaces `items: false`, which client
    generators cannot read.
    """
    if isinstance(value, dict):
        if value.get("items") is False:
            value = {**value, "maxItems": len(value["prefixItems"])}
            del value["items"]
        return {key: _readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_readable(item) for item in value]
    return value.replace(DEFINITIONS, COMPONENTS) if isinstance(value, str) and value.startswith(DEFINITIONS) else value
