"""The names of measures: papers', ir_measures', trec_eval's, and those of plug-ins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.errors import InvalidRequest, UnknownName
from ..base.plugins import Plugin, found, names
from .judgements import LARGEST_GRADE

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
    "infap": "infAP",
    "rbp": "rbp",
    "err": "err",
    "setp": "set_P",
    "setrelp": "set_relative_P",
    "setr": "set_recall",
    "setrecall": "set_recall",
    "setf": "set_F",
    "setap": "set_map",
    "setmap": "set_map",
    "rcap": "recall_cap",
    "iprec": "iprec_at_recall",
    "judged": "judged",
    "hole": "hole",
}
CUT = {"ndcg": "ndcg_cut", "map": "map_cut", "recip_rank": "mrr"}
"""Measures with another name in trec_eval or BEIR if they have a cutoff."""
NEEDS_CUT = {"P", "recall", "success", "recall_cap", "hole"}
MAY_CUT = {*CUT, *NEEDS_CUT, "judged", "rbp", "err"}
SHOWN = {
    "ndcg": "nDCG",
    "ndcg_cut": "nDCG",
    "ndcg_exp": "nDCG",
    "map": "MAP",
    "map_cut": "MAP",
    "recip_rank": "MRR",
    "mrr": "MRR",
    "P": "P",
    "recall": "R",
    "success": "Success",
    "rbp": "RBP",
    "err": "ERR",
    "bpref": "Bpref",
    "judged": "Judged",
    "iprec_at_recall": "IPrec",
    "set_P": "SetP",
    "set_relative_P": "SetRelP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "set_map": "SetAP",
    "recall_cap": "R_cap",
}
KNOWN = (
    *("nDCG", "nDCG@10", "nDCG(dcg='exp-log2')@10", "nDCG(gains={1:1,2:10})", "MAP", "AP", "AP(rel=2)", "MRR", "RR", "MRR@10", "RR@10"),
    *("P@5", "P(judged_only=True)@5", "R@100", "Success@5", "Rprec", "IPrec@0.1", "Bpref", "infAP", "RBP", "RBP(p=0.8)@10", "ERR@20"),
    *("Judged@10", "SetP", "SetRelP", "SetR", "SetF", "SetF(beta=2.0)", "SetAP", "R_cap@100", "hole@10"),
)
"""Examples of all names, for errors."""
BEIR = {"recall_cap", "hole", "mrr"}
"""Measures of BEIR's custom_metrics.py. It orders by score as float64, ties in the answer's order; unanswered queries count 0."""
OWN = {*BEIR, "judged", "rbp", "err", "ndcg_exp", "infAP"}
"""Measures computed here: BEIR's, and those of `formulas`."""
DEEPEST = 10_000_000
"""The largest cutoff: no search returns more."""
PERSISTENCE = 0.8
"""RBP's p, as in ir_measures."""
_OF_SETS = {"set_P", "set_relative_P", "set_F", "set_map"}
_CONDENSED = {"ndcg", "map", "P", "recall", "recip_rank", "success", "Rprec", "iprec_at_recall", *_OF_SETS}
SETTINGS = {
    "rel": {*_CONDENSED, "bpref", "infAP", "rbp", "set_recall"} - {"ndcg"},
    "p": {"rbp"},
    "dcg": {"ndcg"},
    "gains": {"ndcg"},
    "beta": {"set_F"},
    "relative": {"set_P"},
    "judged_only": _CONDENSED,
}
"""What may stand in brackets, and after which measures."""
FORM = re.compile(r"(?P<head>[^()@]+)(?:\((?P<settings>[^()]*)\) *)?(?:@(?P<cutoff>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure.

    Attributes:
        base: its name in trec_eval, or one of `OWN`.
        cutoff: the number of documents that count; 0 for all.
        rel: the lowest grade of a relevant document; 0 for the usual one: 1, and for RBP a gain by grade.
        p: RBP's persistence.
        recall: IPrec's level of recall, with two decimals.
        beta: how much more recall weighs than precision in SetF.
        gains: pairs of a grade and its gain in nDCG, for grades that are not their own.
        judged_only: whether documents without a judgement are removed from the ranking.
        plugin: the plug-in that computes it.
    """

    base: str
    cutoff: int = 0
    rel: int = 0
    p: float = PERSISTENCE
    recall: float | None = None
    beta: float = 1.0
    gains: tuple[tuple[int, int], ...] = ()
    judged_only: bool = False
    plugin: Plugin | None = None

    @property
    def is_own(self) -> bool:
        """Whether trec_eval does not compute it."""
        return self.plugin is not None or self.base in OWN

    @property
    def key(self) -> str:
        """The name in trec_eval's output: ndcg_cut_10."""
        if self.recall is not None:
            return f"{self.base}_{self.recall:.2f}"
        return f"{self.base}_{self.cutoff}" if self.cutoff else self.base

    def __str__(self) -> str:
        settings = [
            *(["dcg='exp-log2'"] if self.base == "ndcg_exp" else []),
            *([f"gains={{{','.join(f'{grade}:{gain}' for grade, gain in self.gains)}}}"] if self.gains else []),
            *([f"beta={self.beta!r}"] if self.beta != 1 else []),
            *([f"p={self.p!r}"] if self.p != PERSISTENCE else []),
            *([f"rel={self.rel}"] if self.rel else []),
            *(["judged_only=True"] if self.judged_only else []),
        ]
        name = SHOWN.get(self.base, self.base) + (f"({','.join(settings)})" if settings else "")
        place = self.recall if self.recall is not None else self.cutoff or None
        return name if place is None else f"{name}@{place}"


def parse_measure(name: str) -> Measure:
    """The measure with a name of papers' or ir_measures': nDCG@10, MAP, AP(rel=2), RBP(p=0.5)@10; or trec_eval's own, ndcg_cut_10.

    Raises:
        UnknownName: there is no such measure; the message says which are alike.
        InvalidRequest: it has no such cutoff or setting.
        PluginFailed: it is a plug-in that cannot be imported.
    """
    text = name.strip()
    if own := re.fullmatch(r"(ndcg_cut|map_cut|P|recall|success)[_.](-?[0-9]+)", text):
        return Measure(own[1], _cutoff(name, own[2]))
    if text == "11pt_avg":
        return Measure(text)
    form = FORM.fullmatch(text)
    base = ALIASES.get(re.sub("[_-]", "", form["head"].strip()).lower()) if form else None
    if form is None or not re.fullmatch(r" *-?[0-9]*\.?[0-9]+ *", form["cutoff"] or "1"):
        raise UnknownName("measure", text, KNOWN, list_all=True)
    if base is None:
        return _of_plugin(text, form["head"].strip(), form["settings"], form["cutoff"])
    settings = _settings(name, base, form["settings"] or "")
    if base == "iprec_at_recall":
        return Measure(base, recall=_level(name, form["cutoff"]), **settings)
    if settings.pop("relative", False):
        base = "set_relative_P"
    has_cutoff = form["cutoff"] is not None
    if has_cutoff and base not in MAY_CUT:
        raise InvalidRequest(f"{name}: {SHOWN.get(base, base)} has no cutoff; leave it out")
    if base in NEEDS_CUT and not has_cutoff:
        raise InvalidRequest(f"{name} needs a cutoff, as in {SHOWN.get(base, base)}@10")
    cutoff = _cutoff(name, form["cutoff"]) if has_cutoff else 0
    if settings.pop("dcg", "log2") == "exp-log2":
        return Measure("ndcg_exp", cutoff, **settings)
    return Measure(CUT.get(base, base) if has_cutoff else base, cutoff, **settings)


def parse_measures(names: Iterable[str]) -> list[Measure]:
    """The measures with these names, each once. Raises as `parse_measure`."""
    return list(dict.fromkeys(map(parse_measure, names)))


def measured(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Names of figures as results have them, each once: AP(rel=2) is their MAP(rel=2). What is no measure's name stays as it is."""
    return list(dict.fromkeys(name if name in known else _shown(name) for name in names))


def _shown(name: str) -> str:
    try:
        return str(parse_measure(name))
    except InvalidRequest:
        return name


def _of_plugin(text: str, name: str, settings: str | None, cutoff: str | None) -> Measure:
    """The measure of a plug-in, which is imported now, since a fault later would cost all that is measured. Raises as `parse_measure`."""
    plugin = None if name in {*ALIASES.values(), *CUT.values(), *OWN} else found("measure", name)
    if plugin is None or settings is not None:
        raise UnknownName("measure", text if settings is None else name, names("measure", KNOWN), list_all=True)
    plugin.loaded()
    return Measure(name, _cutoff(text, cutoff) if cutoff else 0, plugin=plugin)


def _cutoff(name: str, text: str) -> int:
    """A measure's cutoff. Raises InvalidRequest if it is 0, or too large."""
    if len(text) > 20 or "." in text or not 1 <= int(text) <= DEEPEST:
        raise InvalidRequest(f"{name}: the cutoff must be from 1 to {DEEPEST:,}")
    return int(text)


def _level(name: str, text: str | None) -> float:
    """IPrec's level of recall. Raises InvalidRequest."""
    if not re.fullmatch(r" *(0|1|[01]?\.[0-9]{1,2}) *", text or "") or float(text or "") > 1:
        raise InvalidRequest(f"{name}: IPrec needs a level of recall from 0 to 1 with at most two decimals, as in IPrec@0.1")
    return float(text or "")


def _settings(name: str, base: str, text: str) -> dict[str, Any]:
    """What stands in brackets, such as "rel=2, p=0.5", by name; a usual value is left out. Raises InvalidRequest."""
    settings: dict[str, Any] = {}
    for part in re.split(r",(?![^{]*\})", text) if text.strip() else ():
        key, _, value = (piece.strip() for piece in part.partition("="))
        allowed = [setting for setting, bases in SETTINGS.items() if base in bases]
        if key not in allowed or key in settings:
            taken = f"{' and '.join(allowed)}, once" if allowed else "nothing"
            raise InvalidRequest(f"{name}: in brackets {SHOWN.get(base, base)} takes {taken}")
        settings[key] = _setting(name, key, value.strip("'\""))
    return {key: value for key, value in settings.items() if (key, value) != ("rel", 1) or base == "rbp"}


def _setting(name: str, key: str, value: str) -> Any:
    """The value of one setting. Raises InvalidRequest."""
    if key == "rel" and re.fullmatch("[0-9]{1,7}", value) and 1 <= int(value) <= LARGEST_GRADE:
        return int(value)
    if key == "p" and re.fullmatch(r"0?\.[0-9]{1,17}|[1-9](\.[0-9]{1,17})?e-[0-9]{1,2}", value) and 0 < float(value) < 1:
        return float(value)
    if key == "dcg" and value in ("log2", "exp-log2"):
        return value
    if key in ("judged_only", "relative") and value in ("True", "False"):
        return value == "True"
    if key == "beta" and re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,5})?|\.[0-9]{1,5}", value):
        return float(value)
    if key == "gains" and re.fullmatch(r"\{ *[0-9]{1,7} *: *[0-9]{1,7} *(, *[0-9]{1,7} *: *[0-9]{1,7} *)*\}", value):
        numbers = [int(number) for number in re.findall("[0-9]+", value)]
        return tuple(sorted(dict(zip(numbers[::2], numbers[1::2], strict=True)).items()))
    forms = {"rel": "a grade from 1", "p": "a number between 0 and 1", "dcg": "'log2' or 'exp-log2'", "judged_only": "True or False"}
    forms |= {"relative": "True or False", "beta": "a number from 0, below 1,000", "gains": "grades with their gains, as in {1:1,2:10}"}
    raise InvalidRequest(f"{name}: {key} is {forms[key]}, not {value!r}")
