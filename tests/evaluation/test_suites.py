"""SciRepEval as a whole: its tasks in the hub's layout, the averages of its tables, and what is left out; and SciMult's five averages: as
its tables' columns give them, on made-up files, by cosine for its baselines, and against Vanilla."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound, UnknownName
from sciretrieve.commands.app import app
from sciretrieve.evaluation import CATALOGUE, SUITES, evaluate, evaluate_suite
from sciretrieve.evaluation.published import PUBLISHED, TABLES
from sciretrieve.evaluation.suites import SuiteReport
from tests.evaluation.made_up_benchmarks import SCIDOCS, made_vectors, paper, write_lines, write_scidocs, write_text, write_vectors
from tests.evaluation.test_published import PAPERS
from tests.made_up import shared
from tests.toy_encoder import LetterEncoder, OwnLetters
from tests.toy_weights import write_bert

IDS = [f"p{number:03d}" for number in range(120)]
CLASSES = ("mesh_descriptors", "biomimicry", "drsm", "scidocs_mag", "scidocs_mesh")
NUMBERS = ("cite_count", "pub_year", "peer_review_score", "hIndex", "tweet_mentions")
TEXTS = {
    "scidocs_mag": "scidocs_mag_mesh",
    "scidocs_mesh": "scidocs_mag_mesh",
    "peer_review_score": "peer_review_score_hIndex",
    "hIndex": "peer_review_score_hIndex",
}
RANKED = ("same_author", "high_influence_cite", "search", "relish", "nfcorpus", "trec_covid", "feeds_1", "feeds_m", "feeds_title")


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def texts(folder: Path, name: str) -> None:
    write_lines(folder / name / "evaluation.jsonl", (paper(id, "doc_id") for id in IDS))


def judged(path: Path, seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows = ({"query_id": query, "cand_id": id, "score": int(chance.random() < 0.4)} for query in IDS[:6] for id in IDS[6:18])
    write_lines(path, rows)


def labelled(folder: Path, name: str) -> None:
    chance = np.random.default_rng(len(name))
    texts(folder, TEXTS.get(name, name))
    for split, ids in (("train", IDS[:80]), ("test", IDS[80:])):
        labels = chance.integers(0, 2, len(ids)) if name in CLASSES else chance.normal(size=len(ids))
        lines = "".join(f"{id},{label}\n" for id, label in zip(ids, labels.tolist(), strict=True))
        write_text(folder / name / f"{split}.csv", f"paper_id,label\n{lines}")


def ranked(folder: Path, name: str) -> None:
    candidates = [paper(id, "doc_id") for id in IDS[6:18]]
    rows = [{"query": paper(id, "doc_id"), "candidates": candidates} for id in IDS[:6]]
    if name in ("search", "nfcorpus", "trec_covid", "feeds_title"):
        rows = [{"doc_id": id, "query": f"title of {id}", "candidates": candidates} for id in IDS[:6]]
    write_lines(folder / name / "evaluation.jsonl", rows)
    judged(folder / name / "test_qrel.jsonl", len(name))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All but Fields of Study, whose few-shot forms take a minute, and S2AND; with a file of vectors beside it."""
    folder = tmp_path_factory.mktemp("suite") / "data"
    write_vectors(folder.parent / "v.jsonl", made_vectors(IDS))
    for name in (*CLASSES, *NUMBERS):
        labelled(folder, name)
    for name in RANKED:
        ranked(folder, name)
    texts(folder, "scidocs_view_cite_read")
    for seed, name in enumerate(("scidocs_view", "scidocs_read", "scidocs_cite", "scidocs_cocite")):
        judged(folder / name / "test_qrel.jsonl", seed)
    texts(folder, "paper_reviewer_matching")
    write_lines(folder / "reviewers/reviewer_metadata.jsonl", ({"r_id": f"r{at}", "papers": IDS[at : at + 4]} for at in range(12)))
    for kind, share in (("hard", 0.3), ("soft", 0.6)):
        chance = np.random.default_rng(3)
        rows = [{"query_id": IDS[50], "cand_id": f"r{at}", "score": int(chance.random() < share)} for at in range(12)]
        write_lines(folder / f"paper_reviewer_matching/test_{kind}_qrel.jsonl", rows)
    return folder


