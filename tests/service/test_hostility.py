"""What slow, broken and greedy clients do is their own affair: they are cut off, and nobody else waits."""

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import TimedOut
from sciretrieve.base.waiting import raise_if_abandoned
from sciretrieve.service import running
from tests.service.served import app_of, served

ASKED = b"GET /v1/search?q=graph HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture(scope="module")
def patience() -> Iterator[None]:
    """Clients have half a second to begin a request."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "HEAD_SECONDS", 0.5)
        yield


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """The access log."""
    return []


@pytest.fixture(scope="module")
def address(built: Callable[..., sr.Index], patience: None, lines: list[dict[str, Any]]) -> Iterator[tuple[str, int]]:
    """Host and port of a service that gives requests a second and a half."""
    with served(app_of(built(encoder=None).path, lines=lines, seconds=1.5, threads=2, body=1 << 20)) as base:
        parts = urlsplit(base)
        assert parts.hostname is not None
        assert parts.port is not None
        yield parts.hostname, parts.port


def asked(address: tuple[str, int], path: str = "/v1/search?q=graph") -> int:
    """The status that a good client gets."""
    connection = http.client.HTTPConnection(*address, timeout=30)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def sent(address: tuple[str, int], *parts: bytes) -> bytes:
    """All that comes back of what is sent, until the service closes the connection."""
    with socket.create_connection(address, timeout=30) as connection:
        received = b""
        try:
            for part in parts:
                connection.sendall(part)
            while part := connection.recv(1 << 16):
                received += part
        except ConnectionError:  # it was closed while more came
            pass
        return received


def test_who_sends_a_letter_at_a_time_holds_nothing(address: tuple[str, int]) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(address, timeout=30)) for _ in range(100)]
        for connection in slow:
            connection.sendall(ASKED[:20])
        assert asked(address) == 200
        assert [connection.recv(100) for connection in slow] == [b""] * 100  # each is closed
    silent = socket.create_connection(address, timeout=30)
    with silent:
        assert silent.recv(100) == b""


def test_a_head_without_end_is_cut_off_before_its_time(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "HEAD_SECONDS", 60)
    answer = sent(address, ASKED, *[b"X: " + b"a" * 10_000 + b"\r\n"] * 20)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400")  # or it was closed while more came
    with socket.create_connection(address, timeout=30) as connection:  # a head as long as is allowed, in pieces
        for part in (ASKED, *[b"X: " + b"a" * 10_000 + b"\r\n"] * 6, b"\r\n"):
            connection.sendall(part)
        assert connection.recv(100).startswith(b"HTTP/1.1 200")


def test_after_a_long_body_a_head_may_come_in_pieces(address: tuple[str, int]) -> None:
    body = b'{"q": "' + b"graph " * 15_000 + b'"}'
    head = b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with socket.create_connection(address, timeout=30) as connection:
        connection.sendall(head)
        for start in range(0, len(body), 30_000):
            connection.sendall(body[start : start + 30_000])
        refusal = b""
        while not refusal.endswith(b"}"):
            refusal += connection.recv(1 << 16)
        assert refusal.startswith(b"HTTP/1.1 400")  # the query is too long
        connection.sendall(ASKED[:10])
        threading.Event().wait(0.1)
        connection.sendall(ASKED[10:] + b"\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200")


def test_half_of_a_next_head_does_not_cost_the_answer_before_it(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.service.own.papers.profile", lambda *_: threading.Event().wait(2 * running.HEAD_SECONDS))
    with socket.create_connection(address, timeout=30) as connection:
        connection.sendall(b"GET /v1/papers/p0001 HTTP/1.1\r\nHost: x\r\n\r\n" + ASKED[:20])
        received = b""
        while part := connection.recv(1 << 16):
            received += part
    assert received.startswith(b"HTTP/1.1 500")  # of what is no profile; then the half head is no longer waited for


def test_requests_that_come_at_once_are_answered_in_order(address: tuple[str, int]) -> None:
    last = ASKED.replace(b"search?q=graph", b"count?q=graph") + b"Connection: close\r\n\r\n"
    answers = sent(address, (ASKED + b"\r\n") * 3 + last).split(b"HTTP/1.1 200 OK")
    assert [b'"hits"' in answer for answer in answers[1:]] == [True, True, True, False]


def test_a_connection_may_be_used_again_much_later(address: tuple[str, int]) -> None:
    connection = http.client.HTTPConnection(*address, timeout=30)
    connection.request("GET", "/v1/search?q=graph")
    connection.getresponse().read()
    used = connection.sock
    threading.Event().wait(2 * running.HEAD_SECONDS)
    connection.request("GET", "/v1/search?q=graph")
    assert (connection.getresponse().status, connection.sock) == (200, used)
    connection.close()


def test_a_body_that_does_not_come_is_not_waited_for(address: tuple[str, int]) -> None:
    head = b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    answer = sent(address, head)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"did not come within 1.5 seconds" in answer


def test_a_body_of_a_hundred_megabytes_is_refused_unread(address: tuple[str, int]) -> None:
    head = b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    assert b"longer than 1,048,576 bytes" in sent(address, head + b"Content-Length: 104857600\r\n\r\n")
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    answer = sent(address, head + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 32)
    assert b"longer than 1,048,576 bytes" in answer or answer == b""  # closed while more came
    assert asked(address) == 200


@pytest.mark.parametrize(
    "request_",
    [
        ASKED + b"X: " + b"a" * 200_000 + b"\r\n\r\n",
        ASKED + b"".join(b"X-%d: a\r\n" % number for number in range(20_000)) + b"\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        ASKED + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        ASKED + b"Content-Length: -1\r\n\r\n",
    ],
)
def test_what_is_no_request_is_cut_off(address: tuple[str, int], request_: bytes) -> None:
    answer = sent(address, request_)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert asked(address) == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v1/papers/%ff%fe",
        "/v1/search?q=%ff%80",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/v1/papers/../../etc/passwd",
        "/v1/search?q=%00",
        "//",
        "/%0d%0aX:%20y",
    ],
)
def test_odd_addresses_are_answered(address: tuple[str, int], path: str) -> None:
    assert asked(address, path) in (200, 400, 404)


def test_work_stops_when_the_client_goes_away(
    address: tuple[str, int], lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def endless(*_: Any) -> None:
        begun.set()
        try:
            while True:
                threading.Event().wait(0.005)
                raise_if_abandoned()
        except TimedOut:
            stopped.set()
            raise

    monkeypatch.setattr("sciretrieve.service.own.papers.profile", endless)
    lines.clear()
    with socket.create_connection(address, timeout=30) as connection:
        connection.sendall(b"GET /v1/papers/p0001 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert begun.wait(30)
    assert stopped.wait(30)
    statuses = list[int]()
    while not statuses:
        assert asked(address) == 200
        statuses = [line["status"] for line in lines if line["route"] == "/v1/papers/{name}"]
    assert statuses == [499]


def test_an_answer_that_takes_too_long_is_given_up(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr("sciretrieve.service.own.papers.profile", lambda *_: release.wait(30))
    try:
        assert asked(address, "/v1/papers/p0001") == 504
        assert asked(address) == 200
    finally:
        release.set()
