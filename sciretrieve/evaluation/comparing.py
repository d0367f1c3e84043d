"""Compares runs on one set of judgements: differences, their intervals, and p-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from ..base.choices import check_choice
from ..base.forms import AsJson, AsTable
from ..base.wording import counted
from ..metrics.judgements import Qrels, RunScores, check_ids
from ..metrics.measures import Evaluator, QueryCounts
from ..metrics.naming import parse_measures
from ..metrics.significance import CORRECTIONS, FEW, LEVEL, Comparison, Correction, Variance, compare, interval, needed_text, variance

TINY = 1e-9
"""Below this, the studentized range's integral is unreliable."""


@dataclass(frozen=True)
class RunComparison(AsJson, AsTable):
    """Several runs on the same judgements, each compared with the first.

    Attributes:
        names: the runs' names.
        measures: the requested measures.
        means: [run][measure].
        comparisons: [run - 1][measure], each with its p-values of the randomisation test and the t-test, corrected for all of them.
        per_query: [run] query -> measure -> value, for all judged queries; 0 where a run has no answer.
        words: query -> its text, where known.
        variances: of three runs or more, by measure: an analysis of variance, and Tukey's test of each pair.
        counts: the judged, unanswered and unjudged queries of each run.
        correction: see `significance.holm`.
    """

    names: list[str]
    measures: list[str]
    means: list[dict[str, float]]
    comparisons: list[dict[str, tuple[Comparison, float, float]]]
    per_query: list[dict[str, dict[str, float]]]
    words: dict[str, str]
    variances: dict[str, Variance]
    counts: list[QueryCounts]
    correction: Correction

    @property
    def unequal(self) -> str:
        """A warning if the runs do not answer the same judged queries; else ""."""
        if len({counts.unanswered for counts in self.counts}) == 1:
            return ""
        gaps = ", ".join(f"{name} {len(counts.unanswered):,}" for name, counts in zip(self.names, self.counts, strict=True))
        return f"the runs do not answer the same queries; unanswered of {len(self.per_query[0]):,} judged, which count 0: {gaps}"

    def to_arrow(self) -> pa.Table:
        """Each run's values for each query: run, query, and a column for each measure."""
        runs = zip(self.names, self.per_query, strict=True)
        return pa.Table.from_pylist([{"run": name, "query": query, **row} for name, values in runs for query, row in values.items()])

    def means_of(self, measure: str) -> list[float]:
        """The mean of one measure for each run."""
        return [row[measure] for row in self.means]

    def notes(self) -> list[str]:
        """How p-values are corrected, which queries count, and whether there are enough."""
        pairs = {(run, name): tests for run, row in zip(self.names[1:], self.comparisons, strict=True) for name, tests in row.items()}
        has_gaps = any(counts.unanswered or counts.unjudged for counts in self.counts)
        notes = list(dict.fromkeys(map(str, self.counts))) if has_gaps and not self.unequal else []
        if len(pairs) > 1:
            notes.append(f"p-values are corrected by {self.correction.capitalize()}'s method for {len(pairs)} comparisons")
        if (queries := len(self.per_query[0])) < FEW:
            missed = {key: abs(pair.effect) for key, (pair, p, _) in pairs.items() if pair.effect and p >= LEVEL}
            (run, name), effect = max(missed.items(), key=lambda item: item[1], default=(("", ""), None))
            needed = needed_text(effect)
            notes.append(
                f"{counted(queries, 'query', 'queries')}, fewer than {FEW}: a true difference is easily missed"
                + (f"; {needed} as {run}'s in {name}" if needed else "")
            )
        return notes

    def lines(self, shown_queries: int) -> list[str]:
        """The report: means, differences, effect sizes, p-values, the queries that changed most, and notes."""
        out = []
        width = max(map(len, self.names))
        first, *others = self.per_query
        for name in self.measures:
            low, high = interval(np.array([row[name] for row in first.values()]))
            out.append(f"{name} over {counted(len(first), 'query', 'queries')}")
            out.append(f"  {self.names[0]:<{width}}  {100 * self.means[0][name]:6.2f}   [{100 * low:.2f}, {100 * high:.2f}]")
            for run, mean, tests in zip(self.names[1:], self.means[1:], self.comparisons, strict=True):
                out.append(f"  {run:<{width}}  {100 * mean[name]:6.2f}   {_in_words(*tests[name])}")
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
        return out + self.notes()

    def to_dict(self) -> dict[str, Any]:
        """As plain values: schema 1."""
        rows: list[dict[str, Any]] = [{"run": self.names[0], "measures": self.means[0]}]
        for run, mean, row in zip(self.names[1:], self.means[1:], self.comparisons, strict=True):
            tests = {}
            for name, (pair, randomised, student) in row.items():
                facts = asdict(pair)
                ends = {"interval": [facts.pop("low"), facts.pop("high")]}
                tests[name] = facts | ends | {f"p_randomisation_{self.correction}": randomised, f"p_t_{self.correction}": student}
            rows.append({"run": run, "measures": mean, "against_first": tests})
        for facts, counts in zip(rows, self.counts, strict=True):
            facts |= {"unanswered_queries": len(counts.unanswered), "unjudged_queries": counts.unjudged}
        value: dict[str, Any] = {
            "schema": 1,
            "queries": len(self.per_query[0]),
            "correction": {"method": self.correction, "comparisons": sum(map(len, self.comparisons))},
            "runs": rows,
            "unequal": bool(self.unequal),
            "notes": self.notes(),
        }
        if self.variances:
            value["variance"] = {
                name: variance_facts(analysis, self.names, self.means_of(name), "runs") for name, analysis in self.variances.items()
            }
        return value