def measured(name: str, data: Path, **options: Any) -> Any:
    return evaluate_suite(name, data, embeddings=str(data.parent / "v.jsonl"), **options)


@pytest.fixture(scope="module")
def whole(data: Path) -> tuple[SuiteReport, Path]:
    """All of the suite, evaluated once, and the folder of its results."""
    return measured("scirepeval", data, output=data.parent / "out"), data.parent / "out"


@pytest.fixture
def out(whole: tuple[SuiteReport, Path], tmp_path: Path) -> Path:
    """A copy of these results, which are not computed again where they are asked for again."""
    return shutil.copytree(whole[1], tmp_path / "out")


def test_every_figure_is_its_benchmarks_and_averages_are_means_of_figures(data: Path, whole: tuple[SuiteReport, Path]) -> None:
    report, out = whole
    value_of = {(figure.name, figure.measure): value for figure, value in report.figures}
    assert len(value_of) == 25
    for name, key in (("max-h-index", ("h-Index of Authors", "tau")), ("biomimicry", ("Biomimicry", "F1")), ("relish", ("RELISH", "nDCG"))):
        alone = evaluate(name, data, embeddings=str(data.parent / "v.jsonl")).to_dict()
        assert alone["rounded"][key[1]] == value_of[key]
        assert json.loads((out / name / "report.json").read_text())["rounded"] == alone["rounded"]
    scidocs = evaluate("scidocs-scirepeval", data, embeddings=str(data.parent / "v.jsonl")).to_dict()["per_task"]
    assert scidocs["co-read"]["rounded"] == {measure: value_of["SciDocs CoRead", measure] for measure in ("MAP", "nDCG")}
    matching = [value for (task, _), value in value_of.items() if task == "Paper-Reviewer Matching"]
    assert matching == list(evaluate("reviewer-matching", data, embeddings=str(data.parent / "v.jsonl")).to_dict()["rounded"].values())

    out_of_train = [value for figure, value in report.figures if figure.group == "out-of-train"]
    regression = [value_of["Citation Count", "tau"], value_of["Year of Publication", "tau"]]
    for name, values, there, of in (("out-of-train", out_of_train, 19, 20), ("in-train RGN", regression, 2, 2)):
        average, *counts = report.averages[name]
        assert average == pytest.approx(np.mean(values))
        assert counts == [there, of]
    assert report.averages["average"][1:] == (25, 27)


def test_what_is_missing_is_said_and_not_averaged_over_in_silence(data: Path, out: Path) -> None:
    shutil.rmtree(out / "relish")
    texts_of = (data / "relish/evaluation.jsonl").rename(data / "relish/away")
    try:
        report = measured("scirepeval", data, output=out)
    finally:
        texts_of.rename(data / "relish/evaluation.jsonl")
    as_json = report.to_dict()
    assert set(as_json["missing"]) == {"Fields of Study", "S2AND", "RELISH"}
    assert set(as_json["measures"]) == {f"{group} {format}" for group, format in COMPLETE}
    assert as_json["incomplete"]["average"]["figures"] == 24
    assert as_json["incomplete"]["average"]["of"] == 27
    text = "\n".join(report.lines())
    assert "in-train is the mean of 6 of its 7 figures, so it does not compare with the published ones" in text
    assert "out-of-train is the mean of 18 of its 20 figures" in text
    assert re.search(r"left out: RELISH: relish needs evaluation-\*\.parquet", text)
    assert "left out: S2AND: s2and needs arnetminer_signatures.json" in text
    mean, *_ = report.averages["in-train"]
    assert re.search(rf"^> v\.jsonl +\({mean:.2f}\) +\(\d+\.\d\d\) +\(\d+\.\d\d\)  measured here$", text, re.MULTILINE)
    assert "SPECTER2 Adapters + MTL CTRL" in text
    assert "SPECTER2, trained on CLF+RGN" in text


COMPLETE = [
    ("in-train", "RGN"),
    ("in-train", "PRX"),
    ("in-train", "SRCH"),
    *(("out-of-train", format) for format in ("CLF", "RGN", "SRCH")),
]


