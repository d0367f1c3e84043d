"""Every type of FAISS index that a shard may have, nested ones too, against brute force in NumPy: over several shards, with deleted
papers and with filters, each answer has its exact score, none is missing that must not be, and enough of the true best are found."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sciretrieve.base.choices import METRICS, Metric
from sciretrieve.base.types import Mask, Scores, Vectors
from sciretrieve.matching.dense import VectorShard, build_ann, search
from sciretrieve.matching.dense import ann as dense_ann
from sciretrieve.matching.dense import vectors as dense_vectors
from sciretrieve.matching.scope import Scope

SIZES, DIM, K = (1200, 900, 20), 32, 10
PAPERS = sum(SIZES)
RECALLS: dict[str, tuple[float | None, float | None, float | None]] = {
    "Flat": (1.0, 1.0, 1.0),
    "SQ8": (0.99, 0.99, 0.99),
    "SQ4": (0.85, 0.9, 0.9),
    "SQfp16": (1.0, 1.0, 1.0),
    "SQbf16": (0.99, 0.99, 0.99),
    "PQ8x4np": (0.5, 0.7, 0.7),
    "PQ8x4fs": (0.5, 0.7, 0.6),
    "RaBitQ": (0.85, 0.85, 0.85),
    "RaBitQ4": (0.95, 0.95, 0.95),
    "RaBitQfs": (0.85, 0.85, 0.85),
    "HNSW16": (0.94, 0.94, 0.98),
    "HNSW16,Flat": (0.94, 0.94, 0.98),
    "HNSW16,SQ8": (0.94, 0.94, 0.98),
    "HNSW16,SQfp16": (0.94, 0.94, 0.98),
    "HNSW16,PQ16x4np": (0.8, None, 0.8),
    "IVF16,Flat": (0.95, 0.9, 0.95),
    "IVF16,SQ8": (0.95, 0.9, 0.95),
    "IVF16,SQfp16": (0.95, 0.9, 0.95),
    "IVF16_HNSW16,Flat": (0.95, 0.9, 0.95),
    "IVF16,Flat,RFlat": (0.95, 0.9, 0.95),
    "IVF16,PQ8x4np": (0.6, 0.7, 0.7),
    "IVF16,PQ8x4np,RFlat": (0.6, 0.7, 0.7),
    "IVF16,PQ8x4fs": (0.5, 0.7, 0.6),
    "IVF16,PQ16x4fs": (0.85, 0.85, 0.85),
    "IVF16,PQ16x4fsr": (0.85, 0.85, 0.85),
    "IVF16,PQ16x4fs,RFlat": (0.85, 0.85, 0.85),
    "IVF16,PQ16x4fs,Refine(SQ8)": (0.85, 0.85, 0.85),
    "IVF16,PQ4+4": (0.3, None, None),
    "IVF16,RaBitQ": (0.85, 0.85, 0.85),
    "IVF16,RaBitQ4": (0.9, 0.85, 0.9),
    "IVF16,RaBitQfs": (0.85, 0.85, 0.85),
    "IVF16,RaBitQfs4": (0.9, 0.85, 0.9),
    "IVF16,RaBitQfs,RFlat": (0.7, 0.7, 0.7),
    "IVF16,RQ4x4": (0.5, 0.5, 0.5),
    "PCA24,IVF16,Flat": (0.85, 0.8, 0.85),
    "PCA24,IVF16,RaBitQfs": (0.6, 0.6, 0.6),
    "PCA24,HNSW16": (0.85, 0.85, 0.85),
    "PCA24,IVF16_HNSW16,SQ8,RFlat": (0.85, 0.8, 0.85),
    "RR32,IVF16,RaBitQfs": (0.85, 0.85, 0.85),
    "L2norm,IVF16,Flat": (None, None, 0.95),
    "OPQ2_16,IVF16,SQ8": (None, None, 0.5),
    "OPQ2_16,IVF16,PQ8x4fs": (None, None, 0.35),
    "IMI2x3,Flat": (0.9, None, None),
    "LSH": (0.1, None, None),
    "NSG16": (0.85, None, None),
}
"""Index types, and the share of the true best that each must find for l2, ip and cosine; None where it is not made for the
metric, or takes long to build."""


def overlapping(count: int, seed: int) -> Vectors:
    """Vectors of clusters that overlap, of widely varying lengths: hard to search, and the metrics disagree on them."""
    centres = np.random.default_rng(0).standard_normal((12, DIM)) * 0.8
    chance = np.random.default_rng(seed)
    directions = centres[chance.integers(0, 12, count)] + chance.standard_normal((count, DIM))
    return (directions * np.exp(0.7 * chance.standard_normal((count, 1)))).astype(np.float32)


VECTORS, QUERIES = overlapping(PAPERS, 1), overlapping(30, 2)
DELETED = np.random.default_rng(3).random(PAPERS) < 0.1


@cache
def brute_force(metric: Metric) -> Scores:
    """All papers' scores for each query, as textbooks write them, (queries, papers)."""
    q, x = QUERIES.astype(float), VECTORS.astype(float)
    if metric == "l2":
        return np.array([-np.linalg.norm(x - query, axis=1) for query in q])
    products: Scores = q @ x.T
    return products if metric == "ip" else products / (np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(x, axis=1))