def _in_words(pair: Comparison, randomised: float, student: float) -> str:
    """A difference with its interval, effect size, counts of queries, and corrected p-values."""
    effect = f"  d = {pair.effect:+.2f}" if pair.effect is not None else ""
    return (
        f"{100 * pair.difference:+.2f} [{100 * pair.low:+.2f}, {100 * pair.high:+.2f}]{effect}  "
        f"wins {pair.wins}, ties {pair.ties}, losses {pair.losses}  p = {randomised:.2g} (randomisation), {student:.2g} (t)"
    )


def compare_scores(
    runs: Mapping[str, RunScores],
    judgements: Qrels,
    measures: Sequence[str],
    judge: str,
    query_texts: Mapping[str, str],
    correction: Correction,
) -> RunComparison:
    """Compare runs by name, over all judged queries. `judge` names the judgements in messages.

    A query without an answer counts 0, as with trec_eval's -c. p-values are corrected for all runs and measures together.

    Raises InvalidRequest for an unknown measure or correction, or a run without any judged query or paper.
    """
    evaluator = Evaluator(judgements, parse_measures(measures))
    for name, run in runs.items():
        check_ids(run, name, judgements, judge)
    values = {name: evaluator.complete(evaluator.per_query(run)) for name, run in runs.items()}
    counts = [evaluator.counts(run) for run in runs.values()]
    return compare_values(values, list(map(str, evaluator.measures)), counts, query_texts, correction)


def compare_values(
    runs: Mapping[str, dict[str, dict[str, float]]],
    names: list[str],
    counts: list[QueryCounts],
    query_texts: Mapping[str, str],
    correction: Correction,
) -> RunComparison:
    """Compare runs by the values of some measures, {run: {query: {measure: value}}}, for the same queries. Raises as `compare_scores`."""
    check_choice("correction", correction, tuple(CORRECTIONS))
    per_query = list(runs.values())
    values = {name: np.array([[row[name] for row in rows.values()] for rows in per_query]) for name in names}
    means = [{name: float(values[name][place].mean()) for name in names} for place in range(len(runs))]
    pairs = [{name: compare(values[name][0], values[name][place]) for name in names} for place in range(1, len(runs))]
    flat_pairs = [pair for row in pairs for pair in row.values()]
    randomised = iter(CORRECTIONS[correction]([pair.p_randomisation for pair in flat_pairs]))
    student = iter(CORRECTIONS[correction]([pair.p_t for pair in flat_pairs]))
    comparisons = [{name: (pair, next(randomised), next(student)) for name, pair in row.items()} for row in pairs]
    is_analysed = len(runs) > 2 and len(per_query[0]) > 1
    variances = {name: variance(values[name]) for name in names} if is_analysed else {}
    return RunComparison(list(runs), names, means, comparisons, per_query, dict(query_texts), variances, counts, correction)


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