def test_the_system_of_a_suite_is_named_as_it_was_asked_for(models: Path, tmp_path: Path) -> None:
    """Each benchmark has its own control code before papers, the first one that of classification."""
    write_bert(models / "allenai/scirepeval_ctrl", 6, extra=["[CLF]", "[PRX]", "[QRY]", "[RGN]"])
    data, out = tmp_path / "data", tmp_path / "out"
    labelled(data, "mesh_descriptors")
    ranked(data, "relish")
    report = evaluate_suite("scirepeval", data, encoder="scirepeval-ctrl", precision="fp32", cache=tmp_path / "cache", output=out)
    names = [json.loads((out / name / "report.json").read_text())["system"]["name"] for name in ("mesh-descriptors", "relish")]
    assert names == ["scirepeval-ctrl with [CLF]", "scirepeval-ctrl"]
    assert report.system == report.to_dict()["system"]["name"] == "scirepeval-ctrl"
    assert re.search(r"^> scirepeval-ctrl +\(", "\n".join(report.lines()), re.MULTILINE)
    (data / "mesh_descriptors/train.csv").unlink()
    chosen = evaluate_suite("scirepeval", data, encoder="scirepeval-ctrl", adapter="[RGN]", precision="fp32", cache=tmp_path / "cache")
    assert chosen.system == "scirepeval-ctrl with [RGN]"


def test_the_first_version_has_feeds_and_a_group_for_scidocs(data: Path, out: Path) -> None:
    report = measured("scirepeval-2022", data, output=out)
    assert {name: counts for name, (_, *counts) in report.averages.items() if " " not in name} == {
        "in-train": [6, 7],
        "out-of-train": [10, 11],
        "SciDocs": [10, 10],
        "average": [26, 28],
    }
    assert list(report.to_dict()["rounded"])[-2:] == ["SciDocs", "PRX without S2AND"]
    assert "SciRepEval's first version, Table 2" in "\n".join(report.lines())


def test_a_benchmark_that_is_done_is_not_done_again(data: Path, whole: tuple[SuiteReport, Path], out: Path) -> None:
    first, _ = whole
    times = {path: path.stat().st_mtime_ns for path in out.rglob("receipt.json")}
    assert len(times) == 18
    (out / "relish/receipt.json").unlink()
    again = measured("scirepeval", data, output=out)
    assert {**again.to_dict(), "times": {}} == {**first.to_dict(), "times": {}}
    assert again.times["answered_queries"] == first.times["answered_queries"]
    new_times = {path: path.stat().st_mtime_ns for path in out.rglob("receipt.json")}
    assert {path.parent.name for path in times if times[path] != new_times[path]} == {"relish"}
    _, differences = sr.evaluation.replay(out / "drsm/receipt.json")
    assert differences == []


