"""What the whole command line promises to whoever uses it daily: words, encodings, defaults, types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import sciretrieve as sr
from sciretrieve.commands import indexing, searching
from sciretrieve.commands.app import app
from sciretrieve.commands.signatures import takes_options
from sciretrieve.options import BuildSettings, SearchOptions
from tests.command_line import process, sciretrieve
from tests.made_up import write_jsonl

TESTS = Path(__file__).parents[1]


def test_no_format_fails_in_a_narrow_encoding(tmp_path: Path) -> None:
    """The richest; each is printed by the same stream."""
    rows = [{"id": "é", "title": "Wärme 图 “x”", "abstract": "heat \U0001f600", "authors": ["Žižek, S."], "year": 2001}]
    index = sr.build(rows, tmp_path / "index", encoder=None)
    words = ("search", "heat", "-i", index.path, "--explain", "--facets", "authors")
    result = process(*words, PYTHONIOENCODING="ascii:strict", COLUMNS="60")
    assert (result.returncode, "Traceback" in result.stderr) == (0, False), result.stderr
    assert r"W\xe4rme \u56fe" in result.stdout


def test_one_of_anything_is_singular(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "one.jsonl", [{"id": "a", "title": "heat", "year": 2001}, {"title": ""}])
    write_jsonl(tmp_path / "two.jsonl", [{"id": "b", "title": "heat flow", "year": 2002}])
    (tmp_path / "queries.txt").write_text("heat\n", encoding="utf-8")
    index = tmp_path / "index"
    said = ""
    for words in (
        ("index", tmp_path / "one.jsonl", "-o", index, "--dense", "none"),
        ("search", "heat", "-i", index, "--facets", "year,venue"),
        ("export", "-i", index, "-o", tmp_path / "papers.parquet"),
        ("batch", tmp_path / "queries.txt", "-i", index, "-o", tmp_path / "run.trec"),
        ("add", tmp_path / "two.jsonl", "-i", index),
        ("info", "duplicates", "-i", index),
        ("delete", "b", "-i", index),
        ("merge", "-i", index),
        ("verify", "-i", index),
        ("info", "-i", index),
        ("info", "log", "-i", index),
    ):
        result = sciretrieve(*words)
        assert result.returncode == 0, result.stderr
        said += result.stdout + result.stderr
    said += repr(sr.open(index)) + repr(sr.open(index).search("heat"))
    assert "1 paper" in said
    wrong = r"(?<![\d,.])1 (papers|rows|queries|hits|lines|shards|files|groups|values|generations)\b"
    assert re.findall(wrong, said) == []


def test_facets_and_groups_are_of_the_papers_with_the_word(index: sr.Index) -> None:
    """However many papers an answer has."""
    counts = {word: len(index.search(word, 300, mode="bm25", group=False)[0]) for word in ("galaxy", "telescope", "orbit", "vaccine")}
    word, with_word = next((word, count) for word, count in counts.items() if 0 < count < 150)
    answer = sr.answer(index, sr.Request(word, facets=["year"], cluster=True))
    assert answer.facets[0].papers == with_word
    assert sum(len(group.papers) for group in answer.groups) == with_word
    assert all(paper.title for group in answer.groups for paper in group.papers)


def test_python_and_the_command_line_have_the_same_defaults() -> None:
    """Of every option of `search` and `index` that is a field of the library's options."""
    for command, options in ((searching.search, SearchOptions()), (indexing.index, BuildSettings())):
        typed = {name: parameter.default for name, parameter in inspect.signature(takes_options(command)).parameters.items()}
        alike = {field.name for field in fields(options)} & set(typed) - {"lexical"}
        assert {"filter", "mode", "until"} <= alike or {"encoder", "dense", "limit"} <= alike
        assert {name: typed[name] for name in alike} == {name: getattr(options, name) for name in alike}


def helps(command: Any = None, *words: str) -> Iterator[tuple[str, Any]]:
    """The name of each command, and of each within it, with the command."""
    command = command or get_command(app)
    yield " ".join(words), command
    for name, member in getattr(command, "commands", {}).items():
        yield from helps(member, *words, name)


@pytest.mark.parametrize(("name", "command"), [pytest.param(*pair, id=pair[0] or "sciretrieve") for pair in helps()])
def test_a_first_help_is_short_and_no_help_breaks_a_word(name: str, command: Any) -> None:
    first = sciretrieve(*name.split(), "--help", COLUMNS="80").stdout.splitlines()
    assert len(first) <= 45
    assert sum(line.startswith("  -") for line in first) <= 20
    whole = sciretrieve(*name.split(), "--help-all", COLUMNS="80").stdout
    assert all(len(line) <= 80 for line in (*first, *whole.splitlines()) if "http" not in line)
    words = set(whole.split())
    for param in command.params:
        assert set((param.help or "").split()) <= words, param.name


def test_all_commands_together_have_at_most_273_options() -> None:
    """What nobody should touch is no option; an option that several commands have counts for each."""
    params = [param for _, command in helps() for param in command.params]
    assert len([param for param in params if param.param_type_name == "option" and param.name != "set"]) <= 273


@pytest.mark.parametrize("name", [name for name in sr.__all__ if inspect.isfunction(getattr(sr, name))])
def test_every_argument_of_the_public_functions_has_a_type(name: str) -> None:
    for parameter in inspect.signature(getattr(sr, name)).parameters.values():
        assert parameter.annotation not in (inspect.Parameter.empty, "Any"), parameter
