"""Approximate search with FAISS, one FAISS index per shard. FAISS proposes candidates; scores are computed from the vectors."""

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
from ...base.types import Mask, Vectors
from ...files.writing import replaced
from ..effort import USUAL, Effort
from .exact import RowScores
from .faiss_library import load_faiss, on_gpu

HNSW_SEARCH = 128
"""Default efSearch of HNSW, if none was measured: candidates kept while walking the graph."""
IVF_PROBES = 1 / 16
"""Least share of IVF's lists to search, if none was measured."""
IVF_VECTORS = 24
"""Least number of vectors that IVF scans per candidate. On 100,000 vectors this finds 98.6 % of the best 100 and 99.7 % of the best 1,000;
with 8, it finds 93.4 and 95.8 % in two thirds of the time. See docs/performance.md."""
COARSE_BITS, COARSE = 2, 3
"""An index with fewer bits per dimension than COARSE_BITS is asked for COARSE times as many candidates. With RaBitQ's one bit, these
contain 99.6 % of the best 10 of 42,738 abstracts instead of 98.0, and 99.7 % of the best 732 instead of 89.6."""
NAMED = ("flat", "hnsw", "ivf", "rabitq")
"""Values of `--dense` that fit vectors of any dimension."""
TRAINING_ROWS = 50_000
"""Vectors for training an index, unless its lists need more. Twice as many take twice as long, and improve lists of 100,000 vectors no
further."""
LIST_ROWS = 39
"""Vectors per list that FAISS wants for training."""
ADDED_ROWS = 65_536
"""Vectors added to FAISS at a time."""
COMPARED = 64
"""Vectors compared to recognise an index's own vectors."""
TRIAL_ROWS = 640
"""Random vectors for trying an index type: enough for codebooks of 8 bits."""
QUICK_CODES = {
    r"OPQ\d+(?:_(\d+))?": r"RR\1",  # a learned rotation becomes a random one
    r"(PQ\d+(?:x\d+)?)(?=,|$)": r"\1np",  # without polysemous training
}
QUICK_PARTS = {r"IVF[1-9]\d+": "IVF16", **QUICK_CODES}
"""Slow parts of a factory string and their quick substitutes for a trial. Codes keep their size."""


