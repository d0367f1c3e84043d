"""What FAISS indexes will cost, against indexes that were made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sciretrieve.matching.dense import ann_costs, build_ann, costs, factory_string
from sciretrieve.matching.dense.costs import more_like

DIM = 16


@pytest.mark.parametrize("dense", ["hnsw", "ivf", "SQ8", "IVF64,PQ4x4", "IVF40,Flat", "PCA8,HNSW16"])
@pytest.mark.parametrize("papers", [900, 6000])
def test_the_bytes_of_an_index_are_known_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dense: str, papers: int) -> None:
    monkeypatch.setattr(costs, "TRIAL", 2000)
    vectors = np.random.default_rng(0).standard_normal((papers, DIM), np.float32)
    expected = ann_costs(vectors[:100], dense, papers, "l2")
    if expected is None:
        assert not build_ann(tmp_path / "index.faiss", vectors, factory_string(dense, papers), "l2")
        return
    assert build_ann(tmp_path / "index.faiss", vectors, factory_string(dense, papers), "l2")
    assert expected.bytes == pytest.approx((tmp_path / "index.faiss").stat().st_size, rel=0.03)
    assert expected.seconds > 0


def test_too_few_vectors_for_a_type_have_no_index() -> None:
    assert ann_costs(np.eye(DIM, dtype=np.float32), "IVF100,Flat", 50, "ip") is None


def test_more_vectors_are_like_the_sample() -> None:
    sample = (np.random.default_rng(0).standard_normal((500, 4)) * [1, 2, 3, 4] + [5, 0, 0, -5]).astype(np.float32)
    more = more_like(sample, 50_000)
    assert more.shape == (50_000, 4)
    assert more.dtype == np.float32
    assert np.array_equal(more[:500], sample)
    assert np.allclose(more.mean(axis=0), sample.mean(axis=0), atol=0.1)
    assert np.allclose(np.cov(more.T), np.cov(sample.T), atol=0.3)
    assert np.array_equal(more_like(sample, 10), sample[:10])
