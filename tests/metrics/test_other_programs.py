"""Measures beside ir_measures, gdeval.pl, ranx, and what trec_eval 10 prints where its Python library cannot be asked."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from math import isnan
from typing import Any

import ir_measures
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.metrics.measures import Evaluator
from sciretrieve.metrics.naming import KNOWN, parse_measure

DOCUMENTS = st.sampled_from([f"d{number}" for number in range(12)])
QUERIES = st.sampled_from("abcd")
RUNS = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.sampled_from([0.0, 0.5, 0.5 + 1e-9, 1.0, -2.0]), min_size=1), min_size=1)
QRELS = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, st.integers(0, 3), min_size=1), min_size=1)
THEIRS = [
    *("P@5", "P(rel=2)@3", "R@5", "R(rel=2)@5", "AP", "AP(rel=2)", "AP@4", "RR", "RR(rel=3)", "Rprec", "Rprec(rel=2)", "Success@2"),
    *("nDCG", "nDCG@4", "nDCG(judged_only=True)@4", "AP(judged_only=True)", "P(rel=2,judged_only=True)@3", "Bpref", "Bpref(rel=2)"),
    *("infAP", "infAP(rel=2)", "SetP", "SetP(rel=2)", "SetR", "SetF", "SetAP", "SetF(beta=0.5)", "SetF(beta=2.0,rel=2)", "SetRelP"),
    *("SetP(relative=True,rel=2,judged_only=True)", "IPrec@0.0", "IPrec@0.1", "IPrec(rel=2)@0.25", "IPrec(judged_only=True)@1.0"),
]
WITH_GAINS = ["nDCG(gains={1:7,3:0})", "nDCG(gains={0:2,2:5},judged_only=True)@3"]
"""ir_measures confuses them with others of nDCG that are asked for at once."""


def complete(qrels: Any, run: Any, names: Any) -> Any:
    evaluator = Evaluator(qrels, [parse_measure(name) for name in names])
    return evaluator.complete(evaluator.per_query(run))


@settings(deadline=None, max_examples=25)
@given(RUNS, QRELS)
@example({"a": {"d0": 0.0}}, {"a": {"d1": 0}})
def test_values_under_ir_measures_names_are_its_values(run: Any, qrels: Any) -> None:
    """Ties, unjudged documents, and queries that only one of both has: an unanswered one is 0, an unjudged one none."""
    found = complete(qrels, run, [*THEIRS, *WITH_GAINS])
    assert set(found) == set(qrels)
    for names in (THEIRS, *([name] for name in WITH_GAINS)):
        for metric in ir_measures.iter_calc([ir_measures.parse_measure(name) for name in names], qrels, run):
            if metric.query_id in qrels:
                ours = str(parse_measure(str(metric.measure)))
                value = 0.0 if isnan(metric.value) else metric.value  # IPrec's where judged_only leaves nothing
                assert found[metric.query_id][ours] == value, (ours, metric.query_id)


def untied(seed: int, queries: int, *, largest: int = 3) -> tuple[Any, Any]:
    """Graded judgements, and a run with unjudged documents in which no two have one score."""
    chance = random.Random(seed)
    names = [f"d{number}" for number in range(30)]
    qrels = {f"{query:03}": {id: chance.randint(0, largest) for id in chance.sample(names, 12)} for query in range(1, queries + 1)}
    run = {query: {id: float(place) for place, id in enumerate(chance.sample(names, 20))} for query in qrels}
    return qrels, run


def test_judged_is_ir_measures_where_nothing_is_tied() -> None:
    qrels, run = untied(1, 20)
    qrels["001"]["d0"] = -1  # judged, for both
    found = complete(qrels, run, ["Judged@5", "Judged"])
    for metric in ir_measures.judged.iter_calc([ir_measures.Judged @ 5, ir_measures.Judged], qrels, run):
        assert found[metric.query_id][str(parse_measure(str(metric.measure)))] == metric.value


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval.pl needs perl")
def test_exponential_gains_are_those_of_trecs_web_tracks() -> None:
    """gdeval.pl prints five decimals; ties are ordered by it as by trec_eval, and negative grades count 0."""
    qrels, run = untied(2, 30, largest=4)
    for query in ("001", "002", "003"):
        run[query] = {id: score // 4 for id, score in run[query].items()}
        qrels[query]["d1"] = -2
    found = complete(qrels, run, ["ERR@5", "ERR@20", "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@10"])
    exponential = ir_measures.nDCG(dcg="exp-log2")
    measures = [ir_measures.ERR @ 5, ir_measures.ERR @ 20, exponential @ 5, exponential @ 10]
    compared = 0
    for metric in ir_measures.gdeval.iter_calc(measures, qrels, run):
        assert found[metric.query_id][str(parse_measure(str(metric.measure)))] == pytest.approx(metric.value, abs=5.1e-6)
        compared += metric.value > 0
    assert compared > 60


RANX = """
import json, sys, ranx
qrels, run, names = json.load(sys.stdin)
json.dump({name: list(map(float, ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), name, return_mean=False))) for name in names}, sys.stdout)
"""


@pytest.mark.torture
def test_values_are_those_of_ranx_where_it_defines_the_same() -> None:
    """Its RBP adds grades as they are, and its bpref divides by nothing for some queries; it runs apart, without compiling for minutes."""
    qrels, run = untied(3, 25)
    names = {
        "rbp.80": "RBP",
        "rbp.50": "RBP(p=0.5)",
        "ndcg@7": "nDCG@7",
        "ndcg_burges@7": "nDCG(dcg='exp-log2')@7",
        "ndcg_burges": "nDCG(dcg='exp-log2')",
        "bpref": "Bpref",
        "hit_rate@1": "Success@1",
        "precision@5-l2": "P(rel=2)@5",
        "recall@5": "R@5",
        "map-l2": "AP(rel=2)",
        "mrr@3": "RR@3",
        "r-precision": "Rprec",
    }
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RANX],
        input=json.dumps([qrels, run, list(names)]),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = complete(qrels, run, names.values())
    for theirs, values in json.loads(process.stdout).items():
        ours = str(parse_measure(names[theirs]))
        factor = 3 if "rbp" in theirs else 1
        assert [factor * row[ours] for row in found.values()] == pytest.approx(values), theirs


def test_inferred_precision_of_a_pool_judged_in_part() -> None:
    """A negative grade is "in the pool, not judged". Printed by trec_eval 10.0-rc3, `-q -m infAP -m bpref -m map`, with -l 1 and -l 2."""
    qrels = {
        "q": {"d1": 2, "d2": -1, "d3": 0, "d4": 1, "d5": -2, "d6": 0, "d7": 1, "d8": 3},
        "r": {"d1": -1},
        "s": {"d3": -1, "d2": 0, "d1": 1},
    }
    run = {
        "q": {"d2": 9.0, "d9": 8.0, "d1": 7.0, "d3": 6.0, "d5": 5.0, "d4": 4.0, "dx": 4.0, "d6": 3.0, "d8": 2.0},
        "r": {"d1": 1.0},
        "s": {"d3": 1.0, "d2": 1.0, "d1": 1.0},
    }
    names = ["infAP", "Bpref", "MAP", "infAP(rel=2)", "Bpref(rel=2)", "MAP(rel=2)"]
    printed = {
        "q": [0.3433, 0.3750, 0.2381, 0.3889, 0.5, 0.2778],
        "r": [0.0] * 6,
        "s": [0.3333, 0.0, 0.3333, 0.0, 0.0, 0.0],
    }
    for query, values in complete(qrels, run, names).items():
        assert [round(values[name], 4) for name in names] == printed[query]


def test_rank_biased_precision_and_reciprocal_rank_by_hand() -> None:
    qrels, run = {"q": {"a": 2, "b": 1, "c": -1}, "other": {"z": 4}}, {"q": {"x": 4.0, "a": 3.0, "c": 2.0, "b": 1.0}}
    names = ["RBP", "RBP(p=0.5,rel=1)", "RBP(rel=2)@1", "RBP(rel=2)@2", "ERR@2", "ERR"]
    found = complete(qrels, run, names)["q"]
    expected = [0.2 * (0.8 * 2 + 0.8**3) / 4, 0.5 * (0.5 + 0.125), 0.0, 0.2 * 0.8, 3 / 16 / 2, 3 / 16 / 2 + 13 / 16 / 16 / 4]
    assert list(found.values()) == pytest.approx(expected)


def test_no_grade_is_too_large_for_an_exponential_gain() -> None:
    found = complete({"q": {"a": 1_000_000, "b": 3}}, {"q": {"b": 2.0, "a": 1.0}}, ["ERR", "nDCG(dcg='exp-log2')"])["q"]
    assert list(found.values()) == pytest.approx([0.5, 0.63092975])


def test_gains_are_raised_to_a_power_as_grades_are() -> None:
    qrels, run = untied(4, 5)
    regraded = {query: {id: {1: 0, 2: 5}.get(grade, grade) for id, grade in row.items()} for query, row in qrels.items()}
    found = complete(qrels, run, ["nDCG(dcg='exp-log2',gains={1:0,2:5})@10"])
    expected = complete(regraded, run, ["nDCG(dcg='exp-log2')@10"])
    assert [list(row.values()) for row in found.values()] == [list(row.values()) for row in expected.values()]


def test_every_name_is_read_again_from_what_is_shown() -> None:
    for name in (*KNOWN, *THEIRS, *WITH_GAINS, "RBP(rel=1, p=.95)@30", 'nDCG(dcg="log2")@3', "RR(rel=2)@7"):
        measure = parse_measure(name)
        assert parse_measure(str(measure)) == measure
    assert str(parse_measure("nDCG( judged_only = True , dcg='exp-log2')@7")) == "nDCG(dcg='exp-log2',judged_only=True)@7"
    assert str(parse_measure("SetP(relative=True)")) == "SetRelP"
    assert str(parse_measure("nDCG(gains={2: 5, 1:3}, judged_only=True)")) == "nDCG(gains={1:3,2:5},judged_only=True)"
    assert [str(parse_measure(f"IPrec@{level}")) for level in ("0", "1", ".5")] == ["IPrec@0.0", "IPrec@1.0", "IPrec@0.5"]
    assert str(parse_measure("AP(rel=1)")) == "MAP"
    assert parse_measure("nDCG(dcg='log2')") == parse_measure("nDCG")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nDGC@10", "did you mean 'nDCG@10'"),
        ("RPB@10", "did you mean"),
        ("α_nDCG@5", "unknown measure"),
        ("RBP(p=1)", "p is a number between 0 and 1, not '1'"),
        ("RBP(p=nan)", "p is a number between 0 and 1"),
        ("RBP(q=0.5)", "RBP takes rel and p"),
        ("AP(rel=0)", "rel is a grade from 1, not '0'"),
        ("AP(rel=2,rel=3)", "once"),
        ("SetF(beta=-1)", "beta is a number from 0, below 1,000, not '-1'"),
        ("nDCG(gains={1:-2})", "gains is grades with their gains, as in {1:1,2:10}"),
        ("nDCG(gains=2)", "gains is grades with their gains"),
        ("IPrec", "as in IPrec@0.1"),
        ("IPrec@10", "a level of recall from 0 to 1"),
        ("P@0.5", "the cutoff must be"),
        ("INST", "there are: AP, AP(rel=2), Bpref, "),
        ("BPM@3", "There are: AP, AP(rel=2), Bpref, "),
        ("AP(2)", "MAP takes rel and judged_only"),
        ("ERR(rel=2)@3", "ERR takes nothing"),
        ("nDCG(dcg='exp')", "dcg is 'log2' or 'exp-log2'"),
        ("nDCG(judged_only=1)", "judged_only is True or False"),
        ("SetP@5", "has no cutoff"),
        ("infAP@5", "has no cutoff"),
        ("RBP(p=0.5", "unknown measure"),
        ("Success", "needs a cutoff"),
    ],
)
def test_what_is_wrong_with_a_name_is_one_line(name: str, words: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_measure(name)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, UnknownName) == ("unknown" in str(caught.value))
