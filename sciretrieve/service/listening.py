"""The sockets at which servers listen."""

from __future__ import annotations

import os
import socket
from typing import Any

from ..base import system
from ..base.errors import InvalidRequest

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at a host's port, and that child processes inherit; port 0 means any free port.

    Raises InvalidRequest if the address cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None) or 0
        reason = os.strerror(number) if number > 0 else str(getattr(error, "strerror", None) or error)
        raise InvalidRequest(f"nothing can listen at {host}, port {port}: {reason}; choose another `port` or `host`") from error
    listening.set_inheritable(True)
    return _prompt(listening)


def _prompt(listening: socket.socket) -> socket.socket:
    """A socket whose connections send at once: an answer is sent in two parts, and the second must not wait 40 ms until the client confirms
    the first."""
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


class Divided:
    """The address of a socket, at which each process that this is sent to listens with a socket of its own, so that the system
    divides the connections among them. Of one socket that all inherit, the first to wake takes every connection that waits."""

    def __init__(self, listening: socket.socket) -> None:
        """The socket, which is closed; its port stays taken."""
        self._family, self._address = listening.family, listening.getsockname()
        listening.close()
        self._taken = _bound(self._family, self._address)
        self._taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)  # or others might take it before a process listens

    def close(self) -> None:
        """Give the port up."""
        self._taken.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _listen_beside, (self._family, self._address)


def divided(listening: socket.socket) -> Any:
    """What several processes listen at in place of one socket."""
    return Divided(listening) if system.DIVIDES_CONNECTIONS else listening


def _listen_beside(family: int, address: tuple[Any, ...]) -> socket.socket:
    own = _bound(family, address)
    own.listen(BACKLOG)
    return _prompt(own)


def _bound(family: int, address: tuple[Any, ...]) -> socket.socket:
    """A socket at an address that others of this user have, too."""
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    system.share_address(bound)
    if family == socket.AF_INET6:
        bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    bound.bind(address)
    return bound
