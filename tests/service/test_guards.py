"""What every request passes: an id, headers, a line in the log, counts; and what is refused."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

import sciretrieve as sr
from sciretrieve.service.access import new_token
from sciretrieve.service.discretion import Discreet
from sciretrieve.service.pages.rendering import STATIC
from tests.service.served import client_of

Made = Callable[..., tuple[TestClient, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def words(built: Callable[..., sr.Index]) -> sr.Index:
    """An index without vectors."""
    return built(encoder=None)


@pytest.fixture
def made(words: sr.Index) -> Iterator[Made]:
    """Makes a client of a service with given settings, and gives the lines of its access log."""
    with ExitStack() as clients:

        def make(**settings: Any) -> tuple[TestClient, list[dict[str, Any]]]:
            lines = list[dict[str, Any]]()
            client = clients.enter_context(client_of(words.path, lines=lines, **settings))
            while not client.app.state.service.library.is_ready:  # type: ignore[attr-defined]
                client.get("/readyz")
            lines.clear()
            return client, lines

        yield make


def test_every_answer_has_an_id_and_headers_that_let_nothing_in(made: Made) -> None:
    client, _ = made()
    for path in ("/healthz", "/v1/search?q=graph", "/v1/nothing", "/v1/search"):
        headers = client.get(path).headers
        assert re.fullmatch(r"[0-9a-f]{16}", headers["x-request-id"])
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers
    assert client.get("/healthz", headers={"X-Request-ID": "mine-1", "Origin": "https://example.org"}).headers["x-request-id"] == "mine-1"
    assert client.get("/healthz", headers={"X-Request-ID": "a b\x00"}).headers["x-request-id"] != "a b\x00"


def test_the_log_has_a_line_of_json_for_each_request_and_not_what_was_looked_for(made: Made) -> None:
    client, lines = made()
    client.get("/v1/search?q=secret+illness", headers={"X-Request-ID": "one"})
    looked_at = ("/v1/papers/illness", "/graph/v1/paper/DOI:10.1/illness/authors", "/paper/illness", "/illness", "/static/illness/x")
    for path in looked_at:
        client.get(path)
    client.request("ILLNESS", "/v1/search")
    asked = [(line["method"], line["route"], line["status"]) for line in lines]
    assert asked == [
        ("GET", "/v1/search", 200),
        ("GET", "/v1/papers/{name}", 404),
        ("GET", "/graph/v1/paper/{paper_id}/authors", 404),
        ("GET", "/paper/{name}", 404),
        ("GET", "other", 404),
        ("GET", "/static/{version}/{name}", 404),
        ("other", "/v1/search", 405),
    ]
    assert (lines[0]["id"], lines[0]["bytes"] > 100) == ("one", True)
    assert "illness" not in (json.dumps(lines) + client.get("/metrics").text).lower()


def test_what_clients_make_up_takes_no_memory(made: Made, tmp_path: Path) -> None:
    new_token(tmp_path / "tokens", "ada")
    client, _ = made(token_file=tmp_path / "tokens")
    measures = client.app.state.measures  # type: ignore[attr-defined]
    client.request("M0", "/0")
    known = len(measures.text())
    for number in range(1, 50):
        client.request(f"M{number}", f"/{number}", headers={"x-api-key": str(number)})
    assert len(measures.text()) < known + 200  # the same counts, of more digits


def test_a_head_is_answered_as_a_get_without_its_body(made: Made) -> None:
    client, lines = made()
    for path in ("/", "/v1/search?q=graph", "/graph/v1/paper/search?query=graph", "/healthz", "/v1/papers/none", "/v1/strategies", "/x"):
        got, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert {**head.headers, "x-request-id": ""}.keys() == {**got.headers, "x-request-id": ""}.keys()
        assert head.headers["content-type"] == got.headers["content-type"]
        assert (lines[-1]["method"], lines[-1]["bytes"]) == ("HEAD", 0)


def test_metrics_count_requests_by_route_and_say_what_is_answered_from(made: Made, words: sr.Index) -> None:
    client, _ = made()
    for path in ("/v1/search?q=graph", "/v1/search?q=star", "/v1/search", "/v1/papers/p0001", "/v1/papers/none", "/x/y"):
        client.get(path)
    families = {family.name: family for family in text_string_to_metric_families(client.get("/metrics").text)}
    counts = {
        (sample.labels["route"], sample.labels["status"]): sample.value
        for sample in families["sciretrieve_requests"].samples
        if sample.name.endswith("_total") and sample.labels["route"] != "/readyz"
    }
    assert counts == {
        ("/v1/search", "200"): 2,
        ("/v1/search", "400"): 1,
        ("/v1/papers/{name}", "200"): 1,
        ("/v1/papers/{name}", "404"): 1,
        ("other", "404"): 1,
    }
    name = words.path.name
    assert [(sample.labels, sample.value) for sample in families["sciretrieve_papers"].samples] == [({"index": name}, 300)]


def test_it_is_ready_once_its_indexes_are_warm(made: Made) -> None:
    client, _ = made()
    service = client.app.state.service  # type: ignore[attr-defined]
    service.library.is_ready = False
    assert (client.get("/healthz").status_code, client.get("/readyz").status_code) == (200, 503)
    service.library.is_ready = True
    assert client.get("/readyz").json() == {"status": "ready"}


def test_with_tokens_only_those_who_have_one_are_answered(made: Made, tmp_path: Path) -> None:
    token = new_token(tmp_path / "tokens", "ada")
    client, lines = made(token_file=tmp_path / "tokens")
    assert client.get("/healthz").status_code == 200
    for path in ("/v1/search?q=graph", "/graph/v1/paper/search?query=graph", "/metrics", "/openapi.json"):
        response = client.get(path)
        assert (response.status_code, response.json()["error"]) == (403, "this service requires a token")
        assert client.get(path, headers={"Authorization": f"Bearer {token}x"}).json()["error"] == "this token is not known here"
    page = client.get("/")
    assert page.status_code == 401
    assert client.get(f"{STATIC}/page.css").status_code == 200
    assert page.headers["www-authenticate"].startswith("Basic ")
    for headers in ({"Authorization": f"Bearer {token}"}, {"x-api-key": token}):
        assert client.get("/v1/search?q=graph", headers=headers).status_code == 200
    assert client.get("/v1/search?q=graph", auth=("me", token)).status_code == 200
    assert lines[-1]["client"] == "ada"
    assert token not in json.dumps(lines)


def test_whoever_asks_too_often_is_told_when_to_come_back(made: Made) -> None:
    client, _ = made(rate=2)
    paths = ("/v1/indexes", "/graph/v1/paper/p0001", "/graph/v1/paper/search?query=graph")
    responses = [client.get(path) for path in paths]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert responses[2].headers["retry-after"] == "5"
    assert responses[2].json()["error"] == "more than 2 requests in a minute"
    assert client.get("/healthz").status_code == 200


def test_what_is_too_long_is_refused_before_it_is_read(made: Made) -> None:
    client, _ = made(body=1000)
    for content in (b"x" * 1001, (b"x" * 500 for _ in range(10))):
        response = client.post("/v1/search", content=content, headers={"Content-Type": "application/json"})
        assert (response.status_code, response.json()["error"]) == (400, "the request is longer than 1,000 bytes")
    assert client.post("/v1/search", content=b"{}", headers={"Content-Length": "many"}).status_code == 400


def test_a_fault_of_our_own_is_in_the_log_and_not_in_the_answer(
    made: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client, lines = made()
    monkeypatch.setattr("sciretrieve.service.own.papers.profile", lambda index, name: dict[str, str]()["/home/ada/secret"])
    response = client.get("/v1/papers/p0001")
    assert (response.status_code, response.json()["error"]) == (500, "something went wrong here; the service's log has the details")
    assert "secret" not in response.text
    assert "secret" in caplog.text
    assert lines[-1]["status"] == 500


def test_what_the_log_says_of_a_fault_is_where_it_is_and_not_what_was_looked_for() -> None:
    try:
        try:
            dict[str, str]()["the illness"]
        except KeyError:
            raise OSError(28, "the illness") from None
    except OSError as error:
        ours = logging.LogRecord("sciretrieve.service", logging.ERROR, "", 0, "a request failed: %s", ("CorruptData",), None)
        other = logging.LogRecord("mcp.server", logging.ERROR, "", 0, "%r raised", ("the illness",), (OSError, error, error.__traceback__))
    text = "\n".join(Discreet("%(message)s").format(record) for record in (ours, other))
    assert "a request failed: CorruptData\n%r raised\n" in text
    assert "test_guards.py" in text
    assert text.endswith("builtins.OSError: No space left on device")


def test_a_method_that_an_address_does_not_have_is_refused(made: Made) -> None:
    client, _ = made()
    response = client.delete("/v1/search")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD, POST")
