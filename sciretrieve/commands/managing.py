"""`sciretrieve info` and `export`: describing an index, and exporting its contents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .console import Console, counted, in_bytes, say
from .options import Debug, IndexPath, PlainFormatOption, Quiet, chosen_index


def info(
    index: IndexPath = None,
    format: PlainFormatOption = "table",
    debug: Debug = False,
) -> None:
    """Describe an index.

    Its papers, columns, encoder, sizes, and the versions that built it.
    """
    from dataclasses import asdict

    from ..index import Index

    opened_index = Index(chosen_index(index))
    facts = opened_index.manifest
    columns = {field.name: str(field.type) for field in opened_index.columns}
    if format == "json":
        as_json = {
            "schema": 1,
            "path": str(opened_index.path),
            "bytes": facts.bytes,
            "modes": opened_index.modes,
            "columns": columns,
            "manifest": asdict(facts),
        }
        say([json.dumps(as_json, ensure_ascii=False, indent=2)])
        return
    encoder, lexical = facts.encoder, facts.lexical
    rows = {
        "index": str(opened_index.path),
        "papers": f"{facts.papers:,} in {counted(len(facts.shards), 'shard')}; {counted(facts.rejected, 'row')} rejected",
        "on disk": in_bytes(facts.bytes),
        "modes": ", ".join(opened_index.modes),
        "encoder": f"{encoder['name']}, {encoder['dim']} dimensions, {_precision(encoder)}" if encoder else "none",
        "cut": f"{counted(facts.truncated, 'paper')} longer than the encoder reads" if facts.truncated is not None else "not known",
        "dense": f"{facts.dense}, {facts.metric}" if encoder else "none",
        "BM25": f"{lexical['variant']}, k1 {lexical['k1']}, b {lexical['b']}" if lexical else "none",
        "columns": ", ".join(f"{name} ({kind})" for name, kind in columns.items()),
        "corpus": ", ".join(facts.build["corpus"][:3]) + (" …" if len(facts.build["corpus"]) > 3 else ""),
        "built": f"{facts.created}, generation {facts.generation}, format {facts.format}",
        "with": ", ".join(f"{name} {version}" for name, version in facts.versions.items()),
    }
    say(f"{name:<9} {value}" for name, value in rows.items())


def _precision(encoder: Mapping[str, Any]) -> str:
    """The precision in which papers were encoded, and the runtimes if known."""
    ran_in = ", then ".join(encoder.get("ran_in", ()))
    return f"{encoder['precision']} ({ran_in})" if ran_in else str(encoder["precision"])


def export(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .parquet file (papers and vectors) or a .npy file (vectors, with ids beside them)."
        ),
    ],
    index: IndexPath = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write papers and vectors to a file.

    A Parquet file has both; a .npy file has the vectors, and the ids are in a text file beside it.
    """
    from ..exporting import export as write
    from ..index import Index

    opened_index = Index(chosen_index(index))
    for path in write(opened_index, output):
        Console(quiet).note(f"{counted(len(opened_index), 'paper')}: {path} ({in_bytes(path.stat().st_size)})")
