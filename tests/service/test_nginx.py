"""nginx as it is configured in deploy/: what it refuses itself is JSON with the service's statuses, and pages keep their scripts."""

import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import httpx
import pytest

import sciretrieve as sr
from sciretrieve.service.failures import Failure
from sciretrieve.service.pages.rendering import STATIC
from tests.service.conftest import Serve

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
CONFIGURATION = (Path(__file__).parents[2] / "deploy" / "nginx.conf").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed; on Debian and Ubuntu: apt-get install nginx")


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def fronted(folder: Path, upstream: int) -> Iterator[httpx.Client]:
    """A client of nginx in front of a port, without TLS, and with a second in place of 40."""
    port = free_port()
    text = CONFIGURATION.replace("listen 443 ssl http2", f"listen 127.0.0.1:{port}").replace("127.0.0.1:8080", f"127.0.0.1:{upstream}")
    text = re.sub(r" *ssl_certificate\S* .*\n", "", text).replace("proxy_read_timeout 40s", "proxy_read_timeout 1s")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off;\npid {folder}/pid;\nerror_log {folder}/log;\nworker_processes 1;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}{text}}}\n"
    )
    assert NGINX is not None
    process = subprocess.Popen([NGINX, "-e", str(folder / "log"), "-c", str(folder / "nginx.conf")])
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            while True:
                assert process.poll() is None, (folder / "log").read_text()
                try:
                    client.get("/")
                    break
                except httpx.TransportError:
                    Event().wait(0.02)
            yield client
    finally:
        process.terminate()
        process.wait()


def said(response: httpx.Response) -> int:
    """The status of a refusal, which is JSON as the service's own are."""
    assert response.headers["content-type"] == "application/json"
    Failure.model_validate_json(response.content)
    return response.status_code


def test_what_nginx_refuses_is_said_as_the_service_says_it(serve: Serve, built: Callable[..., sr.Index], tmp_path: Path) -> None:
    upstream = serve(built(encoder=None).path)
    with fronted(tmp_path, int(upstream.rpartition(":")[2])) as client:
        assert client.get("/v1/search?q=graph").status_code == 200
        assert client.get("/v1/papers/none").json()["error"].startswith("there is no paper")  # the service's own words
        assert client.head("/").status_code == 200
        assert said(client.post("/v1/search", content=b"x" * (2 << 20))) == 400
        assert said(client.get(f"/v1/search?q={'a' * 40_000}")) == 400
        assert said(client.get("/v1/search?q=graph", headers={"X": "a" * 40_000})) == 400
        assert [said(client.get(path)) for path in ("/metrics", "/nginx/down")] == [403, 404]
        assert said(client.request("TRACE", "/")) == 400
        refused = [response for _ in range(60) if (response := client.get("/v1/indexes")).status_code != 200]
        assert {said(response) for response in refused} == {429}
        assert refused[0].headers["retry-after"] == "5"
        assert [client.get(f"{STATIC}/page.css").status_code for _ in range(100)] == [200] * 100


def test_a_service_that_is_not_there_or_does_not_answer_is_said_so(tmp_path: Path) -> None:
    with fronted(tmp_path, free_port()) as client:
        assert said(client.get("/graph/v1/paper/search?query=sea")) == 500
    with socket.create_server(("127.0.0.1", 0)) as silent, fronted(tmp_path, silent.getsockname()[1]) as client:
        assert said(client.get("/graph/v1/paper/search?query=sea")) == 504
