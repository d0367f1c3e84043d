"""The Typer app and its commands, in the order that `--help` shows them. A command is imported and made when it is asked for: all of them
would take longer than a search does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.main import get_command

from .command import CONTEXT, Group, alone, family
from .console import Console
from .help import WHOLE, asked_whole

COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Start": {"demo": ("demonstrating.demo", "")},
    "Find papers": {
        "search": ("searching.search", "'graph neural nets' -k 5 --filter 'year >= 2018'"),
        "similar": ("searching.similar", "kipf2017semi --not hamilton2017inductive"),
        "show": ("showing.show", "kipf2017semi"),
        "cite": ("bibliography.cite", "kipf2017semi hamilton2017inductive --append refs.bib"),
        "batch": ("searching.batch", "queries.jsonl -i indexes/scifact -o run.trec"),
        "news": ("following.news", ""),
    },
    "Keep an index": {
        "index": ("indexing.index", "arxiv.parquet -o indexes/arxiv"),
        "add": ("changing.add", "new-papers.bib -i indexes/papers"),
        "sync": ("changing.sync", "papers.bib -i indexes/papers --watch"),
        "delete": ("changing.delete", "kipf2017semi -i indexes/papers"),
        "restore": ("changing.restore", "--generation 3 -i indexes/papers"),
        "merge": ("changing.merge", "-i indexes/papers"),
        "join": ("changing.join", "/shared/indexes/papers"),
        "reindex": ("changing.reindex", "-i indexes/papers --dense hnsw"),
    },
    "Look inside": {
        "info": ("managing.info", "-i indexes/arxiv"),
        "verify": ("managing.verify", "-i indexes/papers --repair"),
        "why-not": ("studying.why_not", "kipf2017semi 'graph convolutions' -i indexes/arxiv"),
        "export": ("managing.export", "-i indexes/arxiv -o arxiv-with-vectors.parquet"),
    },
    "Serve papers": {
        "serve": ("serving.serve", "-i indexes/papers --port 8080"),
        "mcp": ("assisting.mcp", "-i indexes/papers"),
    },
    "Review the literature": {"screen": ("screening.screen", "--query 'fairness of recommender systems' -d review.jsonl")},
    "Choose and measure": {
        "evaluate": ("evaluating.evaluate", "mdcr --data data/mdcr --encoder specter2"),
        "compare": ("evaluating.compare", "bm25.trec hybrid.trec --qrels qrels/test.tsv"),
        "tune": ("studying.tune", "-i indexes/arxiv --queries queries.jsonl --qrels qrels.tsv"),
        "benchmarks": ("evaluating.app", ""),
        "train": ("training.train", "data/triplets -o encoders/mine"),
    },
    "Encoders and settings": {
        "encode": ("encoding.encode", "papers.parquet -o vectors.jsonl --encoder specter2"),
        "encoders": ("encoding.app", ""),
        "config": ("configuring.app", ""),
    },
}
"""Section of `--help` -> command -> its function and the arguments in its example, or the app of a group of commands."""
FAMILIES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "info": {
        "log": ("managing.log", "-i indexes/papers"),
        "indexes": ("listing.indexes", ""),
        "duplicates": ("studying.duplicates", "-i indexes/arxiv"),
    },
    "reindex": {"measure": ("benching.bench", "-i indexes/arxiv -o dense-types.svg")},
}
"""Command -> the commands of its own."""
FORMER: Mapping[str, str] = {
    "open": "showing.open_in_browser",
    "log": "managing.log",
    "indexes": "listing.indexes",
    "duplicates": "studying.duplicates",
    "bench": "benching.bench",
    "robustness": "perturbing.robustness",
}
"""Commands under the names that our documents gave them before they were put into families; `--help` does not show them."""

SECTIONS = {name: section for section, rows in COMMANDS.items() for name in rows}


class _Commands(Mapping[str, Any]):
    """All commands by their names, each made when it is first asked for."""

    def __getitem__(self, name: str) -> Any:
        if name not in SECTIONS and name not in FORMER:
            raise KeyError(name)
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        yield from SECTIONS
        yield from FORMER

    def __len__(self) -> int:
        return len(SECTIONS) + len(FORMER)


@cache
def _made(name: str) -> Any:
    """The command of that name."""
    if name in FORMER:
        return alone(_named(FORMER[name]), name, hidden=True)
    function, example = COMMANDS[SECTIONS[name]][name]
    run = _named(function)
    if name in FAMILIES:
        members = {member: (_named(path), arguments) for member, (path, arguments) in FAMILIES[name].items()}
        run = family(run, example, members)
    command: Any = get_command(run) if isinstance(run, typer.Typer) else alone(run, name, example)
    command.name, command.rich_help_panel = name, SECTIONS[name]
    return command


def _named(path: str) -> Any:
    """A command's function, or an app, by the names of its module and itself."""
    module, name = path.split(".")
    return getattr(import_module(f"{__package__}.{module}"), name)


EVERYWHERE = {"-q", "--quiet", "--debug"}
"""Options of the program, which may stand behind a command, too."""


class _Root(Group):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        commands: Any = _Commands()
        self.commands = commands

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As usual, with the program's own options taken from wherever they stand."""
        ctx.meta[WHOLE] = asked_whole(args)
        end = args.index("--") if "--" in args else len(args)
        own = [arg for arg in args[:end] if arg in EVERYWHERE]
        return super().parse_args(ctx, [*own, *(arg for arg in args[:end] if arg not in EVERYWHERE), *args[end:]])

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of all commands, as `--help` shows them."""
        return list(self.commands)


app = typer.Typer(
    name="sciretrieve",
    cls=_Root,
    help="Search scholarly papers by meaning and by words, find papers like these ones. Works offline.",
    epilog="Start with: sciretrieve demo. Then: sciretrieve index papers.parquet; sciretrieve search 'graph neural nets'",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=CONTEXT,
)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        typer.echo(f"sciretrieve {version('sciretrieve')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress on stderr; after any command, too.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error; after any command, too.")] = False,
) -> None:
    Console.is_quiet = quiet
