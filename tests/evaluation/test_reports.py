"""What a report says: no average that no paper defines, every task beside its own published rows, each figure once; and parts of a
benchmark apart, in brackets, with how much of it they are."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.base.types import Paper, Query
from sciretrieve.evaluation import CATALOGUE, evaluate, find_benchmark, replay
from sciretrieve.evaluation.benchmark_reading import lacking
from sciretrieve.evaluation.comparing_any import compare
from sciretrieve.evaluation.material import Material, Protocol, Task
from sciretrieve.evaluation.matrix import read_plan, run_matrix
from sciretrieve.evaluation.readers.mdcr import FIELDS
from sciretrieve.evaluation.reports import Report
from sciretrieve.evaluation.scoring import TaskResult, summarise
from sciretrieve.evaluation.standings import Cell, Standings
from sciretrieve.metrics.naming import parse_measure
from sciretrieve.metrics.significance import queries_needed
from sciretrieve.progress import Silent
from tests.evaluation.made_up_benchmarks import (
    SCIDOCS,
    made_vectors,
    paper,
    write_beir,
    write_lines,
    write_scidocs,
    write_text,
    write_vectors,
)

IDS = [f"p{number:02d}" for number in range(20)]
PART = [f"p{number}" for number in range(30)]


def titles(folder: Path) -> tuple[Path, str]:
    """A corpus for alternative-self retrieval, and vectors of its papers and titles."""
    write_lines(folder / "papers.jsonl", ({"id": id, "title": f"title of {id}", "abstract": "text"} for id in IDS))
    vectors = made_vectors([*IDS, *(f"title of {id}" for id in IDS)])
    return folder / "papers.jsonl", str(write_vectors(folder / "v.jsonl", vectors))


def test_averages_are_those_that_a_paper_defines() -> None:
    averaged = {name: row.protocol.average for name, row in CATALOGUE.items() if row.protocol.average != "none"}
    assert averaged == {
        "mdcr": "rounded tasks",  # its own evaluator's AVG
        "mdcr-full": "tasks",  # a form of ours
        "reviewer-matching": "figures",  # SciRepEval, App. A
        "scimult-search": "tasks",  # SciMult, Table 8
        "maple": "figures",  # SciMult, Tables 3 and A3
        "maple-unmatched": "figures",
        "fields-of-study": "tasks",  # SciRepEval, App. A.3: the mean of full and few-shot
        "biomimicry": "tasks",
        "drsm": "tasks",
        "s2and": "tasks",  # SciRepEval's authors: the mean of all values of its table, whose columns are the tasks
    }


@pytest.mark.parametrize(
    ("average", "expected"),
    [("none", {}), ("tasks", {"MAP": 0.4, "MRR": 0.5}), ("rounded tasks", {"MAP": 0.4, "MRR": 0.5}), ("figures", {"mean": 0.45})],
)
def test_figures_of_several_tasks(average: Any, expected: dict[str, float]) -> None:
    tasks = [TaskResult("one", {"q": {"MAP": 0.2, "MRR": 0.4}}), TaskResult("two", {"q": {"MAP": 0.6, "MRR": 0.6}})]
    measures = [parse_measure("MAP"), parse_measure("MRR")]
    result = summarise(tasks, Protocol(("MAP", "MRR"), average=average), measures)
    assert {name: result.means["", name] for name in result.overall} == pytest.approx(expected)
    one_task = summarise(tasks[:1], Protocol(("MAP", "MRR"), average=average), measures)
    assert {name: one_task.means["", name] for name in one_task.overall} == {"MAP": 0.2, "MRR": 0.4}
    if average == "figures":
        assert summarise(tasks, Protocol(("MAP", "P@5"), average=average), measures).overall == []


def test_each_task_of_alternative_self_retrieval_stands_alone_beside_its_published_rows(tmp_path: Path) -> None:
    data, vectors = titles(tmp_path)
    report = evaluate("asr", data, embeddings=vectors, output=tmp_path / "out")
    as_json = report.to_dict()
    assert as_json["measures"] == as_json["rounded"] == as_json["intervals"] == {}
    assert list(as_json["per_task"]) == ["Task I", "Task II", "Task I, standardised", "Task II, standardised"]
    text = "\n".join(report.lines())
    tables = {block.split("\n")[0]: block for block in text.split("\n\n")}
    assert re.search(r"SPECTER, Arxiv-HEP +69\.30 +92\.40 ", tables["Task I"])
    assert re.search(r"SPECTER, Arxiv-HEP +35\.40 +75\.70 ", tables["Task II"])
    assert re.search(r"SPECTER, Arxiv-HEP +100\.00 +100\.00 ", tables["Task I, standardised"])
    assert "SPECTER" not in tables["Task II, standardised"]
    for task, row in as_json["per_task"].items():
        line = next(line for line in tables[task].split("\n") if line.startswith("> "))
        assert line.split()[2:-2] == [f"{value:.2f}" for value in row["rounded"].values()]
    report_again, differences = replay(tmp_path / "out" / "receipt.json")
    assert (report_again.to_dict()["per_task"], differences) == (as_json["per_task"], [])
    receipt = json.loads((tmp_path / "out" / "receipt.json").read_text())
    receipt["measures"]["Task II MRR"] += 0.5
    write_text(tmp_path / "out" / "receipt.json", json.dumps(receipt))
    assert [line for line in replay(tmp_path / "out" / "receipt.json")[1] if line.startswith("Task II MRR was")]


def test_words_answer_the_first_task_with_papers_alone(tmp_path: Path) -> None:
    """Its candidates are papers with title and abstract; bare titles, which are shorter, would come before them."""
    data, _ = titles(tmp_path)
    report = evaluate("asr", data, mode="bm25", cache=tmp_path / "cache", output=tmp_path / "out")
    assert [task.name for task in report.result.tasks] == ["Task I", "Task II"]
    assert any("tasks with standardised vectors are left out" in note for note in report.notes)
    first_run, second_run = (json.loads((tmp_path / "out" / task / "run.json").read_text()) for task in ("task-i", "task-ii"))
    for id in IDS:
        assert set(first_run[f"title of {id}"]) == set(IDS)
        assert set(second_run[f"title of {id}"]) == {*IDS, *(f"title of {other}" for other in IDS if other != id)}
    with pytest.raises(InvalidRequest, match="Task I, standardised compares standardised vectors"):
        evaluate("asr", data, mode="bm25", cache=tmp_path / "cache", task="Task I, standardised")


def test_a_page_shows_benchmarks_without_an_average(tmp_path: Path) -> None:
    data, vectors = titles(tmp_path)
    write_text(
        tmp_path / "plan.toml",
        f'[systems.a]\nembeddings = "{vectors}"\n[systems.b]\nembeddings = "{vectors}"\n[benchmarks.asr]\ndata = "{data}"',
    )
    page, _, failed = run_matrix(read_plan(tmp_path / "plan.toml", "cache"), tmp_path / "out", Silent())
    assert failed == []
    html = page.read_text()
    for words in ("<th>Task I</th><th>MRR</th>", "<th>Task II, standardised</th>", "SPECTER, ICLR"):
        assert words in html
    cells = json.loads((tmp_path / "out" / "matrix.json").read_text())["cells"]
    assert "Task II MRR" in cells[0]["measures"]


def test_mdcrs_fields_have_their_published_rows(tmp_path: Path) -> None:
    kinds = ("bm25", "scincl", "specter", "graph", "most_cited", "random", "true")
    label = {field: {"p00": {kind: IDS[3 * at : 3 * at + 3] for at, kind in enumerate(kinds[-6:], 1)} | {"bm25": []}} for field in FIELDS}
    write_text(tmp_path / "mdcr_test.json", json.dumps(label))
    write_lines(tmp_path / "mdcr_test_data.jsonl", (paper(id) for id in IDS))
    report = evaluate("mdcr", tmp_path, embeddings=str(write_vectors(tmp_path / "v.jsonl", made_vectors(IDS))))
    tables = {block.split("\n")[0]: block for block in "\n".join(report.lines()).split("\n\n")}
    assert set(tables) >= {"all tasks", *FIELDS}
    assert re.search(r"SPECTER2 Adapters +44\.70 +37\.40 +SciRepEval, Table 10", tables["Art"])
    assert re.search(r"SPECTER2 Adapters +38\.40 +33\.00 +SciRepEval, Table 5", tables["all tasks"])


def test_a_figure_is_printed_once_and_as_the_protocol_rounds_it() -> None:
    """BEIR rounds to five decimals first, which makes 42.09 of 42.0951; an interval's ends are rounded as any number."""
    values = {f"q{number}": {"MAP": 0.420951} for number in range(4)}
    result = summarise([TaskResult("test", values)], Protocol(("MAP",), rounding="beir"), [parse_measure("MAP")])
    text = "\n".join(Report(CATALOGUE["relish"], "test", "cosine", False, "x", {}, result, [], {}).lines())
    assert re.findall(r"42\.\d\d", text) == ["42.09", "42.10", "42.10"]


