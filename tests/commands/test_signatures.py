"""Options that the library describes are those of the commands: all of them, with its help, its defaults and its bounds."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

from sciretrieve.base.choices import options_of, parted
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.commands.app import app
from sciretrieve.commands.signatures import Without, takes_options
from sciretrieve.options import Bm25Parameters, BuildSettings, ColumnMap, EvaluationOptions, Fusion, Passing, SearchOptions
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


def ran(run: Any, *arguments: str) -> None:
    app = typer.Typer(add_completion=False)
    app.command()(run)
    app(list(arguments), standalone_mode=False)


def test_the_command_is_called_with_the_object() -> None:
    calls: list[Any] = []

    @takes_options
    def run(
        word: str,
        options: Annotated[SearchOptions, Without("reranker", "late", "k1", "b")] = SEARCHING,
        bm25: Annotated[Bm25Parameters, Without("delta", "title")] = BM25,
        loud: bool = False,
    ) -> None:
        """Say it."""
        calls.append((word, options, bm25, loud))

    ran(run, "graphs")
    ran(
        run,
        "graphs",
        "--filter",
        "a",
        "--filter",
        "b",
        "--no-group",
        "--diversify",
        "--set",
        "ef=3",
        "--set",
        "variant=atire, k1=0.9",
        "--loud",
    )
    given = SearchOptions(filter=["a", "b"], group=False, diversify=True, ef=3)
    assert calls[0][0] == "graphs"
    assert calls[0][1].filters == ()
    assert calls[0][2:] == (Bm25Parameters(), False)
    assert calls[1] == ("graphs", given, Bm25Parameters("atire", 0.9), True)
    with pytest.raises(InvalidRequest, match="`recall` chooses `ef`"):
        ran(run, "graphs", "--set", "ef=3", "--set", "recall=0.9")


def test_what_a_class_shares_is_an_option_by_itself() -> None:
    calls: list[Any] = []

    @takes_options
    def run(filter: Passing = None, fusion: Fusion = None) -> None:
        calls.append((filter, fusion))

    ran(run)
    ran(run, "--filter", "a", "--set", "fusion=rrf")
    assert not calls[0][0]
    assert calls[1] == (["a"], "rrf")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SearchOptions(alpha=2), "`alpha` must lie between 0 and 1, not 2"),
        (lambda: SearchOptions(alpha=float("nan")), "`alpha` must lie between 0 and 1, not nan"),
        (lambda: SearchOptions(rerank_depth=0), "`rerank_depth` must be at least 1, not 0"),
        (lambda: SearchOptions(nprobe=1 << 31), "`nprobe` must be below 2^31, not 2147483648"),
        (lambda: BuildSettings(shard_size=0), "`shard_size` must lie between 1 and 1,000,000, not 0"),
        (lambda: Bm25Parameters(k1=-1), "`k1` must be at least 0, not -1"),
        (lambda: Bm25Parameters(b=1.5), "`b` must lie between 0 and 1, not 1.5"),
    ],
)
def test_a_number_beyond_its_bounds_is_named(make: Any, said: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        make()
    assert str(error.value) == said


def test_an_option_that_is_given_as_a_setting_is_named() -> None:
    told = sciretrieve("index", "papers.csv", "--set", "limit=3")
    assert (told.returncode, told.stderr) == (2, "sciretrieve: limit is an option: write --limit, not --set\n")
