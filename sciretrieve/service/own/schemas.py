"""The response models of our own API, beside the published JSON Schema, and a function that declares a route's response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COMPONENTS = "#/components/schemas/"
NAME, TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
WORK = {
    "description": "A paper of the index; or, if `id` is null, a reference to a work outside it.",
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": ["string", "null"]},
        "title": NAME,
        "year": {"type": ["integer", "null"]},
        "names": TEXTS,
        "reference": NAME,
    },
    "additionalProperties": False,
}
OWN: Mapping[str, Any] = {
    "profile": {
        "description": "All facts of a paper in an index.",
        "type": "object",
        "required": ["id", "title", "year", "venue", "authors", "abstract", "doi", "url", "addresses", "extra", "also", "similar"],
        "properties": {
            "id": NAME,
            "title": NAME,
            "year": {"type": ["integer", "null"]},
            "venue": {"type": ["string", "null"]},
            "authors": TEXTS,
            "abstract": NAME,
            "doi": {"type": ["string", "null"]},
            "url": {"type": ["string", "null"]},
            "addresses": {"description": "Its web addresses.", "type": "object", "additionalProperties": NAME},
            "extra": {"description": "All other columns of the corpus.", "type": "object"},
            "also": {"description": "The ids of its near-duplicates.", **TEXTS},
            "similar": {"type": "array", "items": {"$ref": f"{COMPONENTS}hit"}},
            "cites": {"type": "array", "items": WORK},
            "cited_by": {"type": "array", "items": WORK},
            "sections": {
                "description": "The heads of its full text's sections, each with the page on which it begins.",
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["head", "page"],
                    "properties": {"head": NAME, "page": {"type": ["integer", "null"]}},
                    "additionalProperties": False,
                },
            },
        },
        "additionalProperties": False,
    },
    "passages": {
        "description": "Passages of full texts, best first.",
        "type": "object",
        "required": ["schema", "query", "passages"],
        "properties": {
            "schema": {"type": "integer"},
            "query": NAME,
            "passages": {"type": "array", "items": {"$ref": f"{COMPONENTS}passage"}},
        },
        "additionalProperties": False,
    },
    "absence": {
        "description": "Where an expected paper was lost.",
        "type": "object",
        "required": ["explanation", "ranks", "failed", "remedies"],
        "properties": {
            "explanation": {"$ref": f"{COMPONENTS}explanation"},
            "ranks": {"description": "Its rank in each mode.", "type": "object", "additionalProperties": {"type": ["integer", "null"]}},
            "failed": {"description": "The conditions that it fails.", **TEXTS},
            "remedies": {"description": "What would bring it in, the smallest change first.", **TEXTS},
        },
        "additionalProperties": False,
    },
}


def returns(name: str, *, listed: bool = False) -> dict[int | str, dict[str, Any]]:
    """The description of a response of a published definition, or of a list of it."""
    reference: dict[str, Any] = {"$ref": COMPONENTS + name}
    value = {"type": "array", "items": reference} if listed else reference
    return {200: {"description": "OK", "content": {"application/json": {"schema": value}}}}
