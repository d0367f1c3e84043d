"""What a client is told when a request fails: a status, an error, and a hint at what to do.

Clients of Semantic Scholar's API tell 200, 400, 403, 404, 429, 500 and 504 apart, and take every other status for an empty answer; for
400 and 404 they read `error`, for 500 and 504 `message`. So these statuses are all that there are, but for a page that a browser may not
see and a method that an address does not have, and both fields are always there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from ..base.errors import InvalidRequest, NotFound, SciretrieveError, TimedOut
from .desk import TooBusy
from .discretion import kind_of

LOG = logging.getLogger(__name__)
GONE = 499
"""The status in the log where nobody waited for the answer, as nginx has it."""
RETRY_AFTER = "5"
"""Seconds after which a client that was refused may ask again."""
KINDS: tuple[tuple[type[Exception], int], ...] = ((NotFound, 404), (InvalidRequest, 400), (TimedOut, 504), (TooBusy, 429))
"""Errors that are the client's to know, with their statuses. All others are ours, and stay in the log."""
COMMAND = "`sciretrieve "
"""How a hint names a command, which is no use to those who have no more than an address."""
STATUSES = {422: 400, 413: 400, 503: 500}
"""Statuses of the libraries beneath that become others."""


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class Refused(Exception):
    """A request is refused before anything is done."""

    def __init__(self, status: int, error: str, hint: str = "") -> None:
        super().__init__(status, error, hint)
        self.status, self.error, self.hint = status, error, hint


class Failure(BaseModel):
    """Why a request failed."""

    model_config = ConfigDict(extra="forbid")

    error: str = Field(description="What is wrong.")
    message: str = Field(description="The same, with what to do about it.")
    hint: str = Field(description="What to do about it; empty if nothing is known.")


@dataclass(frozen=True, slots=True)
class ToldError:
    """What a client is told of an error."""

    status: int
    error: str
    hint: str
    headers: Mapping[str, str] | None = None

    @property
    def message(self) -> str:
        """Both parts in one line."""
        return f"{self.error}; {self.hint}" if self.hint else self.error

    def response(self) -> JSONResponse:
        """It as JSON."""
        headers = {"Retry-After": RETRY_AFTER} if self.status == HTTPStatus.TOO_MANY_REQUESTS else {}
        value = Failure(error=self.error, message=self.message, hint=self.hint)
        return JSONResponse(value.model_dump(), self.status, {**(self.headers or {}), **headers})


def told(error: Exception, public: Callable[[str], str] = str) -> ToldError:
    """What a client is told of an error, in words that others may read; one that is ours is in the log, and told without its text."""
    if isinstance(error, Refused):
        return ToldError(error.status, error.error, error.hint)
    if isinstance(error, ClientGone):
        return ToldError(GONE, "nobody waits for the answer", "")
    if isinstance(error, RequestValidationError):
        return ToldError(400, _invalid(error), "see /docs for what this address takes")
    if isinstance(error, HTTPException):  # which stands for what went wrong while a body was read
        return told(error.__cause__) if isinstance(error.__cause__, Refused) else _http(error)
    for kind, status in KINDS:
        if isinstance(error, kind):
            what, _, hint = public(str(error)).partition("; ")
            return ToldError(status, what, "" if COMMAND in hint else hint)
    is_ours = isinstance(error, SciretrieveError)
    LOG.error("a request failed: %s", error if is_ours else kind_of(error), exc_info=None if is_ours else error)
    hint = "ask again; if it stays so, tell whoever runs the service"
    return ToldError(500, "something went wrong here, and the service's log says what", hint)


def _http(error: HTTPException) -> ToldError:
    status = STATUSES.get(error.status_code, error.status_code)
    if status == HTTPStatus.NOT_FOUND:
        return ToldError(404, "there is nothing at this address", "see /docs for the addresses that there are")
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return ToldError(405, "this address does not take that method", "see /docs for the methods that it takes")
    return ToldError(status, str(error.detail), "")


def _invalid(error: RequestValidationError) -> str:
    """The first of the values that cannot be taken, and why."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"][1:]))  # after the part of the request: a parameter may be called query, too
    return f"{place or 'the body'} cannot be taken: {first['msg'][:1].lower()}{first['msg'][1:]}"
