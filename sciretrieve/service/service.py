"""The state that all routes share: the indexes, the desk for work, and the waiting for results."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic_core import to_json
from starlette.requests import HTTPConnection
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ..answers.answering import Answer, Request
from ..base.errors import CorruptData
from ..base.wording import escaped
from ..protocols import Reranker
from ..query.index import Index
from .desk import Desk, Wait
from .failures import ClientGone
from .library import Library
from .settings import ServiceSettings

Value = TypeVar("Value")

C1 = re.compile(rb"\xc2[\x80-\x9f]")
"""Control characters of two bytes. Those of one byte are escaped in JSON, but for the last."""


@dataclass(frozen=True)
class Service:
    """A running service.

    Attributes:
        settings: its settings.
        library: its indexes.
        desk: its queue of work.
        reranker: the reranker for requests with `rerank`; None for none.
    """

    settings: ServiceSettings
    library: Library
    desk: Desk
    reranker: Reranker | None = None

    async def do(self, http: HttpRequest, work: Callable[[], Value], *, heavy: bool = False) -> Value:
        """The result of some work for a request, done as by `Desk.do`; it ends if the client goes away or the time is over.

        Raises TimedOut, TooBusy, ClientGone, and the errors of the work.
        """
        wait = Wait(self.settings.seconds)
        return await self._attended(http, self.desk.do(lambda: self.library.sound(work), wait, heavy=heavy), wait)

    async def answer(self, http: HttpRequest, index: Index, request: Request) -> Answer:
        """The result of `answers.answering.answer` for a request, likewise; waiting searches are batched."""
        wait = Wait(self.settings.seconds)
        return await self._attended(http, self.desk.answer(index, request, wait), wait)

    async def _attended(self, http: HttpRequest, result: Awaitable[Value], wait: Wait) -> Value:
        task = asyncio.ensure_future(result)
        leaving = asyncio.ensure_future(_disconnected(http))
        try:
            await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise ClientGone
        except CorruptData as error:
            self.library.doubt(error)
            raise
        finally:
            wait.give_up()
            for each in (task, leaving):
                if not each.done():
                    each.cancel()
                    with suppress(asyncio.CancelledError):
                        await each


def service_of(http: HTTPConnection) -> Service:
    """The service of a request."""
    service: Service = http.app.state.service
    return service


def address_of(http: HTTPConnection) -> str:
    """The service's address as used by a request, without a final slash."""
    return str(http.base_url).rstrip("/")


def as_response(value: Any) -> Response:
    """A value as JSON, with texts unescaped, except control characters, as in `as_json`, which takes nine times as long."""
    body = to_json(value, inf_nan_mode="null")
    if b"\x7f" in body or C1.search(body):
        body = escaped(body.decode()).encode()
    return Response(body, media_type="application/json")


async def _disconnected(http: HttpRequest) -> None:
    """Return when the client has gone away."""
    while (await http.receive())["type"] != "http.disconnect":
        pass
