"""Documents that cannot go stale: the command reference, the layout in the architecture, links, and Python examples."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.made_up import made_up_papers, write_jsonl
from tests.promises.test_layers import LAYERS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "bench" / "README.md"])


def test_the_command_reference_is_the_commands_help() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    assert page["TARGET"].read_text(encoding="utf-8") == page["reference"](), "stale: run `make docs`"


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
