"""Compares runs in any form: of a search, of an evaluation, or in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from ..base.arguments import checked
from ..base.errors import InvalidRequest
from ..base.wording import shortened
from ..metrics.judgements import Qrels, RunScores, check_judgements, read_qrels, read_scores, run_file
from ..metrics.measures import QueryCounts
from ..metrics.naming import measured
from ..metrics.significance import Correction
from ..runs import Run
from .benchmark_catalogue import find_benchmark
from .benchmark_reading import read, texts
from .comparing import RunComparison, compare_scores, compare_values
from .reports import Report

AnyRun: TypeAlias = str | PathLike[str] | Run | Report | Mapping[str, Mapping[str, float]]
"""A file (TREC or JSON), a folder of `evaluate`, a run of a search, a report, or {query: {paper: score}}."""
MEASURE = "nDCG@10"


@checked
def compare(
    runs: Mapping[str, AnyRun] | Sequence[AnyRun],
    qrels: str | Path | Qrels | None = None,
    *,
    benchmark: str | None = None,
    data: str | Path | None = None,
    split: str | None = None,
    measures: Sequence[str] = (),
    correction: Correction = "holm",
) -> RunComparison:
    """Test whether runs differ by more than chance from the first of them.

    Args:
        runs: two or more runs, by name or in a list. Reports are compared as they are, and with reports only.
        qrels: judgements: a file, or {query: {paper: grade}}.
        benchmark, data, split: a benchmark whose judgements are used, in place of `qrels`.
        measures: the measures; by default nDCG@10, or those of the reports.
        correction: of p-values, "holm" or "bonferroni".

    Raises:
        InvalidRequest: fewer than two runs, no judgements, or a run without any judged query or paper.
        NotFound: a file does not exist.

    >>> words, both = (index.search(queries, k=10, mode=mode) for mode in ("bm25", "hybrid"))
    >>> compared = sr.compare({"words": words, "both": both}, qrels)
    >>> compared.names, compared.measures
    (['words', 'both'], ['nDCG@10'])
    """
    if len(runs) < 2:
        raise InvalidRequest("compare needs two runs or more")
    named = dict(runs) if isinstance(runs, Mapping) else _by_name(runs)
    reports = {name: run for name, run in named.items() if isinstance(run, Report)}
    if reports and len(reports) == len(named):
        return _reports(reports, measures, correction)
    if reports:
        raise InvalidRequest("a report is compared with reports; give the folders that `evaluate(…, output=…)` wrote, and judgements")
    judgements, query_texts = _judgements(qrels, benchmark, data, split)
    judge = str(benchmark or "the judgements" if isinstance(qrels, Mapping | None) else qrels)
    return compare_scores(
        {name: _scores(run) for name, run in named.items()}, judgements, measures or [MEASURE], judge, query_texts, correction
    )


def _judgements(
    qrels: str | Path | Qrels | None, benchmark: str | None, data: str | Path | None, split: str | None
) -> tuple[Qrels, dict[str, str]]:
    """Judgements as given, from a file, or of a benchmark, with its queries' texts. Raises as `compare`."""
    if isinstance(qrels, str | PathLike):
        return read_qrels(Path(qrels)), {}
    if qrels is not None:
        return check_judgements(qrels), {}
    if benchmark is None:
        raise InvalidRequest("name judgements with `qrels`, or a benchmark with `benchmark` and `data`")
    spec = find_benchmark(benchmark)
    materials = read(spec, str(data) if data is not None else None, split or spec.splits[0])
    tasks = [task for material in materials for task in material.tasks]
    if len(tasks) > 1:
        raise InvalidRequest(f"{benchmark} has several tasks; compare its runs task by task with `qrels`")
    return tasks[0].qrels, dict(texts(materials))


def _by_name(runs: Sequence[AnyRun]) -> dict[str, AnyRun]:
    """Runs by the names of their files or systems; others are numbered."""
    named: dict[str, AnyRun] = {}
    for number, run in enumerate(runs, 1):
        if isinstance(run, str | PathLike):
            name, _ = run_file(Path(run))
        else:
            name = run.system if isinstance(run, Report) else f"run {number}"
        while name in named:
            name += "'"
        named[name] = run
    return named


def _scores(run: AnyRun) -> RunScores:
    """A run's scores by query and paper."""
    if isinstance(run, str | PathLike):
        return read_scores(run_file(Path(run))[1])
    if isinstance(run, Run):
        return {ranking.query.id: dict(zip(ranking.ids, ranking.scores.tolist(), strict=True)) for ranking in run}
    if isinstance(run, Mapping) and all(isinstance(row, Mapping) for row in run.values()):
        return {query: dict(row) for query, row in run.items()}
    raise InvalidRequest(
        f"a run is a file, a folder of `evaluate`, a run of a search, or {{query: {{paper: score}}}}, not {shortened(run)}"
    )


def _reports(reports: Mapping[str, Report], measures: Sequence[str], correction: Correction) -> RunComparison:
    first = next(iter(reports.values()))
    names = measured(measures, first.result.measures) or first.result.measures
    for name, report in reports.items():
        if report.benchmark.name != first.benchmark.name or report.split != first.split:
            raise InvalidRequest(f"{name} is a report of {report.benchmark.name}, and the first of {first.benchmark.name}")
        if len(report.result.tasks) > 1:
            raise InvalidRequest(f"{report.benchmark.name} has several tasks; evaluate one by `task`, and compare its reports")
        if lacking := [measure for measure in names if measure not in report.result.measures]:
            raise InvalidRequest(f"the report of {name} has no {lacking[0]}; it has {', '.join(report.result.measures)}")
    results = {name: report.result.tasks[0] for name, report in reports.items()}
    queries = sorted(set().union(*(result.per_query.keys() | result.unanswered for result in results.values())))
    zeros = dict.fromkeys(names, 0.0)
    values = {name: {query: zeros | result.per_query.get(query, {}) for query in queries} for name, result in results.items()}
    counts = [QueryCounts(len(queries), result.unanswered, 0) for result in results.values()]
    return compare_values(values, names, counts, {}, correction)
