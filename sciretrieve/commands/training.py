"""`sciretrieve benchmarks leakage`: what a benchmark tests that stands in a training set."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from . import completing
from .console import say
from .parameters import Data, Debug, PlainFormatOption


def leakage(
    training: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRAINING",
            help="A folder that `benchmarks build` made to train on, or a file in the format of SciRepEval's training data; or several.",
        ),
    ],
    benchmark: Annotated[
        list[str],
        typer.Option(
            "--test", metavar="BENCHMARK", help="As for `evaluate`; may be given more than once.", autocompletion=completing.benchmarks
        ),
    ],
    data: Data = None,
    format: PlainFormatOption = "table",
    debug: Debug = False,
) -> None:
    """Say what a benchmark tests that is in a training set: papers known by id or title, texts by their words.

    queries: papers or texts. relevant: papers that are relevant to any query. pairs: a query and a relevant paper; trained are those that
    are the query and the positive paper of a triplet or pair. A figure on what was trained on says little of other papers.

    JSON names them all.
    """
    from ..training import leakage as find_leakage

    leaks = [find_leakage(path, name, data) for path in training for name in benchmark]
    if format == "json":
        say([json.dumps([asdict(leak) for leak in leaks], ensure_ascii=False, indent=1)])
        return
    rows: list[tuple[str, ...]] = [("training set", "benchmark", "queries", "relevant", "pairs")]
    for leak in leaks:
        counts = ((leak.trained_queries, leak.queries), (leak.trained_relevant, leak.relevant), (leak.trained_pairs, leak.pairs))
        rows.append((leak.training, leak.benchmark, *(_share(len(trained), total) for trained, total in counts)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    say("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _share(count: int, total: int) -> str:
    return f"{count:,} of {total:,}" + (f" ({count / total:.1%})" if total else "")
