"""Papers as queries in every mode: what dense, hybrid and BM25 answer, one report for all, and a receipt for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.encoders.query_encoder import QueryEncoder
from sciretrieve.evaluation import evaluate, evaluate_modes, replay
from sciretrieve.evaluation.modes import requests_in_modes
from sciretrieve.evaluation.reports import all_measures
from sciretrieve.query.index import Index
from tests.evaluation.made_up_benchmarks import write_beir, write_lines, write_scidocs
from tests.made_up import made_up_papers
from tests.toy_encoder import LetterEncoder, OwnLetters

COUNT = 40
ENCODER = "minilm"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return sr.build(rows(), tmp_path_factory.mktemp("papers") / "index", encoder=ENCODER)


def rows() -> list[dict[str, Any]]:
    """Papers, the last of which has no text."""
    return [*made_up_papers(COUNT), {"id": "textless", "title": "", "abstract": ""}]


def scidocs_links(folder: Path) -> Path:
    """Each paper cites the two after it; all of them are queries, over the whole corpus."""
    ids = [row["id"] for row in rows()]
    papers = [
        {"paper": row["id"], "title": row["title"], "abstract": row["abstract"], "cite": [ids[at - 2], ids[at - 1]], "co-cite": []}
        for at, row in enumerate(rows())
    ]
    write_lines(folder / "SciDocs_papers_test.json", papers)
    return folder


def scidocs_candidates(folder: Path) -> Path:
    """Each of ten papers has eight candidates, of which two are relevant, in four tasks."""
    ids = [row["id"] for row in rows()]
    qrels = {
        task: {ids[at]: {ids[(at + shift + step) % COUNT]: int(step < 3) for step in range(1, 9)} for at in range(10)}
        for shift, task in enumerate(("cite", "cocite", "coread", "coview"))
    }
    return write_scidocs(folder, qrels, {row["id"]: {"paper_id": row["id"], **row} for row in rows()})


def answers(folder: Path) -> dict[str, dict[str, float]]:
    return {query: dict(row) for query, row in json.loads((folder / "run.json").read_text()).items()}


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_a_paper_asks_the_whole_corpus_as_search_does(tmp_path: Path, index: Index, mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = scidocs_links(tmp_path / "data")
    asked: list[int] = []
    encode = QueryEncoder.encode

    def counted(self: QueryEncoder, queries: Any, **rest: Any) -> Any:
        asked.append(len(queries))
        return encode(self, queries, **rest)

    monkeypatch.setattr(QueryEncoder, "encode", counted)
    evaluate("scidocs-cite", data, index=index.path, mode=mode, output=tmp_path / "out")
    # the queries are papers of the index, whose vectors are there, but for the one without text
    assert asked == ([1] if mode == "hybrid" else [])
    monkeypatch.undo()
    run = answers(tmp_path / "out")
    for row in rows()[:6]:
        query = sr.Query(row["id"], paper=sr.Paper(row["id"], row["title"], row["abstract"]))
        ranking = index.search(query, COUNT + 1, mode=mode, group=False)[0]
        assert run[row["id"]] == pytest.approx(dict(zip(ranking.ids, ranking.scores.tolist(), strict=True)), abs=1e-6)
    assert run["textless"] == {}


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_a_paper_asks_its_candidates_alone(tmp_path: Path, index: Index, mode: Any) -> None:
    data = scidocs_candidates(tmp_path / "data")
    evaluate("scidocs-rerank", data, index=index.path, mode=mode, output=tmp_path / "out", task="cite")
    run = answers(tmp_path / "out")
    assert len(run) == 10
    for row in rows()[:10]:
        candidates = list(run[row["id"]])
        assert len(candidates) == 8
        query = sr.Query(row["id"], paper=sr.Paper(row["id"], row["title"], row["abstract"]))
        expected = np.round(index.score(query, candidates, mode=mode), 5).tolist()
        assert run[row["id"]] == pytest.approx(dict(zip(candidates, expected, strict=True)), abs=1e-5)


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_a_reviewer_is_scored_by_their_three_best_papers(tmp_path: Path, index: Index, mode: Any) -> None:
    papers = rows()[:COUNT]
    reviewers = {f"r{number}": [papers[(3 * number + step) % COUNT]["id"] for step in range(number % 5 + 1)] for number in range(10)}
    write_lines(tmp_path / "evaluation.jsonl", ({**row, "doc_id": row["id"]} for row in papers))
    write_lines(tmp_path / "reviewer_metadata.jsonl", ({"r_id": id, "papers": owned} for id, owned in reviewers.items()))
    for kind in ("hard", "soft"):
        judged = ({"query_id": papers[at]["id"], "cand_id": id, "score": int(id > "r4")} for at in range(4) for id in reviewers)
        write_lines(tmp_path / f"test_{kind}_qrel.jsonl", judged)
    evaluate("reviewer-matching", tmp_path, index=index.path, mode=mode, task="hard", output=tmp_path / "out")
    run = answers(tmp_path / "out")
    known = sorted({id for owned in reviewers.values() for id in owned})
    for row in papers[:4]:
        query = sr.Query(row["id"], paper=sr.Paper(row["id"], row["title"], row["abstract"]))
        scores = dict(zip(known, index.score(query, known, mode=mode).tolist(), strict=True))
        expected = {name: np.mean(sorted((scores[id] for id in owned), reverse=True)[:3]) for name, owned in reviewers.items()}
        assert run[row["id"]] == pytest.approx(expected, abs=1e-6)


def test_all_modes_are_one_report_with_a_receipt_each(tmp_path: Path, index: Index) -> None:
    data = scidocs_candidates(tmp_path / "data")
    report = evaluate_modes("scidocs-rerank", data, index=index.path, output=tmp_path / "out")
    assert list(report.reports) == ["dense", "hybrid", "bm25"]
    stored = json.loads((tmp_path / "out/report.json").read_text())
    for mode, one in report.reports.items():
        alone = evaluate("scidocs-rerank", data, index=index.path, mode=mode).to_dict()
        assert one.to_dict()["per_task"] == alone["per_task"] == stored["modes"][mode]["per_task"]
        assert replay(tmp_path / "out" / mode / "receipt.json")[1] == []
    text = (tmp_path / "out/report.txt").read_text()
    assert text.count("measured here") == 3
    assert "SciNCL" in text
    best = max(one.result.rounded["cite", "MAP"] for one in report.reports.values())
    assert f"({best:.2f})*" in text
    assert "The best of each benchmark's figures is marked *" in text


def test_an_index_is_run_in_the_modes_that_it_has(tmp_path: Path, index: Index) -> None:
    data = scidocs_links(tmp_path / "data")
    bare = sr.build(rows(), tmp_path / "bare", encoder=ENCODER, lexical=None)
    words = sr.build(rows(), tmp_path / "words", encoder=None, dense="none")
    modes = [list(evaluate_modes("scidocs-cite", data, index=one.path, fusion="rrf").reports) for one in (bare, words, index)]
    assert modes == [["dense"], ["bm25"], ["dense", "hybrid", "bm25"]]


def test_what_needs_vectors_is_run_in_mode_dense_alone(tmp_path: Path) -> None:
    write_lines(tmp_path / "papers.jsonl", rows()[:12])
    options: dict[str, Any] = {"encoder": ENCODER, "cache": tmp_path / "cache"}
    everything = evaluate_modes("asr", tmp_path / "papers.jsonl", **options)
    assert [len(report.result.tasks) for report in everything.reports.values()] == [4, 2, 2]
    standardised = evaluate_modes("asr", tmp_path / "papers.jsonl", task="Task II, standardised", **options)
    assert list(standardised.reports) == ["dense"]
    assert "The best" not in "\n".join(standardised.lines())


def test_f1_of_classes_is_not_tested_by_queries(tmp_path: Path) -> None:
    papers = [("graph networks learn", 0), ("planets orbit stars", 1), ("networks of stars", 0), ("planets", 1)]
    for name in ("MAG", "MeSH"):
        labels = [{"label": words, "name": [words], "definition": words} for words in ("graph networks", "stars and planets")]
        write_lines(tmp_path / f"classification_coarse/{name}_label.json", labels)
        rows_of_set = [{"paper": title, "title": title, "abstract": title, "label": label} for title, label in papers]
        write_lines(tmp_path / f"classification_coarse/{name}_papers_test.json", rows_of_set)
    report = evaluate_modes("scimult-coarse", tmp_path, encoder=ENCODER, cache=tmp_path / "cache")
    assert list(report.reports) == ["dense", "hybrid", "bm25"]
    values = {one.system: one.result.rounded["MAG", "macro-F1"] for one in report.reports.values()}
    assert len(set(values.values())) > 1  # one of them is the best, and the others would be tested
    text = "\n".join(report.lines())
    assert f"{max(values.values()):.2f}*" in text
    assert "not tested: " in text
    assert "figures that are not means over queries" in text


def test_bm25_is_one_system_however_an_encoder_reads() -> None:
    readings: list[Any] = [{"pooling": "cls"}, {"template": "{title}"}, {"query_template": "{text}"}, {"adapter": "x"}]
    plain = requests_in_modes("scidocs-cite", None, {"encoder": ENCODER})
    for options in readings:
        modes = requests_in_modes("scidocs-cite", None, options | {"encoder": "scibert"})
        assert modes["bm25"] == plain["bm25"]
        assert modes["hybrid"] != plain["hybrid"]


@pytest.mark.parametrize("options", [{"scores": "x"}, {"embeddings": "x"}, {"metric": "l2"}])
def test_what_has_no_modes_is_refused(options: Any) -> None:
    with pytest.raises(InvalidRequest, match=f"leave out `{next(iter(options))}`"):
        evaluate_modes("scidocs-cite", ".", **options)


@pytest.fixture
def benchmark(tmp_path: Path) -> str:
    """Papers that are sought by their titles."""
    queries = {f"q{row['id']}": row["title"] for row in rows()[:5]}
    qrels = {f"q{row['id']}": {row["id"]: 1} for row in rows()[:5]}
    return f"beir:{write_beir(tmp_path / 'data', rows(), queries, qrels)}"


@pytest.mark.parametrize("mode", ["bm25", "dense", "hybrid"])
def test_an_open_index_is_evaluated(benchmark: str, tmp_path: Path, mode: Any) -> None:
    index = sr.build(rows(), tmp_path / "index", encoder=LetterEncoder())
    report = sr.evaluate(benchmark, index=index, mode=mode, output=tmp_path / "out").to_dict()
    if mode == "bm25":
        by_name = sr.evaluate(benchmark, index=tmp_path / "index", mode=mode)
        assert all_measures(report) == all_measures(by_name.to_dict())
    assert len(index.search("graph networks", k=3, mode="bm25").hits) == 3  # it stays open
    index.close()
    with pytest.raises(sr.InvalidRequest, match="is closed"):
        sr.evaluate(benchmark, index=index, mode=mode)


@pytest.mark.parametrize("form", ["own", "loaded", "vectors"])
def test_an_encoder_is_a_name_or_an_object(benchmark: str, form: str, tmp_path: Path) -> None:
    """Vectors by id are those that the encoder gives, and each form has the figures of an index that it filled."""
    given: Any = OwnLetters() if form == "own" else LetterEncoder()
    queries = {f"q{row['id']}": row["title"] for row in rows()[:5]}
    if form == "vectors":
        papers = [sr.Paper(row["id"], row["title"], row["abstract"]) for row in rows()]
        given = dict(zip([paper.id for paper in papers], LetterEncoder().encode_papers(papers), strict=True))
        given |= zip(queries, LetterEncoder().encode_queries([sr.Query("", text) for text in queries.values()]), strict=True)
    with sr.build(rows(), tmp_path / "index", encoder=given) as index, sr.open(tmp_path / "index", encoder=given) as opened:
        assert len(index) == COUNT
        expected = all_measures(sr.evaluate(benchmark, index=opened).to_dict())
    report = sr.evaluate(benchmark, encoder=given, output=tmp_path / "out")
    assert all_measures(report.to_dict()) == expected
    assert json.loads((tmp_path / "out" / "receipt.json").read_text())["request"]["encoder"] == report.facts["encoder"]["name"]
    modes = evaluate_modes(benchmark, encoder=given).reports
    assert list(modes) == ["dense", "hybrid", "bm25"]
    assert all_measures(modes["dense"].to_dict()) == expected
    if form != "loaded":
        with pytest.raises(sr.InvalidRequest, match=r"receipt\.json cannot be computed again by itself: the .* given from Python"):
            replay(tmp_path / "out" / "receipt.json")
    with pytest.raises(sr.InvalidRequest, match="`adapter` says how an encoder with a name reads texts"):
        sr.evaluate(benchmark, encoder=given, adapter="proximity")
    with pytest.raises(sr.InvalidRequest, match="one system at a time"):
        sr.evaluate(benchmark, encoder=given, index=tmp_path / "index")


def test_all_modes_of_an_open_index_use_its_encoder(benchmark: str, tmp_path: Path) -> None:
    with sr.build(rows(), tmp_path / "index", encoder=OwnLetters()) as index:
        modes = evaluate_modes(benchmark, index=index).reports
        assert all_measures(modes["dense"].to_dict()) == all_measures(sr.evaluate(benchmark, index=index).to_dict())
        assert len(index) == COUNT  # it stays open


@pytest.mark.parametrize(
    "call",
    [
        lambda given: sr.training.TrainingOptions(base=given),
        lambda given: sr.training.TrainingOptions(teacher=given),
        lambda given: sr.evaluation.EvaluationOptions(encoder=given),
        lambda given: sr.save_search("index", sr.Request("graph"), "name", encoder=given),
    ],
)
def test_what_is_repeated_from_a_file_takes_encoders_by_name(call: Any) -> None:
    for given in (OwnLetters(), LetterEncoder()):
        with pytest.raises(sr.InvalidRequest, match="is the name or folder of an encoder, by which it can be opened again, not <"):
            call(given)


def test_runs_are_compared_in_any_form(benchmark: str, tmp_path: Path) -> None:
    queries = [sr.Query(f"q{row['id']}", row["title"]) for row in rows()[:5]]
    qrels = tmp_path / "data" / "qrels" / "test.tsv"
    judged = {query.id: {query.id[1:]: 1} for query in queries}
    with sr.build(rows(), tmp_path / "index", encoder=LetterEncoder()) as index:
        words = sr.evaluate(benchmark, index=index, mode="bm25", output=tmp_path / "words")
        vectors = sr.evaluate(benchmark, index=index, output=tmp_path / "vectors")
        run = index.search(queries, k=100, mode="bm25", group=False)
    scores = {ranking.query.id: dict(zip(ranking.ids, ranking.scores.tolist(), strict=True)) for ranking in run}
    by_folder = sr.compare([tmp_path / "words", str(tmp_path / "vectors")], qrels)
    assert by_folder.names == ["words", "vectors"]
    assert by_folder.means_of("nDCG@10") == [each.result.means["", "nDCG@10"] for each in (words, vectors)]
    for judgements in (judged, str(qrels)):
        mixed = sr.compare({"words": run, "plain": scores, "vectors": tmp_path / "vectors"}, judgements, measures=["nDCG@10"])
        assert mixed.means_of("nDCG@10")[::2] == by_folder.means_of("nDCG@10")
        assert mixed.comparisons[0]["nDCG@10"][0].difference == 0
    reports = sr.compare([words, vectors])
    assert reports.means_of("nDCG@10") == by_folder.means_of("nDCG@10")
    wrong: list[tuple[Any, Any, str]] = [
        ([run], judged, "two runs or more"),
        ([words, run], judged, "a report is compared with reports"),
        ([run, {"q": 1}], judged, "a run is a file"),
        ([run, run], None, "name judgements with `qrels`"),
        ([run, run], {"q": 1}, "judgements are"),
        ([run, run], {"q": {"a": 1.5}}, "the grade of 'a'"),
    ]
    for runs, given, message in wrong:
        with pytest.raises(sr.InvalidRequest, match=message):
            sr.compare(runs, given)
