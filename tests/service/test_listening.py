"""Where a server listens: what is sent goes out at once, and why nothing can listen is said in words; several
processes listen at one address."""

import pickle
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress

import pytest

from sciretrieve.base import system
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.service.listening import divided, listen


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_what_is_sent_to_a_client_does_not_wait_for_more(host: str) -> None:
    with listen(host, 0) as listening, socket.create_connection(listening.getsockname()[:2]), listening.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_why_nothing_can_listen_is_said_in_words() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(InvalidRequest, match="Address already in use; choose another `port`"):
        listen("127.0.0.1", taken.getsockname()[1])


@pytest.mark.skipif(not system.DIVIDES_CONNECTIONS, reason="other systems do not divide connections")
def test_processes_that_listen_at_one_address_share_its_connections() -> None:
    listening = listen("127.0.0.1", 0)
    address = listening.getsockname()
    with ExitStack() as opened:
        shared = opened.enter_context(closing(divided(listening)))
        with pytest.raises(InvalidRequest, match="Address already in use"):
            listen(*address)  # it stays taken
        own = [opened.enter_context(pickle.loads(pickle.dumps(shared))) for _ in range(2)]
        for _ in range(40):
            opened.enter_context(socket.create_connection(address))
        accepted = [len(list(accepting(listener))) for listener in own]
    assert min(accepted) > 0
    assert sum(accepted) == 40


def accepting(listener: socket.socket) -> Iterator[None]:
    """Accept what waits."""
    listener.setblocking(False)
    with suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
            yield
