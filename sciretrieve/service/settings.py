"""How a service is run: where it listens, whom it answers, and how much it does at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LONGEST = 20_000
"""Characters of a text in a request. Conditions have their own bound, since a list of ids may be longer."""
MOST = 1000
"""Papers that an answer may have, and that an assistant may name."""
MOST_LISTED = 500
"""Values that a list in a request to our own API may have."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """How a service is run.

    Attributes:
        threads: how many requests are worked on at a time, in one process.
        waiting: how many may wait for their turn; further ones are told to come back.
        seconds: how long a request may take, its waiting included.
        rate: requests a minute of one client, by its token or address, from all processes together; None for no limit.
        body: bytes that a request's body may have.
        query: characters that a query may have.
        most: papers that an answer may have.
        token_file: the file with the tokens of those who may ask, see `access`; None where all may.
        following: seconds between two looks at whether an index has changed.
        proxies: addresses, or networks, of proxies in front, which alone are believed to say whom they ask for.
        address: the address by which others reach the service, if it is not the one in their requests.
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
