"""Measures: their names, and their values against pytrec_eval asked directly, and BEIR's own by their definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.evaluation.evaluation_options import make_request
from sciretrieve.metrics.judgements import read_qrels, read_scores
from sciretrieve.metrics.measures import Evaluator, ties, trec_order
from sciretrieve.metrics.naming import parse_measure

NAMES = {
    "nDCG@10": "ndcg_cut_10",
    "ndcg_cut_10": "ndcg_cut_10",
    "NDCG@5": "ndcg_cut_5",
    "nDCG": "ndcg",
    "MAP": "map",
    "map": "map",
    "AP@100": "map_cut_100",
    "MRR": "recip_rank",
    "recip_rank": "recip_rank",
    "MRR@10": "mrr_10",
    "P@5": "P_5",
    "P.5": "P_5",
    "R@100": "recall_100",
    "Recall@100": "recall_100",
    "recall_100": "recall_100",
    "Success@1": "success_1",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "RBP(p=1e-06)@5": "rbp_5",
}


@pytest.mark.parametrize(("name", "key"), NAMES.items())
def test_names(name: str, key: str) -> None:
    assert parse_measure(name).key == key
    assert parse_measure(str(parse_measure(name))) == parse_measure(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nDCG@x", "unknown measure"),
        ("R@²", "unknown"),
        ("Rprec@5", "has no cutoff"),
        ("fame", "unknown"),
        ("num_ret", "unknown"),
        ("NumRel(rel=2)", "'NumRel'; there are"),
        ("ERR(rel=2)@5", "takes nothing$"),
        ("P", "needs a cutoff"),
        ("hole", "needs a cutoff"),
    ],
)
def test_bad_names(name: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        parse_measure(name)


DOCUMENTS = st.sampled_from([f"d{number}" for number in range(12)])
RUNS = st.dictionaries(
    st.sampled_from("abcd"), st.dictionaries(DOCUMENTS, st.sampled_from([0.0, 0.5, 0.5 + 1e-9, 1.0, -2.0]), min_size=1), min_size=1
)
QRELS = st.dictionaries(st.sampled_from("abcd"), st.dictionaries(DOCUMENTS, st.integers(0, 3), min_size=1), min_size=1)


@settings(deadline=None, max_examples=60)
@given(RUNS, QRELS)
def test_values_are_trec_evals(run: Any, qrels: Any) -> None:
    names = ["nDCG@3", "nDCG", "MAP", "MRR", "P@5", "R@5", "Rprec", "Success@1"]
    measures = [parse_measure(name) for name in names]
    values_of = Evaluator(qrels, measures).per_query(run)
    # by families, which have their own cutoffs
    families = {"ndcg_cut", "ndcg", "map", "recip_rank", "P", "recall", "Rprec", "success"}
    expected = pytrec_eval.RelevanceEvaluator(qrels, families).evaluate(run)
    assert set(values_of) == set(run) & set(qrels)
    for query, values in values_of.items():
        compared = [measure for measure in measures if measure.key in expected[query]]
        assert len(compared) >= 7  # trec_eval's families have no nDCG@3
        for measure in compared:
            assert values[str(measure)] == expected[query][measure.key]
    # our own order of documents is the one that these values come from
    for query in values_of:
        order, grades = trec_order(run[query]), qrels[query]
        rank = next((1 / position for position, id in enumerate(order, 1) if grades.get(id, 0) > 0), 0.0)
        assert values_of[query]["MRR"] == pytest.approx(rank)


def evaluated(qrels: Any, run: Any, *names: str) -> dict[str, dict[str, float]]:
    return Evaluator(qrels, [parse_measure(name) for name in names]).per_query(run)


def test_beirs_own_measures() -> None:
    qrels = {"q": {"a": 1, "b": 2, "c": 0, "d": 1}}
    run = {"q": {"x": 5.0, "a": 4.0, "c": 3.0, "b": 2.0}}
    values = evaluated(qrels, run, "R_cap@2", "R_cap@100", "Judged@2", "hole@10", "MRR@1", "MRR@2")["q"]
    assert values == {"R_cap@2": 0.5, "R_cap@100": 2 / 3, "Judged@2": 0.5, "hole@10": 0.1, "MRR@1": 0.0, "MRR@2": 0.5}


def test_what_is_judged_for_any_query_is_no_hole() -> None:
    assert evaluated({"q": {"a": 1}, "r": {"b": 0}}, {"q": {"b": 2.0, "c": 1.0}}, "hole@2", "Judged@2")["q"] == {
        "hole@2": 0.5,
        "Judged@2": 0.0,
    }


def test_beirs_measures_order_by_the_score_itself_and_ties_as_answered() -> None:
    qrels = {"q": {"a": 1}}
    tied, close = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1.0, "a": 1.0 + 1e-12}}
    names = ("R_cap@1", "MRR@5", "MRR")
    assert evaluated(qrels, tied, *names)["q"] == {"R_cap@1": 1.0, "MRR@5": 1.0, "MRR": 0.5}
    assert evaluated(qrels, close, *names)["q"] == {"R_cap@1": 1.0, "MRR@5": 1.0, "MRR": 0.5}


def test_an_unanswered_query_counts_nothing_for_beirs_measures_alone() -> None:
    evaluator = Evaluator({"q": {"a": 1}}, [parse_measure(name) for name in ("R_cap@5", "hole@5", "MRR@5", "MRR", "Judged@5", "nDCG")])
    assert evaluator.unanswered == {"R_cap@5": 0.0, "hole@5": 0.0, "MRR@5": 0.0}


def test_a_query_without_judgements_is_none() -> None:
    assert set(evaluated({"q": {"a": 1}, "empty": {}}, {"q": {"a": 1.0}, "empty": {"a": 1.0}}, "nDCG", "R_cap@5")) == {"q"}


def test_an_empty_answer_is_none_and_no_judgements_are_refused(tmp_path: Path) -> None:
    counts = Evaluator({"q": {"a": 1}, "r": {"b": 0}, "s": {}}, []).counts({"q": {}, "r": {"a": 1.0}, "s": {"a": 1.0}, "t": {}})
    assert str(counts) == "2 judged queries; without an answer, counted as 0: 1; without judgements, left out: 1"
    for text in ("{}", '{"q": {}}'):
        (tmp_path / "empty.json").write_text(text)
        for read, what in ((read_qrels, "judgements"), (read_scores, "run")):
            with pytest.raises(InvalidRequest, match=f"holds no {what}"):
                read(tmp_path / "empty.json")


def test_ties_are_counted_after_float32() -> None:
    assert ties({"q": {"a": 1.0, "b": 1.0 + 1e-9, "c": 2.0}, "r": {"a": 1.0}}) == 2
    assert trec_order({"a": 1.0, "b": 1.0 + 1e-9, "c": 2.0}) == ["c", "b", "a"]
    assert np.float32(1.0) == np.float32(1.0 + 1e-9)


def test_a_negative_grade_is_no_judgement_and_no_danger() -> None:
    qrels = {"q": {"bad": -1, "good": 2}, "r": {"bad": -1}, "s": {"bad": -2, "fine": 1}}
    run = {query: {"bad": 2.0, "good": 1.0, "fine": 0.5} for query in qrels}
    for _ in range(200):  # its memory was written outside of only now and then
        values_of = Evaluator(qrels, [parse_measure(name) for name in ("nDCG", "nDCG@10", "MAP", "P@5", "R@5", "MRR")]).per_query(run)
    assert values_of["q"]["nDCG"] == pytest.approx(1 / np.log2(3))
    assert values_of["q"]["MAP"] == 0.5
    assert set(values_of["r"].values()) == {0.0}
    assert values_of["s"]["MRR"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("cutoff", ["0", "00", "-1", "-10", "10000001", "9" * 30, " 0 "])
@pytest.mark.parametrize(
    "form", ["nDCG@{}", "MAP@{}", "MRR@{}", "P@{}", "R@{}", "R_cap@{}", "hole@{}", "Judged@{}", "ndcg_cut_{}", "recall.{}"]
)
def test_a_cutoff_that_leaves_nothing_is_refused(form: str, cutoff: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_measure(form.format(cutoff))
    with pytest.raises(InvalidRequest):
        make_request("beir:nowhere", None, {"measures": (form.format(cutoff),)})