def test_scidocs_scores_tie_from_the_sixth_decimal_on(tmp_path: Path) -> None:
    write_scidocs(tmp_path, {key: {"q": {"a": 1, "b": 0}} for key in SCIDOCS}, ("q", "a", "b"))

    def precision(name: str, near: float, far: float) -> float:
        rows = [{"paper_id": id, "embedding": [value, 0.0]} for id, value in (("q", 0.0), ("a", near), ("b", far))]
        path = write_lines(tmp_path / f"{name}.jsonl", rows)
        return float(evaluate("scidocs-rerank", tmp_path, embeddings=str(path), task="cite").to_dict()["measures"]["MAP"])

    # the nearer is relevant; where both tie, the greater id comes first
    assert precision("sixth", 1.000001, 1.000003) == 0.5
    assert precision("fifth", 1.00001, 1.00003) == 1.0


def test_an_option_that_there_is_not_is_named() -> None:
    with pytest.raises(UnknownName, match="unknown option 'encodr'; did you mean 'encoder'"):
        evaluate("mdcr", ".", encodr="minilm")  # type: ignore[call-arg]
    with pytest.raises(UnknownName, match="unknown mode 'hybird'; did you mean 'hybrid'"):
        evaluate("mdcr", ".", mode="hybird")  # type: ignore[arg-type]


