"""Measures: their names in papers, and their values from trec_eval (through pytrec_eval).

trec_eval orders by score as float32, then by falling document id; see `Ranking rule` in docs/protocols.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest
from ..base.extras import need
from .judgements import Qrels, RunScores

ALIASES = {
    "ndcg": "ndcg",
    "map": "map",
    "ap": "map",
    "p": "P",
    "precision": "P",
    "r": "recall",
    "recall": "recall",
    "mrr": "recip_rank",
    "rr": "recip_rank",
    "reciprank": "recip_rank",
    "success": "success",
    "hit": "success",
    "rprec": "Rprec",
    "bpref": "bpref",
    "rcap": "recall_cap",
    "judged": "judged",
    "hole": "hole",
}
CUT = {"ndcg": "ndcg_cut", "map": "map_cut"}
NEEDS_CUT = {"P", "recall", "success", "recall_cap", "judged", "hole"}
SHOWN = {
    "ndcg": "nDCG",
    "ndcg_cut": "nDCG",
    "map": "MAP",
    "map_cut": "MAP",
    "recip_rank": "MRR",
    "mrr": "MRR",
    "P": "P",
    "recall": "R",
    "success": "Success",
    "recall_cap": "R_cap",
}
BEIR = {"recall_cap", "hole", "mrr"}
"""Measures of BEIR's custom_metrics.py. It orders by score as float64, ties in the answer's order; unanswered queries count 0."""
OWN = {*BEIR, "judged"}
"""Measures outside trec_eval: BEIR's, and the share of judged documents."""
DEEPEST = 10_000_000
"""The largest cutoff: no search returns more."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: its name in trec_eval, and the cutoff, 0 for none."""

    base: str
    cutoff: int = 0

    @property
    def key(self) -> str:
        """The name in trec_eval's output: ndcg_cut_10."""
        return f"{self.base}_{self.cutoff}" if self.cutoff else self.base

    def __str__(self) -> str:
        name = SHOWN.get(self.base, self.base)
        return f"{name}@{self.cutoff}" if self.cutoff else name


def parse_measure(name: str) -> Measure:
    """The measure with a name: nDCG@10, R@100, MAP, MRR, P@5, or trec_eval's own (ndcg_cut_10, recall.100).

    Raises:
        InvalidRequest: there is no such measure.
    """
    text = name.strip()
    head, separator, cutoff_text = text.partition("@")
    base = ALIASES.get(head.strip().replace("_", "").replace("-", "").lower())
    if own := re.fullmatch(r"(ndcg_cut|map_cut|P|recall|success)[_.](-?[0-9]+)", text):
        return Measure(own[1], _cutoff(name, own[2]))
    if base and separator and re.fullmatch(r" *-?[0-9]+ *", cutoff_text):
        if base not in {*CUT, *NEEDS_CUT, "recip_rank"}:
            raise InvalidRequest(f"{name}: {SHOWN.get(base, base)} has no cutoff; leave it out")
        # trec_eval's reciprocal rank has no cutoff
        return Measure("mrr" if base == "recip_rank" else CUT.get(base, base), _cutoff(name, cutoff_text))
    if separator:
        base = None
    if base in NEEDS_CUT:
        raise InvalidRequest(f"{name} needs a cutoff, as in {SHOWN.get(base, base)}@10")
    if base:
        return Measure(base)
    if text in ("Rprec", "bpref", "recip_rank", "infAP", "num_rel", "num_ret", "num_rel_ret", "set_P", "set_recall", "set_F", "11pt_avg"):
        return Measure(text)
    raise InvalidRequest(
        f"unknown measure {name!r}; there are nDCG, nDCG@k, MAP, MRR, MRR@k, P@k, R@k, Success@k, Rprec, bpref, R_cap@k, judged@k"
    )


def _cutoff(name: str, text: str) -> int:
    """A measure's cutoff. Raises InvalidRequest if it is 0, or too large."""
    if len(text) > 20 or not 1 <= int(text) <= DEEPEST:
        raise InvalidRequest(f"{name}: the cutoff must be from 1 to {DEEPEST:,}")
    return int(text)


class Evaluator:
    """Computes measures query by query, for queries that are both judged and answered."""

    def __init__(self, qrels: Qrels, measures: Sequence[Measure]) -> None:
        need("pytrec_eval", "measuring rankings")
        import pytrec_eval

        self.qrels, self.measures = qrels, tuple(measures)
        self.unanswered = {str(measure): 0.0 for measure in measures if measure.base in BEIR}
        """The value of a judged but unanswered query, for the measures that count such queries."""
        self._judged = {id for row in qrels.values() for id in row} if any(measure.base == "hole" for measure in measures) else set()
        trec_measures = {
            measure.key.replace(f"_{measure.cutoff}", f".{measure.cutoff}") if measure.cutoff else measure.base
            for measure in measures
            if measure.base not in OWN
        }
        self._evaluator: Any = pytrec_eval.RelevanceEvaluator(_pooled(qrels), trec_measures) if trec_measures else None

    def per_query(self, run: RunScores) -> dict[str, dict[str, float]]:
        """By query id and measure, the value, for each judged query of the run."""
        trec_values: Mapping[str, Mapping[str, float]] = self._evaluator.evaluate(run) if self._evaluator else {}
        result = {}
        for query, row in run.items():
            if not self.qrels.get(query):
                continue  # trec_eval ignores a query without judgements
            values = {str(measure): trec_values[query][measure.key] for measure in self.measures if measure.base not in OWN}
            for measure in self.measures:
                if measure.base == "judged":
                    top = trec_order(row)[: measure.cutoff]
                    values[str(measure)] = sum(id in self.qrels[query] for id in top) / max(len(top), 1)
                elif measure.base in BEIR:
                    values[str(measure)] = self._beir(measure, row, self.qrels[query])
            result[query] = values
        return result

    def _beir(self, measure: Measure, row: Mapping[str, float], grades: Mapping[str, int]) -> float:
        ranked_ids = sorted(row, key=row.__getitem__, reverse=True)[: measure.cutoff or None]
        if measure.base == "hole":  # a document judged for any query is not a hole
            return sum(id not in self._judged for id in ranked_ids) / measure.cutoff
        hits = [grades.get(id, 0) > 0 for id in ranked_ids]
        if measure.base == "mrr":
            return 1 / (hits.index(True) + 1) if any(hits) else 0.0
        relevant = sum(grade > 0 for grade in grades.values())
        return sum(hits) / min(relevant, measure.cutoff) if relevant else 0.0


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
