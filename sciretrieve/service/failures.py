"""Failed requests: a status, an error, and a hint for the client.

Clients of Semantic Scholar's API distinguish 200, 400, 403, 404, 429, 500 and 504, and take every other status for an empty answer. For 400
and 404 they read `error`, for 500 and 504 `message`. So only these statuses are sent, except for forbidden pages and methods that an
address does not have, and both fields are always there.
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
"""The status in the log if the client went away, as in nginx."""
RETRY_AFTER = "5"
"""Seconds after which a rejected client may ask again."""
KINDS: tuple[tuple[type[Exception], int], ...] = ((NotFound, 404), (InvalidRequest, 400), (TimedOut, 504), (TooBusy, 429))
"""Errors that clients see, with their statuses. All others are bugs, and stay in the log."""
COMMAND = "`sciretrieve "
"""The beginning of a command in a hint, which is useless to clients."""
STATUSES = {422: 400, 413: 400, 503: 500}
"""Statuses of the underlying libraries that are replaced."""


class ClientGone(Exception):
    """The client has gone away."""


class Refused(Exception):
    """A request is rejected before any work."""

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
class ClientError:
    """An error as the client sees it."""

    status: int
    error: str
    hint: str
    headers: Mapping[str, str] | None = None

    @property
    def message(self) -> str:
        """Both parts in one line."""
        return f"{self.error}; {self.hint}" if self.hint else self.error

    def response(self) -> JSONResponse:
        """The error as JSON."""
        headers = {"Retry-After": RETRY_AFTER} if self.status == HTTPStatus.TOO_MANY_REQUESTS else {}
        value = Failure(error=self.error, message=self.message, hint=self.hint)
        return JSONResponse(value.model_dump(), self.status, {**(self.headers or {}), **headers})


def client_error(error: Exception, public: Callable[[str], str] = str) -> ClientError:
    """An error as the client sees it, without private paths; bugs are logged, and reported without their text."""
    if isinstance(error, Refused):
        return ClientError(error.status, error.error, error.hint)
    if isinstance(error, ClientGone):
        return ClientError(GONE, "nobody waits for the answer", "")
    if isinstance(error, RequestValidationError):
        return ClientError(400, _invalid(error), "see /docs for what this address takes")
    if isinstance(error, HTTPException):  # raised for errors while reading a body
        return client_error(error.__cause__) if isinstance(error.__cause__, Refused) else _http(error)
    for kind, status in KINDS:
        if isinstance(error, kind):
            what, _, hint = public(str(error)).partition("; ")
            return ClientError(status, what, "" if COMMAND in hint else hint)
    is_ours = isinstance(error, SciretrieveError)
    LOG.error("a request failed: %s", error if is_ours else kind_of(error), exc_info=None if is_ours else error)
    hint = "ask again; if it fails again, tell the service's operator"
    return ClientError(500, "something went wrong here; the service's log has the details", hint)


def _http(error: HTTPException) -> ClientError:
    status = STATUSES.get(error.status_code, error.status_code)
    if status == HTTPStatus.NOT_FOUND:
        return ClientError(404, "there is nothing at this address", "see /docs for all addresses")
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return ClientError(405, "this address does not support that method", "see /docs for its methods")
    return ClientError(status, str(error.detail), "")


def _invalid(error: RequestValidationError) -> str:
    """The first invalid value, and the reason."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"][1:]))  # without the part of the request: a parameter may also be called query
    return f"{place or 'the body'} cannot be taken: {first['msg'][:1].lower()}{first['msg'][1:]}"