def test_sets_of_beir_are_named_by_their_directory() -> None:
    with pytest.raises(
        InvalidRequest, match=r"scifact is a set of BEIR: name its directory, as in beir:data/scifact, from https://\S+scifact\.zip$"
    ):
        find_benchmark("scifact")
    with pytest.raises(
        InvalidRequest,
        match="; scidocs-cite and scidocs-cocite and scidocs-rerank and scidocs-recomm and scidocs-scirepeval are other forms of it",
    ):
        find_benchmark("scidocs")


@pytest.mark.parametrize("seed", [5, 12, 39, 46])
def test_recalls_of_scimult_fall_to_the_side_where_their_code_puts_them(seed: int) -> None:
    """Its sum goes query by query. Another order of sums has another last digit, which shows where a figure lies between two."""
    values = (np.random.default_rng(seed).integers(0, 4, 800) / 3).tolist()
    total = 0.0
    for value in values:
        total += value
    printed = float(f"{total / len(values) * 100:.2f}")
    assert printed != round(100 * float(np.mean(values)), 2)
    task = TaskResult("CSConference", {str(place): {"R@20": value} for place, value in enumerate(values)})
    for name in ("maple", "maple-unmatched", "maple-names", "scidocs-cite", "scidocs-cocite", "pmc-patients-zeroshot"):
        assert summarise([task], CATALOGUE[name].protocol, [parse_measure("R@20")]).rounded["", "R@20"] == printed


def test_what_is_published_is_known_of_most() -> None:
    sizes = {name: row.published_sizes for name, row in CATALOGUE.items()}
    assert sizes["scidocs-cite"] == {"": {"queries": 92_214, "candidates": 142_009}}
    assert sizes["trec-covid"] == {"": {"queries": 50, "candidates": 171_332}}
    assert sizes["pmc-patients-ppr"] == {"": {"queries": 2_812, "candidates": 155_151}}
    assert sizes["relish"] == {"": {"queries": 3_190, "pairs": 191_245}}
    assert sizes["publication-year"] == {"": {"papers": 30_000}}
    assert {name for name, known in sizes.items() if not any(known.values())} < {
        *("asr", "mdcr", "mdcr-full", "multi-scidocs", "scidocs-recomm", "s2and", "fields-of-study", "drsm"),
        *("biomimicry", "feeds-1", "feeds-m", "feeds-title"),
    }


@pytest.mark.parametrize(
    ("queries", "candidates", "said"),
    [
        (50, 171_332, []),
        (50, 171_331, []),  # one paper has no text, and figures are the same
        (49, 171_332, ["49 of 50 queries"]),
        (50, 85_000, ["85,000 of 171,332 candidates"]),
        (25, 30, ["25 of 50 queries", "30 of 171,332 candidates"]),
        (60, 200_000, []),
    ],
)
def test_less_than_is_published_is_told(queries: int, candidates: int, said: list[str]) -> None:
    qrels = {str(number): {"p": 1} for number in range(queries)}
    task = Task("test", {id: Query(id, "text") for id in qrels}, qrels)
    material = Material(lambda: iter([Paper("p")] * candidates), (task,), "trec-covid", "")
    assert lacking(CATALOGUE["trec-covid"], "test", None, [material]) == said


