"""Documents that cannot go stale: the command reference, the layout in the architecture, links, and Python examples."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

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


@pytest.mark.parametrize("name", ["docs/python.md", "README.md"])
def test_python_examples_run(name: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "papers.jsonl", made_up_papers(60))
    text = (ROOT / name).read_text(encoding="utf-8")
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
