"""Routes for monitoring: liveness, readiness and metrics."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response

from .service import service_of

router = APIRouter(tags=["watching"])


@router.get("/healthz", response_model=dict[str, str])
async def healthz() -> dict[str, str]:
    """Whether the process answers at all."""
    return {"status": "ok"}


@router.get("/readyz", response_model=dict[str, str], responses={503: {"description": "The indexes are being opened, or one is damaged."}})
async def readyz(http: HttpRequest) -> Response:
    """Whether the indexes are open and warm, so that requests are answered at once, and none of them is damaged."""
    library = service_of(http).library
    status = "ready" if library.is_ready else "an index is damaged" if library.is_doubted else "opening the indexes"
    return JSONResponse({"status": status}, 200 if library.is_ready else 503)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}})
async def metrics(http: HttpRequest) -> Response:
    """Counts and times of requests, in Prometheus's text format."""
    text = http.app.state.measures.text()
    return Response(text, media_type=CONTENT_TYPE_LATEST)