@pytest.mark.usefixtures("whole")
def test_a_suite_as_it_is_typed(data: Path, tmp_path: Path) -> None:
    cell = tmp_path / "matrix/scirepeval/a"  # where the matrix below finds it done
    shutil.copytree(data.parent / "out", cell)
    vectors = data.parent / "v.jsonl"
    result = call("evaluate", "scirepeval", "--data", data, "--embeddings", vectors, "--format", "json", "-q", "-o", cell)
    assert result.exit_code == 0, result.output
    time = (cell / "drsm/receipt.json").stat().st_mtime_ns
    assert json.loads(result.stdout)["kind"] == "suite"
    assert "scirepeval-2022" in call("benchmarks").stdout
    shown = call("benchmarks", "show", "scirepeval").stdout
    assert "the mean of 27 figures, and of those of each group: in-train, out-of-train" in shown
    assert f"the mean of those of each group: {FINE}, {COARSE}" in call("benchmarks", "show", "scimult").stdout
    plan = f'[systems.a]\nembeddings = "{vectors}"\n[benchmarks.scirepeval]\ndata = "{data}"\n'
    result = call("evaluate", "matrix", write_text(tmp_path / "plan.toml", plan), "-o", tmp_path / "matrix")
    assert result.exit_code == 0, result.output
    assert (cell / "drsm/receipt.json").stat().st_mtime_ns == time
    assert re.search(r"scirepeval out-of-train +\(\d+\.\d\d\)\n", result.stdout)
    assert "in brackets: averages over part of their figures" in result.stdout
    page = (tmp_path / "matrix/index.html").read_text()
    assert "Tweet Mentions" in page
    cells = json.loads((tmp_path / "matrix/matrix.json").read_text())["cells"]
    assert "Biomimicry F1" in cells[0]["measures"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "hybrid"}, "predicts labels from vectors, so it goes with `mode='dense'` only"),
        ({"index": "indexes/x"}, "does not go with `index`"),
        ({"scores": "x"}, "does not go with `scores`"),
        ({"task": "full"}, "does not go with `task`"),
        ({"measures": ("MAP",)}, "does not go with `measures`"),
        ({"metric": "cosine"}, "averages figures of all its benchmarks' own protocols, so it does not go with `metric`"),
    ],
)
def test_what_does_not_go_with_a_suite_is_refused(tmp_path: Path, options: Any, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        evaluate_suite("scirepeval", tmp_path, **options)


def test_a_suite_takes_encoders_as_objects_and_keeps_results_of_the_same(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "relish", tmp_path / "data" / "relish")

    def figures(encoder: Any) -> Any:
        report = evaluate_suite("scirepeval", tmp_path / "data", encoder=encoder, output=tmp_path / "out", cache=tmp_path / "cache")
        return report.system, report.to_dict()["per_task"]

    first, again = OwnLetters(), OwnLetters()
    expected = figures(first)
    assert (expected[0], bool(first.papers)) == (first.identity, True)
    assert (figures(again), again.papers) == (expected, [])
    other = LetterEncoder(first.identity)
    assert (figures(other) == expected, bool(other.asked)) == (False, True)
    assert figures("letters") == ("letters", figures(LetterEncoder())[1])
    with pytest.raises(UnknownName, match="unknown suite 'scirepevil'"):
        evaluate_suite("scirepevil", tmp_path)


def test_a_wrong_folder_is_recognised(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"has the files of one task \(evaluation\.jsonl\); scirepeval needs the folder above"):
        evaluate_suite("scirepeval", data / "relish")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="has no files of any task of scirepeval"):
        evaluate_suite("scirepeval", tmp_path / "empty")
    shutil.copytree(data / "drsm", tmp_path / "own/drsm")
    write_text(tmp_path / "own/drsm/train.csv", "doc_id,title\np1,Words\n")
    with pytest.raises(InvalidRequest, match=r"^drsm: \S+train\.csv, line 2: no paper_id; found doc_id, title"):
        evaluate_suite("scirepeval", tmp_path / "own", embeddings=str(data.parent / "v.jsonl"))
    with pytest.raises(NotFound, match="there is no folder"):
        evaluate_suite("scirepeval", tmp_path / "nowhere")
    with pytest.raises(InvalidRequest, match="name their folder with `data`"):
        evaluate_suite("scirepeval")
    with pytest.raises(InvalidRequest, match="scirepeval is several benchmarks at once; name one: mesh-descriptors, "):
        evaluate("scirepeval", data)


def test_figures_are_those_of_benchmarks() -> None:
    for suite in SUITES.values():
        for figure in suite.figures:
            if not figure.task and figure.measure != "mean":
                of_benchmark = {one.measure for one in suite.figures if one.benchmark == figure.benchmark}
                assert set(CATALOGUE[figure.benchmark].protocol.measures) == of_benchmark
    assert [len(suite.figures) for suite in SUITES.values()] == [27, 28, 5, 12, 41]


def mean_of(published: dict[str, float], weights: dict[str, int]) -> Any:
    """The mean of numbers that were printed with one decimal, so that it may differ by one in the last digit."""
    return pytest.approx(sum(published[name] * weight for name, weight in weights.items()) / sum(weights.values()), abs=0.101)


@pytest.mark.parametrize("name", ["scirepeval", "scirepeval-2022"])
def test_published_averages_are_the_means_that_our_figures_give(name: str) -> None:
    """MAP and nDCG count as one figure each: so says the arithmetic of the papers' own tables, in every row."""
    suite = SUITES[name]
    groups = Counter(figure.group for figure in suite.figures)
    formats = Counter(f"{figure.group} {figure.format}" for figure in suite.figures)
    by_group = by_format = 0
    for row in PUBLISHED[name]:
        published = {column: value for (_, column), value in row.values.items()}
        if "out-of-train PRX without S2AND" in published:
            if name == "scirepeval":
                assert published["PRX without S2AND"] == mean_of(published, {"in-train PRX": 2, "out-of-train PRX without S2AND": 10}), row
            continue
        if "in-train CLF" not in published:
            assert published["average"] == mean_of(published, groups), row
            by_group += 1
            continue
        in_train, out_of_train = ({key: n for key, n in formats.items() if key.startswith(group)} for group in ("in-train", "out-of-train"))
        assert published["out-of-train"] == mean_of(published, out_of_train), row
        if name == "scirepeval":  # its in-train averages do not follow from its formats, but in the last row
            assert published["average"] == mean_of(published, formats), row
        elif row.system != "SciNCL, trained on CLF + PRX":  # where search, 43.8, must be a misprint
            assert published["in-train"] == mean_of(published, in_train), row
        by_format += 1
    assert (by_group, by_format) == ((20, 11) if name == "scirepeval" else (17, 11))


