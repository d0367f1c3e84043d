"""Measures: their names as the field writes them, and their values, which trec_eval computes (through pytrec_eval).

trec_eval orders by score as float32, then by document id, falling; see `Ranking rule` in docs/evaluation.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidRequest
from .judgements import Qrels, Scores

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
    "P": "P",
    "recall": "R",
    "success": "Success",
    "recall_cap": "R_cap",
}
OWN = {"recall_cap", "judged", "hole"}
"""What trec_eval has not: BEIR's capped recall and holes, and the share of judged documents."""
TREC_NAME = re.compile(
    r"(map|ndcg|recip_rank|Rprec|bpref|gm_map|infAP|P|recall|success|ndcg_cut|map_cut|relative_P|11pt_avg|binG|G|num_rel|num_ret|num_rel_ret|iprec_at_recall|set_\w+|relstring)"
    r"(?:[_.](\d+(?:\.\d+)?))?"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: trec_eval's name of it, and the cutoff, 0 for none."""

    base: str
    cutoff: int = 0

    @property
    def key(self) -> str:
        """As trec_eval writes it in its output: ndcg_cut_10."""
        return f"{self.base}_{self.cutoff}" if self.cutoff else self.base

    @property
    def depth(self) -> int | None:
        """How many documents it looks at, None for all."""
        return self.cutoff or None

    def __str__(self) -> str:
        name = SHOWN.get(self.base, self.base)
        return f"{name}@{self.cutoff}" if self.cutoff else name


def parse_measure(name: str) -> Measure:
    """A measure from its name: nDCG@10, R@100, MAP, MRR, P@5, or trec_eval's own (ndcg_cut_10, recall.100).

    Raises:
        InvalidRequest: there is no such measure.
    """
    text = name.strip()
    head, at, cut = text.partition("@")
    base = ALIASES.get(head.strip().replace("_", "").replace("-", "").lower())
    if base and (not at or cut.strip().isdigit()):
        cutoff = int(cut) if at else 0
        if cutoff and base == "recip_rank":
            raise InvalidRequest(f"{name}: trec_eval has no cutoff for the reciprocal rank; use MRR")
        if bool(cutoff) or base not in NEEDS_CUT:
            return Measure(CUT.get(base, base) if cutoff else base, cutoff)
        raise InvalidRequest(f"{name} needs a cutoff, as in {SHOWN.get(base, base)}@10")
    if (found := re.fullmatch(r"(ndcg_cut|map_cut|P|recall|success)[_.](\d+)", text)) and int(found[2]):
        return Measure(found[1], int(found[2]))
    if text in ("Rprec", "bpref", "recip_rank", "infAP", "num_rel", "num_ret", "num_rel_ret", "set_P", "set_recall", "set_F", "11pt_avg"):
        return Measure(text)
    raise InvalidRequest(
        f"unknown measure {name!r}; there are nDCG, nDCG@k, MAP, MRR, P@k, R@k, Success@k, Rprec, bpref, R_cap@k, judged@k"
    )


class Evaluator:
    """Computes measures query by query, for the queries that are both judged and answered."""

    def __init__(self, qrels: Qrels, measures: Sequence[Measure]) -> None:
        import pytrec_eval

        self.qrels, self.measures = qrels, tuple(measures)
        theirs = {
            measure.key.replace(f"_{measure.cutoff}", f".{measure.cutoff}") if measure.cutoff else measure.base
            for measure in measures
            if measure.base not in OWN
        }
        self._evaluator: Any = pytrec_eval.RelevanceEvaluator(_pooled(qrels), theirs) if theirs else None

    def per_query(self, run: Scores) -> dict[str, dict[str, float]]:
        """Query id -> measure as written -> value, for each query of the run that is judged."""
        found: Mapping[str, Mapping[str, float]] = self._evaluator.evaluate(run) if self._evaluator else {}
        result = {}
        for query, row in run.items():
            if query not in self.qrels:
                continue
            values = {str(measure): found[query][measure.key] for measure in self.measures if measure.base not in OWN}
            own = [measure for measure in self.measures if measure.base in OWN]
            if own:
                ranked = trec_order(row)
                values |= {str(measure): _own(measure, ranked, self.qrels[query]) for measure in own}
            result[query] = values
        return result


def _pooled(qrels: Qrels) -> Qrels:
    """Judgements without negative grades, which to trec_eval mean "not in the pool", as no judgement does.

    They are left out here because its library, given them, writes outside its memory and may never come back.
    """
    cleaned = {query: {id: grade for id, grade in row.items() if grade >= 0} for query, row in qrels.items()}
    return {query: row or dict.fromkeys(list(qrels[query])[:1], 0) for query, row in cleaned.items()}


def trec_order(row: Mapping[str, float]) -> list[str]:
    """Document ids as trec_eval ranks them: by score as float32, falling, then by id, falling (bytewise)."""
    ids = list(row)
    scores = np.fromiter(row.values(), np.float32, len(ids)).tolist()
    order = sorted(range(len(ids)), key=lambda at: (scores[at], ids[at].encode()), reverse=True)
    return [ids[at] for at in order]


def ties(run: Scores) -> int:
    """How many documents of a run have the same score, as float32, as another of their query."""
    total = 0
    for row in run.values():
        scores = np.fromiter(row.values(), np.float32, len(row))
        _, counts = np.unique(scores, return_counts=True)
        total += int(counts[counts > 1].sum())
    return total


def means(values: Iterable[Mapping[str, float]], measures: Sequence[Measure]) -> dict[str, float]:
    """The mean of each measure over queries."""
    rows = list(values)
    return {str(measure): float(np.mean([row[str(measure)] for row in rows])) if rows else 0.0 for measure in measures}


def _own(measure: Measure, ranked: Sequence[str], judged: Mapping[str, int]) -> float:
    top = ranked[: measure.cutoff]
    if measure.base == "judged":
        return sum(id in judged for id in top) / max(len(top), 1)
    if measure.base == "hole":
        return sum(id not in judged for id in top) / measure.cutoff
    relevant = {id for id, grade in judged.items() if grade > 0}
    return sum(id in relevant for id in top) / min(len(relevant), measure.cutoff) if relevant else 0.0
