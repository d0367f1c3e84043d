"""`sciretrieve evaluate`, `compare` and `benchmarks`: measuring systems, comparing runs, and the list of benchmarks."""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..base.choices import Help
from ..base.errors import InvalidRequest, NotFound
from ..base.wording import counted, in_bytes
from ..options import EvaluationOptions, Measures, Split
from . import completing
from .console import Console, as_options, interruptible, say
from .parameters import (
    Data,
    PlainFormat,
    PlainFormatOption,
    Ray,
    chosen_workers,
)
from .signatures import Without

if TYPE_CHECKING:
    from ..evaluation import Benchmark, Suite


QrelsFile = Annotated[Path | None, Help("Judgements: TREC's or BEIR's columns, or JSON.", "FILE")]
EVALUATING = EvaluationOptions()


def evaluate(
    benchmark: Annotated[
        str | None,
        typer.Argument(
            metavar="BENCHMARK",
            help="A name that `sciretrieve benchmarks` lists, beir:DIR or cite:DIR.",
            autocompletion=completing.benchmarks,
        ),
    ] = None,
    data: Data = None,
    options: Annotated[EvaluationOptions, Without("mode")] = EVALUATING,
    mode: Annotated[
        Literal["dense", "hybrid", "bm25", "all"],
        Help("How it searches: dense, the encoder alone, as in papers; hybrid, as `search`; bm25; or all of them."),
    ] = EVALUATING.mode,
    run: Annotated[Path | None, Help("Score this run on --qrels, without a benchmark.", "FILE")] = None,
    qrels: QrelsFile = None,
    output: Annotated[Path | None, Help("Save the run, per-query scores, the report and a receipt.", "DIR", short="-o")] = None,
    replay: Annotated[Path | None, Help("Compute the figures of a receipt again.", "FILE", advanced=True)] = None,
    matrix: Annotated[
        Path | None,
        Help("A TOML file of systems and benchmarks; runs those missing in -o.", "FILE", advanced=True),
    ] = None,
    runs: Annotated[
        list[str] | None,
        Help(
            "Show saved results of several trainings (-o; DIR may be a pattern) as one system. Repeat it for other systems.",
            "NAME=DIR,DIR",
            advanced=True,
        ),
    ] = None,
    ray: Ray = None,
    format: PlainFormatOption = "table",
) -> None:
    """Measure a system by a benchmark's exact protocol.

    Prints its figures, with 95 % intervals, between the published ones.

    Or score any run on any judgements with --run and --qrels; or compute the figures of a receipt again with --replay; or join the results
    of several trainings with --runs: means, deviations, and whether systems differ.
    """
    from .. import evaluation

    console = Console()
    is_one_index = (options.index is None) != (replay is None) and run is None and matrix is None and not runs
    if ray is not None and not is_one_index:
        raise InvalidRequest("a cluster searches one index: name it with --index, or a receipt of it with --replay")
    with interruptible(console, "what was encoded is kept, and the same command resumes it"):
        if runs:
            if benchmark is not None:
                raise InvalidRequest(f"--runs joins results that are saved; leave out {benchmark}, or write --runs before each system")
            joined = evaluation.compare_trainings(_systems(runs), options.measures)
            say([json.dumps(joined.as_json(), ensure_ascii=False, indent=1)] if format == "json" else joined.lines())
            return
        if run is not None or qrels is not None:
            if run is None or qrels is None:
                raise InvalidRequest("a run is scored on judgements: give both --run and --qrels")
            _score(run, qrels, options.measures or ["nDCG@10", "MAP", "R@100", "MRR"], format)
            return
        if matrix is not None:
            _matrix(matrix, output, options.cache, console)
            return
        if replay is not None:
            with chosen_workers(ray) as workers:
                replayed, differences = evaluation.replay(replay, console, workers)
            console.close()
            say([json.dumps(replayed.as_json(), ensure_ascii=False, indent=1)] if format == "json" else replayed.lines())
            for line in differences:
                console.note(f"differs from the receipt: {line}")
            if differences:
                raise typer.Exit(1)
            console.note("the figures are those of the receipt")
            return
        if benchmark is None:
            raise InvalidRequest("name a benchmark (`sciretrieve benchmarks` lists them), or give --run and --qrels, or --replay")
        if mode == "all":
            evaluate_this: Callable[..., Any] = evaluation.evaluate_modes
        else:
            options = replace(options, mode=mode)
            evaluate_this = evaluation.evaluate_suite if benchmark in evaluation.SUITES else evaluation.evaluate
        with chosen_workers(ray) as workers:
            report = evaluate_this(
                benchmark,
                data,
                output=output,
                progress=console,
                workers=workers,
                **asdict(options),
            )
        console.close()
        say([json.dumps(report.as_json(), ensure_ascii=False, indent=1)] if format == "json" else map(as_options.get(), report.lines()))
        if output is not None:
            console.note(f"run, per-query scores, report and receipt: {output}")