def indexed(folder: Path, factory: str, metric: Metric) -> list[VectorShard]:
    """Shards with an index each, but for the last, which has too few papers to train one."""
    shards, first = [], 0
    for number, size in enumerate(SIZES):
        vectors, ann = VECTORS[first : first + size], folder / f"{number}.faiss"
        np.save(folder / f"{number}.npy", vectors)
        built = number < 2 and build_ann(ann, vectors, factory, metric)
        assert built or number == 2
        shards.append(VectorShard(folder / f"{number}.npy", size, DIM, metric, first, ann if built else None))
        first += size
    return shards


@pytest.mark.torture
@pytest.mark.parametrize(
    ("factory", "metric", "floor"),
    [(factory, metric, floor) for factory, floors in RECALLS.items() for metric, floor in zip(METRICS, floors, strict=True) if floor],
)
def test_every_type_answers_as_brute_force_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factory: str, metric: Metric, floor: float
) -> None:
    monkeypatch.setattr(dense_vectors, "SCANS_PER_CANDIDATE", 0)  # else so few vectors are scanned
    monkeypatch.setattr(dense_ann, "IVF_VECTORS", 8)  # else so few lists are all searched
    shards = indexed(tmp_path, factory, metric)
    chance = np.random.default_rng(4)
    rest = Scope(PAPERS, ~DELETED)
    filters: list[Mask | None] = [None, chance.random(PAPERS) < 0.5, chance.random(PAPERS) < 0.15, np.arange(PAPERS) % 400 == 0]
    for scope in [Scope(PAPERS), *(rest.passing(mask) for mask in filters)]:
        wanted, found = min(K, len(scope)), 0
        answers, expected = search(shards, QUERIES, K, scope), brute_force(metric)
        of_answers = [scores[rows] for scores, (rows, _) in zip(expected, answers, strict=True)]
        np.testing.assert_allclose(np.concatenate([scores for _, scores in answers]), np.concatenate(of_answers), rtol=1e-12, atol=1e-12)
        best = scope.places[np.argpartition(-expected[:, scope.places], wanted - 1, axis=1)[:, :wanted]]
        for best_rows, (rows, _) in zip(best.tolist(), answers, strict=True):
            assert scope.flags[rows].all()
            assert len(set(rows.tolist())) == len(rows) >= wanted
            found += len(set(rows.tolist()) & set(best_rows))
        recall = found / (len(QUERIES) * wanted)
        assert recall >= (floor if scope.mask is None else floor - 0.2), len(scope)
