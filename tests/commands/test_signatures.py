"""Options that the library describes are those of the commands: all of them, with its help, its defaults and its bounds."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from typer.main import get_command

from sciretrieve.base.choices import options_of, parted
from sciretrieve.commands.app import app
from sciretrieve.options import Bm25Parameters, BuildSettings, ColumnMap, EvaluationOptions, SearchOptions
from tests.command_line import sciretrieve

SEARCHING, BM25 = SearchOptions(), Bm25Parameters()
CLASSES = (BuildSettings, Bm25Parameters, SearchOptions, ColumnMap, EvaluationOptions)


@pytest.mark.parametrize("options_class", CLASSES)
def test_every_field_says_what_it_is_for(options_class: type) -> None:
    for name, hint in options_of(options_class).items():
        help = parted(hint)[1]
        assert help is not None, name
        assert help.text.endswith("."), name
        assert f"    {name}: {help.text}" in (options_class.__doc__ or "").splitlines()


@pytest.mark.parametrize(
    ("command", "options_class", "others"),
    [
        ("search", SearchOptions, {"reranker", "late", "depth", "k1", "b"}),
        ("index", BuildSettings, {"bare_titles", "lexical", "memory"}),
        ("index", Bm25Parameters, {"delta", "title"}),
        ("evaluate", EvaluationOptions, {"mode", "measures"}),
    ],
)
def test_a_command_has_them_with_the_help_and_default_of_the_library(command: str, options_class: Any, others: set[str]) -> None:
    made = get_command(app).commands[command]  # type: ignore[attr-defined]
    parameters, settings = {one.name: one for one in made.params}, made.callback.settings
    types = options_of(options_class)
    for field in fields(options_class):
        if field.name not in others:
            help = parted(types[field.name])[1]
            assert help is not None
            if help.setting:
                assert (settings[field.name].help, settings[field.name].default) == (help, field.default)
            else:
                assert parameters[field.name].help == help.text
                assert parameters[field.name].default == field.default


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("index papers.csv --set limit=3", "limit is an option: write --limit, not --set"),
        ("search x --set k=3", "k is an option: write -k, not --set"),
        ("sync papers.csv --set dry_run=true", "dry_run is an option: write --dry-run, not --set"),
        ("similar x --set not=y", "not is an option: write --not, not --set"),
        ("count x --set query=y", "unknown setting 'query'; there are: generation"),
    ],
)
def test_an_option_that_is_given_as_a_setting_is_named(typed: str, said: str) -> None:
    told = sciretrieve(*typed.split())
    assert (told.returncode, told.stderr) == (2, f"sciretrieve: {said}\n")
