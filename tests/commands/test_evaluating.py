"""`evaluate`, `compare` and `benchmarks` as they are typed: what they print, keep, and exit with."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

import sciretrieve as sr
from sciretrieve.base.choices import Mode
from sciretrieve.commands.app import app
from sciretrieve.commands.command import CommandFailure
from sciretrieve.evaluation import CATALOGUE, SUITES
from sciretrieve.evaluation.pooling import Pool
from sciretrieve.evaluation.published import PUBLISHED
from sciretrieve.matching.dense import vectors as dense_vectors
from sciretrieve.metrics.judgements import read_qrels, read_scores
from sciretrieve.papers.corpora import read_queries
from tests.evaluation.made_up_benchmarks import write_lines, write_text
from tests.made_up import made_up_papers


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """The made-up papers as a BEIR directory: queries are titles, their papers relevant."""
    papers = made_up_papers(120)
    folder = tmp_path / "beir"
    write_lines(folder / "corpus.jsonl", ({"_id": row["id"], "title": row["title"], "text": row["abstract"]} for row in papers))
    write_lines(folder / "queries.jsonl", ({"_id": f"q{at}", "text": row["title"]} for at, row in enumerate(papers[:25])))
    lines = "".join(f"q{at}\t{row['id']}\t1\n" for at, row in enumerate(papers[:25]))
    write_text(folder / "qrels/test.tsv", f"query-id\tcorpus-id\tscore\n{lines}")
    return folder


@pytest.mark.parametrize("mode", ["bm25", "dense", "hybrid"])
def test_a_benchmark_is_measured_kept_and_measured_again(beir: Path, tmp_path: Path, mode: str) -> None:
    out = tmp_path / "out"
    result = call("evaluate", f"beir:{beir}", "--mode", mode, "-o", out, "--format", "json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["schema"] == 1
    assert set(report) >= {"benchmark", "split", "measures", "rounded", "intervals", "queries", "published", "system", "versions"}
    assert report["queries"] == 25
    assert {file.name for file in out.iterdir()} == {
        "run.trec",
        "run.json",
        "per-query.parquet",
        "report.json",
        "report.txt",
        "receipt.json",
    }
    values = pq.read_table(out / "per-query.parquet").to_pydict()
    assert np.mean(values["nDCG@10"]) == pytest.approx(report["measures"]["nDCG@10"])
    # any run on any judgements gives the same
    run: list[str | Path] = [out / "run.trec", "--qrels", beir / "qrels/test.tsv"]
    figures = json.loads(call("evaluate", "run", *run, "-m", "ndcg_cut_10", "--format", "json").stdout)
    assert figures["measures"]["nDCG@10"] == report["measures"]["nDCG@10"]
    replayed = call("evaluate", "replay", out / "receipt.json")
    assert replayed.exit_code == 0, replayed.output
    assert "the figures are those of the receipt" in replayed.stderr


def test_a_receipt_that_does_not_come_out_again_is_told(beir: Path, tmp_path: Path) -> None:
    call("evaluate", f"beir:{beir}", "--mode", "bm25", "-o", tmp_path / "out")
    receipt = tmp_path / "out" / "receipt.json"
    facts = json.loads(receipt.read_text())
    facts["measures"]["MAP"] += 0.01
    receipt.write_text(json.dumps(facts))
    result = call("evaluate", "replay", receipt)
    assert result.exit_code == 1
    assert "differs from the receipt: MAP was" in result.stderr


def test_an_index_can_be_evaluated(beir: Path, tmp_path: Path) -> None:
    assert call("index", beir, "-o", tmp_path / "own", "-q").exit_code == 0
    result = call("evaluate", f"beir:{beir}", "-i", tmp_path / "own", "--mode", "hybrid", "--format", "json")
    assert json.loads(result.stdout)["system"]["index"] == str(tmp_path / "own")
    assert not (tmp_path / "indexes").exists()


def test_an_index_is_searched_as_hard_as_is_asked(beir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_vectors, "SCANS_PER_CANDIDATE", 0)  # else so few vectors are scanned
    monkeypatch.setattr(dense_vectors, "SELECTIVE", 0)
    row = CATALOGUE["trec-covid"]
    monkeypatch.setitem(CATALOGUE, "trec-covid", replace(row, protocol=replace(row.protocol, depth=10)))
    index = sr.build(beir, tmp_path / "index", dense="IVF8,Flat")

    def run(*options: str) -> dict[str, dict[str, float]]:
        result = call("evaluate", "trec-covid", "--data", beir, "-i", index.path, "-o", tmp_path / "out", *options)
        assert result.exit_code == 0, result.exception
        return {query: dict(row) for query, row in json.loads((tmp_path / "out/run.json").read_text()).items()}

    def answers(mode: Mode, **options: Any) -> dict[str, dict[str, float]]:
        found = index.search(read_queries(str(beir)), 11, mode=mode, group=False, **options)
        return {ranking.query.id: dict(zip(ranking.ids[:10], ranking.scores[:10].tolist(), strict=True)) for ranking in found}

    every = run()
    assert every == run("--set", "recall=1") == answers("dense", recall=1.0)
    few = run("--set", "nprobe=1")
    assert few == answers("dense", nprobe=1) != every
    assert "dense with granite, nprobe 1" in (tmp_path / "out/report.txt").read_text()
    assert "the encoder alone" not in (tmp_path / "out/report.txt").read_text()
    assert run("--set", "nprobe=1", "--mode", "hybrid") == answers("hybrid", nprobe=1)
    lacking = call("evaluate", "trec-covid", "--data", beir, "-i", index.path, "--set", "ef=4")
    assert "which has no --set ef; it has --set nprobe" in str(lacking.exception)


def test_the_table_has_the_published_rows_and_how_they_were_scored(tmp_path: Path) -> None:
    rows = [{"paper": f"p{at}", "title": f"title {at}", "abstract": "a", "cite": [f"p{(at + 1) % 30}"], "co-cite": []} for at in range(30)]
    write_lines(tmp_path / "SciDocs_papers_test.json", rows)
    result = call("evaluate", "scidocs-cite", "--data", tmp_path, "--encoder", "minilm", "--set", "metric=cosine")
    assert result.exit_code == 0, result.output
    for words in ("> minilm", "SciMult-FFNExpert", "61.97", "SciMult, Table 5", "95 % interval", "(not the protocol's)", "kept"):
        assert words in result.stdout


def test_runs_are_compared(beir: Path, tmp_path: Path) -> None:
    for mode in ("bm25", "dense"):
        call("evaluate", f"beir:{beir}", "--mode", mode, "-o", tmp_path / mode)
    table = call("compare", tmp_path / "bm25", tmp_path / "dense", "--benchmark", f"beir:{beir}", "-m", "MRR", "--set", "changed=1")
    assert table.exit_code == 0, table.output
    assert "wins" in table.stdout
    assert "p = " in table.stdout
    assert table.stdout.count("→") == 1
    both: list[str | Path] = [tmp_path / "bm25", tmp_path / "dense", "--qrels", beir / "qrels/test.tsv"]
    changed = re.findall(r"([\d.]+) → +([\d.]+)", call("compare", *both, "--set", "changed=25").stdout)
    sizes = [abs(float(after) - float(before)) for before, after in changed]
    assert min(sizes) > 0
    assert len(set(sizes)) > 2
    assert sizes == pytest.approx(sorted(sizes, reverse=True), abs=0.21)  # of figures with one decimal
    comparison = json.loads(call("compare", *both, "--format", "json").stdout)
    assert set(comparison["runs"][1]["against_first"]["nDCG@10"]) >= {"difference", "interval", "p_randomisation_holm", "p_t_holm"}
    lines = (tmp_path / "dense/run.trec").read_text().splitlines(keepends=True)
    (tmp_path / "short.trec").write_text("".join(line for line in lines if not line.startswith("q3 ")))
    unequal = call("compare", tmp_path / "bm25", tmp_path / "short.trec", "--qrels", beir / "qrels/test.tsv")
    assert unequal.exit_code == 1
    assert "unanswered of 25 judged, which count 0: bm25 0, short 1" in unequal.stderr
    # one run by itself counts queries as trec_eval -c does
    (tmp_path / "more.trec").write_text((tmp_path / "short.trec").read_text() + "unjudged Q0 W1 1 1 x\n")
    alone = call("evaluate", "run", tmp_path / "more.trec", "--qrels", beir / "qrels/test.tsv", "-m", "MRR").stdout
    assert "25 judged queries; without an answer, counted as 0: 1; without judgements, left out: 1" in alone
    run, qrels = read_scores(tmp_path / "more.trec"), read_qrels(beir / "qrels/test.tsv")
    assert f"{100 * ir_measures.calc_aggregate([ir_measures.RR], qrels, run)[ir_measures.RR]:.2f}" in alone
    # three are compared all with all; of half of the queries, the first answer is put last
    lines = (tmp_path / "bm25/run.trec").read_text().splitlines()
    bad_lines = [re.sub(r" 1 \S+ BM25$", " 1 -1 BM25", line) if int(line.split()[0][1:]) % 2 else line for line in lines]
    (tmp_path / "bad.trec").write_text("\n".join(bad_lines) + "\n")
    three = (tmp_path / "bm25/run.trec", both[1], tmp_path / "bad.trec", *both[2:])
    found = json.loads(call("compare", *three, "--format", "json").stdout)["variance"]["nDCG@10"]
    assert (found["degrees_of_freedom"], "bad" in found["as_good_as_the_best"]) == ([2, 48], False)
    assert [pair["runs"] for pair in found["tukey"]] == [["bm25", "dense"], ["bm25", "bad"], ["dense", "bad"]]
    assert found["tukey"][1]["p"] < 0.05
    assert found["tukey"][1]["difference"] < 0
    compared = call("compare", *three).stdout
    assert f"analysis of variance, runs x queries: F(2, 48) = {found['f']:.2f}" in compared
    assert "not told from the best" in compared
    assert "variance" not in comparison
    # all runs and measures are one family of tests
    four = json.loads(call("compare", *three, "-m", "RR", "-m", "P@1", "--set", "correction=bonferroni", "--format", "json").stdout)
    assert four["correction"] == {"method": "bonferroni", "comparisons": 4}
    for row in four["runs"][1:]:
        for pair in row["against_first"].values():
            assert pair["p_t_bonferroni"] == pytest.approx(min(1, 4 * pair["p_t"]))
    assert any("25 queries, fewer than 50" in note for note in four["notes"])
    assert "corrected by Holm's method for 2 comparisons" in compared
    assert re.search(r"d = [+-]\d\.\d\d", compared)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", "mdrc"], "did you mean 'mdcr'"),
        (["evaluate", "beir:"], "beir: needs a directory"),
        (["evaluate", "mdcr", "--data", "nowhere"], "there is no nowhere"),
        (["evaluate", "mdcr", "--data", ".", "--set", "metric=l2", "--mode", "bm25"], r"mdcr needs|--set metric compares"),
        (["evaluate", "mdcr", "--data", ".", "--set", "ef=9"], "--set ef says how hard an index's vectors are searched"),
        (
            ["evaluate", "mdcr", "--data", ".", "-i", "nowhere/x", "--mode", "bm25", "--set", "recall=0.9"],
            "it goes with --index, in mode dense or hybrid",
        ),
        (["evaluate", "mdcr", "--data", ".", "-i", "nowhere/x", "--set", "nprobe=9", "--set", "metric=l2"], "leave out --set metric"),
        (["evaluate", "mdcr", "--data", ".", "-i", "nowhere/x", "--set", "ef=9", "--set", "recall=0.9"], "--set recall chooses --set ef"),
        (["evaluate", "mdcr", "--data", ".", "--encoder", "minilm", "--ray", "auto"], "name it with --index"),
        (["compare", "a.trec"], "two runs or more"),
        (["compare", "a.trec", "b.trec"], "name judgements with --qrels"),
    ],
)
def test_bad_requests(arguments: list[str], words: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 1
    assert isinstance(result.exception, CommandFailure)
    assert result.exception.exit_code == 2
    assert any(word in str(result.exception) for word in words.split("|")), str(result.exception)


def test_one_system_at_a_time(beir: Path) -> None:
    result = call("evaluate", f"beir:{beir}", "--encoder", "minilm", "--scores", "x.json")
    assert "one system at a time" in str(result.exception)


def test_the_catalogue_is_listed_and_shown() -> None:
    listing = call("benchmarks").stdout
    for name in (*CATALOGUE, *SUITES, "beir:DIR"):
        assert name in listing
    rows: list[dict[str, Any]] = json.loads(call("benchmarks", "--format", "json").stdout)
    assert {row["name"] for row in rows} == {*CATALOGUE, *SUITES}
    for row in rows:
        if row["name"] in SUITES:
            assert set(row["benchmarks"]) <= set(CATALOGUE)
        else:
            assert row["downloads"] or row["by hand"] or row["name"] == "asr"
    details = call("benchmarks", "show", "mdcr").stdout
    for words in ("minus Euclidean distance", "mdcr_SPLIT_data.jsonl", "https://takelab.fer.hr/data/mdcr/mdcr_test.json"):
        assert words in details
    assert "git checkout" in call("benchmarks", "show", "s2and").stdout  # its own code is got by hand
    assert set(PUBLISHED) <= {*CATALOGUE, *SUITES, "robustness", "cost"}


def test_the_mode_is_said(beir: Path) -> None:
    dense, hybrid = (call("evaluate", f"beir:{beir}", "--mode", mode).stdout for mode in ("dense", "hybrid"))
    assert "mode: dense, the encoder alone; --mode hybrid measures what `search` answers" in dense
    assert "mode: dense" not in hybrid


def test_what_must_be_got_by_hand_is_said(tmp_path: Path) -> None:
    result = call("benchmarks", "fetch", "scidocs-rerank", "--to", folder := tmp_path / "of mine")
    assert result.exit_code == 1
    assert re.search(rf"aws s3 sync .*/scidocs/ '{folder}' --region", result.stdout)
    for name in ("cite", "cocite", "coread", "coview"):
        write_text(folder / name / "test.qrel", "q 0 d 1\n")
    write_text(folder / "paper_metadata_view_cite_read.json", "{}")
    result = call("benchmarks", "fetch", "scidocs-rerank", "--to", folder)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing to download" in str(call("benchmarks", "fetch", f"beir:{tmp_path}", "--to", tmp_path).exception)


def test_a_matrix_runs_what_is_missing_and_makes_a_page(beir: Path, tmp_path: Path) -> None:
    rows = [{"paper": f"p{at}", "title": f"title {at}", "abstract": "a", "cite": [f"p{(at + 1) % 30}"], "co-cite": []} for at in range(30)]
    write_lines(tmp_path / "scidocs/SciDocs_papers_test.json", rows)
    plan = f"""
