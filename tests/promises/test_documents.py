"""Documents that cannot go stale: the command reference, the layout in the architecture, links, and Python examples."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.made_up import made_up_papers, write_jsonl
from tests.promises.test_layers import LAYERS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"])


def test_the_command_reference_is_the_commands_help() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    assert page["TARGET"].read_text(encoding="utf-8") == page["reference"](), "stale: run `make docs`"


def test_the_man_page_is_the_commands_help() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    assert page["MAN_TARGET"].read_text(encoding="utf-8") == page["man_page"](), "stale: run `make docs`"


@pytest.mark.parametrize("program", [["groff", "-man", "-Tutf8", "-Kutf8", "-ww"], ["mandoc", "-Tlint", "-Wwarning"]], ids=" ".join)
def test_the_man_page_can_be_read(program: list[str]) -> None:
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]}, which reads man pages, is not installed")
    result = subprocess.run([*program, ROOT / "docs" / "sciretrieve.1"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_the_man_page_has_every_command_and_no_accidental_request() -> None:
    lines = (ROOT / "docs" / "sciretrieve.1").read_text(encoding="utf-8").splitlines()
    commands = re.findall(r"^## sciretrieve (.+)$", runpy.run_path(str(ROOT / "docs" / "generate.py"))["reference"](), re.MULTILINE)
    shown = [line for line in lines if line.startswith('.SS "sciretrieve ')]
    for command in commands:
        assert any(line.startswith(f'.SS "sciretrieve {command} '.replace("-", r"\-")) for line in shown), command
    assert {line.split()[0] for line in lines if line.startswith((".", "'"))} <= {".TH", ".SH", ".SS", ".PP", ".TP", ".B"}


def test_the_man_page_is_shipped() -> None:
    files = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["data-files"]
    assert files == {"share/man/man1": ["docs/sciretrieve.1"]}


def test_the_architecture_shows_the_layers_that_are_tested() -> None:
    """One line a level, the highest first; what follows the names, after four blanks or more, says what they are."""
    drawing = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("```")[1].strip()
    levels = [re.findall(r"[a-z_]+", re.split(" {4,}", line)[0]) for line in drawing.splitlines()]
    assert [sorted(names) for names in levels] == [sorted(names) for names in reversed(LAYERS) if names != {"__main__"}]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http", "mailto")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


SENTENCE_TRANSFORMERS = """
import numpy as np

class SentenceTransformer:
    def __init__(self, name):
        assert name == "sentence-transformers/all-MiniLM-L6-v2"

    def encode(self, inputs, prompt_name=None, prompt=None, batch_size=32, convert_to_numpy=True):
        assert all(isinstance(text, str) for text in inputs)
        return np.array([np.bincount(list(text.encode()), minlength=384)[:384] for text in inputs], np.float32)
"""
"""What stands for that library, which would fetch its model: it counts bytes."""


class Embeddings(BaseHTTPRequestHandler):
    """The web service of the examples, which counts bytes."""

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
        vectors = [[text.encode().count(byte % 256) for byte in range(384)] for text in texts]
        data = json.dumps({"vectors": vectors}).encode() if self.path == "/embed" else b""
        self.send_response(200 if data else 404)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def embeddings() -> Iterator[str]:
    """The address of that service."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Embeddings) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/embed"
        server.shutdown()


@pytest.mark.parametrize("name", ["docs/python.md", "README.md"])
def test_python_examples_run(name: str, embeddings: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "papers.jsonl", made_up_papers(60))
    (tmp_path / "sentence_transformers.py").write_text(SENTENCE_TRANSFORMERS, encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    # in one process, since most of the time goes into imports
    run_all = f"for code in {examples!r}:\n    exec(compile(code, code, 'exec'), {{'__name__': '__main__'}})"
    environment = os.environ | {"EMBEDDINGS": embeddings, "NO_PROXY": "*"}
    result = subprocess.run([sys.executable, "-c", run_all], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
