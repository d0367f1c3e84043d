"""Options that several commands share, so that each is spelled and explained once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ..errors import NotFound


class ModeName(StrEnum):
    """How to search."""

    hybrid = "hybrid"
    dense = "dense"
    bm25 = "bm25"


class FusionName(StrEnum):
    """How hybrid joins its halves."""

    convex = "convex"
    rrf = "rrf"


class FormatName(StrEnum):
    """How to print hits."""

    table = "table"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    bibtex = "bibtex"
    ris = "ris"
    trec = "trec"


IndexPath: TypeAlias = Annotated[
    Path | None, typer.Option("--index", "-i", metavar="DIR", help="The index; default: the one built last in ./indexes.")
]
Count: TypeAlias = Annotated[int, typer.Option("-k", metavar="N", min=1, help="How many papers to answer with.")]
ModeOption: TypeAlias = Annotated[ModeName | None, typer.Option("--mode", help="How to search; default: the best the index has.")]
Filter: TypeAlias = Annotated[
    str | None,
    typer.Option("--filter", metavar="EXPR", help="Answer only with papers that pass, e.g. 'year >= 2018 and venue == \"ACL\"'."),
]
Fusion: TypeAlias = Annotated[FusionName, typer.Option("--fusion", help="How hybrid joins dense and BM25 scores.")]
Explain: TypeAlias = Annotated[bool, typer.Option("--explain", help="Show each hit's score in each half of the search.")]
Format: TypeAlias = Annotated[FormatName, typer.Option("--format", "-f", help="How to print the hits.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress on stderr.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def chosen_index(path: Path | None) -> Path:
    """The index that was named, or the one built last in ./indexes. Raises NotFound where there is none."""
    if path is not None:
        return path
    manifests = sorted(Path("indexes").glob("*/manifest.json"), key=lambda file: file.stat().st_mtime)
    if not manifests:
        raise NotFound("there is no index in ./indexes; build one with `sciretrieve index CORPUS`, or name one with --index DIR")
    return manifests[-1].parent
