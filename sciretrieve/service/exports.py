"""Papers as files for other programs: the formats, with their media types and file endings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from starlette.responses import Response

from ..answers import outputs
from ..base.types import Hit, Rows
from ..query.index import Index

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
"""By format: the media type and the file ending."""


def text_of(index: Index, rows: Rows, format: str) -> str:
    """The text of the papers at some rows in a format."""
    names = index.snapshot.names_at(rows) if len(index.names) > 1 else [None] * len(rows)
    pairs = zip(index.snapshot.papers_at(rows), names, strict=True)
    hits = [Hit(place, 1.0, paper, {}, index=name) for place, (paper, name) in enumerate(pairs, 1)]
    lines = outputs.TABULAR[format](hits, ()) if format in outputs.TABULAR else outputs.FORMATS[format](hits)
    return "".join(f"{line}\n" for line in lines)


def as_file(text: str, format: str) -> Response:
    """A response with such a text, which a browser saves as a file."""
    kind, ending = FILES[format]
    headers = {"Content-Disposition": f'attachment; filename="papers.{ending}"'}
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)
