"""Each protocol on small data in the official layout, against an independent slow computation from its description.

The oracles here know nothing of the package: they rank by sorting, and count.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.encoders import torch_runtime
from sciretrieve.evaluation import CATALOGUE, evaluate, replay, requests
from sciretrieve.evaluation.benchmark_reading import read
from sciretrieve.evaluation.material import Protocol
from sciretrieve.evaluation.readers.mdcr import FIELDS
from sciretrieve.evaluation.readers.scimult import label_finder
from sciretrieve.evaluation.scoring import TaskResult, summarise
from sciretrieve.metrics.naming import parse_measure
from tests.encoders.test_layouts import mean_oracle, write_mpnet
from tests.evaluation.made_up_benchmarks import (
    METADATA,
    SCIDOCS,
    made_vectors,
    paper,
    qrels_table,
    write_beir,
    write_lines,
    write_scidocs,
    write_text,
    write_vectors,
)
from tests.toy_weights import write_bert

IDS = [f"p{number:03d}" for number in range(60)]
VECTORS = made_vectors(IDS)
CHANCE = np.random.default_rng(7)
START = CHANCE.bit_generator.state


@pytest.fixture(autouse=True)
def _chance() -> None:
    """Every test draws the same numbers, whichever ran before it."""
    CHANCE.bit_generator.state = START


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    """A file of all papers' vectors."""
    return str(write_vectors(tmp_path / "v.jsonl", VECTORS))


def l2(a: Any, b: Any) -> float:
    return -math.sqrt(sum((float(x) - float(y)) ** 2 for x, y in zip(a, b, strict=True)))


def ip(a: Any, b: Any) -> float:
    return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def cosine(a: Any, b: Any) -> float:
    return ip(a, b) / max(math.sqrt(ip(a, a)) * math.sqrt(ip(b, b)), 1e-12)


def ranked(scores: Mapping[str, float]) -> list[str]:
    """trec_eval: float32 scores, equal ones by falling id."""
    return sorted(scores, key=lambda id: (float(np.float32(scores[id])), id), reverse=True)


def average_precision(order: Sequence[str], grades: Mapping[str, int]) -> float:
    relevant = [id for id, grade in grades.items() if grade > 0]
    hits, total = 0, 0.0
    for rank, id in enumerate(order, 1):
        if grades.get(id, 0) > 0:
            hits += 1
            total += hits / rank
    return total / len(relevant) if relevant else 0.0


def ndcg(order: Sequence[str], grades: Mapping[str, int], cut: int | None = None) -> float:
    gained = sum(max(grades.get(id, 0), 0) / math.log2(rank + 1) for rank, id in enumerate(order[:cut], 1))
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:cut]
    best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, 1))
    return gained / best if best else 0.0


def recall(order: Sequence[str], grades: Mapping[str, int], cut: int) -> float:
    relevant = {id for id, grade in grades.items() if grade > 0}
    return len(relevant & set(order[:cut])) / len(relevant) if relevant else 0.0


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def figures(report: Any) -> dict[str, float]:
    rounded: dict[str, float] = report.to_dict()["rounded"]
    return rounded


@pytest.mark.parametrize("device", [None, "cpu"], ids=["numpy", "torch"])
@pytest.mark.parametrize(("name", "key"), [("scidocs-cite", "cite"), ("scidocs-cocite", "co-cite")])
def test_scidocs_full_corpus(
    tmp_path: Path, vectors: str, name: str, key: str, device: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "_device", lambda request: device)  # torch, as on a GPU
    positives = {id: [str(other) for other in CHANCE.choice([*IDS, "gone"], CHANCE.integers(0, 9), replace=False)] for id in IDS}
    rows = [{**paper(id, "paper"), "cite": positives[id], "co-cite": positives[IDS[-1 - at]]} for at, id in enumerate(IDS)]
    write_lines(tmp_path / "data/link_prediction_retrieval/SciDocs_papers_test.json", rows)
    report = evaluate(name, tmp_path / "data", embeddings=vectors)
    values: dict[int, list[float]] = {20: [], 50: [], 100: []}
    for row in rows:
        if row[key]:
            order = ranked({other: ip(VECTORS[row["paper"]], VECTORS[other]) for other in IDS})
            for cut in values:
                values[cut].append(recall(order, dict.fromkeys(row[key], 1), cut))
    assert figures(report) == {f"R@{cut}": round(100 * mean(numbers), 2) for cut, numbers in values.items()}
    text = "\n".join(report.lines())
    assert "SciMult-MHAExpert" in text
    assert "SciMult, Table 5" in text


def test_a_gpu_that_is_not_there_is_refused(tmp_path: Path, vectors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_runtime, "has_cuda", lambda: False)
    write_lines(
        tmp_path / "data/link_prediction_retrieval/SciDocs_papers_test.json", [{**paper(id, "paper"), "cite": IDS[:2]} for id in IDS]
    )
    with pytest.raises(InvalidRequest, match="torch finds no CUDA device"):
        evaluate("scidocs-cite", tmp_path / "data", embeddings=vectors, device="cuda")


def scidocs(folder: Path, tasks: Sequence[str], metadata: str = METADATA) -> dict[str, dict[str, dict[str, int]]]:
    qrels: dict[str, dict[str, dict[str, int]]] = {}
    for task in tasks:
        qrels[task] = {
            str(query): {str(other): int(CHANCE.random() < 0.2) for other in CHANCE.choice([*IDS, "gone"], 12, replace=False)}
            for query in CHANCE.choice(IDS, 20, replace=False)
        }
    write_scidocs(folder, qrels, IDS, metadata)
    return qrels


@pytest.mark.parametrize(("name", "metadata"), [("scidocs-rerank", METADATA), ("multi-scidocs", "paper_metadata.json")])
def test_scidocs_reranking_rounds_distances_and_skips_what_has_no_vector(tmp_path: Path, name: str, metadata: str) -> None:
    tasks = {"coview": "co-view", "coread": "co-read", "cite": "cite", "cocite": "co-cite"}
    qrels = scidocs(tmp_path, list(tasks), metadata)
    vectors = {id: vector for id, vector in VECTORS.items() if id not in ("p005", "p011")}
    per_task = evaluate(name, tmp_path, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors))).to_dict()["per_task"]
    assert list(per_task) == list(tasks.values())[0 if name == "scidocs-rerank" else 2 :]
    for task in tasks:
        if (task_report := per_task.get(tasks[task])) is None:
            continue
        maps, ndcgs = [], []
        for query, grades in qrels[task].items():
            if query in vectors:
                order = ranked({other: round(l2(vectors[query], vectors[other]), 5) for other in grades if other in vectors})
                maps.append(average_precision(order, grades))
                ndcgs.append(ndcg(order, grades))
        assert task_report["rounded"] == {"MAP": round(100 * mean(maps), 2), "nDCG": round(100 * mean(ndcgs), 2)}
        assert task_report["queries"] == len(maps)
        assert task_report["unanswered_queries"] == len(qrels[task]) - len(maps)
        assert task_report["missing_candidates"] > 0


def test_a_candidate_with_an_empty_vector_is_last_and_a_query_with_one_left_out(tmp_path: Path) -> None:
    write_scidocs(tmp_path, {key: {"p000": {"p001": 0, "p002": 0, "p003": 1}, "p004": {"p001": 1}} for key in SCIDOCS}, IDS)
    empty: list[float] = []
    rows = [{"paper_id": id, "embedding": empty if id in ("p003", "p004") else VECTORS[id].tolist()} for id in IDS]
    report = evaluate("scidocs-rerank", tmp_path, embeddings=str(write_lines(tmp_path / "v.jsonl", rows)), task="cite").to_dict()
    assert report["measures"]["MAP"] == pytest.approx(1 / 3)
    counts = report["counts"]["cite"]
    assert (counts["unanswered_queries"], counts["missing_candidates"]) == (1, 0)


