"""Late interaction: the vectors of each token of a paper, packed into few bytes, and how well they match those of a query.

They are rotated to the 192 dimensions that vary most, with 2 bits for each. The rotation is learnt once for an encoder and kept with the
index, so all of its shards are alike.

How well they match: for each token of the query the best cosine of the paper's, and the mean of these (Khattab and Zaharia, "ColBERT",
SIGIR 2020, section 3.3, MaxSim). Here nothing was trained for it, so what they leave to training is put in: rare words count more, and a
good match much more than a fair one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import CorruptData
from ..base.once import once
from ..base.types import Rows, Scores, Vectors
from ..files.writing import read_array, write_array
from .sharding import by_shard

DIMS = 192
"""Dimensions that are kept. Of all-MiniLM-L6-v2's 384, half with 2 bits each lose less than fewer with more bits, see docs/quality.md."""
LEVELS = np.array([-3, -1, 1, 3], np.float32)
EDGE = np.float32(0.9957)
"""The quantiser of 4 evenly spaced levels with the least mean squared error for a normal distribution (Max, "Quantizing for Minimum
Distortion", IRE Transactions on Information Theory 1960, Table II): its levels, in halves of the distance between them, which is also the
edge beside 0. Whole numbers can be summed in any order. Uneven levels would have an error of 0.1175 for 0.1188."""
SHIFTS = np.array([6, 4, 2, 0], np.uint8)
"""Where a byte has its four dimensions, the first in its highest bits."""
FOUR_LEVELS = LEVELS[(np.arange(256)[:, None] >> SHIFTS) & 3]
"""The four levels that a byte stands for."""

FewBits = npt.NDArray[np.uint8]
"""Packed token vectors of texts, one after the other: (tokens, kept / 4), four dimensions a byte."""
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Packing:
    """How token vectors of an encoder are packed.

    Attributes:
        rotation: (dim, kept) float32, orthonormal columns.
        mean, scale: (kept,) float32: mean and deviation of what is rotated.
    """

    rotation: Vectors
    mean: Vectors
    scale: Vectors

    @property
    def kept(self) -> int:
        """Dimensions that are kept."""
        return int(self.rotation.shape[1])

    @property
    def bytes(self) -> int:
        """Bytes of a token."""
        return self.kept // len(SHIFTS)

    def pack(self, states: Vectors, counts: Counts) -> tuple[FewBits, Counts]:
        """Token vectors of texts, (tokens, dim), and how many each text has, (texts,): the former packed, the latter as they are."""
        with _blas().limit(limits=1, user_api="blas"):
            rotated = states @ self.rotation
        scaled = (rotated - self.mean) / self.scale
        codes = (scaled > -EDGE).view(np.uint8) + (scaled > 0).view(np.uint8) + (scaled > EDGE).view(np.uint8)
        packed: FewBits = np.zeros((len(states), self.bytes), np.uint8)
        for place, shift in enumerate(SHIFTS):
            packed |= codes[:, place :: len(SHIFTS)] << shift
        return packed, counts

    def unpack(self, packed: FewBits) -> Vectors:
        """What packed vectors stand for, rotated and scaled to unit length: (tokens, kept) float32."""
        return units(levels(packed) * self.step + self.mean)

    @once
    def step(self) -> Vectors:
        """What a level counts for in each dimension, (kept,)."""
        return self.scale * (EDGE / 2)

    @once
    def squares(self) -> Vectors:
        """What each value of each byte adds to the squared length of what is unpacked, (bytes, 256)."""
        components = levels(np.arange(256, dtype=np.uint8)[:, None].repeat(self.bytes, axis=1)) * self.step + self.mean
        squares: Vectors = (components**2).reshape(256, self.bytes, len(SHIFTS)).sum(axis=2).T.copy()
        return squares

    def lengths(self, packed: FewBits) -> Vectors:
        """The lengths that unpacked vectors have before they are scaled, (tokens,)."""
        places = packed + 256 * np.arange(self.bytes, dtype=np.int32)
        lengths: Vectors = np.sqrt(np.take(self.squares, places).sum(axis=1))
        return lengths

    def array(self) -> Vectors:
        """All of it as one array, (dim + 2, kept) float32, for a file."""
        return np.ascontiguousarray(np.concatenate([self.rotation, self.mean[None], self.scale[None]]), np.float32)

    @classmethod
    def of(cls, array: Vectors) -> Packing:
        """What `array` gave."""
        return cls(np.ascontiguousarray(array[:-2]), array[-2].copy(), array[-1].copy())

    def is_like(self, other: Packing) -> bool:
        """Whether what one packs, the other unpacks: two machines may differ in last bits."""
        return self.rotation.shape == other.rotation.shape and bool(np.allclose(self.array(), other.array(), atol=TOLERANCE))


