"""Late interaction: packed token vectors of papers, and their match with a query's token vectors.

Vectors are rotated to the 192 dimensions that vary most, with 2 bits each. The rotation is learnt once per encoder and stored with the
index, so all shards share it.

The match is the mean, over the query's tokens, of the best cosine with a token of the paper (MaxSim; Khattab and Zaharia, "ColBERT", SIGIR
2020, section 3.3). The encoder was not trained for this, so two weights replace the training: rare words count more, and a good match
counts much more than a fair one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..base.errors import CorruptData
from ..base.once import once
from ..base.types import Rows, Scores, Vectors
from ..files.writing import read_array, write_array
from .parallel import one_thread_a_product, product
from .sharding import by_shard

DIMS = 192
"""Dimensions kept. Of the 384 of all-MiniLM-L6-v2, half with 2 bits each lose less than fewer with more bits, see docs/quality.md."""
LEVELS = np.array([-3, -1, 1, 3], np.float32)
EDGE = np.float32(0.9957)
"""The boundary beside 0 of the 4-level uniform quantiser with the least mean squared error for a normal distribution (Max, "Quantizing for
Minimum Distortion", IRE Transactions on Information Theory 1960, Table II). It is also the distance between two levels, in halves of which
LEVELS counts. Uniform levels are whole numbers, which sum exactly in any order. Non-uniform levels would have an error of 0.1175 instead of
0.1188."""
SHIFTS = np.array([6, 4, 2, 0], np.uint8)
"""Bit positions of a byte's four dimensions, the first highest."""
FOUR_LEVELS = LEVELS[(np.arange(256)[:, None] >> SHIFTS) & 3]
"""The four levels in each byte."""

FewBits = npt.NDArray[np.uint8]
"""Packed token vectors of texts, text after text: (tokens, kept / 4), four dimensions per byte."""
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Packing:
    """How an encoder's token vectors are packed.

    Attributes:
        rotation: (dim, kept) float32, orthonormal columns.
        mean, scale: (kept,) float32: mean and standard deviation after rotation.
    """

    rotation: Vectors
    mean: Vectors
    scale: Vectors

    @property
    def kept(self) -> int:
        """Dimensions kept."""
        return int(self.rotation.shape[1])

    @property
    def bytes(self) -> int:
        """Bytes per token."""
        return self.kept // len(SHIFTS)

    def pack(self, states: Vectors, counts: Counts) -> tuple[FewBits, Counts]:
        """Pack the token vectors of texts, (tokens, dim). The number of tokens per text, (texts,), is returned unchanged."""
        with one_thread_a_product():  # so that no last bit depends on the number of threads
            rotated = states @ self.rotation
        scaled = (rotated - self.mean) / self.scale
        codes = (scaled > -EDGE).view(np.uint8) + (scaled > 0).view(np.uint8) + (scaled > EDGE).view(np.uint8)
        packed: FewBits = np.zeros((len(states), self.bytes), np.uint8)
        for place, shift in enumerate(SHIFTS):
            packed |= codes[:, place :: len(SHIFTS)] << shift
        return packed, counts

    def unpack(self, packed: FewBits) -> Vectors:
        """Unpack vectors, rotated and of unit length: (tokens, kept) float32."""
        return units(levels(packed) * self.step + self.mean)

    @once
    def step(self) -> Vectors:
        """The unit of a level in each dimension, (kept,)."""
        return self.scale * (EDGE / 2)

    @once
    def squares(self) -> Vectors:
        """Contribution of each byte value to the squared length of an unpacked vector, (bytes, 256)."""
        components = levels(np.arange(256, dtype=np.uint8)[:, None].repeat(self.bytes, axis=1)) * self.step + self.mean
        squares: Vectors = (components**2).reshape(256, self.bytes, len(SHIFTS)).sum(axis=2).T.copy()
        return squares

    def lengths(self, packed: FewBits) -> Vectors:
        """Lengths of unpacked vectors before they are scaled, (tokens,)."""
        places = packed + 256 * np.arange(self.bytes, dtype=np.int32)
        lengths: Vectors = np.sqrt(np.take(self.squares, places).sum(axis=1))
        return lengths

    def array(self) -> Vectors:
        """The packing as one array, (dim + 2, kept) float32, for a file."""
        return np.ascontiguousarray(np.concatenate([self.rotation, self.mean[None], self.scale[None]]), np.float32)

    @classmethod
    def of(cls, array: Vectors) -> Packing:
        """Read from an `array`."""
        return cls(np.ascontiguousarray(array[:-2]), array[-2].copy(), array[-1].copy())

    def is_like(self, other: Packing) -> bool:
        """Whether one can unpack what the other packs. Last bits may differ between machines."""
        return self.rotation.shape == other.rotation.shape and bool(np.allclose(self.array(), other.array(), atol=TOLERANCE))


TOLERANCE = 0.01
"""Allowed difference between rotations that two machines learnt from the same texts."""


def units(vectors: Vectors) -> Vectors:
    """Vectors scaled to unit length."""
    scaled: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    return scaled


def levels(packed: FewBits) -> Vectors:
    """Levels of packed vectors, whole numbers: (tokens, kept) float32."""
    unpacked: Vectors = np.take(FOUR_LEVELS, packed, axis=0).reshape(len(packed), -1)  # ten times as fast as indexing
    return unpacked


def learn(states: Vectors) -> Packing:
    """Learn a packing from token vectors, (tokens, dim)."""
    values, vectors = np.linalg.eigh(states.T.astype(np.float64) @ states.astype(np.float64))
    kept = min(DIMS, states.shape[1] // len(SHIFTS) * len(SHIFTS))
    rotation = vectors[:, np.argsort(-values, kind="stable")[:kept]]
    # an eigenvector's sign is free; fixing it makes all machines agree
    rotation *= np.sign(rotation[np.abs(rotation).argmax(axis=0), np.arange(kept)])
    rotation = rotation.astype(np.float32)
    rotated = states @ rotation
    return Packing(rotation, rotated.mean(axis=0), np.maximum(rotated.std(axis=0), np.float32(1e-6)))


def packed_texts(packed: Sequence[tuple[FewBits, Counts]], order: Sequence[npt.NDArray[np.intp]]) -> tuple[FewBits, Counts]:
    """Join packed batches in the order of the texts' numbers; `order` has the numbers of each batch."""
    codes, counts = np.concatenate([part for part, _ in packed]), np.concatenate([part for _, part in packed])
    firsts = np.cumsum(counts) - counts
    places = np.argsort(np.concatenate(order), kind="stable")
    in_order = counts[places]
    ends = np.cumsum(in_order)
    rows = np.arange(len(codes)) + np.repeat(firsts[places] - (ends - in_order), in_order)
    return codes[rows], in_order


def write_packing(path: Path, packing: Packing) -> None:
    """Write a packing to a file, see `Packing.array`."""
    write_array(path, packing.array())


def read_packing(path: Path, dim: int) -> Packing:
    """Read a packing for token vectors of `dim` dimensions from a file. Raises CorruptData."""
    array = np.array(read_array(path))
    if (
        array.dtype != np.float32
        or array.ndim != 2
        or len(array) != dim + 2
        or array.shape[1] % len(SHIFTS)
        or not np.isfinite(array).all()
        or not (array[-1] > 0).all()
    ):
        raise CorruptData(f"{path} holds {array.dtype}{array.shape}, expected float32{(dim + 2, DIMS)}; try `sciretrieve verify --repair`")
    return Packing.of(array)


LARGEST = 1 << 24
"""Greatest whole number up to which float32 is exact."""
POWER = 4
"""Exponent of the cosine. An untrained model gives unrelated words 0.3 to 0.4. See docs/quality.md."""


@dataclass(frozen=True)
class TokenShard:
    """Packed token vectors of one shard, memory-mapped."""

    path: Path
    counts_path: Path
    papers: int
    packing: Packing
    first: int

    @once
    def packed(self) -> FewBits:
        """Packed token vectors of all papers, paper after paper, (tokens, kept / 4)."""
        packed: FewBits = read_array(self.path)
        expected = (int(self.counts.sum(dtype=np.int64)), self.packing.bytes)
        if packed.dtype != np.uint8 or packed.shape != expected:
            raise CorruptData(
                f"{self.path} holds {packed.dtype}{packed.shape} where its shard has uint8{expected}; try `sciretrieve verify --repair`"
            )
        return packed

    @once
    def counts(self) -> npt.NDArray[np.int32]:
        """Number of tokens of each paper, (papers,)."""
        counts = np.array(read_array(self.counts_path))
        if counts.dtype != np.int32 or counts.shape != (self.papers,) or (counts < 0).any():
            raise CorruptData(
                f"{self.counts_path} holds {counts.dtype}{counts.shape}, which is not its shard's; try `sciretrieve verify --repair`"
            )
        return counts

    @once
    def ends(self) -> Counts:
        """End of each paper's tokens, (papers,)."""
        return np.cumsum(self.counts, dtype=np.int64)

    def of(self, row: int) -> FewBits:
        """Packed token vectors of the paper in a row of the shard."""
        return self.packed[int(self.ends[row - 1]) if row else 0 : int(self.ends[row])]


@dataclass(frozen=True, eq=False)
class QueryTokens:
    """A query's token vectors, (tokens, dim) of unit length, with their weights, (tokens,), and the word of each token."""

    vectors: Vectors
    weights: Scores
    words: Sequence[str]


def matches(shards: Sequence[TokenShard], query: QueryTokens, rows: Rows) -> Scores:
    """Scores of the papers at the given rows for a query: (n,), from 0 to 1; -inf for papers without tokens."""
    scores = np.full(len(rows), -np.inf)
    for shard, positions, shard_rows in by_shard(rows, shards):
        scores[positions] = match(shard.packing, query, [shard.of(row) for row in shard_rows.tolist()])
    return scores


def match(packing: Packing, query: QueryTokens, papers: Sequence[FewBits]) -> Scores:
    """Scores of papers with these packed token vectors for a query: (n,), from 0 to 1; -inf for papers without tokens.

    The query's vectors are rounded to whole numbers, like levels, so that products are exact. So a paper's score does not depend on the
    papers beside it, nor on how an index is cut into shards.
    """
    counts = np.array([len(packed) for packed in papers], np.int64)
    scores = np.full(len(papers), -np.inf)
    filled = np.flatnonzero(counts)
    if not len(filled):
        return scores
    rotated = units(query.vectors @ packing.rotation)
    scaled = rotated * packing.step
    whole = LARGEST // (3 * packing.kept) / max(np.abs(scaled).max(), np.float32(1e-12))
    packed = np.concatenate([papers[place] for place in filled.tolist()])
    products = product(levels(packed), np.rint(scaled * whole))
    cosines = (products / whole + rotated @ packing.mean) / packing.lengths(packed)[:, None]
    best = np.maximum.reduceat(cosines, np.cumsum(counts[filled]) - counts[filled])
    scores[filled] = np.average(np.clip(best, 0.0, 1.0).astype(np.float64) ** POWER, axis=1, weights=query.weights)
    return scores