def test_scidocs_never_looks_at_metadata_where_there_are_vectors(tmp_path: Path) -> None:
    """A query none of whose candidates has a vector has no line in the authors' run, and so leaves the mean."""
    qrels = {"p000": {"p001": 1, "p002": 0}, "p003": {"gone": 1, "lost": 0}, "bare": {"p004": 0, "alone": 1}}
    write_scidocs(tmp_path, dict.fromkeys(SCIDOCS, qrels), IDS)
    vectors = {**VECTORS, "bare": VECTORS["p004"] + 1, "alone": VECTORS["p004"]}
    report = evaluate("scidocs-rerank", tmp_path, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors)), task="cite").to_dict()
    first_precision = 1.0 if l2(VECTORS["p000"], VECTORS["p001"]) > l2(VECTORS["p000"], VECTORS["p002"]) else 0.5
    tied_precision = 0.5  # p004 and alone are as near: the greater id comes first
    assert report["measures"]["MAP"] == mean([first_precision, tied_precision])
    assert report["counts"]["cite"]["unanswered_queries"] == 1
    assert report["counts"]["cite"]["missing_candidates"] == 2
    texts = evaluate("scidocs-rerank", tmp_path, mode="bm25", task="cite", cache=str(tmp_path / "cache")).to_dict()
    assert texts["counts"]["cite"]["unanswered_queries"] == 2


def test_one_task_of_several(tmp_path: Path, vectors: str) -> None:
    scidocs(tmp_path, SCIDOCS)
    measures = evaluate("scidocs-rerank", tmp_path, embeddings=vectors).to_dict()["per_task"]["cite"]["measures"]
    assert evaluate("scidocs-rerank", tmp_path, embeddings=vectors, task="cite").to_dict()["measures"] == measures
    with pytest.raises(InvalidRequest, match="has no task 'site'; there are: co-view"):
        evaluate("scidocs-rerank", tmp_path, embeddings=vectors, task="site")


@pytest.mark.parametrize("names", ["old", "new"])
@pytest.mark.parametrize("task", ["PAR", "PPR"])
def test_pmc_patients(tmp_path: Path, vectors: str, task: str, names: str) -> None:
    data, queries = tmp_path / "data", IDS[:15]
    qrels = {query: {str(other): 1 for other in CHANCE.choice(IDS, 4, replace=False)} for query in queries}
    corpus, judged = (f"{task}_corpus.jsonl", f"{task}_test_qrels.tsv") if names == "old" else ("corpus.jsonl", "qrels_test.tsv")
    write_lines(data / task / corpus, ({"_id": id, "title": "", "text": f"patient {id}"} for id in IDS))
    write_lines(data / "queries/test_queries.jsonl", ({"_id": id, "text": f"patient {id}"} for id in queries))
    write_text(data / task / judged, qrels_table(qrels))
    # one judged query gets no vector: the mean reciprocal rank counts it, trec_eval's measures do not
    query_vectors = write_vectors(tmp_path / "q.jsonl", {id: VECTORS[id] for id in queries[1:]})
    report = evaluate(
        f"pmc-patients-{task.lower()}", data, embeddings=vectors, query_embeddings=str(query_vectors), metric="ip", output=tmp_path / "out"
    )
    expected: dict[str, list[float]] = {"P@10": [], "nDCG@10": [], "R@1000": []}
    reciprocal = []
    for query in queries[1:]:
        scores = {other: ip(VECTORS[query], VECTORS[other]) for other in IDS if other != query}
        order = ranked(scores)
        expected["P@10"].append(sum(qrels[query].get(id, 0) for id in order[:10]) / 10)
        expected["nDCG@10"].append(ndcg(order, qrels[query], 10))
        expected["R@1000"].append(recall(order, qrels[query], 1000))
        stable = sorted(IDS, key=lambda id: -scores.get(id, -math.inf))  # Python's sort keeps the corpus's order
        reciprocal.append(next((1 / rank for rank, id in enumerate(stable, 1) if id in qrels[query]), 0.0))
    our_figures = figures(report)
    assert our_figures["MRR"] == round(100 * sum(reciprocal) / len(queries), 2)
    measures = report.to_dict()["measures"]
    for name, values in expected.items():
        assert measures[name] == pytest.approx(mean(values), abs=1e-9)
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert set(run) == set(queries[1:])
    assert queries[1] not in run[queries[1]]


def test_zero_shot_patients_are_numbered_by_line(tmp_path: Path, vectors: str) -> None:
    data = tmp_path / "link_prediction_retrieval"
    positives = [[str(other) for other in CHANCE.choice(IDS, 3, replace=False)] for _ in range(10)]
    write_lines(data / "PMCPatientsPPR_patients_test.json", (paper(id, "patient") for id in IDS))
    write_lines(data / "PMCPatientsPPR_queries_test.json", ({"title": "t", "abstract": "a", "patient": row} for row in positives))
    query_vectors = {str(number): VECTORS[IDS[number]] for number in range(1, 11)}
    report = evaluate(
        "pmc-patients-zeroshot", tmp_path, embeddings=vectors, query_embeddings=str(write_vectors(tmp_path / "q.jsonl", query_vectors))
    )
    orders = [ranked({other: ip(query_vectors[str(at)], VECTORS[other]) for other in IDS}) for at in range(1, 11)]
    expected = mean([recall(order, dict.fromkeys(row, 1), 20) for order, row in zip(orders, positives, strict=True)])
    assert figures(report)["R@20"] == round(100 * expected, 2)


@pytest.mark.parametrize(("task", "kind"), [("PAR", "article"), ("PPR", "patient")])
def test_scimults_own_files_of_pmc_patients_come_first_and_are_named(tmp_path: Path, task: str, kind: str) -> None:
    """Its eval_pmc_patients.py reads title and abstract on both sides; the benchmark's own queries find another paper here."""
    benchmark, scimults = tmp_path / "pmc_patients/PMCPatients", tmp_path / "pmc_patients"
    write_lines(benchmark / task / f"{task}_corpus.jsonl", ({"_id": id, "title": "", "text": f"fever{id}"} for id in IDS))
    write_lines(benchmark / "queries/test_queries.jsonl", ({"_id": f"q{id}", "text": f"fever{IDS[-1]}"} for id in IDS[:5]))
    write_text(benchmark / task / f"{task}_test_qrels.tsv", "query-id\tcorpus-id\tscore\n" + "".join(f"q{id}\t{id}\t1\n" for id in IDS[:5]))
    words = {id: {"title": f"fever{id}", "abstract": f"cough{id}"} for id in IDS}
    queries, candidates = f"PMCPatients{task}_queries_test.json", f"PMCPatients{task}_{kind}s_test.json"
    write_lines(scimults / candidates, ({kind: id, **words[id]} for id in IDS))
    # the zero-shot files of the same archive have the same names
    for name in (queries, candidates):
        write_text(tmp_path / "link_prediction_retrieval" / name, "{}\n")

    def measured(folder: Path, split: str = "test") -> tuple[float, str]:
        report = evaluate(f"pmc-patients-{task.lower()}", folder, mode="bm25", split=split, cache=tmp_path / "cache")
        return figures(report)["MRR"], next(note for note in report.notes if note.startswith("queries and candidates are read from"))

    theirs = f"queries and candidates are read from test_queries.jsonl and {task}_corpus.jsonl; SciMult's own rows are of {queries} and "
    assert measured(tmp_path) == (0.0, f"{theirs}{candidates} instead")  # half of SciMult's files are no pair
    write_lines(scimults / queries, ({"query": f"q{id}", **words[id]} for id in IDS[:5]))
    for folder in (tmp_path, scimults):
        assert measured(folder) == (100.0, f"queries and candidates are read from SciMult's own files, {queries} and {candidates}")
    assert measured(benchmark) == (0.0, f"{theirs}{candidates} instead")
    for name in ("queries/test_queries.jsonl", f"{task}/{task}_test_qrels.tsv"):
        write_text(benchmark / name.replace("test", "dev"), (benchmark / name).read_text())
    assert measured(tmp_path, "dev") == (0.0, f"queries and candidates are read from dev_queries.jsonl and {task}_corpus.jsonl")


