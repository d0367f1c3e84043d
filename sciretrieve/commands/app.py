"""The Typer app and its commands, in the order that `--help` shows them."""

from __future__ import annotations

from typing import Annotated

import typer

from . import building, demonstrating, encoding, evaluating, managing, searching, studying

app = typer.Typer(
    name="sciretrieve",
    help="Search scholarly papers by meaning and by words, find papers like these ones. Works offline.",
    epilog="Start with: sciretrieve demo. Then: sciretrieve index papers.parquet; sciretrieve search 'graph neural nets'",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"sciretrieve {version('sciretrieve')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    pass


app.command("index", epilog="Example: sciretrieve index arxiv.parquet -o indexes/arxiv")(building.index)
app.command("search", epilog="Example: sciretrieve search 'graph neural nets' -k 5 --filter 'year >= 2018'")(searching.search)
app.command("similar", epilog="Example: sciretrieve similar kipf2017semi --not hamilton2017inductive")(searching.similar)
app.command("batch", epilog="Example: sciretrieve batch queries.jsonl -i indexes/scifact -o run.trec")(searching.batch)
app.command("why-not", epilog="Example: sciretrieve why-not kipf2017semi 'graph convolutions' -i indexes/arxiv")(studying.why_not)
app.command("duplicates", epilog="Example: sciretrieve duplicates -i indexes/arxiv")(studying.duplicates)
app.command("tune", epilog="Example: sciretrieve tune -i indexes/arxiv --queries queries.jsonl --qrels qrels.tsv")(studying.tune)
app.command("encode", epilog="Example: sciretrieve encode papers.parquet -o vectors.jsonl --encoder specter2")(encoding.encode)
app.add_typer(encoding.app, name="encoders")
app.command("evaluate", epilog="Example: sciretrieve evaluate mdcr --data data/mdcr --encoder specter2")(evaluating.evaluate)
app.command("compare", epilog="Example: sciretrieve compare bm25.trec hybrid.trec --qrels qrels/test.tsv")(evaluating.compare)
app.add_typer(evaluating.app, name="benchmarks")
app.command("info", epilog="Example: sciretrieve info -i indexes/arxiv")(managing.info)
app.command("export", epilog="Example: sciretrieve export -i indexes/arxiv -o arxiv-with-vectors.parquet")(managing.export)
app.command("demo", epilog="Example: sciretrieve demo")(demonstrating.demo)
