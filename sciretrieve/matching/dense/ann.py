"""Approximate search with FAISS, one index a shard. FAISS proposes candidates; their scores come from the vectors."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...base.choices import Metric
from ...base.errors import CorruptData, InvalidRequest
from ...base.once import once
from ...base.types import Mask, Rows, Vectors
from ...files.writing import replaced
from ..effort import USUAL, Effort
from .faiss_library import load_faiss

HNSW_SEARCH = 128
"""HNSW's efSearch where none was measured: the candidates that it keeps while it walks the graph."""
IVF_PROBES = 1 / 16
"""The share of IVF's lists that are searched where no number was measured, at least."""
IVF_VECTORS = 24
"""Vectors that IVF scans for each candidate, at least. On 100,000 vectors 98.6 % of the best 100 and 99.7 % of the best 1,000 are then
found; with 8, 93.4 and 95.8 %, in two thirds of the time. See docs/performance.md."""
COARSE_BITS, COARSE = 2, 3
"""An index of fewer bits a dimension is asked for so many times as many candidates: with RaBitQ's one bit, of the best 10 of 42,738
abstracts 99.6 % are then among them, not 98.0, and of the best 732 99.7 %, not 89.6."""
NAMED = ("flat", "hnsw", "ivf", "rabitq")
"""Values of `--dense` that fit vectors of any dimension."""
TRAINING_ROWS = 50_000
"""Vectors that an index is trained on, unless its lists need more. With twice as many, lists of 100,000 are no better, and training takes
twice as long."""
LIST_ROWS = 39
"""Vectors for each list that FAISS wants for training."""
ADDED_ROWS = 65_536
"""Vectors that FAISS is given at a time."""
COMPARED = 64
"""Vectors that are compared with those that an index was made of."""
TRIAL_ROWS = 640
"""Random vectors to try an index type out on: enough for codebooks of 8 bits."""
QUICK_CODES = {
    r"OPQ\d+(?:_(\d+))?": r"RR\1",  # a learned rotation, a random one
    r"(PQ\d+(?:x\d+)?)(?=,|$)": r"\1np",  # without polysemous training
}
QUICK_PARTS = {r"IVF[1-9]\d+": "IVF16", **QUICK_CODES}
"""Parts of a factory string that take long to train, and quick substitutes for a trial; of codes, these are as large."""


