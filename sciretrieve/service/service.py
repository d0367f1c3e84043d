"""What all routes of a service share: its indexes, the desk where work is done, and how a request waits for its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import HTTPConnection
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from ..answers.answering import Answer, Request
from ..base.errors import CorruptData
from ..base.wording import as_json
from ..protocols import Reranker
from ..query.index import Index
from .desk import Desk, Wait
from .failures import ClientGone
from .library import Library
from .settings import ServiceSettings

Value = TypeVar("Value")


@dataclass(frozen=True)
class Service:
    """A running service.

    Attributes:
        settings: how it is run.
        library: its indexes.
        desk: where its work is done.
        reranker: what orders the first papers anew for requests that ask for it; None if it has none.
    """

    settings: ServiceSettings
    library: Library
    desk: Desk
    reranker: Reranker | None = None

    async def do(self, http: HttpRequest, work: Callable[[], Value], *, heavy: bool = False) -> Value:
        """The result of some work for a request, done as `Desk.do` has it, and given up where the client goes away or too much time passes.

        Raises TimedOut, TooBusy, ClientGone, and what the work raises.
        """
        wait = Wait(self.settings.seconds)
        return await self._attended(http, self.desk.do(lambda: self.library.sound(work), wait, heavy=heavy), wait)

    async def answer(self, http: HttpRequest, index: Index, request: Request) -> Answer:
        """What `answers.answering.answer` gives for a request, likewise; searches that wait together are made together."""
        wait = Wait(self.settings.seconds)
        return await self._attended(http, self.desk.answer(index, request, wait), wait)

    async def _attended(self, http: HttpRequest, result: Awaitable[Value], wait: Wait) -> Value:
        task = asyncio.ensure_future(result)
        leaving = asyncio.ensure_future(_gone(http))
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
    """The service that a request came to."""
    service: Service = http.app.state.service
    return service


def address_of(http: HTTPConnection) -> str:
    """The address by which a request reached the service, without a slash at its end."""
    return str(http.base_url).rstrip("/")


def as_response(value: Any) -> Response:
    """A value as JSON, with every text as it is."""
    return Response(as_json(value), media_type="application/json")


async def _gone(http: HttpRequest) -> None:
    """Returns when the client has gone away."""
    while (await http.receive())["type"] != "http.disconnect":
        pass