[systems.words]
mode = "bm25"
[systems."both & <more>"]
mode = "hybrid"
[benchmarks.made-up]
name = "beir:{beir}"
[benchmarks.scidocs-cite]
data = "{tmp_path / "scidocs"}"
"""
    write_text(tmp_path / "plan.toml", plan)
    result = call("evaluate", "matrix", tmp_path / "plan.toml", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    html = (tmp_path / "out" / "index.html").read_text()
    shown = ("made-up", "both &amp; &lt;more&gt;", "Recall at depth", "data:image/svg+xml", "SciMult, Table 5", "</html>")
    for words in shown:
        assert words in html
    first_time = (tmp_path / "out" / "made-up" / "words" / "receipt.json").stat().st_mtime_ns
    (tmp_path / "out" / "made-up" / "both & <more>" / "receipt.json").unlink()
    second_result = call("evaluate", "matrix", tmp_path / "plan.toml", "-o", tmp_path / "out")
    assert second_result.stderr.count("made-up: ") == 1
    assert (tmp_path / "out" / "made-up" / "words" / "receipt.json").stat().st_mtime_ns == first_time
    write_text(tmp_path / "plan.toml", plan.replace(str(tmp_path / "scidocs"), "nowhere"))
    failing_result = call("evaluate", "matrix", tmp_path / "plan.toml", "-o", tmp_path / "out2")
    assert failing_result.exit_code == 1
    assert "not run: scidocs-cite, words: there is no nowhere" in failing_result.stderr
    assert "Not run" in (tmp_path / "out2" / "index.html").read_text()


def test_a_matrix_runs_a_system_in_all_modes(beir: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "papers.jsonl", ({"id": f"p{at}", "title": f"title {at}", "abstract": "text"} for at in range(12)))
    plan = f"""