def factory_string(dense: str, papers: int) -> str:
    """The value of `--dense` as a FAISS factory string for a shard of so many papers.

    `hnsw` and `ivf` keep vectors in 8 bits per dimension, `rabitq` in one, since answers are re-scored from the vectors themselves.
    """
    lists = int(np.clip(4 * np.sqrt(papers), 1, max(papers // LIST_ROWS, 1)))
    return {"hnsw": "HNSW32,SQ8", "ivf": f"IVF{lists},SQ8", "rabitq": f"IVF{lists},RaBitQfs"}.get(dense, dense)


class Matrix(Protocol):
    """Vectors, (n, dim) float32, that are read a block at a time: an array, or like one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many, and their dimension."""

    def __len__(self) -> int:
        """How many."""

    def __getitem__(self, rows: Any, /) -> Any:
        """Some of them, by rows or a slice of rows."""


def build_ann(path: Path, vectors: Matrix, factory: str, metric: Metric) -> bool:
    """Train and fill a FAISS index of `vectors` (n, dim) and write it to `path`.

    Returns:
        Whether it was written; False if there are too few vectors to train such an index, so that they are searched exactly.

    Raises:
        InvalidRequest: FAISS builds no such index for any number of vectors, see `check_factory`.
    """
    try:
        index = _filled(vectors, factory, metric)
    except RuntimeError:
        check_factory(factory, vectors.shape[1], metric)
        return False
    with replaced(path) as file:
        faiss = load_faiss()
        faiss.write_index(index, faiss.PyCallbackIOWriter(file.write))
    return True


def check_factory(factory: str, dim: int, metric: Metric) -> None:
    """Build, store and search such an index of a few random vectors (n, dim), to find mistakes before hours of encoding.

    Raises:
        InvalidRequest: FAISS does not know the factory string, or has no such index for the dimension or the metric.
    """
    quick_factory = factory
    for slow, equivalent in QUICK_PARTS.items():
        quick_factory = re.sub(slow, equivalent, quick_factory)
    with _translated(f"FAISS has no index type {factory!r} for {dim} dimensions and the metric {metric}"):
        _empty(factory, dim, metric)
        try:
            _try_out(quick_factory, dim, metric, TRIAL_ROWS)
        except RuntimeError:  # its codebooks may be larger
            _try_out(quick_factory, dim, metric, 8 * TRIAL_ROWS)


def _try_out(factory: str, dim: int, metric: Metric, count: int) -> None:
    faiss = load_faiss()

    vectors = np.random.default_rng(0).standard_normal((count, dim), np.float32)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, _silenced():
        path = str(Path(folder) / "trial.faiss")
        faiss.write_index(_filled(vectors, factory, metric), path)
        index = faiss.read_index(path, faiss.IO_FLAG_MMAP_IFC)
        index.search(vectors[:1], 1, params=_parameters(index, 1, 1, None, USUAL))


def _empty(factory: str, dim: int, metric: Metric) -> Any:
    faiss = load_faiss()

    return faiss.index_factory(dim, factory, faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT)


def _filled(vectors: Matrix, factory: str, metric: Metric) -> Any:
    """A FAISS index of the vectors. Raises RuntimeError as FAISS does."""
    index = _trained(vectors, factory, metric)
    for first in range(0, len(vectors), ADDED_ROWS):
        index.add(_prepared(vectors[first : first + ADDED_ROWS], metric))
    return index


def _trained(vectors: Matrix, factory: str, metric: Metric) -> Any:
    """An empty FAISS index, trained with some of the vectors. Raises RuntimeError as FAISS does."""
    index = _empty(factory, vectors.shape[1], metric)
    if not index.is_trained:
        ivf = load_faiss().try_extract_index_ivf(index)
        wanted = min(len(vectors), max(TRAINING_ROWS, LIST_ROWS * ivf.nlist if ivf else 0))
        sample_rows = np.random.default_rng(0).choice(len(vectors), wanted, replace=False)
        index.train(_prepared(vectors[np.sort(sample_rows)], metric))
    return index


class Ann:
    """A shard's FAISS index, opened for searching; several threads may search it at once."""

    def __init__(self, path: Path, papers: int, dim: int) -> None:
        """Open the index at `path`. Raises CorruptData if it does not hold `papers` vectors of `dim`."""
        faiss = load_faiss()

        try:
            self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise CorruptData(f"{path} cannot be read by FAISS; rebuild the index with `sciretrieve index --overwrite`") from error
        if (self._index.ntotal, self._index.d) != (papers, dim):
            raise CorruptData(f"{path} holds {self._index.ntotal} vectors where the manifest says {papers}")

    @once
    def takes_masks(self) -> bool:
        """Whether FAISS can leave rows out while it searches an index of this type."""
        try:
            self.candidates(np.ones((1, self._index.d), np.float32), 1, "ip", np.ones(self._index.ntotal, bool))
        except RuntimeError:
            return False
        return True

    @once
    def _is_coarse(self) -> bool:
        faiss = load_faiss()

        index = faiss.downcast_index(self._index)
        while isinstance(index, faiss.IndexPreTransform):
            index = faiss.downcast_index(index.index)
        if not isinstance(index, faiss.IndexIVF | faiss.IndexFlatCodes):
            return False
        bits = index.rabitq.nb_bits if hasattr(index, "rabitq") else 8 * index.code_size / self._index.d
        return bool(bits < COARSE_BITS)

    def lists(self, k: int) -> tuple[int, int]:
        """The least of its inverted lists that a search for k rows looks into, and how many it has; none if it is of another kind."""
        ivf = load_faiss().try_extract_index_ivf(self._index)
        least = Effort(nprobe=1)
        return (_probes(ivf, k, least), ivf.nlist) if ivf else (0, 0)

    def is_of(self, vectors: Vectors, metric: Metric) -> bool:
        """Whether it was made of these vectors (n, dim), as a sample tells; also if FAISS cannot give back what it stores."""
        rows = np.linspace(0, len(vectors) - 1, min(len(vectors), COMPARED)).astype(np.int64)
        sample = _prepared(vectors[rows], metric).astype(np.float64)
        if not len(rows):
            return True
        try:
            with suppress(RuntimeError):  # it is no IVF
                load_faiss().extract_index_ivf(self._index).make_direct_map()
            stored = np.stack([self._index.reconstruct(int(row)) for row in rows])
        except RuntimeError:
            return True
        distances = np.linalg.norm(stored[:, None] - sample, axis=2)
        # what it stores is inexact, but nearer to its own vector than to others
        return bool((np.diag(distances) <= distances.min(axis=1)).mean() > 0.5)

    def candidates(self, query_vectors: Vectors, k: int, metric: Metric, mask: Mask | None, effort: Effort = USUAL) -> list[Rows]:
        """Propose about k of the rows that pass the mask for each of the vectors (m, dim); fewer may come back.

        A mask needs an index that `takes_masks`.
        """
        faiss = load_faiss()

        depth = k if mask is None else int(k / max(mask.mean(), 1 / len(mask)))
        k *= COARSE if self._is_coarse else 1
        selector = None if mask is None else faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
        _, rows = self._index.search(_prepared(query_vectors, metric), k, params=_parameters(self._index, k, depth, selector, effort))
        return [row[row >= 0] for row in rows]


def _parameters(index: Any, k: int, depth: int, selector: Any, effort: Effort) -> Any:
    """Search parameters for k rows that the selector accepts: FAISS wants them nested like the indexes. Those that are looked for are
    among the first `depth` of all, where about as many are accepted everywhere."""
    faiss = load_faiss()

    index = faiss.downcast_index(index)
    selection = {} if selector is None else {"sel": selector}
    if isinstance(index, faiss.IndexPreTransform):
        return faiss.SearchParametersPreTransform(index_params=_parameters(index.index, k, depth, selector, effort))
    if isinstance(index, faiss.IndexRefine):
        return faiss.IndexRefineSearchParameters(
            k_factor=index.k_factor, base_index_params=_parameters(index.base_index, int(k * index.k_factor), depth, selector, effort)
        )
    if isinstance(index, faiss.IndexHNSW):
        return faiss.SearchParametersHNSW(efSearch=max(effort.ef or HNSW_SEARCH, k), **selection)
    if isinstance(index, faiss.IndexIVF):
        return faiss.SearchParametersIVF(nprobe=min(index.nlist, _probes(index, depth, effort)), **selection)
    return faiss.SearchParameters(**selection) if selection else None


def _probes(index: Any, depth: int, effort: Effort) -> int:
    """How many lists of an IVF index are searched for what is among the first `depth`."""
    if effort.nprobe is not None and not effort.deepens:
        return effort.nprobe
    least = max(8, int(index.nlist * IVF_PROBES)) if effort.nprobe is None else effort.nprobe
    return max(least, int(index.nlist * IVF_VECTORS * depth / index.ntotal))


def _prepared(vectors: Vectors, metric: Metric) -> Vectors:
    """Vectors prepared for FAISS: contiguous, and of unit length if the metric is the cosine."""
    prepared = np.ascontiguousarray(vectors, np.float32)
    if metric == "cosine":
        prepared = prepared / np.maximum(np.linalg.norm(prepared, axis=1, keepdims=True), 1e-12)
    return prepared


@contextmanager
def _translated(what: str) -> Iterator[None]:
    """FAISS reports everything as RuntimeError with C++ source lines; name the request instead."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].rsplit(":", 1)[-1].strip()
        raise InvalidRequest(f"{what}: {reason}") from error


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep FAISS, which is C++, from warning on standard error that a trial has few vectors to train on."""
    saved_stderr = os.dup(2)
    null_device = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null_device, 2)
        yield
    finally:
        os.dup2(saved_stderr, 2)
        os.close(saved_stderr)
        os.close(null_device)
