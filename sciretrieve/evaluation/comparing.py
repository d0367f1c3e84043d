"""Compares runs on one set of judgements: differences, their intervals, and p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest
from ..base.forms import AsJson
from ..base.wording import counted
from ..metrics.judgements import Qrels, check_ids, read_qrels, read_runs
from ..metrics.measures import Evaluator
from ..metrics.naming import parse_measure
from ..metrics.significance import Comparison, Variance, compare, holm, interval, variance
from .benchmark_catalogue import find_benchmark
from .benchmark_reading import read, texts

LEVEL = 0.05
TINY = 1e-9
"""Below this, the studentized range's integral is unreliable."""


@dataclass(frozen=True)
class RunComparison(AsJson):
    """Several runs on the same judgements, each compared with the first.

    Attributes:
        names: the runs' names.
        measures: the requested measures.
        means: [run][measure].
        comparisons: [run - 1][measure], each with its p-values, and Holm's.
        per_query: [run] query -> measure -> value, for the queries that all runs answer.
        words: query -> its text, where known.
        variances: of three runs or more, by measure: an analysis of variance, and Tukey's test of each pair.
        unequal: a warning if the runs do not answer the same queries; else "".
    """

    names: list[str]
    measures: list[str]
    means: list[dict[str, float]]
    comparisons: list[dict[str, tuple[Comparison, float, float]]]
    per_query: list[dict[str, dict[str, float]]]
    words: dict[str, str]
    variances: dict[str, Variance]
    unequal: str

    def means_of(self, measure: str) -> list[float]:
        """The mean of one measure for each run."""
        return [row[measure] for row in self.means]

    def lines(self, shown_queries: int) -> list[str]:
        """The report: means, differences, p-values, and the queries that changed most."""
        out = []
        width = max(map(len, self.names))
        first, *others = self.per_query
        for name in self.measures:
            low, high = interval(np.array([row[name] for row in first.values()]))
            out.append(f"{name} over {counted(len(first), 'query', 'queries')}")
            out.append(f"  {self.names[0]:<{width}}  {100 * self.means[0][name]:6.2f}   [{100 * low:.2f}, {100 * high:.2f}]")
            for run, mean, tests in zip(self.names[1:], self.means[1:], self.comparisons, strict=True):
                pair, randomised, student = tests[name]
                difference = f"{100 * pair.difference:+.2f} [{100 * pair.low:+.2f}, {100 * pair.high:+.2f}]"
                counts = f"wins {pair.wins}, ties {pair.ties}, losses {pair.losses}"
                chance = f"p = {randomised:.2g} (randomisation), {student:.2g} (t)"
                out.append(f"  {run:<{width}}  {100 * mean[name]:6.2f}   {difference}  {counts}  {chance}")
            if len(self.names) > 2:
                out.append("  p-values are corrected by Holm's method")
            if name in self.variances:
                out += variance_lines("runs x queries", self.variances[name], self.names, self.means_of(name))
            for run, values in zip(self.names[1:], others, strict=True):
                changes = {query: row[name] - first[query][name] for query, row in values.items()}
                changed_queries = sorted(filter(changes.get, changes), key=lambda query: (-abs(changes[query]), query))[:shown_queries]
                out += [f"  changed most in {run}:"] if changed_queries else []
                for query in changed_queries:
                    before, after = 100 * first[query][name], 100 * values[query][name]
                    out.append(f"    {before:5.1f} → {after:5.1f}  {query}  {self.words.get(query, '')[:90]}".rstrip())
            out.append("")
        return out[:-1]

    def to_dict(self) -> dict[str, Any]:
        """As plain values: schema 1."""
        rows: list[dict[str, Any]] = [{"run": self.names[0], "measures": self.means[0]}]
        for run, mean, row in zip(self.names[1:], self.means[1:], self.comparisons, strict=True):
            tests = {}
            for name, (pair, randomised, student) in row.items():
                facts = asdict(pair)
                ends = {"interval": [facts.pop("low"), facts.pop("high")]}
                tests[name] = facts | ends | {"p_randomisation_holm": randomised, "p_t_holm": student}
            rows.append({"run": run, "measures": mean, "against_first": tests})
        value: dict[str, Any] = {"schema": 1, "queries": len(self.per_query[0]), "runs": rows, "unequal": bool(self.unequal)}
        if self.variances:
            value["variance"] = {
                name: variance_facts(analysis, self.names, self.means_of(name), "runs") for name, analysis in self.variances.items()
            }
        return value


