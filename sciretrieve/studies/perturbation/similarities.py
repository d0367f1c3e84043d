"""Measures of vectors and of rankings: ranks, overlap, similarities, anisotropy. Vectors are compared by their cosine, as in the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.extras import need
from ...base.types import Rows, Scores, Vectors

BLOCK = 512
"""The number of vectors to compare with all others at once."""
ROGUE = 3
"""The number of dimensions to leave out for their share in similarities (Timkey and van Schijndel 2021, §3.2)."""
PAIRS = 20_000
"""The number of pairs of vectors for this measurement."""
PERPLEXITY = 30
"""About the number of neighbours that t-SNE keeps near a vector."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How well queries find their one paper.

    Attributes:
        queries: the number of queries.
        mrr: mean reciprocal rank, from 0 to 1; an unanswered paper counts 0.
        t100: T100, the share of queries with their paper among the first 100.
    """

    queries: int
    mrr: float
    t100: float

    @classmethod
    def of(cls, ranks: Rows) -> Retrieval:
        """Computed from the rank of each query's paper, from 1; 0 if it is not answered."""
        reciprocals = np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0)
        return cls(len(ranks), float(reciprocals.mean()), float(((ranks > 0) & (ranks <= 100)).mean()))


@dataclass(frozen=True, slots=True)
class Similarities:
    """The cosines of all pairs of different papers' vectors: mean, standard deviation, least and greatest, and the share above the mean."""

    mean: float
    deviation: float
    least: float
    greatest: float
    above_mean: float


@dataclass(frozen=True, slots=True)
class Anisotropy:
    """How unevenly vectors point in all directions, and the share of single dimensions in it (Timkey and van Schijndel 2021, §3).

    Attributes:
        mean_cosine: of all pairs of different vectors; 0 for even directions.
        dimensions: the three that contribute most to it, with their share of it. Even shares would be one part in `dim` each.
        without: the correlation (Pearson's r) of the pairs' cosines with and without these dimensions; a low one means that these
            dimensions make the similarities.
        without_mean_cosine: the mean cosine without them.
    """

    mean_cosine: float
    dimensions: tuple[tuple[int, float], ...]
    without: float
    without_mean_cosine: float


def unit(vectors: Vectors) -> Vectors:
    """Vectors of length 1; (n, dim)."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), np.float32)


def standardised(vectors: Vectors, like: Vectors) -> Vectors:
    """Each dimension minus its mean, over its standard deviation, both of the vectors `like` (Timkey and van Schijndel 2021, §5)."""
    return np.asarray((vectors - like.mean(axis=0)) / np.maximum(like.std(axis=0), 1e-12), np.float32)


def own_ranks(queries: Vectors, candidates: Vectors, own: Rows, left_out: Rows | None = None) -> Rows:
    """The rank by cosine of each query's own candidate, from 1; among equal candidates, the first comes first.

    `left_out` names for each query a row that is not a candidate. Shapes (q, dim), (n, dim), (q,), (q,).
    """
    candidates, ranks = unit(candidates), np.empty(len(queries), np.int64)
    for start, cosines in _blocks(unit(queries), candidates):
        rows = np.arange(len(cosines))
        own_rows = own[start : start + len(cosines)]
        if left_out is not None:
            cosines[rows, left_out[start : start + len(cosines)]] = -np.inf
        own_cosines = cosines[rows, own_rows][:, None]
        earlier = np.arange(len(candidates)) < own_rows[:, None]
        ranks[start : start + len(cosines)] = 1 + ((cosines > own_cosines) | ((cosines == own_cosines) & earlier)).sum(axis=1)
    return ranks


def overlap(first: Rows, second: Rows) -> float:
    """The mean share of a query's k answers that are in both rankings; (q, k) each, -1 for a missing answer."""
    shares = [len({*one} & {*other} - {-1}) / first.shape[1] for one, other in zip(first.tolist(), second.tolist(), strict=True)]
    return float(np.mean(shares))


def similarities(vectors: Vectors) -> Similarities:
    """See `Similarities`. At least two vectors, (n, dim)."""
    vectors = unit(vectors)
    # each pair once: the part of the blocks above the diagonal of the square matrix
    above = (block[np.arange(len(vectors)) > np.arange(start, start + len(block))[:, None]] for start, block in _blocks(vectors, vectors))
    cosines = np.concatenate(list(above)).astype(np.float64)
    mean = cosines.mean()
    return Similarities(float(mean), float(cosines.std()), float(cosines.min()), float(cosines.max()), float((cosines > mean).mean()))


def mean_cosine(first: Vectors, second: Vectors) -> float:
    """The mean cosine of vectors in the same rows; (n, dim) each."""
    return float(np.einsum("ij,ij->i", unit(first), unit(second), dtype=np.float64).mean())


def anisotropy(vectors: Vectors, seed: int = 0) -> Anisotropy:
    """See `Anisotropy`. At least two vectors of more than three dimensions, (n, dim)."""
    unit_vectors = unit(vectors).astype(np.float64)
    count = len(vectors)
    contributions = (unit_vectors.sum(axis=0) ** 2 - np.square(unit_vectors).sum(axis=0)) / (count * (count - 1))
    rogue = np.argsort(-np.abs(contributions), kind="stable")[:ROGUE]
    others = np.delete(vectors, rogue, axis=1)
    chance = np.random.default_rng(seed)
    one = chance.integers(0, count, PAIRS)
    two = (one + chance.integers(1, count, PAIRS)) % count  # never the same vector
    all_cosines, other_cosines = (np.einsum("ij,ij->i", rows[one], rows[two]) for rows in (unit_vectors, unit(others).astype(np.float64)))
    constant = np.ptp(all_cosines) == 0 or np.ptp(other_cosines) == 0
    return Anisotropy(
        float(contributions.sum()),
        tuple((int(dimension), float(contributions[dimension] / contributions.sum())) for dimension in rogue),
        0.0 if constant else float(np.corrcoef(all_cosines, other_cosines)[0, 1]),
        float(other_cosines.mean()),
    )


def check_neighbour_map() -> None:
    """Raise MissingExtra if scikit-learn, which has the t-SNE of `neighbour_map`, is not installed."""
    need("sklearn", "a plot by t-SNE")


def neighbour_map(vectors: Vectors, seed: int = 0) -> Scores:
    """The vectors in a plane by t-SNE (van der Maaten and Hinton 2008), which keeps near vectors near, but not distances; (n, 2).

    It starts from the two principal components; perplexity is 30, or less for fewer than 91 vectors. Singh and Singh (2022), whose Figures
    2 and 8 are such plots, do not give theirs. At least four vectors, (n, dim).
    """
    from sklearn.manifold import TSNE

    map = TSNE(perplexity=min(PERPLEXITY, (len(vectors) - 1) / 3), init="pca", random_state=seed)
    return np.asarray(map.fit_transform(unit(vectors)), np.float64)


def _blocks(vectors: Vectors, others: Vectors) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
    """The products of vectors with all others, a block of rows at a time, and the first row of each."""
    for start in range(0, len(vectors), BLOCK):
        yield start, vectors[start : start + BLOCK] @ others.T
