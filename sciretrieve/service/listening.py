"""The socket at which a server listens."""

from __future__ import annotations

import os
import socket

from ..base.errors import InvalidRequest


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at a host's port, and that child processes inherit; port 0 means any free port.

    Raises InvalidRequest if the address cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None) or 0
        reason = os.strerror(number) if number > 0 else str(getattr(error, "strerror", None) or error)
        raise InvalidRequest(f"nothing can listen at {host}, port {port}: {reason}; choose another `port` or `host`") from error
    listening.set_inheritable(True)
    # an answer is sent in two parts, and the second must not wait 40 ms until the client confirms the first
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
