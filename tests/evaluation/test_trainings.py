"""Several trainings as one system: figures against NumPy, tests over systems against SciPy, costs, and what cannot be joined; run times."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from scipy import stats

from sciretrieve.evaluation import compare_trainings, evaluate, replay
from sciretrieve.evaluation.costs import Times, relative, repeated, repeated_lines, times_line, training_line
from tests.command_line import answer, sciretrieve
from tests.evaluation.made_up_benchmarks import made_vectors, paper, write_beir, write_lines, write_text, write_vectors
from tests.made_up import made_up_papers
from tests.toy_weights import write_words

IDS = [f"p{number:02d}" for number in range(40)]
NOISE = {"near": (0.2, 5), "far": (3.0, 4)}
"""Systems: how far their vectors are from those that the judgements are made by, and how many trainings there are."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of saved results for each training, named as near-0, near-1, …"""
    folder = tmp_path_factory.mktemp("saved")
    vectors = made_vectors(IDS)
    data = folder / "data/relish"
    write_lines(
        data / "evaluation.jsonl", ({"query": paper(id, "doc_id"), "candidates": [paper(c, "doc_id") for c in IDS]} for id in IDS[:9])
    )
    rows = [(query, other) for query in IDS[:9] for other in IDS[9:]]
    nearest = {query: sorted(IDS[9:], key=lambda other: np.linalg.norm(vectors[query] - vectors[other]))[:8] for query in IDS[:9]}
    write_lines(data / "test_qrel.jsonl", ({"query_id": q, "cand_id": other, "score": int(other in nearest[q])} for q, other in rows))
    for name, (noise, count) in NOISE.items():
        for seed in range(count):
            chance = np.random.default_rng(100 + seed)
            noisy = {id: (vector + chance.normal(0, noise, len(vector))).astype(np.float32) for id, vector in vectors.items()}
            file = write_vectors(folder / f"{name}-{seed}.jsonl", noisy)
            evaluate("relish", folder / "data", embeddings=str(file), output=folder / f"{name}-{seed}")
    return folder


def figures(saved: Path, name: str) -> list[float]:
    reports = [json.loads((folder / "report.json").read_text()) for folder in sorted(saved.glob(f"{name}-?"))]
    return [report["rounded"]["nDCG"] for report in reports]


def test_trainings_are_one_system_and_systems_are_told_apart(saved: Path) -> None:
    near, far = figures(saved, "near"), figures(saved, "far")
    assert len(set(near)) > 1
    text = answer("evaluate", "trainings", f"near={saved}/near-?", f"far={','.join(str(saved / f'far-{at}') for at in range(4))}")
    for sign, name, values in (("\\*", "near", near), ("†", "far", far)):
        mean, deviation = np.mean(values), np.sqrt(np.square(np.subtract(values, np.mean(values))).sum() / (len(values) - 1))
        line = rf"^> {name} \({len(values)} trainings\) +{mean:.2f} \({deviation:.2f}\){sign}  measured here$"
        assert re.search(line, text, re.MULTILINE), text
    theirs = stats.f_oneway(near, far)
    assert f"analysis of variance, one-way over trainings: F(1, 7) = {theirs.statistic:.2f}, p = {theirs.pvalue:.2g}" in text
    # of two systems, Tukey's test is the t-test with pooled variance
    assert re.search(rf"^    far - near +-\d+\.\d\d  p = {stats.ttest_ind(near, far).pvalue:.2g}$", text, re.MULTILINE)
    assert "not told from the best, near: none" in text


def test_the_report_in_json_has_every_training(saved: Path) -> None:
    near = figures(saved, "near")
    runs = (f"near={saved}/near-?/report.json", f"far={saved}/far-?", f"one={saved}/data/../far-0.json")
    shutil.copy(saved / "far-0/report.json", saved / "far-0.json")
    report = json.loads(answer("evaluate", "trainings", *runs, "--format", "json"))
    assert [report[name] for name in ("schema", "benchmark", "split", "kind")] == [1, "relish", "test", "trainings"]
    found = report["systems"][0]["figures"]["nDCG"]
    assert found["values"] == pytest.approx([value / 100 for value in near])
    assert found["mean"] == pytest.approx(np.mean(near) / 100)
    assert found["standard_deviation"] == pytest.approx(np.std(near, ddof=1) / 100)
    assert found["standard_error"] == pytest.approx(stats.sem(near) / 100)
    single = report["systems"][2]["figures"]["nDCG"]
    assert (single["standard_deviation"], single["standard_error"]) == (None, None)
    assert [pair["systems"] for pair in report["variance"]["nDCG"]["tukey"]] == [["near", "far"]]
    assert report["notes"] == ["not tested, since there is only one training: one"]


def test_one_system_alone_has_nothing_to_be_compared_with(saved: Path) -> None:
    text = "\n".join(compare_trainings({"near": sorted(saved.glob("near-?"))}).lines())
    assert re.search(r"^> near \(5 trainings\) +\d+\.\d\d \(\d+\.\d\d\)  measured here$", text, re.MULTILINE)
    assert "analysis of variance" not in text
    assert "parameters" not in text


