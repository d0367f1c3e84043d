"""`sciretrieve mcp`, as far as it does not come to serve."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import process, sciretrieve
from tests.service.assistants.library import SEA, build


def test_without_its_extra_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = build(tmp_path / "sea", SEA)
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = sciretrieve("mcp", "-i", path)
    assert result.returncode == 4
    assert result.stderr == (
        'sciretrieve: a server for assistants needs the package mcp, which is not installed: pip install "sciretrieve[mcp]"\n'
    )


def test_what_keeps_it_from_serving_is_told(tmp_path: Path) -> None:
    path = build(tmp_path / "sea", SEA)
    missing = sciretrieve("mcp", "-i", tmp_path / "nothing")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr.startswith("sciretrieve: there is no index at ")
    tokens = sciretrieve("mcp", "http", "-i", path, "--token-file", tmp_path / "nothing")
    assert tokens.returncode == 2
    assert tokens.stderr.startswith("sciretrieve: there is no file ")
    address = sciretrieve("mcp", "http", "-i", path, "--set", "address=here")
    assert address.stderr.startswith("sciretrieve: 'here' is not an address; ")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = process("mcp", "http", "-i", path, "--port", str(port))
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith(f"port {port}: Address already in use; choose another --port or --host\n")


def test_the_command_line_does_without_the_protocol() -> None:
    code = "import sys; from sciretrieve.commands import run; run(['mcp', '--help']); assert not {'mcp', 'uvicorn'} & {*sys.modules}"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
