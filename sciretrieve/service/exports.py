"""Papers as files for other programs: the formats, each with its type and the ending of a file's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from starlette.responses import Response

from ..answers import outputs
from ..base.types import Hit

ExportFormat: TypeAlias = Literal["bibtex", "ris", "csl-json", "markdown", "csv", "tsv", "jsonl"]
FILES: Mapping[str, tuple[str, str]] = {
    "bibtex": ("application/x-bibtex", "bib"),
    "ris": ("application/x-research-info-systems", "ris"),
    "csl-json": ("application/vnd.citationstyles.csl+json", "json"),
    "markdown": ("text/markdown", "md"),
    "csv": ("text/csv", "csv"),
    "tsv": ("text/tab-separated-values", "tsv"),
    "jsonl": ("application/jsonl", "jsonl"),
}
"""Formats, each with its type and ending."""


def text_of(hits: Sequence[Hit], format: str) -> str:
    """Papers in a format."""
    lines = outputs.TABULAR[format](hits, ()) if format in outputs.TABULAR else outputs.FORMATS[format](hits)
    return "".join(f"{line}\n" for line in lines)


def as_file(text: str, format: str) -> Response:
    """The response that has such a text, which a browser keeps as a file."""
    kind, ending = FILES[format]
    headers = {"Content-Disposition": f'attachment; filename="papers.{ending}"'}
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)
