"""How shards ask FAISS, what is refused before any encoding, and what a failure leaves behind."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.choices import Metric
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.matching.dense import VectorShard, build_ann, factory_string, search
from sciretrieve.matching.dense import ann as dense_ann
from sciretrieve.matching.dense import vectors as dense_vectors
from sciretrieve.matching.dense.ann import check_factory
from sciretrieve.matching.dense.exact import score
from sciretrieve.matching.effort import Effort
from sciretrieve.matching.scope import Scope
from tests.matching.dense.test_conformance import DIM, overlapping

PAPERS, K = 2000, 10


VECTORS, QUERIES = overlapping(PAPERS, 1), overlapping(30, 2)


def indexed(folder: Path, factory: str, metric: Metric) -> VectorShard:
    np.save(folder / "vectors.npy", VECTORS)
    assert build_ann(folder / "dense.faiss", VECTORS, factory, metric)
    return VectorShard(folder / "vectors.npy", PAPERS, DIM, metric, 0, folder / "dense.faiss")


@pytest.mark.parametrize("depth", [10, 150])
def test_a_deep_search_of_lists_finds_what_a_shallow_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int) -> None:
    monkeypatch.setattr(dense_vectors, "SCANS_PER_CANDIDATE", 0)
    shard = indexed(tmp_path, "IVF80,Flat", "cosine")
    hits = 0
    for query, (rows, _) in zip(QUERIES, search([shard], QUERIES, depth, Scope(PAPERS)), strict=True):
        hits += len(set(rows.tolist()) & set(np.argsort(-score(query, VECTORS, "cosine"))[:depth].tolist()))
    assert hits / (len(QUERIES) * depth) >= 0.9


@pytest.mark.parametrize("k", [10, 1000])
def test_where_scanning_is_quicker_the_index_is_not_asked(tmp_path: Path, k: int) -> None:
    shard = indexed(tmp_path, "PQ8x4fs", "l2")
    assert shard.ann_path is not None
    shard.ann_path.unlink()
    for query, (rows, _) in zip(QUERIES, search([shard], QUERIES, k, Scope(PAPERS)), strict=True):
        assert set(rows.tolist()) == set(np.argsort(-score(query, VECTORS, "l2"))[:k].tolist())


@pytest.mark.parametrize(
    ("factory", "metric", "reason"),
    [
        ("HSNW32", "ip", "could not parse index string HSNW32"),
        ("IVF16,PQ7", "ip", "multiple"),
        ("IVF0,Flat", "ip", ""),
        ("LSH", "cosine", "METRIC_L2"),
        ("IDMap,Flat", "ip", "IndexIDMap"),
        ("ZnLattice2x10_4", "l2", "is corrupt"),
    ],
)
def test_what_faiss_cannot_build_store_or_search_is_refused_in_one_line(
    capfd: pytest.CaptureFixture[str], factory: str, metric: Metric, reason: str
) -> None:
    with pytest.raises(
        InvalidRequest, match=rf"^FAISS has no index type '{factory}' for 32 dimensions and the metric {metric}: .*{reason}"
    ) as caught:
        check_factory(factory, DIM, metric)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("factory", ["IVF65536,PQ8", "OPQ8_16,IVF4096_HNSW32,PQ8x4,RFlat", "PQ4x10", "PCA24,HNSW32,SQ8", "IVF256,PQ8x4fs"])
def test_what_faiss_can_build_is_tried_out_in_silence(capfd: pytest.CaptureFixture[str], factory: str) -> None:
    check_factory(factory, DIM, "cosine")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("dense", ["IVF64,Flat", "PCA16,SQ8", "NSG16", "PQ8", "ivf"])
def test_too_few_vectors_to_train_leave_no_index(tmp_path: Path, dense: str) -> None:
    path = tmp_path / "x.faiss"
    assert build_ann(path, VECTORS[:10], factory_string(dense, 10), "l2") == path.exists() == (dense == "ivf")


def test_on_a_full_disk_the_old_index_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "dense.faiss"
    assert build_ann(path, VECTORS[:100], "HNSW4,SQ8", "l2")
    before = path.read_bytes()
    assert list(tmp_path.iterdir()) == [path]
    plain_open = Path.open

    class Full(io.FileIO):
        """Takes so many bytes and no more."""

        def write(self, data: Any) -> int:
            if self.tell() + len(data) > 5000:
                raise OSError(28, "No space left on device")
            return super().write(data)

    monkeypatch.setattr(
        Path, "open", lambda self, mode="r", **options: Full(self, mode) if mode[0] in "wx" else plain_open(self, mode, **options)
    )
    with pytest.raises(OSError, match="No space left on device"):
        build_ann(path, VECTORS, "HNSW4,SQ8", "l2")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


@pytest.mark.parametrize("dense", ["IVF80,Flat", "PCA24,IVF80,SQ8", "IVF80,PQ16x4fs,RFlat"])
def test_lists_are_searched_as_deep_as_a_filter_makes_necessary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dense: str) -> None:
    monkeypatch.setattr(dense_vectors, "SCANS_PER_CANDIDATE", 0)
    monkeypatch.setattr(dense_ann, "IVF_VECTORS", 8)  # else so few lists are all searched
    shard = indexed(tmp_path, dense, "cosine")
    recalls = []
    for share in (1.0, 0.15):
        scope = Scope(PAPERS, np.random.default_rng(4).random(PAPERS) < share)
        hits = 0
        for query, (rows, _) in zip(QUERIES, search([shard], QUERIES, K, scope, Effort(nprobe=1)), strict=True):
            ranked = scope.places[np.argsort(-score(query, VECTORS[scope.places], "cosine"))]
            hits += len(set(rows.tolist()) & set(ranked[:K].tolist()))
        recalls.append(hits / (len(QUERIES) * K))
    assert recalls[1] >= recalls[0]
    assert recalls[1] >= 0.85
