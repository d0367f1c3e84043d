"""One shard of a BM25 index: the papers of its terms, and the contribution of each term to their scores."""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.errors import CorruptData
from ...base.once import once
from ...base.types import Mask, Rows
from ...files.schema import integers
from ...options import Bm25Parameters
from ..scope import Scope, are_among, places_among
from .corpus_statistics import Frequencies, Statistics
from .fields import FIELD_END, FieldPostings
from .postings import Postings
from .variants import FREQUENCY_WEIGHTS, RARITIES, VARIANTS, Floats, frequency_weights, term_rarities

TRIED = 8
"""Most postings of a term per wanted paper for which scanning all postings is faster than looking the papers up."""
REMEMBERED = 64_000_000
"""Postings whose weights an open index caches, 4 bytes each, for the most recently searched terms. Most of a query's postings belong to
common words, which recur. A million papers have some 70 million postings."""
NUMBERS_REMEMBERED = 65_536
"""Terms of a shard whose numbers are cached."""
FEW = 4
"""Most papers that are looked up one by one."""
COMMON = 64
"""Most papers per posting of a term whose papers are cached as a mask. For rarer terms, looking papers up is faster."""
MASKS_REMEMBERED = 64_000_000
"""Bytes of these masks, a byte per paper, that an open index caches: of the most recent terms."""
PARAMETERS_REMEMBERED = 64

Weights = npt.NDArray[np.float32]
NO_PLACES: npt.NDArray[np.int32] = np.empty(0, np.int32)


LIST = np.dtype([("rows", np.int64), ("weights", np.int64), ("length", np.int64), ("most", np.float64)])
"""A list of postings for compiled code: the addresses of rows and weights, their number, and the greatest weight."""


class TermWeights(NamedTuple):
    """Rows of a shard's papers that have a term, its contributions to their scores, both (postings,), the greatest of these, and all as a
    `LIST`, which is valid as long as the arrays are kept."""

    rows: npt.NDArray[np.int32]
    weights: Weights
    most: float
    packed: bytes

    @classmethod
    def of(cls, rows: npt.NDArray[np.int32], weights: Weights) -> TermWeights:
        """Weights of the papers at these rows."""
        most = float(weights.max(initial=0.0))
        return cls(rows, weights, most, struct.pack("=qqqd", rows.ctypes.data, weights.ctypes.data, len(rows), most))


class RememberedWeights:
    """Weights of recently searched terms, shared by all shards. Thread-safe.

    A full cache drops the oldest weights, except those that were used since they were last spared: looking them up takes no lock.
    """

    def __init__(self) -> None:
        self._size = 0
        self._weights: dict[tuple[int, int], TermWeights] = {}
        self._used: set[tuple[int, int]] = set()
        self._lock = Lock()

    def known(self, first: int, number: int) -> TermWeights | None:
        """Cached weights of a term, or None; see `get`."""
        key = first, number
        if (remembered := self._weights.get(key)) is not None:
            self._used.add(key)
        return remembered

    def each(self, first: int, numbers: Sequence[int], compute: Callable[[int], TermWeights]) -> list[TermWeights]:
        """`get` for each number."""
        keys = [(first, number) for number in numbers]
        remembered = [weights for key in keys if (weights := self._weights.get(key)) is not None]
        if len(remembered) < len(keys):
            return [self.get(first, number, compute) for number in numbers]
        self._used.update(keys)
        return remembered

    def get(self, first: int, number: int, compute: Callable[[int], TermWeights]) -> TermWeights:
        """Weights of a term, by its number, in the shard that begins at row `first`. Computed if not cached."""
        if (remembered := self.known(first, number)) is not None:
            return remembered
        computed, key = compute(number), (first, number)
        with self._lock:
            if key not in self._weights:
                self._weights[key] = computed
                self._size += len(computed.weights)
            while self._size > REMEMBERED:
                oldest = next(iter(self._weights))
                weights = self._weights.pop(oldest)
                if oldest in self._used:
                    self._used.discard(oldest)
                    self._weights[oldest] = weights
                else:
                    self._size -= len(weights.weights)
        return computed


