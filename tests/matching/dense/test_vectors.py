"""Search over shards, exact and through FAISS, against one literal sort over all vectors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.choices import METRICS, Metric
from sciretrieve.base.errors import CorruptData
from sciretrieve.base.types import Vectors
from sciretrieve.matching.dense import VectorShard, build_ann, factory_string
from sciretrieve.matching.dense import vectors as dense_vectors
from sciretrieve.matching.dense.exact import RowScores
from sciretrieve.matching.dense.vectors import score_rows, search
from sciretrieve.matching.scope import Scope

SIZES = (900, 700, 1)


@pytest.fixture(autouse=True)
def _index_however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_vectors, "SCANS_PER_CANDIDATE", 0)


def clustered(count: int, dim: int = 32) -> Vectors:
    """Vectors in clusters, as papers are: what approximate search is made for."""
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((20, dim))
    return (centres[rng.integers(0, 20, count)] + 0.5 * rng.standard_normal((count, dim))).astype(np.float32)


def shards(folder: Path, vectors: Vectors, metric: Metric, dense: str = "flat") -> list[VectorShard]:
    made, first = [], 0
    for number, size in enumerate(SIZES):
        part = vectors[first : first + size]
        path, ann = folder / f"{number}.npy", folder / f"{number}.faiss"
        np.save(path, part)
        indexed = dense != "flat" and size > 1
        if indexed:
            build_ann(ann, part, factory_string(dense, size), metric)
        made.append(VectorShard(path, size, vectors.shape[1], metric, first, ann if indexed else None))
        first += size
    return made


def best(vectors: Vectors, query: Vectors, metric: Metric, k: int, passing: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[int]:
    x, q = vectors.astype(float), query.astype(float)
    scores = {"l2": -np.linalg.norm(x - q, axis=1), "ip": x @ q, "cosine": x @ q / np.linalg.norm(x, axis=1)}[metric]
    return [row for row in np.argsort(-scores, kind="stable").tolist() if passing[row]][:k]


@pytest.mark.parametrize("metric", METRICS)
def test_later_shards_say_only_what_can_still_be_among_the_best(tmp_path: Path, metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(sum(SIZES))
    vectors[900] = vectors[5]  # a tie that is no better than the edge
    lengths: list[int] = []
    search_shard = VectorShard.search

    def noted(shard: VectorShard, *asked: Any) -> list[RowScores]:
        answers = search_shard(shard, *asked)
        lengths.append(len(answers[0][0]))
        return answers

    monkeypatch.setattr(VectorShard, "search", noted)
    for query in vectors[:3]:
        for k in (1, 300):
            lengths.clear()
            ((rows, scores),) = search(shards(tmp_path, vectors, metric), query[None], k, Scope(len(vectors)))
            everything = score_rows(shards(tmp_path, vectors, metric), query, np.arange(len(vectors)))
            assert sorted(rows.tolist()) == np.flatnonzero(everything >= np.sort(everything)[-k]).tolist()
            assert (scores == everything[rows]).all()
            assert lengths[0] >= k
            assert k == 1 or sum(lengths[1:]) < k


@pytest.mark.parametrize("dense", ["hnsw", "ivf", "Flat"])
@pytest.mark.parametrize("ordered", [True, False])
def test_a_shard_that_has_most_of_the_best_is_asked_for_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dense: str, ordered: bool
) -> None:
    """Papers are often in the order of their subjects."""
    vectors, depth = clustered(sum(SIZES)), 300
    query = vectors[5:6]
    if ordered:
        vectors = vectors[np.argsort(-(vectors @ query[0]))]
    made = shards(tmp_path, vectors, "ip", dense)
    asked: list[int] = []
    search_shard = VectorShard.search

    def noted(shard: VectorShard, queries: Vectors, k: int, *others: Any) -> list[RowScores]:
        asked.append(k)
        return search_shard(shard, queries, k, *others)

    monkeypatch.setattr(VectorShard, "search", noted)
    ((rows, _),) = search(made, query, depth, Scope(len(vectors)))
    exact = best(vectors, query[0], "ip", depth, np.ones(len(vectors), bool))
    assert len(set(rows.tolist()) & set(exact)) >= 0.97 * depth
    assert sorted(asked) == ([264, 264, 300, 300] if ordered else [264, 264, 300])


def test_refuses_files_that_do_not_fit(tmp_path: Path) -> None:
    vectors = clustered(sum(SIZES))
    made = shards(tmp_path, vectors, "ip", "hnsw")
    np.save(made[0].path, vectors[:5])
    with pytest.raises(CorruptData, match="manifest says"):
        _ = VectorShard(made[0].path, 900, 32, "ip", 0).vectors
    made[1].path.write_bytes(b"not an array")
    with pytest.raises(CorruptData, match="cannot be read"):
        _ = VectorShard(made[1].path, 700, 32, "ip", 0).vectors
    assert made[0].ann_path is not None
    with pytest.raises(CorruptData, match="900 vectors"):
        _ = VectorShard(made[0].path, 901, 32, "ip", 0, made[0].ann_path).ann
    made[0].ann_path.write_bytes(b"not an index")
    with pytest.raises(CorruptData, match="FAISS"):
        _ = VectorShard(made[0].path, 900, 32, "ip", 0, made[0].ann_path).ann


@pytest.mark.parametrize("rows", [[], [899], [5, 5, 0], range(900)], ids=len)
def test_rows_are_the_stored_ones_few_and_many(tmp_path: Path, rows: list[int]) -> None:
    vectors = clustered(sum(SIZES))
    shard = shards(tmp_path, vectors, "ip")[0]
    places = np.array(rows, np.int64)
    np.testing.assert_array_equal(shard.at(places), vectors[places])
    assert not shard.vectors.flags.writeable
