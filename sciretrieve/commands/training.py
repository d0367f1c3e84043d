"""`sciretrieve train`, and `benchmarks leakage`, which finds a benchmark's queries and papers in a training set."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..base.choices import Help
from ..base.errors import InvalidRequest, SciretrieveError
from ..options import TrainingOptions
from .console import Console, interruptible, say, say_json
from .parameters import Data, PlainFormatOption, argument, chosen_index

if TYPE_CHECKING:
    from ..training import Config, Trained


def train(
    data: Annotated[
        list[Path] | None,
        argument("DATA", "Training sets: folders of `train build`, SciRepEval's files; or a .toml file of a training or study."),
    ] = None,
    output: Annotated[Path | None, Help("A new folder for the encoder; a .toml file may name it.", "DIR", short="-o")] = None,
    from_index: Annotated[
        Path | None,
        Help("Fit an index's own encoder to its papers, without training sets (experimental).", "NAME", completes="indexes"),
    ] = None,
    options: TrainingOptions = TrainingOptions(),
    overwrite: Annotated[bool, Help("Begin anew, and replace the folder if it exists.")] = False,
    tensorboard: Annotated[bool, Help("Also write curves for TensorBoard, in DIR.partial/tensorboard.", setting=True)] = False,
) -> None:
    """Train an encoder, or adapters on one, from triplets, pairs, labels and numbers. A set in a folder `build` is written ./build.

    A twentieth of the queries measures the training, stops it when it gains nothing, and judges it. The folder has the encoder
    (`--encoder DIR`), a model card, curves and the log. An encoder that gained nothing is not kept.

    With --from-index it learns from the index's titles, sentences, citations and hybrid rankings, and is judged on papers that it has
    not seen. The index stays as it is.

    Interrupt it whenever you like: the same command goes on, and loses half a minute at most.
    """
    from ..training import Config, next_command, read_configs, train_for_index

    console = Console()
    sets: list[Path] = list(data or [])
    if bool(sets) == (from_index is not None):
        raise InvalidRequest("name training sets or --from-index, not both")
    if from_index is not None:
        target, from_index = _named(output), chosen_index(from_index)
        with _kept(console, target):
            trained = train_for_index(from_index, target, options, overwrite=overwrite, tensorboard=tensorboard, progress=console)
        _print_gain(trained)
        console.note(f"next: {next_command(from_index, target)}")
        return
    configs = [Config(tuple(sets), output, options)]
    if sets[0].suffix == ".toml":
        if len(sets) > 1 or options != TrainingOptions():
            raise InvalidRequest(
                "a .toml file has all settings of a training: write data and options into it; only --output and --overwrite may be given"
            )
        configs = read_configs(sets[0])
        if len(configs) == 1 and output is not None:
            configs = [replace(configs[0], output=output)]
        elif output is not None:
            raise InvalidRequest(f"{sets[0]} has several trainings, whose folders it names: leave out --output")
    if len(configs) == 1:
        _train(configs[0], _named(configs[0].output), console, overwrite=overwrite, tensorboard=tensorboard)
        return
    failed: dict[Path, SciretrieveError] = {}
    for number, config in enumerate(configs, 1):
        target = _named(config.output)
        console.note(f"training {number} of {len(configs)}: {target}")
        if target.exists() and not overwrite:
            console.note("it is done")
            continue
        try:
            _train(config, target, console, overwrite=overwrite, tensorboard=tensorboard)
        except SciretrieveError as error:  # one failed training must not stop a night's others; its error is repeated at the end
            console.note(f"it failed: {error}")
            failed[target] = error
    if failed:
        names, reason = ", ".join(map(str, failed)), next(iter(failed.values()))
        again = f"the same command{' without --overwrite' if overwrite else ''} tries them again, and no others"
        raise InvalidRequest(f"{len(failed)} of {len(configs)} trainings failed: {names}; the first because {reason}; {again}")


def _train(config: Config, target: Path, console: Console, *, overwrite: bool, tensorboard: bool) -> None:
    """Train one encoder, and print its gain."""
    from ..training import train as run

    with _kept(console, target):
        trained = run(
            config.data, target, config.options, formats=config.formats, overwrite=overwrite, tensorboard=tensorboard, progress=console
        )
    _print_gain(trained)


def _named(output: Path | None) -> Path:
    if output is None:
        raise InvalidRequest("name a folder for the encoder with --output")
    return output


def _kept(console: Console, target: Path) -> AbstractContextManager[None]:
    return interruptible(console, f"finished work is kept in {target}.partial, and the same command goes on")


def _print_gain(trained: Trained) -> None:
    from ..training import gain

    if not trained.rank:  # of several processes only the first prints
        end = f"; {trained.stopped}" if trained.stopped else ""
        say([gain(trained), f"{trained.folder}: weights of step {trained.best_step:,} of {trained.steps:,}{end}"])


def leakage(
    training: Annotated[
        list[Path],
        argument("TRAINING", "Folders of `train build`, or files in SciRepEval's training format."),
    ],
    benchmark: Annotated[list[str], Help("As for `evaluate`. Repeatable.", "BENCHMARK", completes="benchmarks", name="test")],
    data: Data = None,
    format: PlainFormatOption = "table",
) -> None:
    """Say what a benchmark tests that is in a training set: papers known by id or title, texts by their words.

    Counts queries, papers relevant to any query, and pairs of both. A pair is trained if it is the query and positive paper of a
    triplet or pair. JSON names them all.
    """
    from ..training import leakage as find_leakage

    leaks = [find_leakage(path, name, data) for path in training for name in benchmark]
    if format == "json":
        say_json([asdict(leak) for leak in leaks])
        return
    rows: list[tuple[str, ...]] = [("training set", "benchmark", "queries", "relevant", "pairs")]
    for leak in leaks:
        counts = ((leak.trained_queries, leak.queries), (leak.trained_relevant, leak.relevant), (leak.trained_pairs, leak.pairs))
        rows.append((leak.training, leak.benchmark, *(_share(len(trained), total) for trained, total in counts)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    say("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _share(count: int, total: int) -> str:
    return f"{count:,} of {total:,}" + (f" ({count / total:.1%})" if total else "")
