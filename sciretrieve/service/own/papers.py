"""Papers by name: all facts of one, and many as references for other programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...answers import outputs
from ...answers.profiles import profile
from ...base.errors import InvalidRequest
from ...base.types import Rows
from ...query.index import Index
from ..desk import HEAVY
from ..exports import FILES, ExportFormat, as_file, text_of
from ..parameters import KnownParameters, option
from ..service import as_response, service_of
from .forms import IndexName, Names, Text
from .schemas import returns

ITEMS = {"type": "array", "items": {"type": "object"}}
FORMATS = {kind: {"schema": ITEMS if kind.endswith("+json") else {"type": "string"}} for kind, _ in FILES.values()}
TEXT: dict[int | str, dict[str, Any]] = {200: {"description": "The papers in that format.", "content": FORMATS}}

router = APIRouter(prefix="/v1", tags=["papers"], dependencies=[Depends(KnownParameters())])


class Export(BaseModel):
    """The papers to export, by name or by a query's demands, and the format."""

    model_config = ConfigDict(extra="forbid")

    index: IndexName = None
    format: ExportFormat = Field("bibtex", description="A format of references, or a table.")
    id: Names = Field(description="The papers: an id, a DOI, a title.")
    q: Text = Field("", description="Instead of names: a query, all of whose words and demands the papers meet.")
    filter: list[str] = option("filter")


@router.get("/papers/{name:path}", responses=returns("profile"))
async def paper(http: HttpRequest, name: str, index: Annotated[str | None, Query()] = None) -> Response:
    """All of the paper that an id, a DOI, an arXiv number, a citation key or a title names: its columns, near-duplicates, the nearest
    papers, what it cites and what cites it."""
    service = service_of(http)
    opened = service.library.index(index)
    return as_response(outputs.profiled(await service.do(http, lambda: profile(opened, name))))


@router.get("/export", response_class=Response, responses=TEXT)
async def export(http: HttpRequest, asked: Annotated[Export, Query()]) -> Response:
    """Papers as BibTeX, RIS, CSL-JSON, Markdown, or a table."""
    return await exported(http, asked)


@router.post("/export", response_class=Response, responses=TEXT)
async def export_by_body(http: HttpRequest, asked: Annotated[Export, Body()]) -> Response:
    """The same for many papers."""
    return await exported(http, asked)


async def exported(http: HttpRequest, asked: Export) -> Response:
    """The response to an export request. Raises InvalidRequest."""
    service = service_of(http)
    index, most = service.library.index(asked.index), service.settings.most
    if not asked.id and not asked.q and not asked.filter:
        raise InvalidRequest("no papers are named; give their ids as `id`, or a query as `q`")
    if asked.id and (asked.q or asked.filter):
        raise InvalidRequest("papers are exported by their names or by a query; leave out `id`, or `q` and `filter`")
    is_heavy = not 0 < len(asked.id) <= HEAVY  # a query may match any number of papers
    text = await service.do(http, lambda: text_of(index, _rows(index, asked, most), asked.format), heavy=is_heavy)
    return as_file(text, asked.format)


def _rows(index: Index, asked: Export, most: int) -> Rows:
    """The papers to export. Raises InvalidRequest if there are too many."""
    rows = index.named_rows(asked.id) if asked.id else index.matching(asked.q, tuple(asked.filter))
    if len(rows) > most:
        raise InvalidRequest(f"{len(rows):,} papers meet this, and {most:,} are exported at once; narrow it, for example by years")
    return rows
