"""Receipts of evaluations: the request, where its files were, and hashes of all that figures depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest, NotFound
from ..encoders.resolving import is_path
from ..files.writing import describe, write_json
from ..metrics.judgements import json_of
from ..options import PATHS
from ..protocols import Encoder
from ..storage.manifest import MANIFEST
from .evaluation_options import EvaluationRequest
from .material import Material
from .reports import Report, all_measures

SCHEMA = 2
OLD = "the receipt is of an earlier version, without hashes of judgements, queries, corpus and code; its relative paths are taken from here"
SOURCES = (".py", ".toml")
"""The endings of the package's own files that make figures."""


def write(
    folder: Path,
    request: EvaluationRequest,
    report: Report,
    materials: Sequence[Material],
    as_json: Mapping[str, Any],
    given: Encoder | None = None,
) -> None:
    """Write `receipt.json` into a folder; `as_json` is the report's form, and `given` an encoder that was an object."""
    facts: dict[str, Any] = {"schema": SCHEMA, "request": asdict(request), "paths": _paths(request), "hashes": hashes(report, materials)}
    facts |= {
        "measures": all_measures(as_json),
        "encoder": report.facts.get("encoder"),
        "given": given and given.identity(),
        "versions": as_json["versions"],
    }
    write_json(folder / "receipt.json", facts | {"times": as_json["times"]})


def read(receipt: Path) -> tuple[EvaluationRequest, dict[str, Any]]:
    """A receipt's request, whose files are found from here, and all its facts. Raises NotFound, InvalidRequest."""
    if not receipt.is_file():
        raise NotFound(f"there is no receipt at {receipt}; `evaluate -o` writes receipt.json")
    facts = json_of(receipt)
    try:
        if facts["schema"] > SCHEMA:
            raise InvalidRequest(f"{receipt} is of a later version of sciretrieve; update to compute it again")
        options = {**facts["request"], "measures": tuple(facts["request"]["measures"])}
        for name, recorded in facts.get("paths", {}).items():
            given = options[name].partition(":")[2] if name == "benchmark" else options[name]
            if Path(given).resolve() != Path(recorded):
                options["data" if name == "benchmark" else name] = _found(Path(recorded), receipt, given, name)
        if not {**facts["measures"]}:
            raise KeyError("measures")
        return EvaluationRequest(**options), facts
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidRequest(f"{receipt} is not a receipt of an evaluation ({error})") from error


def hashes(report: Report, materials: Sequence[Material]) -> dict[str, str]:
    """SHA-256 of the judgements, queries, candidates and papers, of the index's manifest and files from elsewhere, and of the code."""
    found = {name: _joined([material.hashes[name] for material in materials]) for name in materials[0].hashes}
    if report.facts.get("index") is not None:
        found["index"] = describe(Path(report.facts["index"]) / MANIFEST)["sha256"]
    for name in ("embeddings", "query_embeddings", "scores"):
        if report.facts.get(name):
            found[name] = describe(Path(report.facts[name]))["sha256"]
    return found | {"code": code_hash()}


def changes(facts: Mapping[str, Any], hashes_now: Mapping[str, str], versions_now: Mapping[str, str]) -> list[str]:
    """A line for each hash and version that is another one than in a receipt."""
    if facts["schema"] < SCHEMA:
        return [OLD, *_other_versions(facts, versions_now)]
    before: Mapping[str, str] = facts.get("hashes", {})
    changed = [name for name in {**before, **hashes_now} if before.get(name) != hashes_now.get(name)]
    return [f"{name}: SHA-256 {_short(before.get(name))} in the receipt, {_short(hashes_now.get(name))} now" for name in changed] + list(
        _other_versions(facts, versions_now)
    )


@cache
def code_hash() -> str:
    """SHA-256 of the package's own sources, by their names and bytes."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.suffix in SOURCES):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def _paths(request: EvaluationRequest) -> dict[str, str]:
    """The places of all files and folders of a request, from the root."""
    named = {name: getattr(request, name) for name in PATHS}
    named |= {name: value for name in ("encoder", "rerank") if (value := getattr(request, name)) and is_path(value)}
    form, _, folder = request.benchmark.partition(":")
    named["benchmark"] = folder if form in ("beir", "cite") else None
    return {name: str(Path(value).resolve()) for name, value in named.items() if value is not None}


def _found(recorded: Path, receipt: Path, given: str, name: str) -> str:
    """A recorded place; if nothing is there, what ends most like it under this folder or one above the receipt."""
    if recorded.exists() or (name == "cache" and recorded.parent.exists()):
        return str(recorded)
    folders = [Path.cwd(), *list(receipt.resolve().parents)[:-1]]
    ends = [recorded.parts[start:] for start in range(1, len(recorded.parts))]
    places = (folder.joinpath(*end) for end in ends for folder in folders)
    return str(next((place for place in places if place.exists()), given if name == "cache" else recorded))


def _joined(digests: Sequence[str]) -> str:
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _short(digest: str | None) -> str:
    return f"{digest[:12]}…" if digest else "none"


def _other_versions(facts: Mapping[str, Any], versions_now: Mapping[str, str]) -> Iterator[str]:
    for name, value in facts.get("versions", {}).items():
        if versions_now.get(name) != value:
            yield f"{name} was {value} and is {versions_now.get(name)}"