def mdcr(folder: Path) -> dict[str, dict[str, dict[str, list[str]]]]:
    kinds = ("bm25", "scincl", "specter", "graph", "most_cited", "random", "true")
    value: dict[str, dict[str, dict[str, list[str]]]] = {}
    for field in FIELDS:
        value[field] = {
            str(query): {kind: [str(other) for other in CHANCE.choice(IDS, 4, replace=False)] for kind in kinds}
            for query in CHANCE.choice(IDS, 4, replace=False)
        }
    write_text(folder / "mdcr_test.json", json.dumps(value))
    write_lines(folder / "mdcr_test_data.jsonl", (paper(id) for id in IDS))
    return value


def mdcr_expected(value: dict[str, dict[str, dict[str, list[str]]]], score: Callable[[str, str], float]) -> dict[str, dict[str, float]]:
    figures_of: dict[str, dict[str, float]] = {}
    for field, queries in value.items():
        rows = []
        for query, kinds in queries.items():
            grades = {other: 0 for kind, ids in kinds.items() if kind != "true" for other in ids} | dict.fromkeys(kinds["true"], 1)
            order = ranked({other: score(query, other) for other in grades})
            rows.append((average_precision(order, grades), ndcg(order, grades), recall(order, grades, 5)))
        figures_of[field] = {
            name: float(np.round(100 * mean([row[at] for row in rows]), 4)) for at, name in enumerate(("MAP", "nDCG", "R@5"))
        }
    figures_of["AVG"] = {name: float(np.round(mean([row[name] for row in figures_of.values()]), 4)) for name in ("MAP", "nDCG", "R@5")}
    return figures_of


def test_mdcr_is_the_mean_of_rounded_fields(tmp_path: Path, vectors: str) -> None:
    value = mdcr(tmp_path)
    report = evaluate("mdcr", tmp_path, embeddings=vectors).to_dict()
    expected = mdcr_expected(value, lambda query, other: l2(VECTORS[query], VECTORS[other]))
    for field in value:
        assert report["per_field"][field]["rounded"] == expected[field]
    assert report["rounded"] == expected["AVG"]
    assert report["protocol"]["self_matches"] == "kept"


def test_mdcrs_own_score_files(tmp_path: Path) -> None:
    value = mdcr(tmp_path)
    pairs = {
        (query, other): round(float(CHANCE.random()), 2)
        for queries in value.values()
        for query, kinds in queries.items()
        for ids in kinds.values()
        for other in ids
    }
    path = write_text(tmp_path / "scores.json", json.dumps({f"{query}_{other}": score for (query, other), score in pairs.items()}))
    report = evaluate("mdcr", tmp_path, scores=str(path)).to_dict()
    assert report["rounded"] == mdcr_expected(value, lambda query, other: pairs[query, other])["AVG"]
    missing = dict(json.loads(path.read_text()))
    missing_pair = next(iter(missing))
    del missing[missing_pair]
    write_text(path, json.dumps(missing))
    with pytest.raises(InvalidRequest, match=f"has no score {missing_pair}; the protocol needs every pair"):
        evaluate("mdcr", tmp_path, scores=str(path))


def test_mdcr_needs_its_texts_only_where_they_are_read(tmp_path: Path, vectors: str) -> None:
    value = mdcr(tmp_path)
    expected = mdcr_expected(value, lambda query, other: l2(VECTORS[query], VECTORS[other]))["AVG"]
    (tmp_path / "mdcr_test_data.jsonl").unlink()
    assert evaluate("mdcr", tmp_path, embeddings=vectors).to_dict()["rounded"] == expected
    systems: list[dict[str, Any]] = [{"mode": "bm25"}, {"embeddings": vectors, "rerank": "minilm"}]
    for system in systems:
        with pytest.raises(NotFound, match=r"mdcr needs mdcr_test_data\.jsonl under"):
            evaluate("mdcr", tmp_path, cache=tmp_path / "cache", **system)
    with pytest.raises(NotFound, match=r"mdcr-full needs mdcr_test_data\.jsonl under"):
        evaluate("mdcr-full", tmp_path, embeddings=vectors)


def test_mdcr_over_its_whole_corpus_is_declared_ours(tmp_path: Path, vectors: str) -> None:
    value = mdcr(tmp_path)
    report = evaluate("mdcr-full", tmp_path, embeddings=vectors, metric="l2")
    expected = []
    for queries in value.values():
        rows = []
        for query, kinds in queries.items():
            order = ranked({other: l2(VECTORS[query], VECTORS[other]) for other in IDS})
            rows.append(recall(order, dict.fromkeys(kinds["true"], 1), 20))
        expected.append(mean(rows))
    assert figures(report)["R@20"] == pytest.approx(100 * mean(expected), abs=0.006)
    assert report.to_dict()["published"] == []
    assert any("this form is ours" in note for note in report.notes)


def beir(folder: Path) -> dict[str, dict[str, int]]:
    queries = IDS[:10]
    qrels = {query: {str(other): int(CHANCE.integers(-1, 3)) for other in CHANCE.choice(IDS, 8, replace=False)} for query in queries}
    papers = ({"id": id, "title": f"t {id}", "abstract": f"x {id}"} for id in IDS)
    write_beir(folder, papers, {id: f"query {id}" for id in [*queries, "unjudged"]}, qrels)
    return qrels


@pytest.mark.parametrize("name", ["trec-covid", "beir:data"])
def test_beir_takes_the_query_itself_out(tmp_path: Path, vectors: str, name: str) -> None:
    qrels = beir(tmp_path / "data")
    report = evaluate(name, tmp_path / "data", embeddings=vectors, metric="ip").to_dict()
    orders = {query: ranked({other: ip(VECTORS[query], VECTORS[other]) for other in IDS if other != query}) for query in qrels}
    # BEIR rounds to five decimals, and then people print per cent with two
    ndcgs = [ndcg(orders[query], row, 10) for query, row in qrels.items()]
    assert report["rounded"]["nDCG@10"] == round(100 * round(mean(ndcgs), 5), 2)
    assert report["counts"]["test"]["self_matches_dropped"] == 10
    if name == "trec-covid":
        capped = []
        for query, row in qrels.items():
            relevant = {id for id, grade in row.items() if grade > 0}
            capped.append(len(relevant & set(orders[query][:100])) / min(len(relevant), 100) if relevant else 0.0)
        assert report["rounded"]["R_cap@100"] == round(100 * mean(capped), 2)