[systems.minilm]
encoder = "minilm"
mode = "all"
[systems.again]
encoder = "minilm"
mode = "all"
device = "cpu"
[benchmarks.made-up]
name = "beir:{beir}"
[benchmarks.standardised]
name = "asr"
data = "{tmp_path / "papers.jsonl"}"
task = "Task I, standardised"
"""
    write_text(tmp_path / "plan.toml", plan)
    result = call("evaluate", "matrix", tmp_path / "plan.toml", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    names = {folder.name: {one.name for one in folder.iterdir()} for folder in (tmp_path / "out").iterdir() if folder.is_dir()}
    # BM25 is the same for both; what needs vectors is run in mode dense alone
    dense = {"minilm-dense", "again-dense"}
    assert names == {"made-up": {*dense, "minilm-hybrid", "again-hybrid", "bm25"}, "standardised": dense}
    cells = json.loads((tmp_path / "out/matrix.json").read_text())["cells"]
    figures = {cell["system"]: cell["measures"]["nDCG@10"] for cell in cells if cell["benchmark"] == "made-up"}
    assert figures["minilm-hybrid"] == figures["again-hybrid"]
    for words in (result.stdout, (tmp_path / "out/table.md").read_text(), (tmp_path / "out/table.tex").read_text()):
        assert "minilm-hybrid" in words
        assert f"{100 * figures['bm25']:.2f}" in words
    assert result.stdout.splitlines()[-1] == str(tmp_path / "out/index.html")
    page = (tmp_path / "out/index.html").read_text()
    assert page.index("minilm-hybrid") < page.index("<h2>made-up")
    write_text(tmp_path / "plan.toml", plan + '[systems.bm25]\nmode = "hybrid"\n')
    clash = call("evaluate", "matrix", tmp_path / "plan.toml", "-o", tmp_path / "out")
    assert "two systems are called 'bm25'" in str(clash.exception)


def test_all_modes_of_an_encoder(beir: Path, tmp_path: Path) -> None:
    result = call("evaluate", f"beir:{beir}", "--mode", "all", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("measured here") == 3
    assert {folder.name for folder in (tmp_path / "out").iterdir()} == {"dense", "hybrid", "bm25", "report.json", "report.txt"}
    assert call("evaluate", "replay", tmp_path / "out/hybrid/receipt.json").exit_code == 0
    refused = call("evaluate", "drsm", "--data", tmp_path, "--mode", "all", "--set", "metric=l2")
    assert "leave out --set metric" in str(refused.exception)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[systems", "is not TOML"),
        ("[systems.a]\nmode = 'bm25'\n", "needs tables"),
        ("[systems.a]\nmod = 'bm25'\n[benchmarks.mdcr]\ndata = '.'\n", r"[systems.a] has 'mod'; it may have"),
        ("[systems.a]\n[benchmarks.mdrc]\ndata = '.'\n", "did you mean 'mdcr'"),
    ],
)
def test_a_bad_matrix_is_named(tmp_path: Path, text: str, words: str) -> None:
    write_text(tmp_path / "plan.toml", text)
    result = call("evaluate", "matrix", tmp_path / "plan.toml", "-o", tmp_path / "out")
    assert words in str(result.exception)


ODD_IDS = ["a b", "a%20b", "a%2520b", "50%", "{x}", "tab\tid", "nb\xa0sp", "x\ufeff", "https://x.org/%2F", "%", "é\u2003ü"]
"""Ids of which TREC's files, percent signs, or both could make others."""


