"""Published benchmarks made anew from small files in their sources' layouts, against plain loops."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest, NotFound, SciretrieveError, UnknownName
from sciretrieve.evaluation import evaluate
from sciretrieve.evaluation.builders import build_published
from tests.command_line import sciretrieve
from tests.evaluation.made_up_benchmarks import paper, write_lines, write_text


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def metadata() -> dict[str, dict[str, Any]]:
    """SciDocs' papers: references inside and outside, null texts and lists, and papers from elsewhere that cite them."""
    chance = random.Random(3)
    ids = [f"s{number}" for number in range(40)]
    rows: dict[str, dict[str, Any]] = {
        id: {**paper(id), "references": sorted({*chance.sample(ids, 8), "x1"} - {id}), "cited_by": []} for id in ids
    }
    for number in range(30):
        for id in chance.sample(ids[:12], 6):
            rows[id]["cited_by"].append(f"outside{number}")
    rows["s39"] |= {"abstract": None, "references": None, "cited_by": None}
    return rows


def test_scidocs_from_its_metadata(tmp_path: Path) -> None:
    rows = metadata()
    write_text(tmp_path / "scidocs" / "paper_metadata_view_cite_read.json", json.dumps(rows))
    result = sciretrieve("benchmarks", "build", "scidocs-cite", "--from", tmp_path / "scidocs", "--to", tmp_path / "made")
    assert result.returncode == 0, result.stderr
    assert "40 papers, where 142,009 were published" in result.stderr
    citing = {id: {other for other in rows if id in (rows[other]["references"] or [])} | set(rows[id]["cited_by"] or []) for id in rows}
    made = lines(tmp_path / "made" / "link_prediction_retrieval" / "SciDocs_papers_test.json")
    assert [row["paper"] for row in made] == list(rows)
    for row in made:
        id = row["paper"]
        assert (row["title"], row["abstract"]) == (rows[id]["title"], rows[id]["abstract"] or "")
        assert set(row["cite"]) == {other for other in rows[id]["references"] or [] if other in rows}
        assert set(row["co-cite"]) == {other for other in rows if other != id and len(citing[id] & citing[other]) >= 10}
    assert any(row["co-cite"] for row in made)
    assert not all(row["co-cite"] for row in made)
    for name in ("scidocs-cite", "scidocs-cocite"):
        report = evaluate(name, tmp_path / "made", mode="bm25", cache=tmp_path / "cache")
        assert report.to_dict()["queries"] == sum(bool(row["cite" if name == "scidocs-cite" else "co-cite"]) for row in made)


def test_patients_with_the_queries_of_all_splits(tmp_path: Path) -> None:
    source = tmp_path / "pmc"
    write_lines(source / "PPR" / "corpus.jsonl", ({"_id": f"p{number}", "title": "", "text": f"patient {number}"} for number in range(9)))
    for place, split in enumerate(("train", "dev", "test")):
        write_lines(source / "queries" / f"{split}_queries.jsonl", [{"_id": f"{split}1", "text": f"the {split} patient"}])
        write_text(source / "PPR" / f"qrels_{split}.tsv", f"query-id\tcorpus-id\tscore\n{split}1\tp{place}\t1\n{split}1\tp8\t2\n")
    build_published("pmc-patients-zeroshot", [source], tmp_path / "made")
    folder = tmp_path / "made" / "link_prediction_retrieval"
    assert lines(folder / "PMCPatientsPPR_patients_test.json")[2] == {"patient": "p2", "title": "", "abstract": "patient 2"}
    assert lines(folder / "PMCPatientsPPR_queries_test.json") == [
        {"title": "", "abstract": f"the {split} patient", "patient": [f"p{place}", "p8"]}
        for place, split in enumerate(("train", "dev", "test"))
    ]
    report = evaluate("pmc-patients-zeroshot", tmp_path / "made", mode="bm25", cache=tmp_path / "cache").to_dict()
    assert report["queries"] == 3
    assert report["measures"]["R@20"] == 1  # all share the word "patient"


WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


def beir(folder: Path, *splits: str) -> Path:
    write_lines(
        folder / "corpus.jsonl", ({"_id": f"d{number}", "title": f"on {word}", "text": "text"} for number, word in enumerate(WORDS))
    )
    write_lines(folder / "queries.jsonl", ({"_id": split, "text": WORDS[place]} for place, split in enumerate(splits)))
    for place, split in enumerate(splits):
        write_text(folder / "qrels" / f"{split}.tsv", f"query-id\tcorpus-id\tscore\n{split}\td{place}\t2\n{split}\td5\t0\n")
    return folder


def test_search_sets_hold_all_splits(tmp_path: Path) -> None:
    sources = [beir(tmp_path / "scifact", "train", "test"), beir(tmp_path / "NFCorpus", "train", "dev", "test")]
    build_published("scimult-search", sources, tmp_path / "made")
    queries = lines(tmp_path / "made" / "search" / "NFCorpus_queries_test.json")
    assert queries == [
        {"query_id": split, "query": WORDS[place], "score": {f"d{place}": 2, "d5": 0}}
        for place, split in enumerate(("train", "dev", "test"))
    ]
    assert len(lines(tmp_path / "made" / "search" / "SciFact_papers_test.json")) == 6
    report = evaluate("scimult-search", tmp_path / "made", mode="bm25", cache=tmp_path / "cache")
    assert {name: task["queries"] for name, task in report.to_dict()["per_task"].items()} == {"SciFact": 2, "NFCorpus": 3}
    assert report.to_dict()["per_task"]["NFCorpus"]["measures"]["nDCG@10"] == 1
    assert any(
        "files are missing are left out: Search, TRECCOVID_SciRepEval, TRECCOVID_BEIR; so no mean" in line for line in report.lines()
    )
    assert evaluate("scimult-search", tmp_path / "made", task="SciFact", mode="bm25", cache=tmp_path / "cache").to_dict()["queries"] == 2


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("scidocs-cite", InvalidRequest, "expected {id: {title, abstract, references, cited_by}}, found abstract, paper_id, title"),
        ("pmc-patients-zeroshot", NotFound, "pmc-patients-zeroshot needs PPR/PPR_corpus.jsonl or PPR/corpus.jsonl"),
        ("scimult-search", InvalidRequest, "is neither scifact nor nfcorpus, going by its name"),
        ("relish", UnknownName, "unknown benchmark to build 'relish'"),
    ],
)
def test_files_of_another_kind_are_one_line(tmp_path: Path, name: str, error: type[SciretrieveError], message: str) -> None:
    write_text(tmp_path / "other" / "paper_metadata_view_cite_read.json", json.dumps({"s1": paper("s1")}))
    with pytest.raises(error) as told:
        build_published(name, [tmp_path / "other"], tmp_path / "made")
    assert message in str(told.value)
    assert "\n" not in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    result = sciretrieve("benchmarks", "build", "scidocs-cite", "--from", tmp_path, "--to", tmp_path / "x", "--set", "cited=9")
    assert result.returncode == 2
    assert "options are for cite and multi-scidocs" in result.stderr