def test_queries_that_are_no_papers_keep_the_papers_of_their_ids(tmp_path: Path, vectors: str) -> None:
    """As in Cranfield, where questions and papers are numbered from 1."""
    qrels = beir(tmp_path / "data")
    qrels[IDS[0]] = {IDS[0]: 2}
    write_text(tmp_path / "data/qrels/test.tsv", qrels_table(qrels))
    options: dict[str, Any] = {"embeddings": vectors, "metric": "ip"}
    name = f"beir:{tmp_path / 'data'}"
    kept = evaluate(name, self_matches="kept", output=tmp_path / "kept", **options)
    orders = {query: ranked({other: ip(VECTORS[query], VECTORS[other]) for other in IDS}) for query in qrels}
    assert kept.to_dict()["rounded"]["nDCG@10"] == round(
        100 * round(mean([ndcg(orders[query], row, 10) for query, row in qrels.items()]), 5), 2
    )
    assert (kept.to_dict()["protocol"]["self_matches"], kept.to_dict()["counts"]["test"]["self_matches_dropped"]) == ("kept", 0)
    assert "a paper with the query's own id is kept, unlike in the benchmark's protocol" in kept.notes
    # what BEIR does is said where it does something
    dropped = evaluate(name, **options)
    assert [
        note for note in dropped.notes if note.startswith("10 papers with the query's own id dropped") and "self_matches='kept'" in note
    ]
    asked = evaluate(name, self_matches="dropped", **options)
    assert asked.notes == [note for note in dropped.notes if "self_matches" not in note]
    assert asked.to_dict()["rounded"] == dropped.to_dict()["rounded"]
    again, differences = replay(tmp_path / "kept/receipt.json")
    assert (again.to_dict()["rounded"], differences) == (kept.to_dict()["rounded"], [])


def test_a_ranking_is_as_deep_besides_the_query_itself_and_the_greatest_ids_fill_it(tmp_path: Path) -> None:
    ids = [f"d{at:04d}" for at in range(1500)]
    papers = ({"id": id, "title": "", "abstract": "x"} for id in ids)
    write_beir(tmp_path / "data", papers, {"d0003": "x", "q": "x", "unjudged": ""}, {"d0003": {"d0001": 1}, "q": {"d0001": 1}})
    near = {id: np.array([1.0 if id in ("d0000", "d0001", "q") else 0.5, 0.0]) for id in [*ids, "q"]}
    vectors = str(write_vectors(tmp_path / "v.jsonl", near))
    evaluate("trec-covid", tmp_path / "data", embeddings=vectors, metric="ip", output=tmp_path / "out")
    run = json.loads((tmp_path / "out/run.json").read_text())
    expected = {"d0000", "d0001", *ids[-998:]}
    assert {query: set(row) for query, row in run.items()} == {"d0003": expected, "q": expected}
    far = dict(zip([*ids, "q"], np.random.default_rng(3).normal(size=(1501, 6)).astype(np.float32), strict=True))
    apart = str(write_vectors(tmp_path / "apart.jsonl", far))  # no two papers tie, and a query is its own nearest
    notes = evaluate("trec-covid", tmp_path / "data", embeddings=apart, output=tmp_path / "out").notes
    assert {query: len(row) for query, row in json.loads((tmp_path / "out/run.json").read_text()).items()} == {"d0003": 1000, "q": 1000}
    assert any("neither the protocol nor a file of vectors names a score" in note for note in notes)


@pytest.mark.parametrize(
    ("rounding", "value", "expected"),
    [("printed", 5e-5, 0.01), ("numpy", 5e-5, 0.0), ("printed", 0.1230450001, 12.3), ("beir", 0.1230450001, 12.31)],
)
def test_figures_are_rounded_as_their_authors_do(rounding: Any, value: float, expected: float) -> None:
    task = TaskResult("t", {"q": {"MAP": value}})
    result = summarise([task], Protocol(("MAP",), rounding=rounding), [parse_measure("MAP")])
    assert result.rounded["", "MAP"] == expected


def test_what_of_a_beir_directory_is_refused(tmp_path: Path, vectors: str) -> None:
    for name in ("one", "two"):
        beir(tmp_path / "both" / name)
    beir(tmp_path / "data")
    narrow = write_vectors(tmp_path / "n.jsonl", {id: vector[:5] for id, vector in VECTORS.items()})
    scores = write_text(tmp_path / "run.json", '{"another": {"p001": 1}}')
    for folder, options, words in (
        ("both", {}, r"has corpus\.jsonl more than once .*name the benchmark's own folder"),
        ("data", {"embeddings": vectors, "query_embeddings": narrow}, r"n\.jsonl has vectors of 5 dimensions, and .*v\.jsonl of 8"),
        ("data", {"scores": scores}, "answered none of the queries"),
    ):
        with pytest.raises(InvalidRequest, match=words):
            evaluate("trec-covid", tmp_path / folder, **options)
    with (tmp_path / "data/qrels/test.tsv").open("a") as file:
        file.write("nobody\tp001\t1\n")
    with pytest.raises(InvalidRequest, match=r"test\.tsv, line 82: query 'nobody' is judged, but .*queries\.jsonl has no text for it"):
        evaluate("trec-covid", tmp_path / "data")