def test_one_of_two_files_of_a_download_is_told(tmp_path: Path) -> None:
    spec = CATALOGUE["relish"]
    for place, name in enumerate(("relish/evaluation-00000-of-00001", "relish/test-00000-of-00002", "relish/test-00001-of-00002")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"query_id": ["q"]}), tmp_path / f"{name}.parquet")
        assert lacking(spec, "test", tmp_path, []) == (["1 of 2 files of relish/test"] if place == 1 else [])


def test_part_of_a_corpus_stands_apart_in_brackets(tmp_path: Path) -> None:
    rows = [{**paper(id, "paper"), "cite": [PART[0]], "cocite": []} for id in PART]
    write_lines(tmp_path / "data/link_prediction_retrieval/SciDocs_papers_test.json", rows)
    vectors = write_vectors(tmp_path / "v.jsonl", made_vectors(PART))
    report = evaluate("scidocs-cite", tmp_path / "data", embeddings=vectors, metric="ip")
    lines = report.lines()
    (ours,) = (place for place, line in enumerate(lines) if line.startswith("> "))
    published = [place for place, line in enumerate(lines) if "SciMult, Table 5" in line]
    assert published
    assert max(published) < ours
    assert re.search(r"\(\d+\.\d\d\) +\(\d+\.\d\d\)", lines[ours])
    said = "30 of 92,214 queries; 30 of 142,009 candidates"
    assert f"in brackets: {said}: does not compare with published figures" in lines
    as_json = report.to_dict()
    assert "; ".join(as_json["partial"]) == said
    standings = Standings.of([Cell("scidocs-cite", "v", as_json, {}, {})])
    assert standings.figure("v", 0).startswith("(")
    assert "scidocs-cite: 30 of 142,009 candidates: does not compare" in standings.notes()
    whole = replace(report, lacks=())
    assert not any("(" in line for line in whole.lines() if line.startswith("> "))


def test_an_asked_measure_is_no_other_and_reports_compare_over_all_judged_queries(tmp_path: Path) -> None:
    qrels = {"q": {"p0": 1, "p1": 0}, "r": {"p2": 2}, "s": {"p3": 1}, "t": {"p4": 1}}
    write_beir(
        tmp_path / "data", ({"id": id, "title": id, "abstract": ""} for id in PART), {query: f"of {query}" for query in qrels}, qrels
    )
    runs = [
        {"q": {"p0": 3.0, "p1": 2.0, "p7": 1.0}, "r": {}, "t": {"p4": 1.0}},
        {"q": {"p7": 2.0, "p0": 1.0}, "r": {"p2": 2.0}, "s": {"p5": 1.0}},
    ]
    names = ["Judged@10", "nDCG@10", "judged@10", "MRR@10"]
    files = [tmp_path / f"{number}.json" for number in range(2)]
    for file, run in zip(files, runs, strict=True):
        file.write_text(json.dumps(run))
    reports = [evaluate(f"beir:{tmp_path / 'data'}", scores=file, measures=names, progress=False) for file in files]
    measured = reports[0].to_dict()
    assert list(measured["measures"]) == ["Judged@10", "nDCG@10", "MRR@10"]
    assert measured["measures"]["Judged@10"] == pytest.approx((2 / 3 + 0 + 1) / 3)
    assert [report.to_dict()["counts"]["test"]["unanswered_queries"] for report in reports] == [2, 1]
    by_report, by_run = compare(dict(zip("ab", reports, strict=True))), compare(dict(zip("ab", files, strict=True)), qrels, measures=names)
    assert by_report.means == by_run.means
    assert compare(reports, measures=["RR@10", "mrr@10", "judged@10"]).measures == ["MRR@10", "Judged@10"]
    assert (by_report.unequal, by_report.counts) == (by_run.unequal, by_run.counts)


def test_few_queries_are_said_to_need_more_for_what_they_did_not_show() -> None:
    qrels = {f"q{number}": {"good": 1} for number in range(30)}
    first = {query: {"bad": 2.0, "good": 1.0} for query in qrels}
    better = {query: {"good": 2.0, "bad": 1.0} if number else row for number, (query, row) in enumerate(first.items())}
    alike = {query: {"good": 1.0} if query == "q0" else row for query, row in first.items()}
    compared = compare({"first": first, "better": better, "alike": alike}, qrels)
    (effect,) = {tests["nDCG@10"][0].effect for tests in compared.comparisons[1:]}
    assert effect is not None
    assert f"{queries_needed(effect):,} queries would show a difference like this in four tests of five as alike's" in compared.notes()[-1]
    assert "would show" not in compare([first, better], qrels).notes()[-1]