def factory_string(dense: str, papers: int) -> str:
    """The FAISS factory string for a value of `--dense`, for a shard of this many papers.

    `hnsw` and `ivf` store 8 bits per dimension, `rabitq` one, since answers are re-scored from the original vectors.
    """
    lists = int(np.clip(4 * np.sqrt(papers), 1, max(papers // LIST_ROWS, 1)))
    return {"hnsw": "HNSW32,SQ8", "ivf": f"IVF{lists},SQ8", "rabitq": f"IVF{lists},RaBitQfs"}.get(dense, dense)


class Matrix(Protocol):
    """Vectors, (n, dim) float32, read in blocks: an array or a substitute for one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of vectors, and their dimension."""

    def __len__(self) -> int:
        """Number of vectors."""

    def __getitem__(self, rows: Any, /) -> Any:
        """Some vectors, by rows or a slice."""


def build_ann(path: Path, vectors: Matrix, factory: str, metric: Metric) -> bool:
    """Train a FAISS index on `vectors` (n, dim), fill it, and write it to `path`.

    Returns:
        Whether it was written. With too few vectors for training it is not, and search is exact.

    Raises:
        InvalidRequest: FAISS cannot build such an index for any number of vectors, see `check_factory`.
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
    """Build, store and search such an index on a few random vectors (n, dim), to find mistakes before hours of encoding.

    Raises:
        InvalidRequest: FAISS does not know the factory string, or cannot build it for this dimension or metric.
    """
    quick_factory = factory
    for slow, equivalent in QUICK_PARTS.items():
        quick_factory = re.sub(slow, equivalent, quick_factory)
    with _translate_errors(f"FAISS has no index type {factory!r} for {dim} dimensions and the metric {metric}"):
        _empty(factory, dim, metric)
        try:
            _try_out(quick_factory, dim, metric, TRIAL_ROWS)
        except RuntimeError:  # codebooks may need more vectors
            _try_out(quick_factory, dim, metric, 8 * TRIAL_ROWS)


def _try_out(factory: str, dim: int, metric: Metric, count: int) -> None:
    faiss = load_faiss()

    vectors = np.random.default_rng(0).standard_normal((count, dim), np.float32)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, _quiet_faiss():
        path = str(Path(folder) / "trial.faiss")
        faiss.write_index(_filled(vectors, factory, metric), path)
        index = faiss.read_index(path, faiss.IO_FLAG_MMAP_IFC)
        index.search(vectors[:1], 1, params=_parameters(index, 1, 1, None, USUAL))


def _empty(factory: str, dim: int, metric: Metric) -> Any:
    faiss = load_faiss()

    return faiss.index_factory(dim, factory, faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT)


def _filled(vectors: Matrix, factory: str, metric: Metric) -> Any:
    """A FAISS index of the vectors, made on a GPU if FAISS can. Raises RuntimeError as FAISS does."""
    index = _empty(factory, vectors.shape[1], metric)
    maker = on_gpu(index)
    if not index.is_trained:
        ivf = load_faiss().try_extract_index_ivf(index)
        wanted = min(len(vectors), max(TRAINING_ROWS, LIST_ROWS * ivf.nlist if ivf else 0))
        sample_rows = np.random.default_rng(0).choice(len(vectors), wanted, replace=False)
        maker.train(_prepared(vectors[np.sort(sample_rows)], metric))
    for first in range(0, len(vectors), ADDED_ROWS):
        maker.add(_prepared(vectors[first : first + ADDED_ROWS], metric))
    return index if maker is index else load_faiss().index_gpu_to_cpu(maker)


class Ann:
    """A shard's FAISS index, opened for searching. Threads may share it."""

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
        """Whether FAISS can exclude rows during a search with this type of index."""
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
        """Least number of inverted lists that a search for k rows visits, and the number of lists; zeros for other index types."""
        ivf = load_faiss().try_extract_index_ivf(self._index)
        least = Effort(nprobe=1)
        return (_probes(ivf, k, least), ivf.nlist) if ivf else (0, 0)

    def is_of(self, vectors: Vectors, metric: Metric) -> bool:
        """Whether the index was built from these vectors (n, dim), judged by a sample. True if FAISS cannot return stored vectors."""
        rows = np.linspace(0, len(vectors) - 1, min(len(vectors), COMPARED)).astype(np.int64)
        sample = _prepared(vectors[rows], metric).astype(np.float64)
        if not len(rows):
            return True
        try:
            with suppress(RuntimeError):  # not an IVF index
                load_faiss().extract_index_ivf(self._index).make_direct_map()
            stored = np.stack([self._index.reconstruct(int(row)) for row in rows])
        except RuntimeError:
            return True
        distances = np.linalg.norm(stored[:, None] - sample, axis=2)
        # the stored vector is inexact, but closest to its own vector
        return bool((np.diag(distances) <= distances.min(axis=1)).mean() > 0.5)

    def candidates(self, query_vectors: Vectors, k: int, metric: Metric, mask: Mask | None, effort: Effort = USUAL) -> list[RowScores]:
        """Propose about k rows that pass the mask, for each vector (m, dim), best first, with approximate scores. There may be fewer.

        A mask needs an index that `takes_masks`.
        """
        faiss = load_faiss()

        depth = k if mask is None else int(k / max(mask.mean(), 1 / len(mask)))
        k *= COARSE if self._is_coarse else 1
        selector = None if mask is None else faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
        parameters = _parameters(self._index, k, depth, selector, effort)
        values, rows = self._index.search(_prepared(query_vectors, metric), k, params=parameters)
        scores = -np.sqrt(np.maximum(values, 0)) if metric == "l2" else values
        return [(own[own >= 0].astype(np.int64), of_own[own >= 0].astype(np.float64)) for own, of_own in zip(rows, scores, strict=True)]


def _parameters(index: Any, k: int, depth: int, selector: Any, effort: Effort) -> Any:
    """Search parameters for k rows that the selector accepts, nested as FAISS requires. The wanted rows are expected among the first
    `depth` of all rows, if rows are accepted evenly."""
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
    """Number of IVF lists to search in order to cover the first `depth` rows."""
    if effort.nprobe is not None and not effort.deepens:
        return effort.nprobe
    least = max(8, int(index.nlist * IVF_PROBES)) if effort.nprobe is None else effort.nprobe
    return max(least, int(index.nlist * IVF_VECTORS * depth / index.ntotal))


def _prepared(vectors: Vectors, metric: Metric) -> Vectors:
    """Vectors as FAISS needs them: contiguous, and of unit length for the cosine."""
    prepared = np.ascontiguousarray(vectors, np.float32)
    if metric == "cosine":
        prepared = prepared / np.maximum(np.linalg.norm(prepared, axis=1, keepdims=True), 1e-12)
    return prepared


@contextmanager
def _translate_errors(what: str) -> Iterator[None]:
    """Translate FAISS's errors. It raises RuntimeError with C++ source lines for everything; the new message names the request."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].rsplit(":", 1)[-1].strip()
        raise InvalidRequest(f"{what}: {reason}") from error


@contextmanager
def _quiet_faiss() -> Iterator[None]:
    """Suppress FAISS's warnings on standard error about few training vectors."""
    saved_stderr = os.dup(2)
    null_device = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null_device, 2)
        yield
    finally:
        os.dup2(saved_stderr, 2)
        os.close(saved_stderr)
        os.close(null_device)
