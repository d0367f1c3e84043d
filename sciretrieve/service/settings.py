"""The settings of a service: limits, access and addresses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LONGEST = 20_000
"""The most characters of a text in a request. Conditions have their own limit, since a list of ids may be longer."""
MOST = 1000
"""The most papers of an answer, and of an assistant's request."""
MOST_LISTED = 500
"""The most values of a list in a request to our own API."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The settings of a service.

    Attributes:
        threads: requests worked on at a time, in one process.
        waiting: the most waiting requests; further ones are told to come back.
        seconds: the time limit of a request, including its waiting.
        rate: requests per minute of one client, by its token or address, over all processes; None for no limit.
        body: the most bytes of a request's body.
        query: the most characters of a query.
        most: the most papers of an answer.
        token_file: the file of access tokens, see `access`; None for open access.
        following: seconds between two checks for changes of an index.
        proxies: addresses, or networks, of proxies in front, which alone may say for which client they ask.
        address: the public address of the service, if it differs from that in requests.
    """

    threads: int = 4
    waiting: int = 256
    seconds: float = 30.0
    rate: int | None = None
    body: int = 1 << 20
    query: int = LONGEST
    most: int = MOST
    token_file: Path | None = None
    following: float = 2.0
    proxies: tuple[str, ...] = ()
    address: str | None = None
