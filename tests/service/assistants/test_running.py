"""The server as assistants run it: over the streams of a process of its own, and over HTTP."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.service.access import new_token
from sciretrieve.service.assistants.running import _security
from tests.command_line import hear_interrupts
from tests.service.assistants.library import SEA, build, text

STRAY = """
import os, subprocess, sys
from sciretrieve.base.extras import EXTRAS

others = {module for extra, modules in EXTRAS.items() if extra != "mcp" for module in modules}
sys.modules.update(dict.fromkeys(others - {"uvicorn"}))  # which the extra mcp has, too
from sciretrieve import commands
from sciretrieve.query.index import Index

def search(self, *arguments, _search=Index.search, **options):
    print("stray")
    os.write(1, b"stray\\n")
    subprocess.run(["echo", "stray"])
    assert sys.stdin.read() == ""
    return _search(self, *arguments, **options)

Index.search = search
sys.argv = ["sciretrieve", *sys.argv[1:]]
commands.main()
"""
"""The command without the modules of other extras, where a search prints in every way, and reads what is the protocol's."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of three papers."""
    return build(tmp_path_factory.mktemp("index") / "sea", SEA)


def message(number: int, method: str, **parameters: Any) -> bytes:
    """A request of the protocol."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}).encode() + b"\n"


def test_stdout_has_the_protocol_alone(path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STRAY, "mcp", "-i", str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        lines = []
        for request in (
            message(1, "initialize", **about),
            message(2, "tools/call", name="search", arguments={"query": "moon"}),
            message(3, "tools/call", name="search", arguments={"query": "moon", "filter": "nothing > 1"}),
        ):
            process.stdin.write(request)
            process.stdin.flush()
            lines.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        assert process.stdout.read() == b""
        errors = process.stderr.read().decode()
        assert process.wait(60) == 0
    assert [line["id"] for line in lines] == [1, 2, 3]
    assert "Begin with `search`" in lines[0]["result"]["instructions"]
    assert lines[1]["result"]["structuredContent"]["papers"][0]["id"] == "tides"
    assert lines[2]["result"]["isError"] is True
    assert errors.count("stray") >= 3
    assert "Traceback" not in errors


def test_the_command_answers_a_client_and_ends_with_it(path: Path) -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "sciretrieve", "mcp", "-i", str(path)], env=dict(os.environ))

    async def run() -> str:
        async with Client(server) as client:
            return text(await client.call_tool("get_papers", {"papers": ["salt"]}))

    assert asyncio.run(run()).startswith("Salt in the sea\n   id: salt\n")


@pytest.fixture
def process(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The command, which serves."""
    with subprocess.Popen(
        [sys.executable, "-m", "sciretrieve", "mcp", "-i", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=hear_interrupts,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(message(1, "ping"))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        yield process


def test_an_interrupt_ends_it_quietly(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert process.communicate() == (b"", b"")


def test_it_ends_quietly_where_nobody_reads_its_answers(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(message(2, "ping"))
    process.stdin.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""


@pytest.fixture(scope="module")
def served(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of the command over HTTP, and a token for it; it is interrupted at the end, and ends quietly."""
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    token = new_token(tokens, "ada")
    command = [sys.executable, "-m", "sciretrieve", "mcp", "http", "-i", str(path), "--port", "0", "--token-file", str(tokens)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts) as process:
        assert process.stderr is not None
        found = re.fullmatch(r"the address for assistants is (http://127\.0\.0\.1:\d+/mcp)\n", process.stderr.readline())
        assert found is not None
        yield found[1], token
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert "Traceback" not in process.stderr.read()


def test_over_http_a_client_with_a_token_is_answered(served: tuple[str, str]) -> None:
    address, token = served

    async def run() -> tuple[str, str]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            found = await client.call_tool("search", {"query": "moon", "limit": 1})
            wrong = await client.call_tool("search", {"query": "moon", "filter": "("})
            return text(found), text(wrong)

    found, wrong = asyncio.run(run())
    assert "id: tides" in found
    assert wrong.startswith("the filter")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer nonsense"}, 401),
        ({"Host": "elsewhere.example"}, 421),
        ({"Origin": "http://elsewhere.example"}, 403),
    ],
    ids=["no token", "another token", "another host", "another origin"],
)
def test_over_http_others_are_refused(served: tuple[str, str], headers: dict[str, str], status: int) -> None:
    address, token = served
    own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    own |= {"Authorization": f"Bearer {token}"} if status != 401 else {}
    request = urllib.request.Request(address, message(1, "ping"), own | headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)
    with refused.value as response:
        assert response.status == status


def test_an_address_of_others_is_allowed() -> None:
    security = _security("0.0.0.0", "https://papers.example.org:8443")
    assert "papers.example.org:8443" in security.allowed_hosts
    assert "https://papers.example.org:8443" in security.allowed_origins
    assert security.enable_dns_rebinding_protection
    assert not any(name.startswith("0.0.0.0") for name in security.allowed_hosts)
    with pytest.raises(InvalidRequest, match="is not an address"):
        _security("127.0.0.1", "papers.example.org")
