"""The Typer app and its commands, in the order that `--help` shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from . import (
    benching,
    bibliography,
    changing,
    configuring,
    demonstrating,
    encoding,
    evaluating,
    following,
    indexing,
    listing,
    managing,
    perturbing,
    screening,
    searching,
    showing,
    studying,
)
from .command import Command, Group, family


class _Root(Group):
    """All commands, in the order of `COMMANDS`: typer puts those that have commands of their own last."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of all commands, as `--help` shows them."""
        return [*(name for rows in COMMANDS.values() for _, name, _ in rows), *FORMER]


app = typer.Typer(
    name="sciretrieve",
    cls=_Root,
    help="Search scholarly papers by meaning and by words, find papers like these ones. Works offline.",
    epilog="Start with: sciretrieve demo. Then: sciretrieve index papers.parquet; sciretrieve search 'graph neural nets'",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        typer.echo(f"sciretrieve {version('sciretrieve')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    pass


INFO = family(
    managing.info,
    "-i indexes/arxiv",
    {
        "log": (managing.log, "-i indexes/papers"),
        "indexes": (listing.indexes, ""),
        "duplicates": (studying.duplicates, "-i indexes/arxiv"),
    },
)
REINDEX = family(changing.reindex, "-i indexes/papers --dense hnsw", {"measure": (benching.bench, "-i indexes/arxiv -o dense-types.svg")})
COMMANDS = {
    "Start": ((demonstrating.demo, "demo", ""),),
    "Find papers": (
        (searching.search, "search", "'graph neural nets' -k 5 --filter 'year >= 2018'"),
        (searching.similar, "similar", "kipf2017semi --not hamilton2017inductive"),
        (showing.show, "show", "kipf2017semi"),
        (bibliography.cite, "cite", "kipf2017semi hamilton2017inductive --append refs.bib"),
        (searching.batch, "batch", "queries.jsonl -i indexes/scifact -o run.trec"),
        (following.news, "news", ""),
    ),
    "Keep an index": (
        (indexing.index, "index", "arxiv.parquet -o indexes/arxiv"),
        (changing.add, "add", "new-papers.bib -i indexes/papers"),
        (changing.sync, "sync", "papers.bib -i indexes/papers --watch"),
        (changing.delete, "delete", "kipf2017semi -i indexes/papers"),
        (changing.restore, "restore", "--generation 3 -i indexes/papers"),
        (changing.merge, "merge", "-i indexes/papers"),
        (changing.join, "join", "/shared/indexes/papers"),
        (REINDEX, "reindex", ""),
    ),
    "Look inside": (
        (INFO, "info", ""),
        (managing.verify, "verify", "-i indexes/papers --repair"),
        (studying.why_not, "why-not", "kipf2017semi 'graph convolutions' -i indexes/arxiv"),
        (managing.export, "export", "-i indexes/arxiv -o arxiv-with-vectors.parquet"),
    ),
    "Review the literature": ((screening.screen, "screen", "--query 'fairness of recommender systems' -d review.jsonl"),),
    "Choose and measure": (
        (evaluating.evaluate, "evaluate", "mdcr --data data/mdcr --encoder specter2"),
        (evaluating.compare, "compare", "bm25.trec hybrid.trec --qrels qrels/test.tsv"),
        (studying.tune, "tune", "-i indexes/arxiv --queries queries.jsonl --qrels qrels.tsv"),
        (evaluating.app, "benchmarks", ""),
    ),
    "Encoders and settings": (
        (encoding.encode, "encode", "papers.parquet -o vectors.jsonl --encoder specter2"),
        (encoding.app, "encoders", ""),
        (configuring.app, "config", ""),
    ),
}
"""The sections of `--help`; in each a command's function, its name, and the arguments in its example, or the app of a group of commands."""
FORMER: Mapping[str, Callable[..., None]] = {
    "open": showing.open_in_browser,
    "log": managing.log,
    "indexes": listing.indexes,
    "duplicates": studying.duplicates,
    "bench": benching.bench,
    "robustness": perturbing.robustness,
}
"""Commands under the names that our documents gave them before they were put into families; `--help` does not show them."""

for section, rows in COMMANDS.items():
    for run, name, example in rows:
        if isinstance(run, typer.Typer):
            app.add_typer(run, name=name, rich_help_panel=section)
        else:
            epilog = f"Example: sciretrieve {name} {example}".rstrip()
            app.command(name, cls=Command, epilog=epilog, rich_help_panel=section)(run)
for name, function in FORMER.items():
    app.command(name, cls=Command, hidden=True)(function)
