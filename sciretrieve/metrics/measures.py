"""The values of measures, from trec_eval (through pytrec_eval), BEIR's definitions or `formulas`.

All but BEIR's order as trec_eval does: by score as float32, then by falling document id; see `Ranking rule` in docs/protocols.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from numbers import Real
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest
from ..base.extras import need
from ..base.plugins import Plugin
from ..base.wording import counted, shortened
from . import formulas
from .formulas import Grades
from .judgements import Qrels, RunScores
from .naming import BEIR, Measure


@dataclass(frozen=True, slots=True)
class QueryCounts:
    """The queries of a run beside the judged ones, which count as with trec_eval's -c.

    Attributes:
        judged: the number of judged queries, over which means are taken.
        unanswered: those of them without an answer, which count 0.
        unjudged: the number of answered queries without judgements, which are left out.
    """

    judged: int
    unanswered: frozenset[str]
    unjudged: int

    def __str__(self) -> str:
        parts = [counted(self.judged, "judged query", "judged queries")]
        parts += [f"without an answer, counted as 0: {len(self.unanswered):,}"] if self.unanswered else []
        parts += [f"without judgements, left out: {self.unjudged:,}"] if self.unjudged else []
        return "; ".join(parts)


class Evaluator:
    """Computes measures query by query, for queries that are both judged and answered; `complete` adds the others."""

    def __init__(self, qrels: Qrels, measures: Sequence[Measure]) -> None:
        need("pytrec_eval", "measuring rankings")
        import pytrec_eval

        self.qrels, self.measures = qrels, tuple(measures)
        self.unanswered = {str(measure): 0.0 for measure in measures if measure.base in BEIR}
        """The value of a judged but unanswered query, for the measures whose authors count such queries."""
        self._judged = {id for row in qrels.values() for id in row} if any(measure.base == "hole" for measure in measures) else set()
        self._largest = max((grade for row in qrels.values() for grade in row.values()), default=0)
        families: dict[tuple[Any, ...], list[Measure]] = {}
        for measure in measures:
            if not measure.is_own:
                families.setdefault((measure.rel or 1, measure.judged_only, measure.beta, measure.gains), []).append(measure)
        pooled_qrels = _pooled(qrels) if families else {}
        self._families: list[tuple[list[Measure], Any]] = []
        for (rel, is_condensed, _, gains), family in families.items():
            judged = _pooled({query: _regraded(row, gains) for query, row in qrels.items()}) if gains else pooled_qrels
            asked = {_asked(measure) for measure in family}
            self._families.append((family, pytrec_eval.RelevanceEvaluator(judged, asked, rel, is_condensed)))

    def per_query(self, run: RunScores) -> dict[str, dict[str, float]]:
        """By query id and measure, the value, for each judged query of the run."""
        trec_values = [(family, evaluator.evaluate(run)) for family, evaluator in self._families]
        own_measures = [measure for measure in self.measures if measure.is_own]
        result = {}
        for query, row in run.items():
            if not self.qrels.get(query):
                continue  # trec_eval ignores a query without judgements
            values = {str(measure): _known(found[query][measure.key]) for family, found in trec_values for measure in family}
            values |= self._own(own_measures, row, self.qrels[query])
            result[query] = {str(measure): values[str(measure)] for measure in self.measures}
        return result

    def complete(self, values: Mapping[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        """The values of every judged query, as with trec_eval's -c: 0 for those without an answer."""
        zeros = {str(measure): 0.0 for measure in self.measures}
        return {query: values.get(query, zeros) for query, row in self.qrels.items() if row}

    def counts(self, run: RunScores) -> QueryCounts:
        """How many queries count in which way."""
        judged = {query for query, row in self.qrels.items() if row}
        answered = {query for query, row in run.items() if row}
        return QueryCounts(len(judged), frozenset(judged - answered), len(answered - judged))

    def _own(self, own_measures: Sequence[Measure], row: Mapping[str, float], judged: Mapping[str, int]) -> dict[str, float]:
        ranked_ids = trec_order(row) if any(measure.base not in BEIR for measure in own_measures) else []
        return {str(measure): self._value(measure, row, ranked_ids, judged) for measure in own_measures}

    def _value(self, measure: Measure, row: Mapping[str, float], ranked_ids: list[str], judged: Mapping[str, int]) -> float:
        if measure.plugin is not None:
            return _by_plugin(measure.plugin, list(ranked_ids), judged, measure.cutoff)
        return self._beir(measure, row, judged) if measure.base in BEIR else self._by_formula(measure, ranked_ids, judged)

    def _by_formula(self, measure: Measure, ranked_ids: list[str], judged: Mapping[str, int]) -> float:
        judged = _regraded(judged, measure.gains)
        ranked: Grades = [judged.get(id) for id in ranked_ids]
        if measure.judged_only:
            ranked = [grade for grade in ranked if grade is not None and grade >= 0]
        grades = ranked[: measure.cutoff or None]
        if measure.base == "judged":
            return sum(grade is not None for grade in grades) / max(len(grades), 1)
        if measure.base == "rbp":
            if not measure.rel:
                return formulas.rank_biased_precision(grades, measure.p, max(self._largest, 1))
            return formulas.rank_biased_precision([(grade or 0) >= measure.rel for grade in grades], measure.p, 1)
        if measure.base == "err":
            return formulas.expected_reciprocal_rank(grades, max(self._largest, formulas.FEWEST_LEVELS))
        if measure.base == "ndcg_exp":
            return formulas.exponential_ndcg(grades, list(judged.values()), measure.cutoff)
        rel = measure.rel or 1
        return formulas.inferred_precision(grades, rel, sum(grade >= rel for grade in judged.values()))

    def _beir(self, measure: Measure, row: Mapping[str, float], grades: Mapping[str, int]) -> float:
        ranked_ids = sorted(row, key=row.__getitem__, reverse=True)
        if measure.judged_only:
            ranked_ids = [id for id in ranked_ids if grades.get(id, -1) >= 0]
        ranked_ids = ranked_ids[: measure.cutoff or None]
        if measure.base == "hole":  # a document judged for any query is not a hole
            return sum(id not in self._judged for id in ranked_ids) / measure.cutoff
        hits = [grades.get(id, 0) >= (measure.rel or 1) for id in ranked_ids]
        if measure.base == "mrr":
            return 1 / (hits.index(True) + 1) if any(hits) else 0.0
        relevant = sum(grade > 0 for grade in grades.values())
        return sum(hits) / min(relevant, measure.cutoff) if relevant else 0.0


