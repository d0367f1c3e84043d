"""SciMult's five averages: as the columns of its tables give them, on made-up files, by cosine for its baselines, and against Vanilla."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sciretrieve.evaluation import SUITES, evaluate, evaluate_suite
from sciretrieve.evaluation.published import PUBLISHED, TABLES
from sciretrieve.evaluation.suites import SuiteReport
from tests.evaluation.made_up_benchmarks import SCIDOCS, made_vectors, paper, write_lines, write_scidocs, write_text, write_vectors
from tests.evaluation.test_published import PAPERS
from tests.made_up import shared

IDS = [f"p{number}" for number in range(30)]
PAPER = "SciMult"
FINE, COARSE = "Classification (Fine)", "Classification (Coarse)"
RETRIEVAL, RERANKING = "Link Prediction (Retrieval)", "Link Prediction (Reranking)"
SEARCH = "Search"
GROUPS = {FINE: 12, COARSE: 4, RETRIEVAL: 9, RERANKING: 11, SEARCH: 5}
TABLE_OF = {FINE: "3", COARSE: "4", RETRIEVAL: "5", RERANKING: "7", SEARCH: "8"}


def published(name: str) -> dict[str, float]:
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
                assert published(name)[system] == pytest.approx(np.mean([float(cell) for cell in cells[:width]]), abs=0.0051), (
                    name,
                    system,
                )
                assert float(cells[width]) == published(name)[system]
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
        means = {name: published(name)[variant] for name in GROUPS}
        changes = SuiteReport(suite, "", [(figure, means[figure.group]) for figure in suite.figures], [], [], {}).changes
        # the text lost the row of fine-grained labels but for some of its cells
        for name, label in {COARSE: r"\(Coarse\)", RETRIEVAL: r"\(Retrieval\)", RERANKING: "Table 7", SEARCH: "Search"}.items():
            line = re.search(rf"\t?{label}\t(?:[-+][\d.]+%\t?){{4}}", text)
            assert line is not None, label
            printed = re.findall(r"[-+][\d.]+", line[0])
            assert changes[name] == pytest.approx(float(printed[at]), abs=0.011), (variant, name)
    assert changes[FINE] == pytest.approx(0.68, abs=0.011)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """SciMult's archive with SciDocs' files in a folder of it; without labels, classes and searches."""
    chance = np.random.default_rng(1)
    folder = tmp_path / "data"
    links = folder / "link_prediction_retrieval"
    some = [[str(other) for other in chance.choice(IDS, 4, replace=False)] for _ in IDS]
    rows = [paper(id) | {"paper": id, "cite": one, "co-cite": one[:2]} for id, one in zip(IDS, some, strict=True)]
    write_lines(links / "SciDocs_papers_test.json", rows)
    write_lines(links / "PMCPatientsPPR_patients_test.json", (paper(id, "patient") for id in IDS))
    write_lines(links / "PMCPatientsPPR_queries_test.json", ({"title": "t", "abstract": "a", "patient": one} for one in some[:5]))
    for name in ("patients", "queries"):  # files of the same names, for another protocol
        write_text(folder / f"pmc_patients/PMCPatientsPPR_{name}_test.json", "{}\n")
    grades = [
        paper(id) | {"paper": id, "score": {other: at + 1 for at, other in enumerate(one)}} for id, one in zip(IDS, some, strict=True)
    ]
    write_lines(folder / "link_prediction_reranking/Recommendation_papers_test.json", grades)
    judged = {id: dict.fromkeys(some[at] + IDS[10 + at : 14 + at], 0) | dict.fromkeys(some[at][:2], 1) for at, id in enumerate(IDS[:6])}
    write_scidocs(folder / "scidocs", dict.fromkeys(SCIDOCS, judged), IDS)
    return folder


def test_a_suite_is_scored_by_cosine_where_the_paper_scores_its_baselines_so(data: Path, tmp_path: Path) -> None:
    vectors = {id: vector * (1 + at) for at, (id, vector) in enumerate(made_vectors([*IDS, *map(str, range(1, 6))]).items())}
    file = str(write_vectors(tmp_path / "v.jsonl", vectors))
    report = evaluate_suite("scimult", data, embeddings=file, metric="cosine")
    value_of = {(figure.benchmark, figure.task, figure.measure): value for figure, value in report.figures}
    for benchmark in ("scidocs-cite", "pmc-patients-zeroshot", "recommendation"):
        by_cosine = evaluate(benchmark, data, embeddings=file, metric="cosine").as_json()["rounded"]
        assert {name: value_of[benchmark, "", name] for name in by_cosine} == by_cosine
    assert by_cosine != evaluate("recommendation", data, embeddings=file).as_json()["rounded"]
    by_distance = evaluate("scidocs-rerank", data, embeddings=file).as_json()["per_task"]["co-view"]["rounded"]
    assert {name: value_of["scidocs-rerank", "co-view", name] for name in by_distance} == by_distance

    retrieval = [value for figure, value in report.figures if figure.group == RETRIEVAL]
    mean, *counts = report.averages[RETRIEVAL]
    assert mean == pytest.approx(np.mean(retrieval))
    assert counts == [9, 9]
    as_json = report.as_json()
    assert set(as_json["rounded"]) == {RETRIEVAL, RERANKING}
    vanilla = published(RETRIEVAL)["SciMult-Vanilla"]
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