SETS = (
    *("trec-covid-scirepeval", "scirepeval-search", "nfcorpus-scirepeval", "feeds-title"),
    *("relish", "same-author", "high-influence-citations", "feeds-1", "feeds-m"),
)
FOLDERS = ("trec_covid", "search", "nfcorpus", "feeds_title", "relish", "same_author", "high_influence_cite", "feeds_1", "feeds_m")


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize(("name", "folder"), list(zip(SETS, FOLDERS, strict=True)))
def test_scirepevals_re_ranking(tmp_path: Path, vectors: str, name: str, folder: str, parquet: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, judged, qrels = [], [], {}
    for query in IDS[:8]:
        others = [str(other) for other in CHANCE.choice(IDS, 10, replace=False)]
        grades = {other: int(CHANCE.integers(0, 3)) for other in others}
        query_field: Any = f"query {query}" if name in SETS[:4] else paper(query, "doc_id")
        candidates = [{**paper(other, "doc_id"), "venue": None, "year": 1999.0, "score": grades[other]} for other in others]
        rows.append({"doc_id": query, "query": query_field, "candidates": candidates})
        judged += [{"query_id": query, "cand_id": other, "score": grade} for other, grade in grades.items()]
        qrels[query] = grades
    judged.append({"query_id": IDS[0], "cand_id": judged[0]["cand_id"], "score": judged[0]["score"]})  # a row twice
    data = tmp_path / "data" / folder
    data.mkdir(parents=True)
    if parquet:
        pq.write_table(pa.Table.from_pylist(rows), data / "evaluation-00000-of-00001.parquet")
        pq.write_table(pa.Table.from_pylist(judged), data / "test-00000-of-00001.parquet")
    else:
        write_lines(data / "evaluation.jsonl", rows)
        write_lines(data / "test_qrel.jsonl", judged)
    report = evaluate(name, tmp_path / "data", embeddings=vectors)
    measure = "MAP" if name in SETS[5:] or name == "feeds-title" else "nDCG"
    compute = average_precision if measure == "MAP" else ndcg
    values = [compute(ranked({other: l2(VECTORS[query], VECTORS[other]) for other in row}), row) for query, row in qrels.items()]
    assert figures(report) == {measure: round(100 * mean(values), 2)}


def test_scidocs_as_scirepeval_ranks_it(tmp_path: Path, vectors: str) -> None:
    """Papers are one set, judgements one file a task; distances are not rounded, and the query stays among its candidates."""
    names = {"co-view": "scidocs_view", "co-read": "scidocs_read", "cite": "scidocs_cite", "co-cite": "scidocs_cocite"}
    data = tmp_path / "data"
    write_lines(data / "scidocs_view_cite_read/evaluation.jsonl", (paper(id, "doc_id") for id in IDS))
    qrels: dict[str, dict[str, dict[str, int]]] = {}
    for name, folder in names.items():
        qrels[name] = {
            query: {query: 0} | {str(other): int(CHANCE.random() < 0.3) for other in CHANCE.choice([*IDS, "gone"], 12, replace=False)}
            for query in IDS[:10]
        }
        rows = ({"query_id": query, "cand_id": id, "score": grade} for query, row in qrels[name].items() for id, grade in row.items())
        write_lines(data / folder / "test_qrel.jsonl", rows)
    report = evaluate("scidocs-scirepeval", data, embeddings=vectors).to_dict()
    assert list(report["per_task"]) == list(names)
    for name, judged in qrels.items():
        orders = {query: ranked({id: l2(VECTORS[query], VECTORS[id]) for id in row if id in VECTORS}) for query, row in judged.items()}
        expected = {
            "MAP": mean([average_precision(orders[query], row) for query, row in judged.items()]),
            "nDCG": mean([ndcg(orders[query], row) for query, row in judged.items()]),
        }
        assert report["per_task"][name]["rounded"] == {measure: round(100 * value, 2) for measure, value in expected.items()}
    (data / "scidocs_cite/test_qrel.jsonl").unlink()
    part = evaluate("scidocs-scirepeval", data, embeddings=vectors)
    assert part.to_dict()["per_task"] == {task: row for task, row in report["per_task"].items() if task != "cite"}
    assert "note: tasks whose files are missing are left out: cite" in part.lines()
    with pytest.raises(NotFound, match=r"data has no files of scidocs-scirepeval's task cite; see `sciretrieve benchmarks show"):
        evaluate("scidocs-scirepeval", data, task="cite")
    for folder in names.values():
        (data / folder / "test_qrel.jsonl").unlink(missing_ok=True)
    with pytest.raises(NotFound, match=r"scidocs-scirepeval needs test_qrel\.jsonl or .* in \S+scidocs_view; see"):
        evaluate("scidocs-scirepeval", data)


def relish(folder: Path, rows: Sequence[Any], judged: Sequence[tuple[str, str, Any]]) -> Path:
    write_lines(folder / "relish/evaluation.jsonl", rows)
    write_lines(folder / "relish/test_qrel.jsonl", ({"query_id": a, "cand_id": b, "score": c} for a, b, c in judged))
    return folder


def test_scirepeval_has_one_vector_for_a_paper_on_either_side(tmp_path: Path) -> None:
    row = {
        "doc_id": "p001",
        "query": paper("p001", "doc_id"),
        "candidates": [{**paper(id, "doc_id"), "score": 0} for id in ("p002", "p005")],
    }
    other = {"doc_id": "p006", "query": paper("p006", "doc_id"), "candidates": [{**paper("p002", "doc_id"), "score": 0}]}
    judged = [
        ("p001", "p002", 0),
        ("p001", "p006", 1),
        ("p005", "p001", 1),
        ("p005", "p002", 0),
        ("unread", "p002", 1),
        ("p006", "unread", 1),
    ]
    data = relish(tmp_path / "data", [row, other], judged)
    vectors = {**VECTORS, "unread": VECTORS["p009"]}
    report = evaluate("relish", data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors))).to_dict()
    qrels: dict[str, dict[str, int]] = {}
    for query, id, grade in judged:
        qrels.setdefault(query, {})[id] = grade
    values = [ndcg(ranked({id: l2(vectors[query], vectors[id]) for id in grades}), grades) for query, grades in qrels.items()]
    assert report["measures"]["nDCG"] == pytest.approx(mean(values))
    texts = evaluate("relish", data, mode="dense", cache=str(tmp_path / "cache")).to_dict()
    assert (texts["counts"]["test"]["unanswered_queries"], texts["counts"]["test"]["missing_candidates"]) == (2, 1)
    # judgements say which papers are candidates: other ones, another index
    relish(tmp_path / "data", [row, other], [("p006", "p001", 1), ("p001", "p002", 0)])
    report_again = evaluate("relish", data, mode="dense", cache=str(tmp_path / "cache")).to_dict()
    assert (report_again["counts"]["test"]["unanswered_queries"], report_again["counts"]["test"]["missing_candidates"]) == (0, 0)


def test_scirepevals_distances_are_scikit_learns(tmp_path: Path) -> None:
    """For float32 vectors it rounds the squares to float32, then takes float32 roots; which orders near neighbours otherwise."""
    chance = np.random.default_rng(1)
    ids = [f"c{at:02d}" for at in range(60)]
    near = (1 + 1e-7 * chance.normal(size=(60, 8))).astype(np.float32)
    vectors = {"q": np.zeros(8, np.float32), **dict(zip(ids, near, strict=True))}
    row = {"doc_id": "q", "query": paper("q", "doc_id"), "candidates": [{**paper(id, "doc_id"), "score": 0} for id in ids]}
    grades = {id: int(chance.random() < 0.2) for id in ids}
    data = relish(tmp_path / "data", [row], [("q", id, grade) for id, grade in grades.items()])
    squares = {id: float((vector.astype(np.float64) ** 2).sum()) for id, vector in zip(ids, near, strict=True)}
    their_order = ranked({id: -float(np.sqrt(np.float32(square))) for id, square in squares.items()})
    assert their_order != ranked({id: -math.sqrt(square) for id, square in squares.items()})
    report = evaluate("relish", data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors))).to_dict()
    assert report["measures"]["nDCG"] == pytest.approx(ndcg(their_order, grades), abs=1e-12)
    assert ndcg(their_order, grades) != pytest.approx(
        ndcg(ranked({id: -math.sqrt(square) for id, square in squares.items()}), grades), abs=1e-12
    )


@pytest.mark.parametrize("grade", [1.7, None, math.inf, "high"])
def test_a_grade_that_is_no_whole_number_is_refused(tmp_path: Path, grade: Any) -> None:
    row = {"doc_id": "p001", "query": paper("p001", "doc_id"), "candidates": [{**paper("p002", "doc_id"), "score": 0}]}
    data = relish(tmp_path / "data", [row], [("p001", "p002", grade)])
    with pytest.raises(InvalidRequest, match=r"test_qrel\.jsonl, line 1: the grade .* is not a whole number"):
        evaluate("relish", data)


def reviewers(folder: Path, papers: Mapping[str, Sequence[str]]) -> Path:
    write_lines(folder / "evaluation.jsonl", (paper(id, "doc_id") for id in IDS))
    write_lines(folder / "reviewer_metadata.jsonl", ({"r_id": id, "papers": listed} for id, listed in papers.items()))
    for kind in ("hard", "soft"):
        rows = [{"query_id": "p000", "cand_id": id, "score": int(id == "r1")} for id in ("r1", "r2")]
        write_lines(folder / f"test_{kind}_qrel.jsonl", rows)
    return folder


