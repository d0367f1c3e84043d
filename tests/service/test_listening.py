"""Where a server listens: what is sent goes out at once, and why nothing can listen is said in words."""

import socket

import pytest

from sciretrieve.service.listening import open_socket, reason


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_what_is_sent_to_a_client_does_not_wait_for_more(host: str) -> None:
    with open_socket(host, 0) as listening, socket.create_connection(listening.getsockname()[:2]), listening.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_why_nothing_can_listen_is_said_in_words() -> None:
    with open_socket("127.0.0.1", 0) as taken, pytest.raises(OSError, match="in use") as error:
        open_socket("127.0.0.1", taken.getsockname()[1])
    assert reason(error.value) == "Address already in use"
    with pytest.raises(OSError, match=r".") as unknown:
        open_socket("no.such.host.invalid", 0)
    assert reason(unknown.value) == unknown.value.strerror