def compare_runs(
    paths: Sequence[Path], qrels: Path | None, benchmark: str | None, data: Path | None, split: str | None, measures: Sequence[str]
) -> RunComparison:
    """Compare runs, files or folders of `evaluate -o`, with the first of them.

    Raises:
        InvalidRequest: fewer than two runs, no judgements, or no query that all runs answer.
    """
    if len(paths) < 2:
        raise InvalidRequest("compare needs two runs or more")
    judgements, query_texts = _judgements(qrels, benchmark, data, split)
    parsed_measures = [parse_measure(name) for name in measures]
    names = [str(measure) for measure in parsed_measures]
    evaluator = Evaluator(judgements, parsed_measures)
    runs = read_runs(paths)
    for path, run in zip(paths, runs.values(), strict=True):
        check_ids(run, path, judgements, qrels or benchmark)
    run_values = [evaluator.per_query(run) for run in runs.values()]
    common = set.intersection(*(set(values) for values in run_values))
    if not common:
        raise InvalidRequest("the runs have no judged query in common; do they belong to one benchmark?")
    longest = max(len(values) for values in run_values)
    unequal = ""
    if any(len(values) != len(common) for values in run_values):
        unequal = f"the runs do not answer the same queries; compared were the {len(common):,} that all answer, of up to {longest:,}"
    common_values = [{query: values[query] for query in sorted(common)} for values in run_values]
    means = [{name: float(np.mean([row[name] for row in values.values()])) for name in names} for values in common_values]
    comparisons: list[dict[str, tuple[Comparison, float, float]]] = [{} for _ in common_values[1:]]
    for name in names:
        base, *other_values = (np.array([row[name] for row in values.values()]) for values in common_values)
        pairs = [compare(base, other) for other in other_values]
        corrected_values = zip(holm([pair.p_randomisation for pair in pairs]), holm([pair.p_t for pair in pairs]), strict=True)
        for place, (pair, (randomised, student)) in enumerate(zip(pairs, corrected_values, strict=True)):
            comparisons[place][name] = (pair, randomised, student)
    variances = {}
    if len(paths) > 2 and len(common) > 1:
        variances = {name: variance(np.array([[row[name] for row in values.values()] for values in common_values])) for name in names}
    return RunComparison(list(runs), names, means, comparisons, common_values, query_texts, variances, unequal)


def _judgements(qrels: Path | None, benchmark: str | None, data: Path | None, split: str | None) -> tuple[Qrels, dict[str, str]]:
    if qrels is not None:
        return read_qrels(qrels), {}
    if benchmark is None:
        raise InvalidRequest("name judgements with `qrels`, or a benchmark with `benchmark` and `data`")
    spec = find_benchmark(benchmark)
    materials = read(spec, str(data) if data is not None else None, split or spec.splits[0])
    tasks = [task for material in materials for task in material.tasks]
    if len(tasks) > 1:
        raise InvalidRequest(f"{benchmark} has several tasks; compare its runs task by task with `qrels`")
    return tasks[0].qrels, dict(texts(materials))


def as_good_as_the_best(analysis: Variance, names: Sequence[str], means: Sequence[float]) -> list[str]:
    """The best system and those that Tukey's test does not distinguish from it, the best first."""
    order = sorted(range(len(names)), key=lambda place: -means[place])
    row = analysis.p_of_pairs[order[0]]
    return [names[place] for place in order if row[place] >= LEVEL]


def variance_lines(over: str, analysis: Variance, names: Sequence[str], means: Sequence[float]) -> list[str]:
    """An analysis of variance, and Tukey's test of each pair, the smallest p-value first.

    Args:
        over: the units, such as runs x queries.
        analysis: the analysis of these systems.
        names, means: the systems, and their means from 0 to 1.
    """
    pairs = sorted((float(analysis.p_of_pairs[a, b]), a, b) for a, b in combinations(range(len(names)), 2))
    degrees = ", ".join(f"{number:,}" for number in analysis.degrees)
    out = [f"  analysis of variance, {over}: F({degrees}) = {analysis.f:.2f}, p = {analysis.p:.2g}; Tukey's test:"]
    width = max(len(f"{names[b]} - {names[a]}") for _, a, b in pairs)
    for p, a, b in pairs:
        difference = means[b] - means[a]
        out.append(
            f"    {f'{names[b]} - {names[a]}':<{width}}  {100 * difference:+6.2f}  {f'p = {p:.2g}' if p >= TINY else f'p < {TINY:g}'}"
        )
    best, *others = as_good_as_the_best(analysis, names, means)
    out.append(f"    not told from the best, {best}: {', '.join(others) or 'none'}")
    return out


def variance_facts(analysis: Variance, names: Sequence[str], means: Sequence[float], what: str) -> dict[str, Any]:
    """An analysis of variance as plain values; `what` names the compared things, such as "runs"."""
    return {
        "f": analysis.f if np.isfinite(analysis.f) else None,
        "degrees_of_freedom": list(analysis.degrees),
        "p": analysis.p,
        "tukey": [
            {what: [names[a], names[b]], "difference": means[b] - means[a], "p": float(analysis.p_of_pairs[a, b])}
            for a, b in combinations(range(len(names)), 2)
        ],
        "as_good_as_the_best": as_good_as_the_best(analysis, names, means),
    }