def test_every_paper_of_a_judged_reviewer_is_wanted(tmp_path: Path) -> None:
    vectors = str(write_vectors(tmp_path / "v.jsonl", {id: vector for id, vector in VECTORS.items() if id != "p007"}))
    folder = reviewers(tmp_path / "a", {"r1": ["p001"], "r2": ["p002"], "r3": ["nowhere"]})
    assert evaluate("reviewer-matching", folder, embeddings=vectors).to_dict()["queries"] == 2
    with pytest.raises(InvalidRequest, match=r"v\.jsonl lacks 1 candidates of hard, 'p007' first"):
        evaluate("reviewer-matching", reviewers(tmp_path / "b", {"r1": ["p001"], "r2": ["p007"]}), embeddings=vectors)
    with pytest.raises(InvalidRequest, match="reviewer 'r2' is judged but has no papers"):
        evaluate("reviewer-matching", reviewers(tmp_path / "c", {"r1": ["p001"], "r2": []}), embeddings=vectors)
    with pytest.raises(InvalidRequest, match="paper 'nowhere' of reviewer 'r2' has no text"):
        evaluate("reviewer-matching", reviewers(tmp_path / "d", {"r1": ["p001"], "r2": ["nowhere"]}), embeddings=vectors)


def test_reviewer_matching(tmp_path: Path, vectors: str) -> None:
    reviewers = {f"r{number}": [str(id) for id in CHANCE.choice(IDS, CHANCE.integers(1, 6), replace=False)] for number in range(12)}
    queries = IDS[:6]
    soft = {query: {reviewer: int(CHANCE.random() < 0.5) for reviewer in reviewers} for query in queries}
    hard = {query: {reviewer: grade * int(CHANCE.random() < 0.6) for reviewer, grade in row.items()} for query, row in soft.items()}
    write_lines(tmp_path / "evaluation.jsonl", (paper(id, "doc_id") for id in IDS))
    write_lines(tmp_path / "reviewer_metadata.jsonl", ({"r_id": id, "papers": papers} for id, papers in reviewers.items()))
    for kind, qrels in (("hard", hard), ("soft", soft)):
        rows = [{"query_id": query, "cand_id": other, "score": grade} for query, row in qrels.items() for other, grade in row.items()]
        write_lines(tmp_path / f"test_{kind}_qrel.jsonl", rows)
    report = evaluate("reviewer-matching", tmp_path, embeddings=vectors).to_dict()
    four = []
    for kind, qrels in (("hard", hard), ("soft", soft)):
        for cut in (5, 10):
            values = []
            for query in queries:
                scores = {
                    id: mean(sorted((cosine(VECTORS[query], VECTORS[other]) for other in papers), reverse=True)[:3])
                    for id, papers in reviewers.items()
                }
                values.append(sum(qrels[query][id] for id in ranked(scores)[:cut]) / cut)
            four.append(mean(values))
            assert report["per_task"][kind]["rounded"][f"P@{cut}"] == round(100 * mean(values), 2)
    assert report["measures"]["mean"] == pytest.approx(mean(four))


def test_scimults_search_sets(tmp_path: Path, vectors: str) -> None:
    expected = []
    for name in ("Search", "TRECCOVID_SciRepEval", "TRECCOVID_BEIR", "SciFact", "NFCorpus"):
        grades = {
            f"q{number}": {str(other): int(CHANCE.integers(0, 3)) for other in CHANCE.choice(IDS, 6, replace=False)} for number in range(5)
        }
        write_lines(tmp_path / f"search/{name}_papers_test.json", (paper(id, "paper") for id in IDS))
        rows = [{"query_id": query, "query": "a [SEP] b", "score": row} for query, row in grades.items()]
        write_lines(tmp_path / f"search/{name}_queries_test.json", rows)
        values = []
        for number, (query, row) in enumerate(grades.items()):
            pool = row if name in ("Search", "TRECCOVID_SciRepEval") else IDS
            values.append(ndcg(ranked({other: ip(VECTORS[IDS[number]], VECTORS[other]) for other in pool}), row, 10))
            del query
        expected.append(mean(values))
    query_vectors = {f"q{number}": VECTORS[IDS[number]] for number in range(5)}
    report = evaluate(
        "scimult-search", tmp_path, embeddings=vectors, query_embeddings=str(write_vectors(tmp_path / "q.jsonl", query_vectors))
    ).to_dict()
    assert [row["rounded"]["nDCG@10"] for row in report["per_task"].values()] == [round(100 * value, 2) for value in expected]
    assert report["measures"]["nDCG@10"] == pytest.approx(mean(expected))


def test_fields_are_joined_by_the_separator_of_the_encoders_own_tokenizer(models: Path, tmp_path: Path) -> None:
    """As in SciMult's eval_search.py and SciRepEval's eval_datasets.py; MPNet's tokenizer has </s>, and reads [SEP] as a word."""
    model, tokenizer = write_mpnet(models / "sentence-transformers" / "all-mpnet-base-v2")
    oracle = mean_oracle(model, tokenizer, "")
    words = {"title": "graph", "abstract": "networks", "venue": "a vaccine", "year": 1964.0}
    write_lines(tmp_path / "scimult/search/SciFact_papers_test.json", [{"paper": "p", **words}, {**paper("other", "paper")}])
    write_lines(
        tmp_path / "scimult/search/SciFact_queries_test.json", [{"query_id": "q", "query": "graph [SEP] vaccine", "score": {"p": 1}}]
    )
    candidates = [{"doc_id": "p", **words, "score": 1}, {**paper("other", "doc_id"), "score": 0}]
    write_lines(tmp_path / "search/evaluation.jsonl", [{"doc_id": "q", "query": "graph", "candidates": candidates}])

    def score(name: str, data: Path, task: str | None = None) -> float:
        options = {"encoder": "all-mpnet-base-v2", "precision": "fp32", "cache": tmp_path / "cache", "task": task}
        evaluate(name, data, output=tmp_path / name, **options)  # type: ignore[arg-type]
        return float(json.loads((tmp_path / name / "run.json").read_text())["q"]["p"])

    product = ip(oracle("graph </s> vaccine"), oracle("graph networks"))
    assert score("scimult-search", tmp_path / "scimult", "SciFact") == pytest.approx(product, abs=1e-5)
    distance = l2(oracle("graph"), oracle("graph networks </s> a vaccine </s> 1964.0"))
    assert score("scirepeval-search", tmp_path) == pytest.approx(distance, abs=1e-4)


def test_a_positive_that_is_listed_twice_counts_twice(tmp_path: Path, vectors: str) -> None:
    rows = [{**paper(id, "paper"), "cite": [], "co-cite": []} for id in IDS]
    rows[0]["cite"] = ["p001", "p001", "p002"]
    write_lines(tmp_path / "SciDocs_papers_test.json", rows)
    report = evaluate("scidocs-cite", tmp_path, embeddings=vectors)
    assert report.to_dict()["measures"]["R@100"] == pytest.approx(2 / 3)
    assert any("1 positives are listed again" in note for note in report.notes)


