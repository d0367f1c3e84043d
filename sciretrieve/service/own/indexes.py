"""The indexes themselves: their facts, the health of their papers, and search strategies over them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ... import strategies
from ...answers.health import health
from ...base.errors import UnknownName
from ..facts import IndexFacts, facts_of
from ..parameters import KnownParameters
from ..service import Service, as_response, service_of
from .schemas import returns

router = APIRouter(prefix="/v1", tags=["indexes"], dependencies=[Depends(KnownParameters())])


class StrategyForm(BaseModel):
    """A search strategy."""

    model_config = ConfigDict(extra="forbid")

    strategy: str = Field(description="The text of a strategy's file: TOML with named lines.")
    index: list[str] = Field(default_factory=list, max_length=100, description="Names of indexes; by default all of the service's.")


class StrategyIndex(BaseModel):
    """An index that a strategy was run over."""

    name: str
    generation: int
    papers: int


class StrategyLine(BaseModel):
    """A line of a strategy, with its number of papers in each index."""

    name: str
    query: str
    counts: dict[str, int]
    total: int
    without: list[str] = Field(description="Its parts without a counterpart here.")


class StrategyPaper(BaseModel):
    """A paper of a strategy's result."""

    id: str
    title: str
    index: str


class StrategyCounts(BaseModel):
    """The result of a strategy."""

    date: str
    version: str | None
    limits: list[str]
    indexes: list[StrategyIndex]
    lines: list[StrategyLine]
    result: str = Field(description="The line whose papers are the result.")
    duplicates: int = Field(description="Removed duplicates of papers in the result.")
    total: int = Field(description="The papers of the result.")
    papers: list[StrategyPaper] = Field(description="The first of them.")


@router.get("/indexes")
async def indexes(http: HttpRequest) -> list[IndexFacts]:
    """The indexes of the service."""
    service = service_of(http)
    return await service.do(http, lambda: [IndexFacts(**facts_of(name, service.library.index(name))) for name in service.library.names])


@router.get("/indexes/{name}/health", responses=returns("health"))
async def health_of(http: HttpRequest, name: str) -> Response:
    """Faults of an index's papers: without an abstract, twice, retracted, with references that lead nowhere."""
    service = service_of(http)
    index = service.library.index(name)
    value = await service.do(http, lambda: health(index, progress=False).to_dict(), heavy=True)
    return as_response(value | {"index": name})


@router.post("/strategies")
async def strategy(http: HttpRequest, asked: Annotated[StrategyForm, Body()], k: Annotated[int, Query(ge=0)] = 100) -> StrategyCounts:
    """Run a strategy's lines over indexes, count each, and list the first k papers of the result, each once."""
    service = service_of(http)
    return await service.do(http, lambda: _run(service, asked, min(k, service.settings.most)), heavy=True)


def _run(service: Service, asked: StrategyForm, k: int) -> StrategyCounts:
    parsed = strategies.parse(asked.strategy)
    names = asked.index or parsed.indexes or service.library.names
    for name in names:
        if name not in service.library.names:
            raise UnknownName("index", name, service.library.names)
    opened = [service.library.index(name) for name in names]
    result = strategies.run(parsed, [index.path for index in opened], generations=[index.snapshot.manifest.generation for index in opened])
    found = [StrategyPaper(id=paper.id, title=paper.paper.title, index=paper.index) for paper in result.papers[:k]]
    counts = {"duplicates": len(result.duplicates), "total": len(result.papers), "papers": found}
    return StrategyCounts(**{**result.log, **counts, "result": result.log["result"]["line"]})
