"""What starting up may cost: nothing heavy on import, and no torch on the way to an answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sciretrieve as sr
from tests.command_line import process

HEAVY = ("torch", "transformers", "adapters", "sentence_transformers", "numba", "scipy", "pandas")


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after running `code`."""
    names = "{name.split('.')[0] for name, module in sys.modules.items() if module}"
    script = f"{code}\nimport sys; print('\\n' + ' '.join({names}), file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", script], env=os.environ, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return set(result.stderr.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_by("import sciretrieve")
    assert not loaded & {*HEAVY, "faiss", "pyarrow", "numpy", "openvino", "typer", "bm25s", "tokenizers"}


def command(*arguments: str) -> str:
    return f"""
import sys
from sciretrieve.commands.app import app
sys.argv = {["sciretrieve", *arguments]!r}
try:
    app()
except SystemExit as end:
    assert not end.code, end.code
"""


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_a_search_loads_only_what_it_needs(index: sr.Index, mode: str) -> None:
    index.search("warm the encoder's cache", 1)
    loaded = loaded_by(command("search", "graph networks", "-i", str(index.path), "--mode", mode))
    assert not loaded & {*HEAVY, "faiss", "bm25s", "pybtex", "rispy", "tqdm", "lark", "rich", "http"}
    assert ("openvino" in loaded) == (mode != "bm25")


WITHOUT_EXTRAS = """
import sys
from sciretrieve.base.extras import EXTRAS
sys.modules.update({module: None for modules in EXTRAS.values() for module in modules})
"""
"""As where nothing but what searching needs is installed."""


@pytest.mark.embedded_encoder
def test_searching_needs_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From papers to answers, with the encoder's graph made anew."""
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers.jsonl").write_text('{"id": "1", "title": "Graph networks"}\n{"id": "2", "title": "Dust of stars"}\n')
    commands = [["search", "nets of nodes", "-f", "json"], ["similar", "1"], ["verify"], ["info"], ["add", "papers.jsonl"]]
    code = [command("index", "papers.jsonl", "-o", "papers"), *(command(*arguments, "-i", "papers") for arguments in commands)]
    assert "torch" not in loaded_by(WITHOUT_EXTRAS + "".join(code))


def test_commands_do_without_pandas(index: sr.Index, tmp_path: Path) -> None:
    """Which Arrow imports wherever it is installed, when it makes or reads an array."""
    (tmp_path / "pandas.py").write_text("import os; os._exit(77)")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    searching = "search", '"star" title:dust', "--filter", "year >= 1900", "--facets", "year", "-f", "json"
    answered = process(*searching, "-i", index.path, PYTHONPATH=paths)
    assert answered.returncode == 0, answered.stderr
    with pytest.raises(subprocess.CalledProcessError, match="77"):
        subprocess.run([sys.executable, "-c", "import pandas"], env=os.environ | {"PYTHONPATH": paths}, check=True)


def test_openvino_converts_when_it_is_asked_to_and_reports_to_nobody() -> None:
    """Although its converter is not imported before."""
    code = "import sys; from sciretrieve.encoders.openvino_runtime import load_openvino as load; converts = callable(load().convert_model)"
    code += "; assert converts and 'openvino.tools.ovc' not in sys.modules; import openvino.tools.ovc"
    loaded = loaded_by(code)
    assert "openvino" in loaded
    assert "openvino_telemetry" not in loaded


def test_a_search_of_several_indexes_loads_no_more(index: sr.Index, tmp_path: Path) -> None:
    rows = [{"id": "1", "title": "Graph networks", "doi": "10.1000/a", "authors": ["A. Bee"]}]
    sr.build(rows, tmp_path / "other", encoder=None, progress=False).close()
    loaded = loaded_by(command("search", "graph networks", "-i", str(index.path), "-i", str(tmp_path / "other")))
    assert (loaded & {*HEAVY, "faiss", "bm25s", "pybtex", "rispy", "tqdm", "lark", "rich", "openvino"}) == set()


def test_help_loads_nothing_heavy() -> None:
    assert not loaded_by(command("--help")) & {*HEAVY, "faiss", "pyarrow", "numpy", "openvino"}