@dataclass(frozen=True)
class LexicalShard:
    """One shard's part of a BM25 index.

    Attributes:
        postings: the shard's terms and their papers.
        fields: words of the papers' authors, venues and keywords.
        frequencies: number of papers in the corpus with each of the terms, (terms,).
        scope: the undeleted papers.
        first: row of the first paper, counted over all shards.
        statistics: the corpus's statistics.
        parameters: how terms are weighted.
        remembered: the weights that all shards cache.
    """

    postings: Postings
    fields: FieldPostings
    frequencies: Frequencies
    scope: Scope
    first: int
    statistics: Statistics
    parameters: Bm25Parameters
    remembered: RememberedWeights = field(default_factory=RememberedWeights)

    @property
    def papers(self) -> int:
        """Number of rows, deleted papers included."""
        return self.postings.papers

    @once
    def number(self) -> Callable[[str], int | None]:
        """A function from a term to its number; None if no paper of the shard has it."""
        return lru_cache(NUMBERS_REMEMBERED)(self.postings.vocabulary.number)

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """Numbers of the given terms, in order, for terms that a paper here has."""
        number_of = self.number
        return [number for term in terms if (number := number_of(term)) is not None]

    @once
    def _places_of(self) -> Callable[[int], slice]:
        """A function from a term's number to its postings, which are checked on first use. Raises CorruptData."""
        return lru_cache(NUMBERS_REMEMBERED)(self.postings.of)

    def rows_of(self, number: int) -> npt.NDArray[np.int32]:
        """Rows within the shard of the papers with a term, deleted papers included, ascending."""
        return self.postings.rows[self._places_of(number)]

    def rows_within(self, number: int, column: str | None) -> npt.NDArray[np.int32]:
        """The `rows_of` a term in title or abstract; all of them if `column` is None. A term that occurs more than 255 times in a title
        counts as in the abstract, too."""
        rows = self.rows_of(number)
        return rows if column is None else rows[self._are_within(number, column)]

    def _are_within(self, number: int, column: str, chosen: slice | Rows = slice(None)) -> Mask:
        """Which of a term's postings, or of those chosen, are in a column, (postings,)."""
        places = self._places_of(number)
        in_title = self.postings.titles[places][chosen]
        are_within: Mask = in_title > 0 if column == "title" else self.postings.counts[places][chosen] > in_title
        return are_within

    def have(self, number: int, rows: npt.NDArray[np.integer], column: str | None = None) -> Mask:
        """Which of these rows, ascending, are of a term's papers, as in `rows_within`, (rows,)."""
        term_rows = self.rows_of(number)
        if not len(term_rows) or (COMMON * len(term_rows) > self.papers and TRIED * len(rows) > len(term_rows)):
            flags: Mask = self._mask(number, column)[rows]
            return flags
        if column is None:
            return are_among(rows, term_rows)
        places = places_among(rows, term_rows)
        are_within: Mask = (term_rows[places] == rows) & self._are_within(number, column, places)
        return are_within

    def rows_with_all(self, numbers: Sequence[int], column: str | None = None, among: Rows | None = None) -> npt.NDArray[np.integer]:
        """Rows of the papers with all of some terms, rarest first, as in `rows_within`: all, or of the given ones."""
        rows: npt.NDArray[np.integer] = self.rows_within(numbers[0], column) if among is None else among
        for place, number in enumerate(numbers[among is None :], among is None):
            if len(rows) <= FEW:  # most of the way, and faster without arrays
                rest = numbers[place:]
                return np.array([row for row in rows.tolist() if all(self._has(number, row, column) for number in rest)], rows.dtype)
            rows = rows[self.have(number, rows, column)]
        return rows

    def _has(self, number: int, row: int, column: str | None) -> bool:
        """Whether a paper has a term, as in `have`."""
        places, (rows, counts, titles) = self._places_of(number), self._views
        place = bisect_left(rows, row, places.start, places.stop)
        if place == places.stop or rows[place] != row:
            return False
        return column is None or (titles[place] > 0 if column == "title" else counts[place] > titles[place])

    @once
    def _views(self) -> tuple[memoryview, memoryview, memoryview]:
        """Rows, counts and titles of the postings, for reading single ones."""
        postings = self.postings
        return postings.rows.data, postings.counts.data, postings.titles.data

    @once
    def _mask(self) -> Callable[[int, str | None], Mask]:
        """A function from a term's number and a column to a mask of its papers, as in `rows_within`."""

        def mask(number: int, column: str | None) -> Mask:
            flags = np.zeros(self.papers, bool)
            flags[self.rows_within(number, column)] = True
            return flags

        return lru_cache(max(MASKS_REMEMBERED // max(self.statistics.papers, 1), 1))(mask)

    def rows_in_field(self, term: str) -> npt.NDArray[np.int32]:
        """Rows within the shard of the papers with a field word (`fields.field_term`), deleted papers included, ascending."""
        field, _, word = term.partition(FIELD_END)
        return self.fields.rows_with(word, field)

    def weights_of(self, number: int) -> Weights:
        """A term's weights in its papers, minus the weight of its absence."""
        return self.weighted(number).weights

    def weighted(self, number: int) -> TermWeights:
        """The `weights_of` a term, cached."""
        return self.remembered.get(self.first, number, self._weighted)

    def weighted_each(self, numbers: Sequence[int]) -> list[TermWeights]:
        """The `weighted` of each number."""
        return self.remembered.each(self.first, numbers, self._weighted)

    def _weighted(self, number: int) -> TermWeights:
        return TermWeights.of(self.rows_of(number), self._weigh_postings(number, self._places_of(number)))

    def frequency(self, number: int) -> int:
        """Number of papers in the corpus with a term. Raises CorruptData if it exceeds the number of papers."""
        count = int(self.frequencies[number])  # read directly, since explanations ask for each term of each paper
        if not 0 <= count <= self.statistics.papers:
            raise self._damaged
        return count

    def terms_of(self, least: int) -> list[str]:
        """Terms of the shard that at least this many papers of the corpus have."""
        numbers = np.flatnonzero(self._possible(self.frequencies) >= least)
        terms: list[str] = self.postings.terms.take(integers(numbers)).to_pylist()
        return terms

    def _possible(self, frequencies: Frequencies) -> Frequencies:
        # as unsigned, a negative number is large
        if len(frequencies) and frequencies.view(np.uint32).max() > self.statistics.papers:
            raise self._damaged
        return frequencies

    @property
    def _damaged(self) -> CorruptData:
        return CorruptData(
            f"the frequencies of the terms of {self.postings.folder} are damaged; `sciretrieve verify --repair` rebuilds them"
        )

    @once
    def rarities(self) -> Floats:
        """Each term's inverse document frequency in Lucene's form, which is always positive, (terms,)."""
        return RARITIES["lucene"](self._possible(self.frequencies).astype(np.float64), self.statistics.papers)

    @once
    def _norms(self) -> Weights:
        """Length normalisation of each paper, (papers,)."""
        statistics, title = self.statistics, self.parameters.title - 1.0
        mean_length = (statistics.terms + title * statistics.title_terms) / max(statistics.papers, 1)
        lengths = (self.postings.lengths + title * self.postings.title_lengths) / (mean_length or 1.0)  # 0 if titles weigh 0
        return np.asarray(1 - self.parameters.b + self.parameters.b * lengths, np.float32)

    def weights_at(self, number: int, places: Rows) -> Weights:
        """A term's weights in the papers at these positions of `rows_of`."""
        return self._weigh_postings(number, self._places_of(number).start + places)

    def _weigh_postings(self, number: int, places: slice | Rows) -> Weights:
        counts = self.postings.counts[places].astype(np.float32)
        counts += np.float32(self.parameters.title - 1.0) * self.postings.titles[places]
        weigh = FREQUENCY_WEIGHTS[VARIANTS[self.parameters.variant].frequency]
        weights = weigh(counts, self._norms[self.postings.rows[places]], self.parameters)
        rarity = rarity_of(self.parameters, self.frequency(number), self.statistics.papers)
        return np.asarray(np.float32(rarity) * weights - np.float32(rarity * absent_weight(self.parameters)), np.float32)


@lru_cache(NUMBERS_REMEMBERED)
def rarity_of(parameters: Bm25Parameters, frequency: int, papers: int) -> float:
    """Inverse document frequency, in the variant's form, of a term that `frequency` of `papers` have."""
    return float(term_rarities(parameters, np.array([float(frequency)]), papers)[0])


@lru_cache(PARAMETERS_REMEMBERED)
def largest_weight(parameters: Bm25Parameters) -> float:
    """Upper bound of the weight of a term of rarity 1, minus the weight of its absence."""
    most = float(frequency_weights(parameters, np.array([1e9]), np.zeros(1))[0])
    return 1.0001 * (most - absent_weight(parameters))


@lru_cache(PARAMETERS_REMEMBERED)
def absent_weight(parameters: Bm25Parameters) -> float:
    """Weight of the absence of a term of rarity 1: above 0 in bm25l and bm25+."""
    return float(frequency_weights(parameters, np.zeros(1), np.ones(1))[0])
