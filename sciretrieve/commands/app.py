"""The Typer app and its commands, in the order of `--help-all`. Each command is imported when first needed, since importing all would take
longer than a search.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from ..base.errors import InvalidRequest
from .command import CONTEXT, CommandGroup, made
from .console import Console
from .help import WHOLE, asked_whole

COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Find papers": {
        "demo": ("demonstrating.demo", ""),
        "search": ("searching.search", "'graph neural nets' -k 5 --filter 'year >= 2018'"),
        "similar": ("searching.similar", "kipf2017semi --not hamilton2017inductive"),
        "show": ("showing.show", "kipf2017semi"),
        "cite": ("bibliography.cite", "kipf2017semi hamilton2017inductive --append refs.bib"),
        "suggest": ("suggesting.suggest", "draft.tex --insert"),
        "count": ("counting.count", "'graph AND (network OR node)' --since 2018"),
        "news": ("following.news", ""),
        "news list": ("following.saved_searches", ""),
        "news forget": ("following.forget", "transformers"),
        "batch": ("searching.batch", "queries.jsonl -i indexes/scifact -o run.trec"),
        "why-not": ("studying.why_not", "kipf2017semi 'graph convolutions' -i indexes/arxiv"),
    },
    "Keep an index": {
        "index": ("indexing.index", "arxiv.parquet -o indexes/arxiv"),
        "index parts": ("indexing.parts", "/shared/indexes/papers"),
        "add": ("changing.add", "new-papers.bib -i indexes/papers"),
        "sync": ("changing.sync", "papers.bib -i indexes/papers --watch"),
        "delete": ("changing.delete", "kipf2017semi -i indexes/papers"),
        "restore": ("changing.restore", "--generation 3 -i indexes/papers"),
        "merge": ("changing.merge", "-i indexes/papers"),
        "reindex": ("changing.reindex", "-i indexes/papers --dense hnsw"),
    },
    "Look inside": {
        "info": ("managing.info", "-i indexes/arxiv"),
        "info log": ("managing.log", "-i indexes/papers"),
        "info health": ("managing.health", "-i indexes/papers"),
        "info indexes": ("listing.indexes", ""),
        "info duplicates": ("studying.duplicates", "-i indexes/arxiv"),
        "verify": ("managing.verify", "-i indexes/papers --repair"),
        "export": ("managing.export", "-i indexes/arxiv -o arxiv-with-vectors.parquet"),
    },
    "Serve papers": {
        "serve": ("serving.serve", "-i indexes/papers --port 8080"),
        "serve token": ("serving.token", "ada tokens"),
        "mcp": ("assisting.mcp", "-i indexes/papers"),
        "mcp http": ("assisting.http", "-i indexes/papers --token-file tokens"),
    },
    "Review the literature": {
        "strategy": ("strategies.strategy", "run strategy.toml"),
        "strategy run": ("strategies.run", "strategy.toml -o found"),
        "strategy translate": ("strategies.translate", "ovid.txt --from ovid -o strategy.toml"),
        "strategy replay": ("strategies.replay", "found/log.json"),
        "screen": ("screening.screen", "next -d review.jsonl"),
        "screen begin": ("screening.begin", "-d review.jsonl --query 'fairness of recommender systems'"),
        "screen next": ("screening.next_papers", "-d review.jsonl"),
        "screen decide": ("screening.decide", "-d review.jsonl --exclude kipf2017semi --reason 'no recommender'"),
        "screen merge": ("screening.merge", "ada.jsonl ben.jsonl -d both.jsonl"),
        "screen report": ("screening.report", "-d both.jsonl -o report --log found/log.json"),
    },
    "Measure, train and set up": {
        "evaluate": ("evaluating.evaluate", "mdcr --data data/mdcr --encoder specter2"),
        "evaluate run": ("evaluating.run", "bm25.trec --qrels qrels/test.tsv"),
        "evaluate replay": ("evaluating.replay", "runs/mdcr/receipt.json"),
        "evaluate matrix": ("evaluating.matrix", "systems.toml -o results"),
        "evaluate trainings": ("evaluating.trainings", "mine='runs/mine-*' base='runs/base-*'"),
        "compare": ("evaluating.compare", "bm25.trec hybrid.trec --qrels qrels/test.tsv"),
        "tune": ("studying.tune", "-i indexes/arxiv --queries queries.jsonl --qrels qrels.tsv"),
        "bench": ("benching.bench", "-i indexes/arxiv -o dense-types.svg"),
        "measure-recall": ("benching.measure_recall", "-i indexes/arxiv"),
        "benchmarks": ("evaluating.benchmarks", ""),
        "benchmarks show": ("evaluating.show", "mdcr"),
        "benchmarks fetch": ("evaluating.fetch", "mdcr --to data/mdcr"),
        "benchmarks build": ("making.build", "cite --from papers.parquet --to data/mine"),
        "benchmarks pool": ("pooling.pool", "runs/bm25 runs/hybrid --queries queries.jsonl -p pool.jsonl -i acm"),
        "benchmarks leakage": ("training.leakage", "data/triplets --test scidocs-cite --data data/scidocs"),
        "benchmarks robustness": ("perturbing.robustness", "papers.parquet --encoder specter2 -o report"),
        "train": ("training.train", "data/triplets -o encoders/mine"),
        "train build": ("making.build_set", "triplets --recipe specter --from papers.parquet --to data/triplets"),
        "encode": ("encoding.encode", "papers.parquet -o vectors.jsonl --encoder specter2"),
        "encoders": ("encoding.encoders", ""),
        "encoders show": ("encoding.show", "specter2"),
        "encoders fetch": ("encoding.fetch", "specter2"),
        "encoders cache": ("encoding.cache", ""),
        "encoders clear": ("encoding.clear", "specter2"),
        "config": ("configuring.config", ""),
        "config set": ("configuring.change", "index acm"),
        "config unset": ("configuring.unset", "index"),
        "config path": ("configuring.path", ""),
        "config edit": ("configuring.edit", ""),
    },
}
"""By section of the help: commands, with their function and the arguments in their example."""
RARE = {"batch", "why-not", "restore", "merge", "reindex", "verify", "compare", "tune", "bench", "measure-recall"}
RARE |= {"benchmarks", "train", "encode", "encoders"}
"""Commands that few people need: `--help-all` shows them, and `--help` does not."""

ASKING = {"find", "query", "ask", "lookup"}
"""Words that people type for `search`."""

ROWS = {name: row for rows in COMMANDS.values() for name, row in rows.items()}


class _Commands(Mapping[str, Any]):
    """The commands of a group, or those of the program; each is made when first needed."""

    def __init__(self, name: str = "") -> None:
        self.above = f"{name} " if name else ""

    def __getitem__(self, name: str) -> Any:
        if f"{self.above}{name}" not in ROWS:
            raise KeyError(name)
        return _make_command(f"{self.above}{name}")

    def __iter__(self) -> Iterator[str]:
        names = (name.removeprefix(self.above) for name in ROWS if name.startswith(self.above))
        return (name for name in names if " " not in name)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def _make_command(name: str) -> Any:
    """Import and make a command by its name."""
    path, arguments = ROWS[name]
    module, function = path.split(".")
    run = getattr(import_module(f"{__package__}.{module}"), function)
    command = made(run, name, f"Example: sciretrieve {name} {arguments}".rstrip(), _Commands(name))
    if " " not in name:
        command.rich_help_panel = next(section for section, rows in COMMANDS.items() if name in rows)
    command.is_rare = name in RARE
    return command


EVERYWHERE = {"-q", "--quiet", "--debug"}
"""Options of the program that may also stand after a command."""


class _Root(CommandGroup):
    """The program itself, a group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        commands: Any = _Commands()
        self.commands = commands

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse arguments, with the program's own options anywhere among them."""
        ctx.meta[WHOLE] = asked_whole(args)
        end = args.index("--") if "--" in args else len(args)
        own = [arg for arg in args[:end] if arg in EVERYWHERE]
        return super().parse_args(ctx, [*own, *(arg for arg in args[:end] if arg not in EVERYWHERE), *args[end:]])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, with `info log` as one name, although `info` is a command as well. For unknown words that resemble no command,
        raises InvalidRequest with a search to paste.
        """
        word = args[0]
        if word not in self.commands and not word.startswith("-") and not ctx.resilient_parsing:
            near = [name for name in ROWS if name.endswith(f" {word}")] or get_close_matches(word, self.commands, n=1, cutoff=0.75)
            query = args[1:] if word in ASKING and args[1:] else args
            hint = f"did you mean {' or '.join(near)}?" if near else f"to search, write: {shlex.join(['sciretrieve', 'search', *query])}"
            raise InvalidRequest(f"No such command {word!r}; {hint}")
        name, command, rest = super().resolve_command(ctx, args)
        members = getattr(command, "commands", {})
        return (f"{name} {rest[0]}", members[rest[0]], rest[1:]) if rest and rest[0] in members else (name, command, rest)


app = typer.Typer(
    name="sciretrieve",
    cls=_Root,
    help="Search scholarly papers by meaning and by words, and find papers like these.",
    epilog="Start with: sciretrieve demo. Then: sciretrieve index papers.parquet; sciretrieve search 'graph neural nets'. "
    "All commands: sciretrieve --help-all",
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes and no progress; may stand anywhere.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show an error's traceback; it may stand anywhere.")] = False,
) -> None:
    Console.is_quiet = quiet
