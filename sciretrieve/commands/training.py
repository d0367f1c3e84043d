"""`sciretrieve train`, and `benchmarks leakage`: what a benchmark tests that stands in a training set."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidRequest
from ..options import TrainingOptions
from . import completing
from .console import Console, interruptible, say
from .parameters import Data, Debug, PlainFormatOption, Quiet
from .signatures import takes_options

if TYPE_CHECKING:
    from ..training import Config


@takes_options
def train(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            help="Training sets, each a task: folders of `benchmarks build`, or SciRepEval's files; or one .toml file of a training or a study.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="A new folder for the encoder; a .toml file may name it.")
    ] = None,
    options: TrainingOptions = TrainingOptions(),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew, and replace the folder if it exists.")] = False,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write the curves for TensorBoard, too, in DIR.partial/tensorboard while it trains.")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Train an encoder, or adapters on one, from triplets, pairs, labels and numbers.

    A twentieth of the queries is set apart; on them the training is measured, stopped when it gains nothing, and judged. The folder has the
    encoder (`--encoder DIR`), a model card, curves and the log. An encoder that gained nothing is not kept.

    Interrupt it whenever you like: the same command goes on, and loses half a minute at most.
    """
    from ..training import Config, read_configs

    console = Console(quiet)
    configs = [Config(tuple(data), output, options)]
    if data[0].suffix == ".toml":
        if len(data) > 1 or options != TrainingOptions():
            raise InvalidRequest(
                "a .toml file says all of a training: write data and options into it, and give --output and --overwrite alone"
            )
        configs = read_configs(data[0])
        if len(configs) == 1 and output is not None:
            configs = [replace(configs[0], output=output)]
        elif output is not None:
            raise InvalidRequest(f"{data[0]} has several trainings, whose folders it names: leave out --output")
    for number, config in enumerate(configs, 1):
        if config.output is None:
            raise InvalidRequest("name a folder for the encoder with --output")
        if len(configs) > 1:
            console.note(f"training {number} of {len(configs)}: {config.output}")
            if config.output.exists() and not overwrite:
                console.note("it is done")
                continue
        _train(config, config.output, console, overwrite=overwrite, tensorboard=tensorboard)


def _train(config: Config, output: Path, console: Console, *, overwrite: bool, tensorboard: bool) -> None:
    """Train one encoder, and say what it gained."""
    from ..training import gain
    from ..training import train as run

    with interruptible(console, f"finished work is kept in {output}.partial, and the same command goes on"):
        trained = run(
            config.data,
            output,
            config.options,
            formats=config.formats,
            overwrite=overwrite,
            tensorboard=tensorboard,
            progress=console,
        )
    if trained.rank:
        return  # of several processes the first one speaks
    end = f"; {trained.stopped}" if trained.stopped else ""
    say([gain(trained), f"{trained.folder}: weights of step {trained.best_step:,} of {trained.steps:,}{end}"])


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
