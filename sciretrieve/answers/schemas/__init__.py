"""JSON Schemas of answers, runs, hits, papers, counts, health and suggestions, in Python and on the command line."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from ...base.arguments import checked
from ...base.errors import UnknownName

NAMES = ("paper", "passage", "hit", "run", "answer", "count", "health", "suggestions")


@checked
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one kind of value. It refers to no other file.

    Args:
        name: "paper", "passage", "hit", "run" or "answer" for the result of their `to_dict`; without `--fields`, a "hit" is also a line of
            `--format jsonl`, and an "answer" the output of `--format json`. Or "count" for the output of `count --format json`, or "health"
            for that of `info health --format json`, or "suggestions" for that of `suggest --format json`.

    Raises UnknownName for another name.

    >>> sr.schema("hit")["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    if name not in NAMES:
        raise UnknownName("schema", name, NAMES)
    whole: dict[str, Any] = json.loads((files(__package__) / "schema-1.json").read_text(encoding="utf-8"))
    return whole | {"$id": f"{whole['$id']}/{name}", "$ref": f"#/$defs/{name}"}
