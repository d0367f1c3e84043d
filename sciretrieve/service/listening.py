"""The socket at which a server listens."""

from __future__ import annotations

import os
import socket


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that listens at a host's port, which processes that are started inherit; port 0 stands for any that is free.

    Raises OSError, see `reason`, and OverflowError for a port that there cannot be.
    """
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    listening = socket.create_server((host, port), family=family, backlog=2048)
    listening.set_inheritable(True)
    # an answer goes out in two parts, and the second must not wait until the client confirms the first, which takes 40 ms
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def reason(error: Exception) -> str:
    """Why nothing can listen there, in a few words."""
    number = getattr(error, "errno", None) or 0
    return os.strerror(number) if number > 0 else str(getattr(error, "strerror", None) or error)
