"""The public face: names that are listed exist, and nothing public lacks a docstring."""

from __future__ import annotations

import re
from importlib import metadata
from importlib.metadata import version
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve.commands.app import ROWS

PACKAGE = Path(sr.__file__).parent


def test_all_is_sorted_and_resolves() -> None:
    assert sr.__all__ == sorted(sr.__all__)
    assert dir(sr) == sr.__all__
    assert sr.__version__ == version("sciretrieve")
    for name in set(sr.__all__) - {"__version__", *FOLDERS}:
        assert getattr(sr, name).__module__.startswith("sciretrieve.")
    for name in FOLDERS:
        assert getattr(sr, name).__name__ == f"sciretrieve.{name}"
    with pytest.raises(AttributeError, match="nonsense"):
        _ = sr.nonsense


WITHIN = {
    "build": "index",  # `sr.index` would be hidden by each index that it returns
    "build_part": "index",  # --part
    "estimate": "index",  # --dry-run
    "repair": "verify",  # --repair
    "answer": "search",
    "explain": "search",  # --explain
    "profile": "show",
    "citations_of": "show",
    "add_full_texts": "add",  # --fulltext
    "save_search": "search",  # --save
    "saved_search": "news",
    "saved_searches": "news",
}
"""Functions of Python -> the command that has them within."""
FOLDERS = {"demo", "evaluation", "integrations", "strategies", "training"}
ALONE = {*FOLDERS, "field", "load_encoder", "open", "open_corpus", "open_many", "open_reranker", "schema", "__version__"}
"""What commands do by themselves."""


def test_what_python_does_a_command_does_under_the_same_name() -> None:
    names = {name for name in sr.__all__ if name == name.lower()} - ALONE
    commands = {name.replace("-", "_").replace(" ", "_") for name in ROWS} | {name.split()[-1] for name in ROWS}
    assert names - commands <= set(WITHIN) <= names
    assert set(WITHIN.values()) <= set(ROWS)


def test_an_index_has_few_names_and_a_program_shows_each(tmp_path: Path) -> None:
    index = sr.build([{"id": "a", "title": "Graph networks"}], tmp_path / "index", encoder=None, progress=False)
    names = [name for name in dir(index) if not name.startswith("_")]
    programs = re.findall(r"```python\n(.*?)```", (PACKAGE.parent / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(names) <= 30
    assert [name for name in names if not re.search(rf"\.{name}\b", "".join(programs))] == []


def test_a_source_tree_that_is_not_installed_knows_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    installed = sr.__version__
    monkeypatch.setattr(metadata, "version", missing)
    assert sr.__version__ == installed


def test_the_changelog_begins_with_the_version() -> None:
    text = (PACKAGE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == sr.__version__
