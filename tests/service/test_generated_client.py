"""A client that openapi-python-client makes of the OpenAPI description is whole, and searches."""

import importlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

import sciretrieve as sr
from tests.service.conftest import Serve

GENERATOR = shutil.which("openapi-python-client")


@pytest.fixture(scope="module")
def address(serve: Serve, built: Callable[..., sr.Index]) -> str:
    """A service over the made-up papers."""
    return serve(built(encoder=None).path)


@pytest.mark.skipif(GENERATOR is None, reason="openapi-python-client is not on the PATH; .ci/run has one, in an environment of its own")
def test_a_client_is_made_and_searches(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "openapi.json").write_bytes(httpx.get(f"{address}/openapi.json").content)
    (tmp_path / "config.yaml").write_text("post_hooks: []\n")
    command = [str(GENERATOR), "generate", "--path", "openapi.json", "--config", "config.yaml", "--meta", "none", "--output-path", "made"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, "Warning" in result.stdout + result.stderr) == (0, False), result.stdout + result.stderr
    monkeypatch.syspath_prepend(tmp_path)
    with importlib.import_module("made").Client(base_url=address) as client:
        own = importlib.import_module("made.api.search.search").sync(client=client, q="graph networks", k=3)
        assert own.hits[0].title
        scholar = importlib.import_module("made.api.semantic_scholar_search.get_graph_paper_relevance_search")
        assert scholar.sync(client=client, query="graph", limit=2).data[0].paper_id
        assert scholar.sync(client=client, query="graph", limit=2, year="x").error.startswith("`year` is")
    for name in [name for name in sys.modules if name.partition(".")[0] == "made"]:
        monkeypatch.delitem(sys.modules, name)


def test_it_says_what_is_sent_and_how_to_ask(address: str) -> None:
    described: dict[str, Any] = httpx.get(f"{address}/openapi.json").json()
    operations = {(method, path): each for path, methods in described["paths"].items() for method, each in methods.items()}
    assert len(operations) > 30
    assert "ValidationError" not in str(described["components"]["schemas"].keys())
    usual = ["200", "400", "403", "429", "500", "504"]
    for (_, path), operation in operations.items():
        sent = sorted(operation["responses"])
        if path in ("/healthz", "/readyz"):
            assert (sent, operation["security"]) == (["200", "503"][: 1 + (path == "/readyz")], [])
        else:
            names = "{" in path or path in (
                *("/v1/search", "/v1/similar", "/v1/passages", "/v1/why-not", "/v1/export"),
                *("/graph/v1/paper/search/match", "/recommendations/v1/papers/"),
            )
            assert sent == sorted([*usual, *["404"] * names]), path
    assert len({operation["operationId"] for operation in operations.values()}) == len(operations)
    assert {*described["components"]["securitySchemes"]} == {"bearer", "key", "password"}
    assert described["security"][0] == {}  # this service has no tokens
    assert described["servers"][0]["url"] == "/"
    content = operations["get", "/v1/search"]["responses"]["200"]["content"]["application/json"]
    assert content["schema"]["$ref"] == "#/components/schemas/answer"
    for parameter in operations["get", "/graph/v1/paper/search"]["parameters"]:
        assert ("example" in parameter) == (parameter["name"] not in ("offset", "limit", "openAccessPdf"))