def _systems(runs: Sequence[str]) -> dict[str, list[Path]]:
    """What --runs names: system -> the places of its results. Raises InvalidRequest, NotFound."""
    systems: dict[str, list[Path]] = {}
    for text in runs:
        name, _, places = text.partition("=")
        if not name or not places or name in systems:
            twice = f"{name} is named twice" if name in systems else f"{text!r} names no system with its results"
            raise InvalidRequest(f"{twice}; write --runs NAME=DIR,DIR for each system, once")
        systems[name] = [path for place in places.split(",") for path in _matching(place)]
    return systems


def _matching(place: str) -> list[Path]:
    """The paths that a pattern means, which no shell expands behind NAME=; a path as it is."""
    if Path(place).exists() or not glob.has_magic(place):
        return [Path(place)]
    paths = [Path(path) for path in sorted(glob.glob(place))]  # noqa: PTH207 (Path.glob takes no absolute patterns)
    if not paths:
        raise NotFound(f"nothing is called {place}")
    return paths


def _matrix(path: Path, output: Path | None, cache: str | Path, console: Console) -> None:
    """Run a matrix, and say where its page is."""
    from ..evaluation import matrix

    if output is None:
        raise InvalidRequest("a matrix needs a folder for its runs and page: name it with -o")
    plan = matrix.read_plan(path, str(cache))
    page, standings, failures = matrix.run_matrix(plan, output, console)
    console.close()
    sweeps = matrix.sweeps_of(plan, standings)
    for sweep in sweeps:
        say([*sweep.lines(), ""])
    others = standings.without({point.cell.system for sweep in sweeps for point in sweep.points})
    say([*others.as_text(), ""] if others.systems else [])
    say([str(page)])
    for line in failures:
        typer.echo(f"sciretrieve: not run: {line}", err=True)
    if failures:
        raise typer.Exit(1)


def _score(run: Path, qrels: Path, names: Sequence[str], format: PlainFormat) -> None:
    """Score a run on judgements, and print each measure with its interval."""
    from ..evaluation import score_run

    results = score_run(run, qrels, names)
    if format == "json":
        say([json.dumps(results, ensure_ascii=False, indent=1)])
        return
    width = max(len(name) for name in results["measures"])
    for name, value in results["measures"].items():
        low, high = results["intervals"][name]
        say([f"{name:<{width}}  {100 * value:6.2f}   95 % interval {100 * low:.2f} to {100 * high:.2f}"])
    unanswered = results["judged_queries"] - results["queries"]
    left_out = f"; {unanswered:,} judged ones are not in the run and are left out of the means" if unanswered else ""
    say([f"{counted(results['queries'], 'query', 'queries')}{left_out}"])


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Two or more runs (TREC or JSON), or folders of `evaluate -o`.")],
    qrels: QrelsFile = None,
    benchmark: Annotated[
        str | None,
        Help("Judgements and titles of a benchmark.", "NAME", completes="benchmarks"),
    ] = None,
    data: Data = None,
    split: Split = None,
    measures: Measures = (),
    changed: Annotated[int, Help("Show the N queries that changed most.", "N", least=0, advanced=True)] = 5,
    format: PlainFormatOption = "table",
) -> None:
    """Say whether runs differ by more than chance.

    Each run is compared with the first by a paired randomisation test and a paired t-test, both corrected by Holm's
    method for the number of comparisons. Three runs or more are also compared all with all, by a two-way analysis of
    variance with Tukey's test.

    Exit code 1: the runs do not answer the same queries, and only those that all answer were compared.
    """
    from ..evaluation import comparing

    comparison = comparing.compare_runs(runs, qrels, benchmark, data, split, measures or ["nDCG@10"])
    say([json.dumps(comparison.as_json(), indent=1)] if format == "json" else comparison.lines(changed))
    if comparison.unequal:
        typer.echo(f"sciretrieve: {comparison.unequal}", err=True)
        raise typer.Exit(1)