@cache
def _blas() -> Any:
    """What limits the threads of matrix products: between two batches of an encoder, they would go on waiting for more work, actively,
    on the cores that it computes with, and make encoding a third slower."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


TOLERANCE = 0.01
"""Of components of rotations that two machines learnt of the same texts."""


def units(vectors: Vectors) -> Vectors:
    """Vectors scaled to unit length."""
    scaled: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    return scaled


def levels(packed: FewBits) -> Vectors:
    """The levels of packed vectors, whole numbers: (tokens, kept) float32."""
    unpacked: Vectors = np.take(FOUR_LEVELS, packed, axis=0).reshape(len(packed), -1)  # in a tenth of the time that an index takes
    return unpacked


def learn(states: Vectors) -> Packing:
    """The packing for token vectors like these, (tokens, dim)."""
    values, vectors = np.linalg.eigh(states.T.astype(np.float64) @ states.astype(np.float64))
    kept = min(DIMS, states.shape[1] // len(SHIFTS) * len(SHIFTS))
    rotation = vectors[:, np.argsort(-values, kind="stable")[:kept]]
    # an eigenvector's sign is free: fixed, so that all machines learn the same
    rotation *= np.sign(rotation[np.abs(rotation).argmax(axis=0), np.arange(kept)])
    rotation = rotation.astype(np.float32)
    rotated = states @ rotation
    return Packing(rotation, rotated.mean(axis=0), np.maximum(rotated.std(axis=0), np.float32(1e-6)))


def packed_texts(packed: Sequence[tuple[FewBits, Counts]], order: Sequence[npt.NDArray[np.intp]]) -> tuple[FewBits, Counts]:
    """Packed batches of texts as one, in the order of the texts' numbers: `order` has those of each batch."""
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
    """The packing in a file, for token vectors of `dim` dimensions. Raises CorruptData."""
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
"""Up to which float32 has all whole numbers."""
POWER = 4
"""What a cosine is raised to: of an untrained model those of unrelated words are 0.3 to 0.4. See docs/quality.md."""


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
        """(tokens, kept / 4) of all its papers, one after the other."""
        packed: FewBits = read_array(self.path)
        expected = (int(self.counts.sum(dtype=np.int64)), self.packing.bytes)
        if packed.dtype != np.uint8 or packed.shape != expected:
            raise CorruptData(
                f"{self.path} holds {packed.dtype}{packed.shape} where its shard has uint8{expected}; try `sciretrieve verify --repair`"
            )
        return packed

    @once
    def counts(self) -> npt.NDArray[np.int32]:
        """How many tokens each paper has, (papers,)."""
        counts = np.array(read_array(self.counts_path))
        if counts.dtype != np.int32 or counts.shape != (self.papers,) or (counts < 0).any():
            raise CorruptData(
                f"{self.counts_path} holds {counts.dtype}{counts.shape}, which is not its shard's; try `sciretrieve verify --repair`"
            )
        return counts

    @once
    def ends(self) -> Counts:
        """Where the tokens of each paper end, (papers,)."""
        return np.cumsum(self.counts, dtype=np.int64)

    def of(self, row: int) -> FewBits:
        """The packed token vectors of the paper in this row of the shard."""
        return self.packed[int(self.ends[row - 1]) if row else 0 : int(self.ends[row])]


@dataclass(frozen=True, eq=False)
class QueryTokens:
    """A query's token vectors, (tokens, dim) of unit length, how much each counts, (tokens,), and the word that each is a part of."""

    vectors: Vectors
    weights: Scores
    words: Sequence[str]


def matches(shards: Sequence[TokenShard], query: QueryTokens, rows: Rows) -> Scores:
    """The scores of the papers at the given rows for a query: (n,), from 0 to 1; -inf for papers without tokens."""
    scores = np.full(len(rows), -np.inf)
    for shard, positions, shard_rows in by_shard(rows, shards):
        scores[positions] = match(shard.packing, query, [shard.of(row) for row in shard_rows.tolist()])
    return scores


def match(packing: Packing, query: QueryTokens, papers: Sequence[FewBits]) -> Scores:
    """The scores of papers with these packed token vectors for a query: (n,), from 0 to 1; -inf for papers without tokens.

    The query's vectors are rounded to whole numbers, as levels are. Their products are exact, so that a paper's score does not depend on
    the papers beside it, and with them on how an index is cut into shards.
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
    products = levels(packed) @ np.rint(scaled * whole).T
    cosines = (products / whole + rotated @ packing.mean) / packing.lengths(packed)[:, None]
    best = np.maximum.reduceat(cosines, np.cumsum(counts[filled]) - counts[filled])
    scores[filled] = np.average(np.clip(best, 0.0, 1.0).astype(np.float64) ** POWER, axis=1, weights=query.weights)
    return scores
