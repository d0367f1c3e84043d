"""Benchmarks with a reranker: the first answers ordered by the encoder's own similarity, the others after them as they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import load_encoder
from sciretrieve.evaluation import evaluate
from sciretrieve.evaluation.requests import replay
from tests.evaluation.made_up_benchmarks import SCIDOCS, write_beir, write_lines, write_scidocs
from tests.made_up import TOPICS, made_up_papers

PAPERS = {
    row["id"]: Paper(row["id"], f"{row['title']} {number}", row["abstract"]) for number, row in enumerate(made_up_papers(60, seed=11))
}
IDS = list(PAPERS)
CHANCE = np.random.default_rng(3)
START = CHANCE.bit_generator.state


@pytest.fixture(autouse=True)
def _chance() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    CHANCE.bit_generator.state = START


def similarity(query: Query, ids: Sequence[str]) -> dict[str, float]:
    encoder = load_encoder("minilm", precision="fp32")
    vectors = encoder.encode_papers([PAPERS[id] for id in ids]).astype(np.float64)
    query_vector = encoder.encode_queries([query])[0].astype(np.float64)
    return dict(zip(ids, (vectors @ query_vector / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query_vector)).tolist(), strict=True))


def run_of(folder: Path) -> dict[str, list[tuple[str, float]]]:
    """A TREC run as it was written: query -> documents and scores in rank order."""
    answers: dict[str, list[tuple[str, float]]] = {}
    for line in (folder / "run.trec").read_text().splitlines():
        query, _, id, rank, score, _ = line.split()
        answers.setdefault(query, []).append((id, float(score)))
        assert int(rank) == len(answers[query])
    return answers


def reciprocal_rank(order: Sequence[str], relevant: set[str]) -> float:
    return next((1 / rank for rank, id in enumerate(order, 1) if id in relevant), 0.0)


def check(plain_folder: Path, reranked_folder: Path, queries: dict[str, Query], depth: int) -> dict[str, list[str]]:
    """That a run is the plain one ordered anew. Returns its rankings."""
    before, after = run_of(plain_folder), run_of(reranked_folder)
    assert before.keys() == after.keys() == queries.keys()
    moved_count = 0
    for id, query in queries.items():
        old_order = [other for other, _ in sorted(before[id], key=lambda item: (-item[1], item[0]))]
        similarities = similarity(query, old_order[:depth])
        expected_order = sorted(similarities, key=lambda other: (-similarities[other], other))
        names, scores = [other for other, _ in after[id]], [score for _, score in after[id]]
        # two papers whose similarities are one to the last digit or so may stand in either order
        assert [round(similarities[other], 4) for other in names[:depth]] == pytest.approx(
            [round(similarities[other], 4) for other in expected_order], abs=2e-4
        )
        assert set(names[:depth]) == set(expected_order)
        assert dict(after[id][:depth]) == pytest.approx(similarities, abs=1e-4)
        assert (np.diff(scores) <= 0).all()
        old_scores = dict(before[id])
        assert sorted(names[depth:]) == sorted(old_order[depth:])
        # the others are as far apart as they were; trec_eval orders equal ones by falling id
        assert np.diff(scores[depth:]) == pytest.approx(np.diff([old_scores[other] for other in names[depth:]]), abs=2e-5)
        if names[depth:]:
            assert scores[depth] < scores[depth - 1]
        moved_count += expected_order != old_order[:depth]
    assert moved_count > len(queries) / 2
    return {id: [other for other, _ in answer] for id, answer in after.items()}


@pytest.fixture
def beir(tmp_path: Path) -> tuple[Path, dict[str, Query], dict[str, set[str]]]:
    """A BEIR folder of the made-up papers, with queries of two words on each topic."""
    queries = {
        f"q{number}{topic}": Query(f"q{number}{topic}", " ".join(CHANCE.choice(words, 2, replace=False)))
        for topic, words in TOPICS.items()
        for number in range(3)
    }
    relevant = {id: {str(other) for other in CHANCE.choice(IDS, 5, replace=False)} for id in queries}
    qrels = {query: dict.fromkeys(sorted(ids), 1) for query, ids in relevant.items()}
    texts = {id: query.text for id, query in queries.items()}
    return write_beir(tmp_path / "data", map(asdict, PAPERS.values()), texts, qrels), queries, relevant


@pytest.mark.parametrize("depth", [1, 6, 100])
def test_a_whole_corpus(tmp_path: Path, beir: Any, depth: int) -> None:
    _, queries, relevant = beir
    options: dict[str, Any] = {"mode": "bm25", "precision": "fp32", "measures": ("MRR", "R@5")}
    evaluate("beir:data", None, output=tmp_path / "plain", **options)
    report = evaluate("beir:data", None, output=tmp_path / "ours", rerank="minilm", rerank_depth=depth, **options)
    if depth > 1:
        orders = check(tmp_path / "plain", tmp_path / "ours", queries, depth)
    else:  # ordering one paper anew changes no ranking
        orders = {id: [other for other, _ in row] for id, row in run_of(tmp_path / "ours").items()}
        for id, row in run_of(tmp_path / "plain").items():
            assert set(orders[id]) == {other for other, _ in row}
            assert orders[id][0] == min(row, key=lambda item: (-item[1], item[0]))[0]
    as_json = report.to_dict()
    assert as_json["measures"]["MRR"] == pytest.approx(np.mean([reciprocal_rank(orders[id], ids) for id, ids in relevant.items()]))
    assert as_json["measures"]["R@5"] == pytest.approx(np.mean([len(set(orders[id][:5]) & ids) / 5 for id, ids in relevant.items()]))
    text = "\n".join(report.lines())
    assert f"BM25, first {depth} by minilm" in text
    assert f"then the reranker's for the first {depth}" in text


def test_candidates(tmp_path: Path) -> None:
    data = tmp_path / "data"
    query_ids = IDS[:8]
    grades: dict[str, dict[str, int]] = {}
    for id in query_ids:
        others = [str(other) for other in CHANCE.choice([other for other in IDS if other != id], 12, replace=False)]
        grades[id] = {other: int(CHANCE.random() < 0.3) for other in others}
    metadata = {id: {"paper_id": id, "title": paper.title, "abstract": paper.abstract} for id, paper in PAPERS.items()}
    write_scidocs(data, dict.fromkeys(SCIDOCS, grades), metadata)
    options: dict[str, Any] = {"mode": "bm25", "precision": "fp32", "task": "cite", "measures": ("MRR",)}
    evaluate("scidocs-rerank", data, output=tmp_path / "plain", **options)
    report = evaluate("scidocs-rerank", data, output=tmp_path / "ours", rerank="minilm", rerank_depth=7, **options)
    queries = {id: Query(id, paper=PAPERS[id]) for id in query_ids}
    orders = check(tmp_path / "plain", tmp_path / "ours", queries, 7)
    assert all(sorted(orders[id]) == sorted(grades[id]) for id in query_ids)
    relevant = {id: {other for other, grade in row.items() if grade} for id, row in grades.items()}
    expected = np.mean([reciprocal_rank(orders[id], relevant[id]) for id in query_ids])
    assert report.to_dict()["measures"]["MRR"] == pytest.approx(expected)


def test_over_the_same_encoder_little_changes(tmp_path: Path, beir: Any) -> None:
    plain = evaluate("beir:data", precision="fp32", output=tmp_path / "plain").to_dict()
    reranked = evaluate("beir:data", precision="fp32", rerank="minilm", rerank_depth=20, output=tmp_path / "ours").to_dict()
    assert reranked["measures"] == pytest.approx(plain["measures"], abs=0.01)
    before, after = run_of(tmp_path / "plain"), run_of(tmp_path / "ours")
    for id in beir[1]:
        # the index may encode queries in another precision than the reranker, and neighbours change places
        assert dict(after[id][:20]) == pytest.approx(dict(before[id][:20]), abs=2e-3)
        assert [other for other, _ in after[id][20:]] == [other for other, _ in before[id][20:]]


def test_the_receipt_has_what_makes_it_again(tmp_path: Path, beir: Any) -> None:
    evaluate("beir:data", mode="bm25", precision="fp32", rerank="minilm", rerank_depth=4, output=tmp_path / "out")
    report, differing = replay(tmp_path / "out" / "receipt.json")
    assert differing == []
    assert report.facts["rerank"] == "minilm"
    assert report.facts["rerank_depth"] == 4


def test_sets_of_papers_cannot_be_reranked(tmp_path: Path) -> None:
    write_lines(tmp_path / "evaluation.jsonl", ({"doc_id": id, "title": paper.title, "abstract": "x"} for id, paper in PAPERS.items()))
    write_lines(tmp_path / "reviewer_metadata.jsonl", [{"r_id": "r1", "papers": IDS[5:8]}])
    for kind in ("hard", "soft"):
        write_lines(tmp_path / f"test_{kind}_qrel.jsonl", [{"query_id": IDS[0], "cand_id": "r1", "score": 1}])
    with pytest.raises(InvalidRequest, match="a reranker cannot order them"):
        evaluate("reviewer-matching", tmp_path, rerank="minilm", precision="fp32")
