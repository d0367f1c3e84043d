"""Token vectors in few bytes: neighbouring tokens as their mean, rotated to the 128 dimensions that vary most, 4 bits for each.

The rotation is learnt once for an encoder and kept with the index, so all of its shards are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import CorruptData
from ..files import read_array, write_array
from ..types import Vectors

DIMS = 128
"""Dimensions that are kept. Of all-MiniLM-L6-v2's 384, 64 are too few, see docs/quality.md."""
NEIGHBOURS = 2
"""Tokens that are stored as their mean."""
LEVELS = np.array([0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0691, 2.7326], np.float32)
EDGES = np.array([0.2582, 0.5224, 0.7996, 1.0993, 1.4371, 1.8435, 2.4008], np.float32)
"""The quantiser of 16 levels with the least mean squared error for a normal distribution (Max, "Quantizing for Minimum Distortion",
IRE Transactions on Information Theory 1960, Table I), its positive half: levels, and the edges between them."""
ALL_LEVELS = np.concatenate([-LEVELS[::-1], LEVELS])
ALL_EDGES = np.concatenate([-EDGES[::-1], [np.float32(0)], EDGES]).astype(np.float32)
BOTH_LEVELS = np.stack([ALL_LEVELS[np.arange(256) >> 4], ALL_LEVELS[np.arange(256) & 15]], axis=1)
"""The two levels that a byte stands for."""

FewBits = npt.NDArray[np.uint8]
"""Packed token vectors of texts, one after the other: (pairs, dimensions / 2), two dimensions a byte."""
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Packing:
    """How token vectors of an encoder are packed.

    Attributes:
        rotation: (dim, kept) float32, orthonormal columns.
        mean, scale: (kept,) float32: of rotated pairs.
    """

    rotation: Vectors
    mean: Vectors
    scale: Vectors

    @property
    def kept(self) -> int:
        """Dimensions that are kept."""
        return int(self.rotation.shape[1])

    def pack(self, states: Vectors, counts: Counts) -> tuple[FewBits, Counts]:
        """Token vectors of texts, (tokens, dim), and how many each text has, (texts,): packed, and how many pairs each text has."""
        pairs, pair_counts = _pairs(states @ self.rotation, counts)
        codes = np.searchsorted(ALL_EDGES, (pairs - self.mean) / self.scale).astype(np.uint8)
        packed: FewBits = codes[:, ::2] << np.uint8(4) | codes[:, 1::2]
        return packed, pair_counts

    def unpack(self, packed: FewBits) -> Vectors:
        """What packed vectors stand for, rotated and scaled to unit length: (pairs, kept) float32."""
        return units(levels(packed) * self.scale + self.mean)

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


TOLERANCE = 0.01
"""Of components of rotations that two machines learnt of the same texts."""


def units(vectors: Vectors) -> Vectors:
    """Vectors scaled to unit length."""
    scaled: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    return scaled


def levels(packed: FewBits) -> Vectors:
    """The quantiser's levels that packed vectors stand for, (pairs, kept) float32."""
    unpacked: Vectors = BOTH_LEVELS[packed].reshape(len(packed), -1)
    return unpacked


def learn(states: Vectors, counts: Counts) -> Packing:
    """The packing for token vectors like these, (tokens, dim), of texts with so many tokens each."""
    values, vectors = np.linalg.eigh(states.T.astype(np.float64) @ states.astype(np.float64))
    kept = min(DIMS, states.shape[1] // 2 * 2)  # two dimensions share a byte
    rotation = vectors[:, np.argsort(-values, kind="stable")[:kept]]
    # an eigenvector's sign is free: fixed, so that all machines learn the same
    rotation *= np.sign(rotation[np.abs(rotation).argmax(axis=0), np.arange(kept)])
    rotation = rotation.astype(np.float32)
    pairs, _ = _pairs(states @ rotation, counts)
    return Packing(rotation, pairs.mean(axis=0), np.maximum(pairs.std(axis=0), np.float32(1e-6)))


def _pairs(rotated: Vectors, counts: Counts) -> tuple[Vectors, Counts]:
    """The means of neighbouring tokens of each text; the last of an odd number stands alone."""
    pair_counts = -(-counts // NEIGHBOURS)
    firsts = np.repeat(np.cumsum(counts) - counts, pair_counts)
    starts = firsts + NEIGHBOURS * _places(pair_counts)
    if not len(starts):
        return np.empty((0, rotated.shape[1]), np.float32), pair_counts
    sizes = np.diff(np.append(starts, len(rotated)))
    means = np.add.reduceat(rotated, starts) / sizes[:, None].astype(np.float32)
    return means.astype(np.float32, copy=False), pair_counts


def _places(counts: Counts) -> Counts:
    """0, 1, … for each of the counts, one after the other."""
    ends = np.cumsum(counts)
    places: Counts = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    return places


def packed_texts(packed: Sequence[tuple[FewBits, Counts]], order: Sequence[npt.NDArray[np.intp]]) -> tuple[FewBits, Counts]:
    """Packed batches of texts as one, in the order of the texts' numbers: `order` has those of each batch."""
    if not packed:
        return np.empty((0, 0), np.uint8), np.empty(0, np.int64)
    codes, counts = np.concatenate([part for part, _ in packed]), np.concatenate([part for _, part in packed])
    firsts = np.cumsum(counts) - counts
    places = np.argsort(np.concatenate(order), kind="stable")
    in_order = counts[places]
    rows = np.repeat(firsts[places], in_order) + _places(in_order)
    return codes[rows], in_order


def write_packing(path: Path, packing: Packing) -> None:
    """Write a packing to a file, see `Packing.array`."""
    write_array(path, packing.array())


def read_packing(path: Path, dim: int) -> Packing:
    """The packing in a file, for token vectors of `dim` dimensions. Raises CorruptData."""
    array = np.array(read_array(path))
    if array.dtype != np.float32 or array.ndim != 2 or len(array) != dim + 2 or array.shape[1] % 2 or not np.isfinite(array).all():
        raise CorruptData(f"{path} holds {array.dtype}{array.shape}, expected float32{(dim + 2, DIMS)}; try `sciretrieve verify --repair`")
    return Packing.of(array)