def test_recommendations_are_graded(tmp_path: Path, vectors: str) -> None:
    """SciMult's file: all papers, some with candidates graded from 1 to 5, which are ranked by inner product."""
    grades = {
        id: {str(other): int(CHANCE.integers(1, 6)) for other in CHANCE.choice(IDS, CHANCE.integers(2, 20), replace=False)}
        for id in IDS[:12]
    }
    path = write_lines(
        tmp_path / "data/link_prediction_reranking/Recommendation_papers_test.json",
        ({**paper(id, "paper"), "score": grades.get(id, {})} for id in IDS),
    )
    report = evaluate("recommendation", tmp_path / "data", embeddings=vectors)
    expected: dict[str, list[float]] = {"nDCG@5": [], "nDCG@10": [], "nDCG": []}
    for query, row in grades.items():
        order = ranked({other: ip(VECTORS[query], VECTORS[other]) for other in row})
        for name, cut in (("nDCG@5", 5), ("nDCG@10", 10), ("nDCG", None)):
            expected[name].append(ndcg(order, row, cut))
    assert figures(report) == {name: round(100 * mean(values), 2) for name, values in expected.items()}
    assert report.to_dict()["queries"] == 12
    assert evaluate("recommendation", tmp_path / "data", mode="bm25", cache=tmp_path / "cache").to_dict()["queries"] == 12
    with path.open("a") as file:
        file.write(json.dumps({**paper("q", "paper"), "score": {"gone": 1}}) + "\n")
    with pytest.raises(InvalidRequest, match=r"papers_test\.json judges paper 'gone', which is not in it"):
        evaluate("recommendation", tmp_path / "data")
    write_lines(path, [{**paper("q", "paper"), "cite": []}])
    with pytest.raises(InvalidRequest, match=r"paper 'q' has no object 'score' of grades; found abstract, cite, paper, title"):
        evaluate("recommendation", tmp_path / "data")


def maple(folder: Path, papers: Sequence[str], label: Mapping[str, Sequence[str]], matched: Mapping[str, Sequence[str]]) -> None:
    for name in ("CSConference", "ChemistryMeSH", "Geography", "Psychology"):
        write_lines(folder / f"{name}_label.json", ({"label": f"l{at}", "name": ["n"], "definition": "d"} for at in range(40)))
        write_lines(folder / f"{name}_papers_test.json", ({**paper(id, "paper"), "label": label[id]} for id in papers))
        write_lines(folder / f"{name}_matched.json", ({"candidate": matched[id]} for id in papers))


def test_a_matched_label_that_is_none_of_the_set_is_no_candidate(tmp_path: Path) -> None:
    vectors = made_vectors([f"l{at}" for at in range(40)], 3)
    many = [f"x{at}" for at in range(20)]
    maple(tmp_path, ["p000"], {"p000": ["l7"]}, {"p000": [*many, "l7"]})
    label_vectors = {**{id: 1e-5 * vector for id, vector in vectors.items()}, **dict.fromkeys(many, vectors["l0"])}
    query_file = write_vectors(tmp_path / "q.jsonl", VECTORS)
    report = evaluate(
        "maple", tmp_path, embeddings=str(write_vectors(tmp_path / "v.jsonl", label_vectors)), query_embeddings=str(query_file)
    )
    assert report.to_dict()["per_task"]["Geography"]["measures"]["R@20"] == 1.0


def test_a_paper_of_maple_stands_once(tmp_path: Path) -> None:
    maple(tmp_path, ["p000", "p000"], {"p000": ["l7"]}, {"p000": []})
    with pytest.raises(InvalidRequest, match=r"papers_test\.json, line 2: paper 'p000' is listed above already"):
        evaluate("maple", tmp_path, mode="bm25")


def test_maple_puts_labels_matched_by_name_first(tmp_path: Path) -> None:
    labels = [f"l{number}" for number in range(40)]
    vectors = made_vectors(labels, 3)
    papers, matched = (
        {f"p{number:03d}": [str(label) for label in CHANCE.choice(labels, count, replace=False)] for number in range(8)} for count in (5, 4)
    )
    maple(tmp_path, list(papers), papers, matched)
    write_lines(tmp_path / "Geography_papers_test.json", ({**paper(id, "paper"), "label": row[:2]} for id, row in papers.items()))
    options: Any = {
        "embeddings": str(write_vectors(tmp_path / "v.jsonl", vectors)),
        "query_embeddings": str(write_vectors(tmp_path / "q.jsonl", VECTORS)),
    }
    by_name, by_vectors = (evaluate(name, tmp_path, **options).to_dict() for name in ("maple", "maple-unmatched"))
    with_names, without = [], []
    for id, row in papers.items():
        order = ranked({label: ip(VECTORS[id], vectors[label]) for label in labels})
        names_first = [label for label in order if label in matched[id]] + [label for label in order if label not in matched[id]]
        with_names.append(recall(names_first, dict.fromkeys(row, 1), 20))
        without.append(recall(order, dict.fromkeys(row, 1), 20))
    assert by_name["per_task"]["Psychology"]["rounded"]["R@20"] == round(100 * mean(with_names), 2)
    assert by_vectors["per_task"]["Psychology"]["rounded"]["R@20"] == round(100 * mean(without), 2)
    # the paper's average is the mean of its twelve columns
    for report in (by_name, by_vectors):
        columns = [value for row in report["per_task"].values() for value in row["measures"].values()]
        assert len(columns) == 12
        assert columns[:3] != columns[6:9]
        assert report["measures"] == {"mean": pytest.approx(mean(columns))}


@pytest.mark.parametrize("name", ["maple", "maple-names"])
def test_maple_looks_for_names_where_no_matches_are_at_hand(tmp_path: Path, name: str) -> None:
    """MAPLE's rule: all words of one of a label's names, in sequence; here whatever their case."""
    labels = {
        "a": ["Graph theory", "theory of graphs"],
        "b": ["Neural network"],
        "c": ["network"],
        "d": ["net"],
        "e": ["C++"],
        "f": ["theory graph"],
        "g": ["--"],
    }
    papers = {
        "p000": ("On the theory of GRAPHS", "A network, and no more.", {"a", "c"}),
        "p001": ("Networks", "Neural  network: graph-theory in C", {"a", "b", "c", "e"}),
        "p002": ("Nothing", "", set()),
    }
    for field in ("CSConference", "ChemistryMeSH"):
        rows = ({"label": label, "name": names, "definition": "words"} for label, names in labels.items())
        write_lines(tmp_path / f"classification_fine/{field}_label.json", rows)
        texts = ({"paper": id, "title": title, "abstract": abstract, "label": ["g"]} for id, (title, abstract, _) in papers.items())
        write_lines(tmp_path / f"classification_fine/{field}_papers_test.json", texts)
    materials = read(CATALOGUE[name], tmp_path, "test")
    assert [material.tasks[0].name for material in materials] == ["CSConference", "ChemistryMeSH"]
    for material in materials:
        assert material.tasks[0].first == {id: named for id, (_, _, named) in papers.items()}
        assert material.notes == [
            f"{material.tasks[0].name}: there is no {material.tasks[0].name}_matched.json, so labels' names were searched in the papers; "
            "figures may differ"
        ]
        assert {paper.abstract for paper in material.pool()} == ({"words"} if name == "maple" else {""})
    report = evaluate(name, tmp_path, mode="bm25", cache=tmp_path / "cache")
    assert report.to_dict()["measures"] == {}
    left_out = "tasks whose files are missing are left out: Geography, Psychology; so no mean over the tasks is given"
    assert (left_out in report.notes) == (name == "maple")


def test_names_in_a_paper_agree_with_a_search_of_every_name() -> None:
    words = ["a", "b", "c"]
    names = {f"l{at}": [" ".join(CHANCE.choice(words, CHANCE.integers(1, 4)))] for at in range(15)}
    for _ in range(50):
        text = " ".join(CHANCE.choice(words, 12))
        assert label_finder(names.items())(text) == {label for label, (name,) in names.items() if f" {name} " in f" {text} "}