def _by_plugin(plugin: Plugin, ranked_ids: list[str], judged: Mapping[str, int], cutoff: int) -> float:
    """A plug-in's value. Raises PluginFailed."""
    measured = plugin.loaded()
    with plugin.answering():
        value = measured(ranked_ids, dict(judged), cutoff or None)
        if not isinstance(value, Real) or not isfinite(value):
            raise InvalidRequest(f"for a query it returned {shortened(value)}, which is no finite number")
        return float(value)


def _asked(measure: Measure) -> str:
    """A measure by the name that pytrec_eval takes: ndcg_cut.10. It computes SetF of one beta at a time."""
    if measure.recall is not None:
        return f"{measure.base}.{measure.recall:.2f}"
    return f"{measure.base}.{measure.cutoff or measure.beta}" if measure.cutoff or measure.beta != 1 else measure.base


def _known(value: float) -> float:
    """A value of trec_eval's, whose IPrec is 0 / 0 where judged_only leaves no document; here it is 0."""
    return 0.0 if isnan(value) else value


def _regraded(row: Mapping[str, int], gains: Sequence[tuple[int, int]]) -> dict[str, int]:
    """A query's judgements with gains in place of their grades."""
    gain_of = dict(gains)
    return {id: gain_of.get(grade, grade) for id, grade in row.items()}


def _pooled(qrels: Qrels) -> Qrels:
    """Judgements without negative grades, which trec_eval reads as "not in the pool", like a missing judgement.

    They make its library write outside its memory, which may crash or hang it.
    """
    pooled_qrels = {query: {id: grade for id, grade in row.items() if grade >= 0} for query, row in qrels.items()}
    return {query: row or dict.fromkeys(list(qrels[query])[:1], 0) for query, row in pooled_qrels.items()}


def macro_f1(truth: Sequence[str], predicted: Sequence[str]) -> float:
    """The mean F1 of all true or predicted classes, as in scikit-learn's f1_score."""
    right = Counter(label for label, other in zip(truth, predicted, strict=True) if label == other)
    sizes = Counter(truth) + Counter(predicted)
    return float(np.mean([2 * right[label] / sizes[label] for label in sorted(sizes)]))


def trec_order(row: Mapping[str, float]) -> list[str]:
    """Document ids in trec_eval's order: by falling score as float32, then by falling id (bytewise)."""
    ids = list(row)
    scores = np.fromiter(row.values(), np.float32, len(ids)).tolist()
    order = sorted(range(len(ids)), key=lambda place: (scores[place], ids[place].encode("utf-8", "surrogatepass")), reverse=True)
    return [ids[place] for place in order]


def ties(run: RunScores) -> int:
    """The number of documents in a run that share their score, as float32, with another of the same query."""
    total = 0
    for row in run.values():
        scores = np.fromiter(row.values(), np.float32, len(row))
        _, counts = np.unique(scores, return_counts=True)
        total += int(counts[counts > 1].sum())
    return total
