"""The JSON Schema of what answers, runs, hits, papers and a library's health are as JSON, in Python and on the command line."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from ...base.errors import UnknownName

NAMES = ("paper", "hit", "run", "answer", "count", "health")


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one kind of value; whoever validates against it needs no other file.

    Args:
        name: "paper", "hit", "run" or "answer": what `to_dict` of these gives. "hit" is a line of `--format jsonl`, "answer" what
            `--format json` prints, both without `--fields`. Or "count", what `count --format json` prints; or "health", what
            `info health --format json` prints.

    Raises UnknownName for another name.
    """
    if name not in NAMES:
        raise UnknownName("schema", name, NAMES)
    whole: dict[str, Any] = json.loads((files(__package__) / "schema-1.json").read_text(encoding="utf-8"))
    return whole | {"$id": f"{whole['$id']}/{name}", "$ref": f"#/$defs/{name}"}
