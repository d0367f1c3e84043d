"""`sciretrieve evaluate` and its commands, `compare` and `benchmarks`: measures systems, compares runs, lists benchmarks."""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..base.choices import Help
from ..base.errors import InvalidRequest, NotFound
from ..base.wording import size_text
from ..options import Cache, EvaluationOptions, Measures, Split
from .console import Console, as_options, interruptible, say, say_error, say_json
from .parameters import Data, PlainFormat, PlainFormatOption, Ray, argument, chosen_workers
from .signatures import Without

if TYPE_CHECKING:
    from ..evaluation import Benchmark, Suite


QRELS = Help("Judgements: TREC's or BEIR's columns, or JSON.", "FILE")
EVALUATING = EvaluationOptions()


def evaluate(
    benchmark: Annotated[str, argument("BENCHMARK", "A name of `sciretrieve benchmarks`, beir:DIR, cite:DIR or irds:ID.", "benchmarks")],
    data: Data = None,
    options: Annotated[EvaluationOptions, Without("mode")] = EVALUATING,
    mode: Annotated[
        Literal["dense", "hybrid", "bm25", "all"],
        Help("By the encoder alone, as `search`, by words, or each."),
    ] = EVALUATING.mode,
    output: Annotated[Path | None, Help("Save the run, per-query scores, the report and a receipt.", "DIR", short="-o")] = None,
    ray: Ray = None,
    format: PlainFormatOption = "table",
) -> None:
    """Measure a system by a benchmark's exact protocol.

    Prints its figures, with 95 % intervals, between the published ones.
    """
    from .. import evaluation

    console = Console()
    if ray is not None and options.index is None:
        raise InvalidRequest("a cluster searches one index: name it with --index")
    if mode == "all":
        evaluate_this: Callable[..., Any] = evaluation.evaluate_modes
    else:
        options = replace(options, mode=mode)
        evaluate_this = evaluation.evaluate_suite if benchmark in evaluation.SUITES else evaluation.evaluate
    with _resumed(console), chosen_workers(ray) as workers:
        report = evaluate_this(benchmark, data, output=output, progress=console, workers=workers, **asdict(options))
    _print(report, format)
    if output is not None:
        console.note(f"run, per-query scores, report and receipt: {output}")


def run(
    run: Annotated[Path, argument("RUN", "A run: TREC or JSON.")],
    qrels: Annotated[Path, QRELS],
    measures: Measures = (),
    format: PlainFormatOption = "table",
) -> None:
    """Score any run on any judgements."""
    from ..evaluation import score_run

    results = score_run(run, qrels, measures or ["nDCG@10", "MAP", "R@100", "MRR"])
    if format == "json":
        say_json(results)
        return
    width = max(map(len, results["measures"]))
    for name, (low, high) in results["intervals"].items():
        say([f"{name:<{width}}  {100 * results['measures'][name]:6.2f}   95 % interval {100 * low:.2f} to {100 * high:.2f}"])
    say([results["counted"]])


def replay(
    receipt: Annotated[Path, argument("RECEIPT", "The receipt.json of `evaluate -o`.")],
    ray: Ray = None,
    format: PlainFormatOption = "table",
) -> None:
    """Compute the figures of a receipt again: are they the same?

    The exit code is 1 where they differ.
    """
    from .. import evaluation

    console = Console()
    with _resumed(console), chosen_workers(ray) as workers:
        replayed, differences = evaluation.replay(receipt, console, workers)
    _print(replayed, format)
    for line in differences:
        console.note(f"differs from the receipt: {line}")
    if differences:
        raise typer.Exit(1)
    console.note("the figures are those of the receipt")


def matrix(
    plan: Annotated[Path, argument("FILE", "A .toml file of systems and benchmarks.")],
    output: Annotated[Path, Help("For the runs and the page; runs that are there are not repeated.", "DIR", short="-o")],
    cache: Cache = EVALUATING.cache,
) -> None:
    """Measure systems by benchmarks, each by each, and make a page of tables and plots.

    A list in a system's row is a sweep. The exit code is 1 if something could not be run.
    """
    from ..evaluation.matrix import read_plan, run_matrix, sweeps_of

    console = Console()
    with _resumed(console):
        systems = read_plan(plan, str(cache))
        page, standings, failures = run_matrix(systems, output, console)
    sweeps = sweeps_of(systems, standings)
    for sweep in sweeps:
        say([*sweep.lines(), ""])
    others = standings.without({point.cell.system for sweep in sweeps for point in sweep.points})
    say([*others.as_text(), ""] if others.systems else [])
    say([str(page)])
    for line in failures:
        say_error(f"not run: {line}")
    if failures:
        raise typer.Exit(1)


def trainings(
    systems: Annotated[list[str], argument("NAME=DIR,DIR", "A system, and `evaluate -o` folders of its trainings; DIR may be a pattern.")],
    measures: Measures = (),
    format: PlainFormatOption = "table",
) -> None:
    """Join the results of several trainings of a system: means, deviations, and whether systems differ."""
    from .. import evaluation

    _print(evaluation.compare_trainings(_systems(systems), measures or ()), format)


def _resumed(console: Console) -> AbstractContextManager[None]:
    return interruptible(console, "what was encoded is kept, and the same command resumes it")


def _print(report: Any, format: PlainFormat) -> None:
    """Print a report: its lines for people, or JSON."""
    if format == "json":
        say_json(report.to_dict())
    else:
        say(map(as_options.get(), report.lines()))