def test_other_figures_are_shown_by_their_names(saved: Path, tmp_path: Path) -> None:
    runs = [changed(saved, tmp_path, str(at), rounded={"MAP": 30.0 + at}) for at in (1, 2)]
    report = compare_trainings({"a": runs}, ["MAP"])
    assert re.search(r"^> a \(2 trainings\) +31\.50 \(0\.71\)  measured here$", "\n".join(report.lines()), re.MULTILINE)
    assert set(report.to_dict()["systems"][0]["figures"]) == {"nDCG", "MAP"}
    refused = sciretrieve("evaluate", "trainings", f"a={runs[0]}", "-m", "R@5")
    assert (refused.returncode, refused.stderr) == (2, "sciretrieve: the results have no figure 'R@5'; they have nDCG, MAP\n")


def changed(saved: Path, tmp_path: Path, name: str, **facts: Any) -> Path:
    """A saved result that says something else."""
    report = json.loads((saved / "near-0/report.json").read_text())
    for key, value in facts.items():
        report[key] = value if key in ("benchmark", "split", "kind") else {**report[key], **value}
    write_text(tmp_path / name / "report.json", json.dumps(report))
    return tmp_path / name


def test_what_cannot_be_joined_is_said_in_one_line(saved: Path, tmp_path: Path) -> None:
    first = saved / "near-1"
    other = {
        "split": changed(saved, tmp_path, "split", split="dev"),
        "benchmark": changed(saved, tmp_path, "benchmark", benchmark="nfcorpus-scirepeval"),
        "depth": changed(saved, tmp_path, "depth", protocol={"depth": 7}),
        "judged queries of test": changed(saved, tmp_path, "queries", counts={"test": {"judged_queries": 3}}),
        "mode": changed(saved, tmp_path, "mode", system={"mode": "hybrid"}),
        "score": changed(saved, tmp_path, "score", protocol={"score": "cosine"}),
    }
    for what, place in other.items():
        result = sciretrieve("evaluate", "trainings", f"a={first},{place}")
        assert result.returncode == 2, what
        assert re.fullmatch(rf"sciretrieve: {place} and {first} differ in {what}: .*can be joined\n", result.stderr), result.stderr
    for what in ("mode", "score"):  # which each system has of its own
        assert sciretrieve("evaluate", "trainings", f"a={first}", f"b={other[what]}").returncode == 0
    for what in ("split", "depth"):
        assert sciretrieve("evaluate", "trainings", f"a={first}", f"b={other[what]}").returncode == 2
    lacking = changed(saved, tmp_path, "more", rounded={"MAP": 3.0})
    assert f"{first} lacks MAP, which other results have" in sciretrieve("evaluate", "trainings", f"a={first},{lacking}").stderr
    write_text(tmp_path / "modes/report.json", '{"modes": {}}')
    write_text(tmp_path / "cut/report.json", '{"benchmark":')
    for runs, words in (
        (f"a={first},{first}", f"{first} is named twice, for a and for a"),
        (f"a={tmp_path / 'nowhere'}", "there are no saved results in"),
        (f"a={tmp_path}/x*", f"there is nothing at {tmp_path}/x*"),
        (str(first), "names no system with its results; write NAME=DIR,DIR"),
        (f"a={tmp_path / 'cut'}", "report.json is not valid JSON"),
        (f"a={tmp_path / 'modes'}", "it has several modes: name the folder of one"),
    ):
        result = sciretrieve("evaluate", "trainings", runs)
        assert (result.returncode, result.stderr.count("\n")) == (2, 1)
        assert words in result.stderr
    twice = sciretrieve("evaluate", "trainings", f"a={first}", f"a={first}")
    assert "a is named twice" in twice.stderr