def benchmarks(format: PlainFormatOption = "table") -> None:
    """List, describe, build and download benchmarks.

    By itself it lists them with their tasks and measures.
    """
    from ..evaluation import CATALOGUE, SUITES

    if format == "json":
        facts = [*(_facts(row) for row in CATALOGUE.values()), *(_suite_facts(suite) for suite in SUITES.values())]
        say([json.dumps(facts, ensure_ascii=False, indent=1)])
        return
    width = max(len(name) for name in CATALOGUE)
    say(f"{row.name:<{width}}  {', '.join(row.protocol.measures):<34}  {row.task}" for row in CATALOGUE.values())
    say([f"{'beir:DIR':<{width}}  {'nDCG@10, R@100, MAP, MRR':<34}  any BEIR directory, whole corpus"])
    say([f"{'cite:DIR':<{width}}  {'MAP, nDCG, R@5':<34}  papers that a paper cites, among hard candidates: `benchmarks build cite`"])
    say(f"{suite.name:<{width}}  {'averages':<34}  {suite.task}" for suite in SUITES.values())
    say(["", "for details: sciretrieve benchmarks show NAME; to download: sciretrieve benchmarks fetch NAME --to DIR"])


def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A benchmark of the list.", autocompletion=completing.benchmarks)],
    format: PlainFormatOption = "table",
) -> None:
    """Show a benchmark's task, the files it needs, where to get them, and how it scores."""
    from ..evaluation import SUITES, find_benchmark

    facts = _suite_facts(SUITES[name]) if name in SUITES else _facts(find_benchmark(name))
    if format == "json":
        say([json.dumps(facts, ensure_ascii=False, indent=1)])
        return
    width = max(len(key) for key in facts)
    for key, value in facts.items():
        lines = value if isinstance(value, list) else [value]
        say(f"{key if not number else '':<{width}}  {line}" for number, line in enumerate(lines) if line not in ("", None))


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A benchmark of the list.", autocompletion=completing.benchmarks)],
    to: Annotated[Path, Help("Where its files go.", "DIR")],
) -> None:
    """Download a benchmark's files from their published addresses.

    An interrupted download resumes where it stopped. For files that are not there and cannot be downloaded it prints what to do by hand,
    with exit code 1.
    """
    from ..evaluation import SUITES, fetching, find_benchmark

    console = Console()
    specs = [find_benchmark(member) for member in (SUITES[name].benchmarks if name in SUITES else (name,))]
    if not any(spec.downloads or spec.hub or spec.manual for spec in specs):
        raise InvalidRequest(f"{name} is a folder of yours, so there is nothing to download; evaluate it")
    with interruptible(console, "the same command resumes where it stopped"):
        files = list(dict.fromkeys(path for spec in specs for path in fetching.fetch(spec, to, console)))
    for path in files:
        console.note(f"{in_bytes(path.stat().st_size):>9}  {path}")
    if manual := list(dict.fromkeys(filter(None, (fetching.by_hand(spec, to) for spec in specs)))):
        say(["to do by hand:", *(f"  {line}" for line in manual)])
        raise typer.Exit(1)


def _suite_facts(suite: Suite) -> dict[str, object]:
    groups = dict.fromkeys(figure.group for figure in suite.figures if figure.group)
    means = [f"the mean of {len(suite.figures)} figures"] if suite.overall else []
    means += [f"{'' if means else 'the mean '}of those of each group: {', '.join(groups)}"] if groups else []
    return {
        "name": suite.name,
        "task": suite.task,
        "benchmarks": list(suite.benchmarks),
        "average": ", and ".join(means),
        "files": "a folder with the files of each benchmark in it or below it, as `benchmarks fetch` makes it",
        "source": suite.source,
    }


def _facts(row: Benchmark) -> dict[str, object]:
    from ..evaluation import fetching

    protocol = row.protocol
    score = {"ip": "inner product", "l2": "minus Euclidean distance", "cosine": "cosine", None: "what the encoder was trained for"}
    rounding = f", rounded to {protocol.score_decimals} decimals" if protocol.score_decimals is not None else ""
    is_predicted = row.kind in ("classification", "regression") and protocol.metric is None
    hub = [f"{fetching.HUB}/datasets/{files.repository}/tree/main/{files.folder}: {files.prefix}*" for files in row.hub]
    return {
        "name": row.name,
        "task": row.task,
        "kind": row.kind,
        "sizes": row.sizes,
        "measures": ", ".join(protocol.measures),
        "score": "linear support vectors" if is_predicted else score[protocol.metric] + rounding,
        "self-match": "" if is_predicted else "the query itself is removed from the answer" if protocol.drop_self else "kept",
        "splits": ", ".join(row.splits),
        "files": row.files,
        "source": row.source,
        "licence": row.licence,
        "by hand": row.manual,
        "downloads": [*(download.url for download in row.downloads), *hub],
        "note": row.note,
    }
