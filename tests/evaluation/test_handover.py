"""S2AND's own figure: the vectors as its code reads them, and the table as it writes it."""

from __future__ import annotations

import json
import pickle
import pickletools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, InvalidRequest, NotFound, ResultAwaited
from sciretrieve.evaluation import evaluate, evaluate_suite
from sciretrieve.evaluation.readers.s2and import DATASETS
from tests.evaluation.made_up_benchmarks import paper, write_text, write_vectors

ROWS = (*DATASETS, "union", "s2")
BLOCKS = {"train": ["a"], "dev": ["b", "c"], "test": ["d", "e", "f"]}


def s2and(folder: Path, dataset: str, seed: int) -> dict[str, Any]:
    """One data set in the authors' layout. Returns the papers' vectors."""
    chance = np.random.default_rng(seed)
    signatures: dict[str, Any] = {}
    clusters: dict[str, Any] = {}
    for author in (f"{block}{number}" for names in BLOCKS.values() for block in names for number in range(int(chance.integers(1, 5)))):
        mentions = range(len(signatures), len(signatures) + int(chance.integers(1, 7)))
        clusters[author] = {"cluster_id": author, "signature_ids": [str(id) for id in mentions], "model_version": -1}
        for id in mentions:
            signatures[str(id)] = {"signature_id": str(id), "paper_id": 1000 + id, "author_info": {"block": author[0], "first": "A"}}
    ids = [str(row["paper_id"]) for row in signatures.values()]
    for name, value in (("signatures", signatures), ("clusters", clusters), ("papers", {id: paper(id) for id in ids})):
        write_text(folder / dataset / f"{dataset}_{name}.json", json.dumps(value))
    write_text(folder / f"blocks/block_sigs_{dataset}.json", json.dumps(BLOCKS))
    return {id: chance.normal(size=5).astype(np.float32) for id in ids}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """All data sets, and a file of vectors beside them."""
    vectors: dict[str, Any] = {}
    for seed, dataset in enumerate(DATASETS):
        vectors |= s2and(tmp_path / "data", dataset, seed)
    write_vectors(tmp_path / "v.jsonl", vectors)
    return tmp_path / "data"


def options(data: Path) -> Any:
    return {"embeddings": str(data.parent / "v.jsonl")}


def name_in(message: str) -> str:
    found = re.search(r"--experiment_name (\S+) --exclude_medline --emb_suffix _\1\.pkl`", message)
    assert found, message
    return found[1]


def awaited(data: Path) -> str:
    """The name of the run that is asked for."""
    with pytest.raises(ResultAwaited) as caught:
        evaluate("s2and", data, **options(data))
    assert (caught.value.exit_code, str(caught.value).count("\n")) == (4, 0)
    return name_in(str(caught.value))


def table() -> dict[str, list[list[Any]]]:
    """A table as S2AND's script writes it, with different values everywhere."""
    chance = np.random.default_rng(7)
    grid = [["", *DATASETS], *([row, *chance.uniform(0.5, 1, len(DATASETS)).round(3).tolist()] for row in ROWS)]
    return {"b3": grid, "auroc": grid}


def put(data: Path, name: str, content: Any) -> Path:
    return write_text(data / "experiments" / name / "average_full_grid.json", json.dumps(content))


def test_vectors_are_written_as_its_code_reads_them(data: Path) -> None:
    name = awaited(data)
    stored = {row["paper_id"]: row["embedding"] for row in map(json.loads, (data.parent / "v.jsonl").read_text().splitlines())}
    for dataset in DATASETS:
        path = data / dataset / f"{dataset}_{name}.pkl"
        matrix, keys = pickle.loads(path.read_bytes())  # as `ANDData.maybe_load_specter` does
        vector_of = {key: matrix[row, :] for row, key in enumerate(keys)}
        signatures = json.loads((data / dataset / f"{dataset}_signatures.json").read_text())
        assert set(vector_of) == {str(row["paper_id"]) for row in signatures.values()}
        assert matrix.dtype == np.float32
        for id, vector in vector_of.items():
            assert vector.tolist() == np.array(stored[id], np.float32).tolist()
        used = [part for _, part, _ in pickletools.genops(path.read_bytes()) if isinstance(part, str)]
        assert used[:2] == ["numpy", "ndarray"]
        assert not any("core" in part for part in used)  # NumPy 2's own name for it, which the NumPy of S2AND does not know


def test_the_figure_is_the_mean_of_the_table(data: Path, tmp_path: Path) -> None:
    path = put(data, awaited(data), table())
    report = evaluate("s2and", data, output=tmp_path / "out", **options(data))
    values = np.array([row[1:] for row in table()["b3"][1:]])
    as_json = report.to_dict()
    assert as_json["measures"] == {"B3 F1": pytest.approx(values.mean())}
    assert as_json["rounded"] == {"B3 F1": pytest.approx(100 * values.mean(), abs=0.00501)}
    assert [row["measures"]["B3 F1"] for row in as_json["per_task"].values()] == pytest.approx(values.mean(axis=0).tolist())
    assert list(as_json["per_task"]) == list(DATASETS)
    text = "\n".join(report.lines())
    assert f"note: computed by S2AND's own code, which wrote {path}" in text
    assert as_json["protocol"]["score"] == "S2AND's own code"
    signatures = json.loads((data / "qian/qian_signatures.json").read_text())
    mentions = [row["author_info"]["block"] in "def" for row in signatures.values()]
    assert f"qian: learnt from {mentions.count(False)} mentions of authors; predicted {mentions.count(True)}\n" in text
    _, differences = sr.evaluation.replay(tmp_path / "out/receipt.json")
    assert differences == []


