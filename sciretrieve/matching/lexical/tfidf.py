"""TF-IDF vectors of papers as a sparse matrix, made from the postings of all shards. Models that learn from papers use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...base.extras import need
from ...base.types import Rows
from .bm25 import Bm25
from .variants import RARITIES, Floats


@dataclass(frozen=True)
class TermMatrix:
    """Terms of some papers.

    Attributes:
        weights: SciPy's CSR matrix (papers, terms), float32, with rows of unit length. A weight is (1 + log frequency) times the inverse
            document frequency; a term counts twice in a title, as in BM25.
        terms: the terms, (terms,).
        rarities: inverse document frequencies of the terms, (terms,).
    """

    weights: Any
    terms: pa.StringArray
    rarities: Floats

    def of(self, terms: Mapping[str, float]) -> Any:
        """A query's weighted terms as a row of the same kind, (1, terms)."""
        from scipy.sparse import csr_matrix

        columns = np.array(pc.index_in(pa.array(list(terms), pa.string()), value_set=self.terms).fill_null(-1).to_pylist(), np.int64)
        known = columns >= 0
        values = np.array(list(terms.values()))[known] * self.rarities[columns[known]]
        values = values / max(float(np.linalg.norm(values)), 1e-9)
        return csr_matrix((values.astype(np.float32), (np.zeros(len(values), np.int64), columns[known])), shape=(1, len(self.terms)))


def term_matrix(bm25: Bm25, rows: Rows) -> TermMatrix:
    """Terms of the papers at the given rows, in order.

    Raises:
        CorruptData: the postings refer to papers that do not exist.
    """
    need("scipy", "a matrix of terms")
    from scipy.sparse import csr_matrix, diags  # takes a tenth of a second, which searches avoid

    vocabulary = pa.concat_arrays([pa.array([], pa.string()), *(shard.postings.terms for shard in bm25.shards)]).dictionary_encode()
    numbers = np.asarray(vocabulary.indices.to_numpy(zero_copy_only=False), np.int64)
    rarities = np.zeros(len(vocabulary.dictionary))
    parts: list[tuple[Rows, Rows, Any]] = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))]
    first_term = 0
    for shard in bm25.shards:
        postings = shard.postings
        postings.check(postings.rows)
        columns = numbers[first_term : first_term + len(postings.terms)]
        first_term += len(postings.terms)
        rarities[columns] = RARITIES["lucene"](shard.frequencies.astype(np.float64), bm25.statistics.papers)
        frequencies = postings.counts.astype(np.float32) + postings.titles
        parts.append((postings.rows.astype(np.int64) + shard.first, np.repeat(columns, np.diff(postings.offsets)), 1 + np.log(frequencies)))
    paper_rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    total = sum(shard.papers for shard in bm25.shards)
    values = (values * rarities[columns]).astype(np.float32)
    weights = csr_matrix((values, (paper_rows, columns)), shape=(total, len(rarities)))[rows]
    lengths = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1)).ravel())
    return TermMatrix((diags(1 / np.maximum(lengths, 1e-9)).astype(np.float32) @ weights).tocsr(), vocabulary.dictionary, rarities)
