"""Parts of a benchmark stand apart, in brackets, and say of how much they are; whole ones, of the sizes that are published, do not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sciretrieve.base.types import Paper, Query
from sciretrieve.evaluation import CATALOGUE, evaluate
from sciretrieve.evaluation.material import Material, Task
from sciretrieve.evaluation.standings import Cell, Standings
from sciretrieve.evaluation.wholeness import lacking
from tests.evaluation.made_up_benchmarks import made_vectors, paper, write_lines, write_vectors

IDS = [f"p{number}" for number in range(30)]


def test_what_is_published_is_known_of_most() -> None:
    sizes = {name: row.published_sizes for name, row in CATALOGUE.items()}
    assert sizes["scidocs-cite"] == {"": {"queries": 92_214, "candidates": 142_009}}
    assert sizes["trec-covid"] == {"": {"queries": 50, "candidates": 171_332}}
    assert sizes["pmc-patients-ppr"] == {"": {"queries": 2_812, "candidates": 155_151}}
    assert sizes["relish"] == {"": {"queries": 3_190, "pairs": 191_245}}
    assert sizes["publication-year"] == {"": {"papers": 30_000}}
    assert {name for name, known in sizes.items() if not any(known.values())} < {
        *("asr", "mdcr", "mdcr-full", "multi-scidocs", "scidocs-recomm", "s2and", "s2and-vectors", "fields-of-study", "drsm"),
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
    rows = [{**paper(id, "paper"), "cite": [IDS[0]], "cocite": []} for id in IDS]
    write_lines(tmp_path / "data/link_prediction_retrieval/SciDocs_papers_test.json", rows)
    vectors = write_vectors(tmp_path / "v.jsonl", made_vectors(IDS))
    report = evaluate("scidocs-cite", tmp_path / "data", embeddings=vectors, metric="ip")
    lines = report.lines()
    (ours,) = (place for place, line in enumerate(lines) if line.startswith("> "))
    published = [place for place, line in enumerate(lines) if "SciMult, Table 5" in line]
    assert published
    assert max(published) < ours
    assert re.search(r"\(\d+\.\d\d\) +\(\d+\.\d\d\)", lines[ours])
    said = "30 of 92,214 queries; 30 of 142,009 candidates"
    assert f"in brackets: {said}: does not compare with published figures" in lines
    as_json = report.as_json()
    assert "; ".join(as_json["partial"]) == said
    standings = Standings.of([Cell("scidocs-cite", "v", as_json, {}, {})])
    assert standings.figure("v", 0).startswith("(")
    assert "scidocs-cite: 30 of 142,009 candidates: does not compare" in standings.notes()
    whole = replace(report, lacks=())
    assert not any("(" in line for line in whole.lines() if line.startswith("> "))