def test_a_table_is_read_for_the_vectors_that_it_was_made_of(data: Path) -> None:
    name = awaited(data)
    put(data, name, table())
    other_vectors = {
        row["paper_id"]: np.array(row["embedding"]) + (at == 0)
        for at, row in enumerate(map(json.loads, (data.parent / "v.jsonl").read_text().splitlines()))
    }
    write_vectors(data.parent / "v.jsonl", other_vectors)
    assert awaited(data) != name


def test_papers_without_a_vector_are_counted_and_not_written(data: Path) -> None:
    rows = (data.parent / "v.jsonl").read_text().splitlines()
    gone = json.loads(rows[0])["paper_id"]
    (data.parent / "v.jsonl").write_text("\n".join(rows[1:]) + "\n")
    datasets = [name for name in DATASETS if f'"paper_id": {gone},' in (data / name / f"{name}_signatures.json").read_text()]
    name = awaited(data)
    put(data, name, table())
    tasks = evaluate("s2and", data, **options(data)).to_dict()["per_task"]
    assert [name for name in DATASETS if tasks[name]["papers_without_vector"]] == datasets
    _, keys = pickle.loads((data / datasets[0] / f"{datasets[0]}_{name}.pkl").read_bytes())
    assert gone not in keys


def test_the_suite_says_what_to_run_and_averages_with_the_figure_afterwards(data: Path, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="has no files of any task"):
        evaluate_suite("scirepeval", data, **options(data))
    write_text(data / "relish/evaluation.jsonl", json.dumps({"query": {"doc_id": "1000"}, "candidates": [{"doc_id": "1001"}]}) + "\n")
    write_text(data / "relish/test_qrel.jsonl", json.dumps({"query_id": "1000", "cand_id": "1001", "score": 1}) + "\n")
    before = evaluate_suite("scirepeval", data, output=tmp_path / "out", **options(data))
    reason = before.to_dict()["missing"]["S2AND"]
    assert [figure.name for figure, _ in before.figures] == ["RELISH"]
    put(data, name_in(reason), table())
    after = evaluate_suite("scirepeval", data, output=tmp_path / "out", **options(data))
    figures = {figure.name: value for figure, value in after.figures}
    assert figures["S2AND"] == pytest.approx(100 * np.mean([row[1:] for row in table()["b3"][1:]]), abs=0.00501)
    assert after.averages["out-of-train PRX"][0] == pytest.approx((figures["S2AND"] + figures["RELISH"]) / 2)
    assert "S2AND" not in after.to_dict()["missing"]
    assert any(note.startswith("s2and: computed by S2AND's own code") for note in after.notes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda grid: grid.pop(7), "the table 'b3' has None for union on arnetminer; remove the file"),
        (lambda grid: grid[2].__setitem__(3, ""), "the table 'b3' has '' for inspire on kisti"),
        (lambda grid: grid[2].__setitem__(3, float("nan")), "the table 'b3' has nan for inspire on kisti"),
        (lambda grid: [row.append(0.5 if at else "medline") for at, row in enumerate(grid)], "was --exclude_medline left out"),
        (lambda grid: grid[2].pop(), "has no table 'b3'; was it written by scripts/custom_block"),
        (lambda grid: grid.clear(), "has no table 'b3'"),
    ],
)
def test_a_table_of_another_run_is_refused(data: Path, change: Any, words: str) -> None:
    content = table()
    change(content["b3"])
    put(data, awaited(data), content)
    with pytest.raises(InvalidRequest, match=re.escape(words)):
        evaluate("s2and", data, **options(data))


def test_what_does_not_go_with_it_is_one_line(data: Path) -> None:
    write_text(data / f"experiments/{awaited(data)}/average_full_grid.json", '{"b3": [')
    with pytest.raises(CorruptData):
        evaluate("s2and", data, **options(data))
    with pytest.raises(InvalidRequest, match="scores its six data sets together: leave out `task`"):
        evaluate("s2and", data, task="qian", **options(data))
    with pytest.raises(InvalidRequest, match="s2and predicts clusters from vectors, so it goes with `mode='dense'`"):
        evaluate("s2and", data, mode="bm25")
    papers = data / "qian/qian_papers.json"
    papers.rename(data / "qian_papers.json")
    with pytest.raises(InvalidRequest, match=r"does not read \S+qian_papers\.json; name it "):
        evaluate("s2and", data, **options(data))
    (data / "qian_papers.json").rename(papers)
    (data / "elsewhere").mkdir()
    (data / "qian").rename(data / "elsewhere/qian")
    with pytest.raises(InvalidRequest, match="from one folder, and these are in several"):
        evaluate("s2and", data, **options(data))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("arnetminer/arnetminer_signatures.json", '{"0": {"paper_id": 1}}', "signature '0' has no author_info.block or no paper_id"),
        ("arnetminer/arnetminer_clusters.json", '{"a": {}}', "cluster 'a' has no list of signature_ids"),
        ("blocks/block_sigs_arnetminer.json", '{"train": ["a"], "test": ["d"]}', "has no list of blocks 'dev'; found test, train"),
        ("blocks/block_sigs_arnetminer.json", '{"train": ["a"], "dev": ["z"], "test": ["d"]}', "of the blocks of 'dev' has a signature"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, name: str, content: str, words: str) -> None:
    s2and(tmp_path, "arnetminer", 1)
    write_text(tmp_path / name, content)
    with pytest.raises(InvalidRequest, match=re.escape(words)):
        evaluate("s2and", tmp_path)
    (tmp_path / "arnetminer/arnetminer_papers.json").unlink()
    with pytest.raises(NotFound, match=r"s2and needs arnetminer_papers\.json"):
        evaluate("s2and", tmp_path)
