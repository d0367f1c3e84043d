"""Where a server listens: what is sent goes out at once, and why nothing can listen is said in words."""

import socket

import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.service.listening import listen


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_what_is_sent_to_a_client_does_not_wait_for_more(host: str) -> None:
    with listen(host, 0) as listening, socket.create_connection(listening.getsockname()[:2]), listening.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_why_nothing_can_listen_is_said_in_words() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(InvalidRequest, match="Address already in use; choose another `port`"):
        listen("127.0.0.1", taken.getsockname()[1])
