"""Approximate search with FAISS, one index a shard. FAISS proposes candidates; their scores come from the vectors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..choices import Metric
from ..errors import CorruptData, InvalidRequest, Unavailable
from ..types import Mask, Rows, Vectors

FAISS_BUILDS = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cu12")
HNSW_SEARCH = 128
"""HNSW's efSearch at least: candidates looked at a query."""
IVF_PROBES = 1 / 16
"""The share of IVF's lists that are looked at a query."""
TRAINING_ROWS = 100_000


def factory_string(dense: str, papers: int) -> str:
    """What `--dense` names as a FAISS factory string for a shard of so many papers.

    `hnsw` and `ivf` keep vectors in 8 bits a dimension, for answers are re-scored from the vectors themselves.
    """
    lists = int(np.clip(4 * np.sqrt(papers), 1, max(papers // 39, 1)))  # FAISS wants 39 training points a list
    return {"hnsw": "HNSW32,SQ8", "ivf": f"IVF{lists},SQ8"}.get(dense, dense)


def build_ann(path: Path, vectors: Vectors, factory: str, metric: Metric) -> bool:
    """Train and fill a FAISS index of `vectors` (n, dim) and write it to `path`.

    Returns:
        Whether it was written; False where there are too few vectors to train such an index, so that they are to be
        searched exactly.

    Raises:
        InvalidRequest: FAISS builds no such index however many vectors there are, see `check_factory`.
    """
    faiss = _faiss()

    check_factory(factory, vectors.shape[1], metric)
    index = _empty(factory, vectors.shape[1], metric)
    try:
        if not index.is_trained:
            sample = np.random.default_rng(0).choice(len(vectors), min(len(vectors), TRAINING_ROWS), replace=False)
            index.train(_prepared(vectors[np.sort(sample)], metric))
        for first in range(0, len(vectors), 65_536):
            index.add(_prepared(vectors[first : first + 65_536], metric))
    except RuntimeError:
        return False
    faiss.write_index(index, str(path))
    return True


def check_factory(factory: str, dim: int, metric: Metric) -> None:
    """Raise InvalidRequest if FAISS builds no such index for vectors of `dim`, before hours of encoding."""
    with _translated(f"FAISS cannot build the index type {factory!r} for {dim} dimensions and the metric {metric}"):
        _empty(factory, dim, metric)


def _empty(factory: str, dim: int, metric: Metric) -> Any:
    faiss = _faiss()

    return faiss.index_factory(dim, factory, faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT)


class Ann:
    """A shard's FAISS index, opened for searching."""

    def __init__(self, path: Path, papers: int, dim: int) -> None:
        """Open the index at `path`. Raises CorruptData where it does not hold `papers` vectors of `dim`."""
        faiss = _faiss()

        try:
            self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise CorruptData(f"{path} cannot be read by FAISS; rebuild the index with --overwrite") from error
        if (self._index.ntotal, self._index.d) != (papers, dim):
            raise CorruptData(f"{path} holds {self._index.ntotal} vectors where the manifest says {papers}")

    def candidates(self, queries: Vectors, k: int, metric: Metric, mask: Mask | None) -> list[Rows]:
        """Propose about k rows a query, of those the mask lets through; fewer may come back."""
        _, rows = self._index.search(_prepared(queries, metric), k, params=self._parameters(k, mask))
        return [row[row >= 0] for row in rows]

    def _parameters(self, k: int, mask: Mask | None) -> Any:
        faiss = _faiss()

        inner = faiss.downcast_index(self._index)
        chosen = {} if mask is None else {"sel": faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))}
        if isinstance(inner, faiss.IndexHNSW):
            return faiss.SearchParametersHNSW(efSearch=max(HNSW_SEARCH, 2 * k), **chosen)
        if isinstance(inner, faiss.IndexIVF):
            return faiss.SearchParametersIVF(nprobe=max(8, int(inner.nlist * IVF_PROBES)), **chosen)
        return faiss.SearchParameters(**chosen) if chosen else None


@cache
def _faiss() -> Any:
    """FAISS. Raises Unavailable where several builds of it are installed: they write over each other's files."""
    from importlib.metadata import PackageNotFoundError, version

    installed = []
    for name in FAISS_BUILDS:
        with suppress(PackageNotFoundError):
            version(name)
            installed.append(name)
    if len(installed) > 1:
        raise Unavailable(
            f"{' and '.join(installed)} are installed and overwrite each other's files; search runs on the CPU, so: "
            f"pip uninstall -y {' '.join(installed)} && pip install faiss-cpu"
        )
    import faiss

    return faiss


def _prepared(vectors: Vectors, metric: Metric) -> Vectors:
    """Vectors as FAISS gets them: contiguous, and of unit length where the metric is the cosine."""
    prepared = np.ascontiguousarray(vectors, np.float32)
    if metric == "cosine":
        prepared = prepared / np.maximum(np.linalg.norm(prepared, axis=1, keepdims=True), 1e-12)
    return prepared


@contextmanager
def _translated(what: str) -> Iterator[None]:
    """FAISS reports everything as RuntimeError with C++ source lines; say what was asked instead."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].rsplit(":", 1)[-1].strip()
        raise InvalidRequest(f"{what}: {reason}") from error