@pytest.fixture
def odd_beir(tmp_path: Path) -> Path:
    """A BEIR directory where ids and queries' ids are odd, and each query's words are one paper's alone."""
    folder = tmp_path / "odd"
    words = [f"word{place} common" for place in range(len(ODD_IDS))]
    write_lines(folder / "corpus.jsonl", ({"_id": id, "title": text, "text": text} for id, text in zip(ODD_IDS, words, strict=True)))
    write_lines(folder / "queries.jsonl", ({"_id": f"q{id}", "text": text} for id, text in zip(ODD_IDS, words, strict=True)))
    rows = io.StringIO()
    csv.writer(rows, delimiter="\t", lineterminator="\n").writerows(
        [("query-id", "corpus-id", "score"), *((f"q{id}", id, 1) for id in ODD_IDS)]
    )
    write_text(folder / "qrels/test.tsv", rows.getvalue())
    return folder


def test_odd_ids_are_found_again_at_every_door(odd_beir: Path, tmp_path: Path) -> None:
    qrels, queries, pooled = odd_beir / "qrels/test.tsv", odd_beir / "queries.jsonl", tmp_path / "pool.jsonl"
    ours, searched, index = tmp_path / "ours", tmp_path / "searched.trec", tmp_path / "index"
    whole = {"nDCG@10": 1.0}
    result = call("evaluate", f"beir:{odd_beir}", "--mode", "bm25", "--measures", "nDCG@10", "-o", ours, "--format", "json")
    assert json.loads(result.stdout)["measures"] == whole
    assert call("index", odd_beir / "corpus.jsonl", "-o", index, "--dense", "none").exit_code == 0
    assert call("batch", queries, "-i", index, "-o", searched).exit_code == 0
    for run in (ours / "run.trec", ours / "run.json", searched):
        result = call("evaluate", "run", run, "--qrels", qrels, "--measures", "nDCG@10", "--format", "json")
        assert json.loads(result.stdout)["measures"] == whole, run
    compared = json.loads(call("compare", ours, searched, "--qrels", qrels, "--format", "json").stdout)
    assert [row["measures"] for row in compared["runs"]] == [whole, whole]
    assert call("benchmarks", "pool", "-p", pooled, searched, "--queries", queries, "--from", qrels, "-i", index).exit_code == 0
    with Pool(pooled) as pool:
        assert {query: set(row) for query, row in read_scores(searched).items()} == {
            query: {id for _, id, _ in pool.pairs()} for query in pool.queries
        }


