"""What all of these routes share: records of the service's papers, made in a thread, as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ...base.wording import as_json
from ..service import address_of, service_of
from .records import Records


async def answered(http: HttpRequest, make: Callable[[Records], Any], *, heavy: bool = False) -> Response:
    """The response with the value that `make` makes of the records of all of the service's indexes, see `Desk.do`."""
    service = service_of(http)
    records = Records(service.library.index(), address_of(http))
    value = await service.do(http, lambda: make(records), heavy=heavy)
    return Response(as_json(value), media_type="application/json")