SOME = IDS[:30]
PAPER = "SciMult"
FINE, COARSE = "Classification (Fine)", "Classification (Coarse)"
RETRIEVAL, RERANKING = "Link Prediction (Retrieval)", "Link Prediction (Reranking)"
SEARCH = "Search"
GROUPS = {FINE: 12, COARSE: 4, RETRIEVAL: 9, RERANKING: 11, SEARCH: 5}
TABLE_OF = {FINE: "3", COARSE: "4", RETRIEVAL: "5", RERANKING: "7", SEARCH: "8"}


def printed_average(name: str) -> dict[str, float]:
    """An average's printed value for each system, in the table of the paper that has all of its columns."""
    source = f"{PAPER}, Table {TABLE_OF[name]}"
    return {row.system: row.values["", name] for row in PUBLISHED["scimult"] if row.source == source}


def test_published_averages_follow_from_their_tables_columns() -> None:
    """Of all rows; 75.54 and 76.31 do, so that 75.51 and 76.28 in Tables A4 and A5 are misprints."""
    rows = 0
    for name, number in TABLE_OF.items():
        parts = [table for table in TABLES if (table.paper, table.number) == (PAPER, number)]
        width = GROUPS[name]
        for _, system, cells in parts[0].lines:
            if "-" not in cells:
                assert printed_average(name)[system] == pytest.approx(np.mean([float(cell) for cell in cells[:width]]), abs=0.0051), (
                    name,
                    system,
                )
                assert float(cells[width]) == printed_average(name)[system]
                rows += 1
    assert rows == 14 + 14 + 15 + 14 + 15
    in_appendix = {row.system: row.values["", COARSE] for row in PUBLISHED["scimult"] if "prints it" in row.system}
    assert in_appendix == {"SciMult-Vanilla, as Table A4 prints it": 75.51, "SciMult-MHAExpert, as Table A5 prints it": 76.28}


def test_the_suite_averages_the_columns_of_each_table() -> None:
    suite = SUITES["scimult"]
    assert {group: sum(figure.group == group for figure in suite.figures) for group in GROUPS} == GROUPS
    assert len(set(suite.figures)) == len(suite.figures)
    report = SuiteReport(suite, "", [(figure, float(at)) for at, figure in enumerate(suite.figures)], [], [], {})
    assert list(report.averages) == [*GROUPS]  # the paper averages no further