def test_ids_that_nobody_judges_are_an_error_and_shown(beir: Path, tmp_path: Path) -> None:
    qrels = beir / "qrels/test.tsv"
    ids = [line.split("\t")[1] for line in qrels.read_text().splitlines()[1:]]
    write_text(tmp_path / "run.trec", "".join(f"q{at} Q0 {id}.0 1 1 x\n" for at, id in enumerate(ids)))
    right = write_text(tmp_path / "right.trec", "".join(f"q{at} Q0 {id} 1 1 x\n" for at, id in enumerate(ids)))
    said = f"'{ids[0]}.0' here, '{ids[0]}' there"
    asked: list[list[str | Path]] = [
        ["evaluate", "run", tmp_path / "run.trec", "--qrels", qrels],
        ["evaluate", f"beir:{beir}", "--scores", tmp_path / "run.trec"],
        ["compare", right, tmp_path / "run.trec", "--qrels", qrels],
        ["compare", right, tmp_path / "run.trec", "--benchmark", f"beir:{beir}"],
    ]
    for arguments in asked:
        assert said in str(call(*arguments).exception), arguments
    write_text(qrels, qrels.read_text().replace("\t1\n", ".0\t1\n"))
    for mode in ("bm25", "hybrid"):
        assert f"'{ids[0]}' here, '{ids[0]}.0' there" in str(call("evaluate", f"beir:{beir}", "--mode", mode).exception)