def _systems(texts: Sequence[str]) -> dict[str, list[Path]]:
    """Systems by name, with the paths of their results. Raises InvalidRequest, NotFound."""
    systems: dict[str, list[Path]] = {}
    for text in texts:
        name, _, places = text.partition("=")
        if not name or not places or name in systems:
            twice = f"{name} is named twice" if name in systems else f"{text!r} names no system with its results"
            raise InvalidRequest(f"{twice}; write NAME=DIR,DIR for each system, once")
        systems[name] = [path for place in places.split(",") for path in _matching(place)]
    return systems


def _matching(place: str) -> list[Path]:
    """The paths for a pattern, which no shell expands after NAME=; a plain path is returned as it is."""
    if Path(place).exists() or not glob.has_magic(place):
        return [Path(place)]
    paths = [Path(path) for path in sorted(glob.glob(place))]  # noqa: PTH207 (Path.glob takes no absolute patterns)
    if not paths:
        raise NotFound(f"there is nothing at {place}")
    return paths


def compare(
    runs: Annotated[list[Path], argument("RUN", "Two or more runs (TREC or JSON), or folders of `evaluate -o`.")],
    qrels: Annotated[Path | None, QRELS] = None,
    benchmark: Annotated[str | None, Help("Judgements and titles of a benchmark.", "NAME", completes="benchmarks")] = None,
    data: Data = None,
    split: Split = None,
    measures: Measures = (),
    correction: Annotated[Literal["holm", "bonferroni"], Help("Of p-values, for their number.", setting=True)] = "holm",
    changed: Annotated[int, Help("Queries to show, those that changed most.", least=0, setting=True)] = 5,
    format: PlainFormatOption = "table",
) -> None:
    """Say whether runs differ by more than chance.

    Compares each run with the first, by a paired randomisation test and t-test, corrected for all runs and measures; d is Cohen's. Three
    or more are also compared all with all: two-way analysis of variance, Tukey's test.

    Exit code 1: the runs do not answer the same queries. Those without an answer count 0.
    """
    from ..evaluation.comparing_any import compare

    comparison = compare(runs, qrels, benchmark=benchmark, data=data, split=split, measures=measures, correction=correction)
    if format == "json":
        say_json(comparison.to_dict())
    else:
        say(comparison.lines(changed))
    if comparison.unequal:
        say_error(comparison.unequal)
        raise typer.Exit(1)


def benchmarks(format: PlainFormatOption = "table") -> None:
    """List, describe, build and download benchmarks.

    By itself it lists them with their tasks and measures.
    """
    from ..evaluation import CATALOGUE, SUITES

    if format == "json":
        facts = [*(_facts(row) for row in CATALOGUE.values()), *(_suite_facts(suite) for suite in SUITES.values())]
        say_json(facts)
        return
    width = max(len(name) for name in CATALOGUE)
    say(f"{row.name:<{width}}  {', '.join(row.protocol.measures):<34}  {row.task}" for row in CATALOGUE.values())
    for name, tasks in {"beir:DIR": "any BEIR directory, whole corpus", "irds:ID": "a dataset of ir_datasets, if it is installed"}.items():
        say([f"{name:<{width}}  {'nDCG@10, R@100, MAP, MRR':<34}  {tasks}"])
    say([f"{'cite:DIR':<{width}}  {'MAP, nDCG, R@5':<34}  papers that a paper cites, among hard candidates: `benchmarks build cite`"])
    say(f"{suite.name:<{width}}  {'averages':<34}  {suite.task}" for suite in SUITES.values())
    say(["", "for details: sciretrieve benchmarks show NAME; to download: sciretrieve benchmarks fetch NAME --to DIR"])


def show(name: Annotated[str, argument("NAME", "A benchmark of the list.", "benchmarks")], format: PlainFormatOption = "table") -> None:
    """Show a benchmark's task, the files it needs, where to get them, and how it scores."""
    from ..evaluation import SUITES, find_benchmark

    facts = _suite_facts(SUITES[name]) if name in SUITES else _facts(find_benchmark(name))
    if format == "json":
        say_json(facts)
        return
    width = max(len(key) for key in facts)
    for key, value in facts.items():
        lines = value if isinstance(value, list) else [value]
        say(f"{key if not number else '':<{width}}  {line}" for number, line in enumerate(lines) if line not in ("", None))


def fetch(
    name: Annotated[str, argument("NAME", "A benchmark of the list.", "benchmarks")],
    to: Annotated[Path, Help("Where its files go.", "DIR")],
) -> None:
    """Download a benchmark's files from their published addresses.

    An interrupted download resumes. Exit code 1: some files must be had by hand; it prints how.
    """
    from ..evaluation import SUITES, fetching, find_benchmark

    console = Console()
    specs = [find_benchmark(member) for member in (SUITES[name].benchmarks if name in SUITES else (name,))]
    if not any(spec.downloads or spec.hub or spec.manual for spec in specs):
        raise InvalidRequest(f"{name} is a folder of yours or ir_datasets', so there is nothing to download; evaluate it")
    with interruptible(console, "the same command resumes where it stopped"):
        files = list(dict.fromkeys(path for spec in specs for path in fetching.fetch(spec, to, console)))
    for path in files:
        console.note(f"{size_text(path.stat().st_size):>9}  {path}")
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