def test_changes_against_vanilla_are_those_of_table_9() -> None:
    suite = SUITES["scimult"]
    text = shared("..", "papers", PAPERS[PAPER]).read_text(encoding="utf-8")
    variants = ("SciMult-MHAExpert", "SciMult-FFNExpert", "SciMult-Prefix", "SciMult-Instruction")
    for at, variant in enumerate(variants):
        means = {name: printed_average(name)[variant] for name in GROUPS}
        changes = SuiteReport(suite, "", [(figure, means[figure.group]) for figure in suite.figures], [], [], {}).changes
        # the text lost the row of fine-grained labels but for some of its cells
        for name, label in {COARSE: r"\(Coarse\)", RETRIEVAL: r"\(Retrieval\)", RERANKING: "Table 7", SEARCH: "Search"}.items():
            line = re.search(rf"\t?{label}\t(?:[-+][\d.]+%\t?){{4}}", text)
            assert line is not None, label
            printed = re.findall(r"[-+][\d.]+", line[0])
            assert changes[name] == pytest.approx(float(printed[at]), abs=0.011), (variant, name)
    assert changes[FINE] == pytest.approx(0.68, abs=0.011)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """SciMult's archive with SciDocs' files in a folder of it; without labels, classes and searches."""
    chance = np.random.default_rng(1)
    folder = tmp_path / "data"
    links = folder / "link_prediction_retrieval"
    some = [[str(other) for other in chance.choice(SOME, 4, replace=False)] for _ in SOME]
    rows = [paper(id) | {"paper": id, "cite": one, "co-cite": one[:2]} for id, one in zip(SOME, some, strict=True)]
    write_lines(links / "SciDocs_papers_test.json", rows)
    write_lines(links / "PMCPatientsPPR_patients_test.json", (paper(id, "patient") for id in SOME))
    write_lines(links / "PMCPatientsPPR_queries_test.json", ({"title": "t", "abstract": "a", "patient": one} for one in some[:5]))
    for name in ("patients", "queries"):  # files of the same names, for another protocol
        write_text(folder / f"pmc_patients/PMCPatientsPPR_{name}_test.json", "{}\n")
    grades = [
        paper(id) | {"paper": id, "score": {other: at + 1 for at, other in enumerate(one)}} for id, one in zip(SOME, some, strict=True)
    ]
    write_lines(folder / "link_prediction_reranking/Recommendation_papers_test.json", grades)
    judged = {id: dict.fromkeys(some[at] + SOME[10 + at : 14 + at], 0) | dict.fromkeys(some[at][:2], 1) for at, id in enumerate(SOME[:6])}
    write_scidocs(folder / "scidocs", dict.fromkeys(SCIDOCS, judged), SOME)
    return folder


def test_a_suite_is_scored_by_cosine_where_the_paper_scores_its_baselines_so(archive: Path, tmp_path: Path) -> None:
    vectors = {id: vector * (1 + at) for at, (id, vector) in enumerate(made_vectors([*SOME, *map(str, range(1, 6))]).items())}
    file = str(write_vectors(tmp_path / "v.jsonl", vectors))
    report = evaluate_suite("scimult", archive, embeddings=file, metric="cosine")
    value_of = {(figure.benchmark, figure.task, figure.measure): value for figure, value in report.figures}
    for benchmark in ("scidocs-cite", "pmc-patients-zeroshot", "recommendation"):
        by_cosine = evaluate(benchmark, archive, embeddings=file, metric="cosine").to_dict()["rounded"]
        assert {name: value_of[benchmark, "", name] for name in by_cosine} == by_cosine
    assert by_cosine != evaluate("recommendation", archive, embeddings=file).to_dict()["rounded"]
    by_distance = evaluate("scidocs-rerank", archive, embeddings=file).to_dict()["per_task"]["co-view"]["rounded"]
    assert {name: value_of["scidocs-rerank", "co-view", name] for name in by_distance} == by_distance

    retrieval = [value for figure, value in report.figures if figure.group == RETRIEVAL]
    mean, *counts = report.averages[RETRIEVAL]
    assert mean == pytest.approx(np.mean(retrieval))
    assert counts == [9, 9]
    as_json = report.to_dict()
    assert set(as_json["rounded"]) == {RETRIEVAL, RERANKING}
    vanilla = printed_average(RETRIEVAL)["SciMult-Vanilla"]
    assert as_json["changes"]["SciMult-Vanilla"][RETRIEVAL] == pytest.approx(mean / vanilla - 1)
    text = "\n".join(report.lines())
    assert re.search(r"^  SciMult-MHAExpert +50\.46  SciMult, Table 5$", text, re.MULTILINE)
    # these files are parts of the published ones, and a row says so
    assert "against the published SciMult-Vanilla" not in text
    assert f"({mean:.2f})" in text
    assert re.search(r"^in brackets: scidocs-cite: \d+ of 92,214 queries; \d+ of 142,009 candidates: does not compare$", text, re.MULTILINE)
    assert any(line.startswith("scidocs-cite: ") and line.endswith(" of 142,009 candidates") for line in as_json["partial"])
    whole = "\n".join(replace(report, partial={}).lines())
    assert f"against the published SciMult-Vanilla: {RETRIEVAL} {100 * (mean / vanilla - 1):+.2f} %" in whole
    assert f"({mean:.2f})" not in whole
    assert "left out: CSConference, ChemistryMeSH, Geography, Psychology: maple needs" in text