def test_alternative_self_retrieval(tmp_path: Path) -> None:
    write_lines(tmp_path / "papers.jsonl", [*(paper(id, "id") for id in IDS if not id.endswith("3")), paper("p003", "id"), '{"id": "p"}'])
    paper_ids = [id for id in IDS if not id.endswith("3")]
    titles = made_vectors([f"title of {id}" for id in paper_ids], 5)
    vectors = {id: VECTORS[id] for id in paper_ids} | titles
    with pytest.warns(sr.RowsRejected, match="rejected 1 row"):
        report = evaluate("asr", tmp_path / "papers.jsonl", embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors))).to_dict()
    matrix = np.array([vectors[id] for id in paper_ids])
    for task, pool in (("Task I", paper_ids), ("Task II", [*paper_ids, *titles])):
        for standard in (False, True):
            pool_vectors = matrix if task == "Task I" else np.array([vectors[id] for id in pool])
            centre, spread = (pool_vectors.mean(0), pool_vectors.std(0)) if standard else (0.0, 1.0)
            reciprocal, at_ten = [], []
            for id in paper_ids:
                title_id = f"title of {id}"
                query = (vectors[title_id] - centre) / spread
                order = ranked({other: cosine(query, (vectors[other] - centre) / spread) for other in pool if other != title_id})
                reciprocal.append(1 / (order.index(id) + 1))
                at_ten.append(float(id in order[:10]))
            measures = report["per_task"][task + (", standardised" if standard else "")]["measures"]
            assert measures["MRR"] == pytest.approx(mean(reciprocal), abs=2e-3 if standard else 1e-9)
            assert measures["Success@10"] == pytest.approx(mean(at_ten), abs=0.02 if standard else 1e-9)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"mdcr needs mdcr_test\.json under .*; see `sciretrieve benchmarks show mdcr`"):
        evaluate("mdcr", tmp_path)
    with pytest.raises(InvalidRequest, match="name their folder with `data`"):
        evaluate("mdcr")
    write_lines(tmp_path / "mdcr_test_data.jsonl", [paper("a")])
    kinds = {kind: ["a"] for kind in ("bm25", "scincl", "specter", "graph", "most_cited", "random", "true")}
    for value, words in (
        ({"bm25": ["gone"], "true": ["a"]}, r"Art, query 'a' has no list 'graph'; get the file again"),
        (kinds, r"has no field 'Biology'; the benchmark is the mean over all 19"),
        ({**kinds, "bm25": ["gone"]}, r"query 'a' names paper 'gone', which is not in "),
    ):
        write_text(tmp_path / "mdcr_test.json", json.dumps({"Art": {"a": value}}))
        with pytest.raises(InvalidRequest, match=words):
            evaluate("mdcr", tmp_path)
    write_text(tmp_path / "mdcr_test.json", '{"Art": {"q1": {"bm25": ["a"')
    with pytest.raises(InvalidRequest, match=r"mdcr_test\.json is not valid JSON"):
        evaluate("mdcr", tmp_path)


def test_a_figure_over_a_part_is_refused(tmp_path: Path) -> None:
    few = str(write_vectors(tmp_path / "few.jsonl", {id: vector for id, vector in VECTORS.items() if id not in ("p007", "p008")}))
    mdcr(tmp_path / "mdcr")
    with pytest.raises(InvalidRequest, match=r"few\.jsonl lacks \d+ (queries|candidates) of \w+, 'p00[78]' first; the protocol wants all"):
        evaluate("mdcr", tmp_path / "mdcr", embeddings=few)
    beir(tmp_path / "data")
    with pytest.raises(InvalidRequest, match=r"few\.jsonl lacks 2 of the 60 papers of trec-covid, 'p007' first"):
        evaluate("trec-covid", tmp_path / "data", embeddings=few)
    query_file = str(write_vectors(tmp_path / "q.jsonl", {id: VECTORS[id] for id in IDS[:9]}))
    paper_file = str(write_vectors(tmp_path / "v.jsonl", VECTORS))
    with pytest.raises(InvalidRequest, match="lacks 1 queries of test, 'p009' first"):
        evaluate("trec-covid", tmp_path / "data", embeddings=paper_file, query_embeddings=query_file)


@pytest.mark.parametrize("mode", ["bm25", "hybrid", "dense"])
def test_papers_without_text_are_candidates_as_any(tmp_path: Path, mode: Any) -> None:
    data = tmp_path / "data"
    rows = [
        {"doc_id": "q1", "query": "title of p001", "candidates": [{**paper(id, "doc_id"), "score": int(id == "p001")} for id in IDS[:9]]}
    ]
    rows[0]["candidates"].append({"doc_id": "empty", "title": "", "abstract": None, "score": 0})  # type: ignore[attr-defined]
    write_lines(data / "relish" / "evaluation.jsonl", rows)
    report = evaluate("relish", data, mode=mode, output=tmp_path / "out").to_dict()
    assert report["counts"]["test"]["missing_candidates"] == 0
    assert "empty" in json.loads((tmp_path / "out" / "run.json").read_text())["q1"]
    assert report["measures"]["nDCG"] > 0.4
    beir(tmp_path / "beir")
    with (tmp_path / "beir" / "corpus.jsonl").open("a") as file:
        file.write(json.dumps({"_id": "blank", "title": "", "text": ""}) + "\n")
    assert not evaluate("trec-covid", tmp_path / "beir", mode=mode).notes
    # an index of one's own was made without them
    own_index = sr.build(tmp_path / "beir", tmp_path / "own")
    notes = evaluate("trec-covid", tmp_path / "beir", index=str(own_index.path), mode=mode).notes
    assert any("1 paper without any text left out of the candidates: blank" in note for note in notes)


def test_scirepevals_papers_are_read_as_its_code_joins_them(tmp_path: Path) -> None:
    """Their encoder gets titles alone where there is no abstract, of MDCR too (their mdcr.py); that of other benchmarks does not."""
    of_scirepeval = {name for name, row in CATALOGUE.items() if row.reader.partition(".")[0] in ("scirepeval", "s2and")}
    assert {name for name, row in CATALOGUE.items() if row.protocol.bare_titles} == {*of_scirepeval, "mdcr", "mdcr-full"}
    assert {*SETS, "reviewer-matching"} < of_scirepeval
    folder = tmp_path / "data" / "relish"
    folder.mkdir(parents=True)
    candidates = [{"doc_id": f"c{at}", "title": f"Title {at}", "abstract": None, "score": at % 2} for at in range(4)]
    row = {"doc_id": "q", "query": {"doc_id": "q", "title": "Title 1", "abstract": "Words."}, "candidates": candidates}
    (folder / "evaluation.jsonl").write_text(json.dumps(row) + "\n")
    report = evaluate("relish", tmp_path / "data", encoder="minilm", cache=str(tmp_path / "cache"))
    assert report.facts["encoder"]["asked"]["bare_titles"] is True
    assert report.facts["encoder"]["sides"]["paper"]["alone"] == "{title}{abstract}"


def test_mdcrs_papers_are_read_as_scirepevals_code_joins_them(models: Path, tmp_path: Path) -> None:
    write_bert(models / "allenai" / "specter", 3)
    mdcr(tmp_path / "data")
    report = evaluate("mdcr", tmp_path / "data", encoder="specter", precision="fp32", cache=tmp_path / "cache", task="Art")
    sides = report.facts["encoder"]["sides"]
    assert {sides[side]["alone"] for side in ("paper", "paper_as_query")} == {"{title}{abstract}"}
