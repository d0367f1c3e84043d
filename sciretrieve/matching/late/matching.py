"""How well papers' token vectors match a query's: for each token of the query the best cosine of the paper's, and the mean of these.

Source: Khattab and Zaharia, "ColBERT", SIGIR 2020, section 3.3 (MaxSim). Here nothing was trained for it, so what they leave to training is
put in: rare words count more, and a good match much more than a fair one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...base.errors import CorruptData
from ...base.once import once
from ...base.types import Rows, Scores, Vectors
from ...files.writing import read_array
from ..sharding import by_shard
from .packing import Counts, FewBits, Packing, levels, units

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
