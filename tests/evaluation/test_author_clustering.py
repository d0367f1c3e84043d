"""Authors told apart by vectors: against clusters joined step by step, and B³ counted mention by mention."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.evaluation import evaluate
from sciretrieve.evaluation.author_clustering import b_cubed
from sciretrieve.evaluation.readers.s2and import DATASETS
from tests.evaluation.made_up_benchmarks import paper, write_text, write_vectors

BLOCKS = {"train": ["a"], "dev": ["b", "c"], "test": ["d", "e", "f"]}


def s2and(folder: Path, dataset: str, seed: int) -> tuple[dict[str, Any], dict[str, list[tuple[str, str]]]]:
    """One data set in the authors' layout: vectors around one centre an author, and each block's papers and true authors."""
    chance = np.random.default_rng(seed)
    signatures: dict[str, Any] = {}
    clusters: dict[str, Any] = {}
    papers: dict[str, Any] = {}
    vectors: dict[str, Any] = {}
    blocks: dict[str, list[tuple[str, str]]] = {}
    for block in (name for names in BLOCKS.values() for name in names):
        blocks[block] = []
        for author in range(int(chance.integers(1, 5))):
            centre = chance.normal(size=5)
            cluster: dict[str, Any] = {"cluster_id": f"{block}{author}", "signature_ids": [], "model_version": -1}
            clusters[f"{block}{author}"] = cluster
            for _ in range(int(chance.integers(1, 7))):
                id = str(len(signatures))
                signatures[id] = {"signature_id": id, "paper_id": 1000 + len(signatures), "author_info": {"block": block, "first": "A"}}
                cluster["signature_ids"].append(id)
                paper_id = str(signatures[id]["paper_id"])
                papers[paper_id] = paper(paper_id)
                vectors[paper_id] = (centre + 0.6 * chance.normal(size=5)).astype(np.float32)
                blocks[block].append((paper_id, f"{block}{author}"))
    for name, value in (("signatures", signatures), ("clusters", clusters), ("papers", papers)):
        write_text(folder / dataset / f"{dataset}_{name}.json", json.dumps(value))
    write_text(folder / f"blocks/block_sigs_{dataset}.json", json.dumps(BLOCKS))
    return vectors, blocks


def joined(mentions: list[str], vectors: dict[str, Any], threshold: float, heights: list[float] | None = None) -> list[set[int]]:
    """The two clusters with the least mean cosine distance join, as long as it is within the threshold; `heights` takes the distances."""
    rows = [vectors[id].astype(np.float64) / np.linalg.norm(vectors[id].astype(np.float64)) for id in mentions]
    groups = [{at} for at in range(len(rows))]
    while len(groups) > 1:
        distance, one, other = min(
            (float(np.mean([1 - rows[i] @ rows[j] for i in groups[a] for j in groups[b]])), a, b)
            for a, b in combinations(range(len(groups)), 2)
        )
        if distance > threshold:
            break
        groups[one] |= groups.pop(other)
        if heights is not None:
            heights.append(distance)
    return groups


def f1(blocks: list[list[tuple[str, str]]], vectors: dict[str, Any], threshold: float) -> float:
    """B³ F1 mention by mention."""
    precisions, recalls = [], []
    for block in blocks:
        groups = joined([id for id, _ in block], vectors, threshold)
        for at, (_, author) in enumerate(block):
            group = next(group for group in groups if at in group)
            same = {other for other, (_, name) in enumerate(block) if name == author}
            precisions.append(len(group & same) / len(group))
            recalls.append(len(group & same) / len(same))
    precision, recall = float(np.mean(precisions)), float(np.mean(recalls))
    return 2 * precision * recall / (precision + recall)


def test_authors_are_told_apart_as_by_hand(tmp_path: Path) -> None:
    made = {dataset: s2and(tmp_path / "data", dataset, seed) for seed, dataset in enumerate(DATASETS)}
    figures = []
    for seed, dataset in enumerate(DATASETS[:3]):
        vectors, blocks = made[dataset]
        path = write_vectors(tmp_path / f"{seed}.jsonl", vectors)
        report = evaluate("s2and-vectors", tmp_path / "data", embeddings=str(path), task=dataset).as_json()
        dev, test = ([blocks[name] for name in BLOCKS[split]] for split in ("dev", "test"))
        heights = [0.0]
        for block in dev:
            joined([id for id, _ in block], vectors, 9, heights)
        threshold = max(sorted(heights), key=lambda height: f1(dev, vectors, height + 1e-9))  # of equals the first
        assert report["rounded"]["B3 F1"] == round(100 * f1(test, vectors, threshold), 2)
        figures.append(report["rounded"]["B3 F1"])
    assert len(set(figures)) > 1


def test_the_report_says_what_was_clustered(tmp_path: Path) -> None:
    vectors: dict[str, Any] = {}
    for seed, dataset in enumerate(DATASETS):
        vectors |= s2and(tmp_path / "data", dataset, seed)[0]
    _, blocks = s2and(tmp_path / "data", "qian", 4)
    gone = blocks["d"][0][0]
    path = write_vectors(tmp_path / "v.jsonl", {id: vector for id, vector in vectors.items() if id != gone})
    report = evaluate("s2and-vectors", tmp_path / "data", embeddings=str(path))
    text = "\n".join(report.lines())
    dev, test = (sum(len(blocks[name]) for name in BLOCKS[split]) for split in ("dev", "test"))
    assert f"qian: learnt from {dev} mentions of authors; predicted {test - 1}; left out 1 without a vector" in text
    tasks = report.as_json()["per_task"]
    assert report.result.means["", "B3 F1"] == pytest.approx(np.mean([row["measures"]["B3 F1"] for row in tasks.values()]))
    assert "No published figure compares" in text
    with pytest.raises(InvalidRequest, match="s2and-vectors predicts clusters from vectors, so it goes with `mode='dense'`"):
        evaluate("s2and-vectors", tmp_path / "data", mode="bm25")
    other = write_vectors(tmp_path / "other.jsonl", {"x": np.ones(5, np.float32), "y": np.zeros(5, np.float32)})
    with pytest.raises(InvalidRequest, match="none of the papers of arnetminer has a vector"):
        evaluate("s2and-vectors", tmp_path / "data", embeddings=str(other))


def test_b_cubed_of_known_clusters() -> None:
    truth = np.array([1] * 5 + [2] * 2 + [3] * 5)
    answer = np.array([1] * 5 + [2] * 7)
    precision = (5 * 1 + 2 * 2 / 7 + 5 * 5 / 7) / 12
    assert b_cubed(truth, answer) == pytest.approx(2 * precision / (precision + 1))
    assert b_cubed(truth, truth) == 1
    assert b_cubed(truth, np.arange(12)) == pytest.approx(2 * (3 / 12) / (1 + 3 / 12))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("arnetminer/arnetminer_signatures.json", '{"0": {"paper_id": 1}}', "signature '0' has no author_info.block or no paper_id"),
        ("arnetminer/arnetminer_clusters.json", '{"a": {}}', "cluster 'a' has no list of signature_ids"),
        ("blocks/block_sigs_arnetminer.json", '{"train": [], "test": ["d"]}', "has no list of blocks 'dev'; found test, train"),
        ("blocks/block_sigs_arnetminer.json", '{"dev": ["z"], "test": ["d"]}', "none of the blocks of 'dev' has a signature with a known"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, name: str, content: str, words: str) -> None:
    s2and(tmp_path, "arnetminer", 1)
    write_text(tmp_path / name, content)
    with pytest.raises(InvalidRequest, match=re.escape(words)):
        evaluate("s2and-vectors", tmp_path)
    (tmp_path / "arnetminer/arnetminer_papers.json").unlink()
    with pytest.raises(NotFound, match=r"s2and-vectors needs arnetminer_papers\.json"):
        evaluate("s2and-vectors", tmp_path)