def test_what_a_training_cost_is_read_from_its_folder_and_shown(saved: Path, tmp_path: Path) -> None:
    encoder = write_words(tmp_path / "words")
    facts = {"parameters": 450_000, "parameters_of_base": 30_300_000, "seconds": 540, "base": "granite", "seed": 42, "more": 1}
    for seed, name, factor in ((42, "small", 1), (7, "large", 2), (43, "small-2", 1), (8, "large-2", 2)):
        write_text(encoder / "training.json", json.dumps(facts | {"seed": seed, "parameters": 450_000 * factor, "seconds": 540.0 * factor}))
        options: dict[str, Any] = {"output": tmp_path / name, "cache": tmp_path / "cache"}
        report = evaluate("relish", saved / "data", encoder=str(encoder), **options)
        training = report.to_dict()["system"]["training"]
        assert training == json.loads((tmp_path / name / "report.json").read_text())["system"]["training"]
        assert training[0]["seconds"] == 540 * factor
        assert {"folder", "seed"} < set(training[0])
        assert "more" not in training[0]
    assert "trained: 900k of 30.3M parameters on granite in 18 min 0 s, seed 8" in report.lines()
    beside = training_line({"parameters": 112_000, "parameters_of_base": 92_000, "seconds": 60})
    assert beside == "trained: 112k beside 92k parameters in 1 min 0 s"
    single = answer("evaluate", "trainings", f"a={tmp_path / 'small'}", f"b={tmp_path / 'large'}")
    assert re.search(r"^> b +900k +measured here", single, re.MULTILINE)  # a time that was measured once compares with nothing
    assert "run times" not in single
    systems = (f"{name}={tmp_path / folder},{tmp_path / f'{folder}-2'}" for name, folder in (("a", "small"), ("b", "large")))
    text = answer("evaluate", "trainings", *systems)
    assert re.search(r"^  a: searching .* ms a query \(.* in 2 runs\)$", text, re.MULTILINE)
    assert re.search(r"^> a +450k +1\.00x", text, re.MULTILINE)
    assert re.search(r"^> b +900k +2\.00x", text, re.MULTILINE)
    assert re.search(r"^  SpECTER2 PALs +2M +1\.42x +1\.29x  SciRepEval, Table 4$", text, re.MULTILINE | re.IGNORECASE)
    assert "relative to a, which was trained in 9 min 0 s" in text
    shutil.copytree(tmp_path / "small", tmp_path / "again")
    assert "trainings of a have the same seed, 42" in answer("evaluate", "trainings", f"a={tmp_path / 'small'},{tmp_path / 'again'}")
    write_text(encoder / "training.json", '{"parameters": "many"}')
    refused = sciretrieve("evaluate", "relish", "--data", saved / "data", "--encoder", encoder, "--set", f"cache={tmp_path}/cache")
    assert refused.returncode == 2
    assert "training.json has no number of 'parameters'" in refused.stderr


def test_what_was_there_already_is_not_timed(tmp_path: Path) -> None:
    papers = made_up_papers(30)
    # no run of the tests has asked for these before
    queries = {f"q{at}": f"{row['title']} {uuid4()}" for at, row in enumerate(papers[:8])}
    write_beir(tmp_path / "data", papers, queries, {f"q{at}": {row["id"]: 1} for at, row in enumerate(papers[:8])})
    options: dict[str, Any] = {"encoder": "minilm", "cache": tmp_path / "cache"}

    def counts(report: Any) -> dict[str, float]:
        return {name: value for name, value in report.to_dict()["times"].items() if not name.endswith("seconds")}

    first = evaluate(f"beir:{tmp_path / 'data'}", output=tmp_path / "out", **options)
    assert counts(first) == {"indexed_papers": 30, "encoded_queries": 8, "answered_queries": 8}
    assert all(value > 0 for value in first.to_dict()["times"].values())
    assert json.loads((tmp_path / "out/receipt.json").read_text())["times"] == first.to_dict()["times"]
    again = evaluate(f"beir:{tmp_path / 'data'}", **options)
    assert counts(again) == {"answered_queries": 8}
    assert "not measured for the vectors of papers and queries, which were there already" in "\n".join(again.lines())
    hybrid = evaluate(f"beir:{tmp_path / 'data'}", mode="hybrid", **options)
    assert counts(hybrid) == {"answered_queries": 8}
    words = evaluate(f"beir:{tmp_path / 'data'}", mode="bm25", cache=tmp_path / "cache")
    assert counts(words) == {"indexed_papers": 30, "answered_queries": 8}
    assert "vectors" not in times_line(words.times, "bm25")
    # times differ from run to run, and a receipt is of figures
    assert replay(tmp_path / "out/receipt.json")[1] == []
    scores = evaluate(f"beir:{tmp_path / 'data'}", scores=tmp_path / "out/run.json")
    assert scores.times == {}


def test_searching_is_without_getting_vectors() -> None:
    times = Times(answered=4, answering=3.0, preparing=1.0)
    assert times.to_dict() == {"answered_queries": 4, "searching_seconds": 2.0}
    assert times_line(times.to_dict(), "bm25") == "times: searching 500 ms a query (4)"


def test_times_are_compared_only_where_runs_were_repeated() -> None:
    def row(papers: int, seconds: float) -> dict[str, float]:
        return {"indexed_papers": papers, "indexing_seconds": seconds}

    once = {"answered_queries": 10, "searching_seconds": 1.0}
    runs = {"a": [row(100, 10.0) | once, row(10, 3.0)], "b": [row(50, 10.0), row(10, 8.0), {}], "c": [row(1, 1.0) | once]}
    assert repeated(runs["a"]) == {"indexing": [pytest.approx(0.1), pytest.approx(0.3)]}
    assert relative(runs) == {"a": {"indexing": pytest.approx(1.0)}, "b": {"indexing": pytest.approx(2.5)}, "c": {}}
    assert relative({"c": runs["c"], "a": runs["a"]}) == {"c": {}, "a": {}}
    assert repeated_lines(runs) == [
        "a: indexing 200 ms a paper (100 to 300 in 2 runs)",
        "b: indexing 500 ms a paper (200 to 800 in 2 runs), 2.50x a",
    ]
