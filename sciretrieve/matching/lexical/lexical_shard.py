"""One shard's part of a BM25 index: its terms' papers, and what each term adds to their scores."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.errors import CorruptData
from ...base.once import once
from ...base.types import Mask, Rows
from ...options import Bm25Parameters
from ..scope import Scope, places_among
from .corpus_statistics import Frequencies, Statistics
from .fields import FIELD_END, FieldPostings
from .postings import Postings
from .variants import FREQUENCY_WEIGHTS, RARITIES, VARIANTS, Floats, frequency_weights, term_rarities

TRIED = 8
"""Postings of a term for each paper that is to be looked for among them, up to which looking at all of them is quicker."""
REMEMBERED = 64_000_000
"""Postings whose weights an open index keeps in memory, 4 bytes each: those of the terms that were last searched for. Most of
a query's postings are those of common words, which other queries have too. A million papers have some 70 million postings."""
NUMBERS_REMEMBERED = 65_536
"""Terms of a shard whose numbers are kept in memory."""
PARAMETERS_REMEMBERED = 64

Weights = npt.NDArray[np.float32]
NO_PLACES: npt.NDArray[np.int32] = np.empty(0, np.int32)


class TermWeights(NamedTuple):
    """What a term adds to the scores of a shard's papers that have it, (postings,), and the most of it."""

    weights: Weights
    most: float


class RememberedWeights:
    """The weights of the terms that were last searched for, of all shards together; several threads may use it."""

    def __init__(self) -> None:
        self._size = 0
        self._weights: OrderedDict[tuple[int, int], TermWeights] = OrderedDict()
        self._lock = Lock()

    def known(self, first: int, number: int) -> TermWeights | None:
        """The weights of a term, if they are here; see `get`."""
        key = first, number
        with self._lock:
            remembered = self._weights.get(key)
            if remembered is not None:
                self._weights.move_to_end(key)
            return remembered

    def get(self, first: int, number: int, compute: Callable[[int], Weights]) -> Weights:
        """The weights of a term, by its number, in the shard that begins at the row `first`; computed if they are not here."""
        if (remembered := self.known(first, number)) is not None:
            return remembered.weights
        weights = compute(number)
        most = float(weights.max(initial=0.0))
        key = first, number
        with self._lock:
            if key not in self._weights:
                self._weights[key] = TermWeights(weights, most)
                self._size += len(weights)
            while self._size > REMEMBERED:
                self._size -= len(self._weights.popitem(last=False)[1].weights)
        return weights


@dataclass(frozen=True)
class LexicalShard:
    """One shard's part of a BM25 index.

    Attributes:
        postings: its terms and their papers.
        fields: the words of its papers' authors, venues and keywords.
        frequencies: how many papers of the corpus have each of its terms, (terms,).
        scope: which of its papers are not deleted.
        first: its first paper's row, counted over all shards.
        statistics: the corpus's.
        parameters: how terms are weighted.
        remembered: what all shards share.
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
        """How many rows it has, those of deleted papers among them."""
        return self.postings.papers

    @once
    def number(self) -> Callable[[str], int | None]:
        """Gives a term's number; None if no paper of the shard has it."""
        return lru_cache(NUMBERS_REMEMBERED)(self.postings.vocabulary.number)

    @once
    def _places_of(self) -> Callable[[int], slice]:
        """Gives a term's postings, which are checked when they are first read. Raises CorruptData."""
        return lru_cache(NUMBERS_REMEMBERED)(self.postings.of)

    def rows_of(self, number: int) -> npt.NDArray[np.int32]:
        """The rows within the shard of the papers that have a term, deleted ones too, ascending."""
        return self.postings.rows[self._places_of(number)]

    def rows_within(self, number: int, column: str | None) -> npt.NDArray[np.int32]:
        """Those of `rows_of` whose title, or abstract, has the term; for None either. What is more than 255 times in a title counts
        as in the abstract too."""
        rows, places = self.rows_of(number), self._places_of(number)
        if column is None:
            return rows
        in_title = self.postings.titles[places]
        return rows[in_title > 0 if column == "title" else self.postings.counts[places] > in_title]

    def in_titles(self, number: int, rows: Rows) -> Mask:
        """Which of its papers at these rows, ascending, have a term in their title, as `rows_within` has it: (rows,)."""
        term_rows, titles = self.rows_of(number), self.postings.titles[self._places_of(number)]
        if TRIED * len(rows) > len(term_rows):
            flags = np.zeros(self.papers, bool)
            flags[term_rows] = titles > 0
            return flags[rows]
        places = places_among(rows, term_rows)
        in_title: Mask = (term_rows[places] == rows) & (titles[places] > 0)
        return in_title

    def rows_in_field(self, term: str) -> npt.NDArray[np.int32]:
        """The rows within the shard of the papers that have a word in a field (`fields.field_term`), deleted ones too, ascending."""
        field, _, word = term.partition(FIELD_END)
        return self.fields.rows_with(word, field)

    def weights_of(self, number: int) -> Weights:
        """A term's part of these papers' scores, less its part of the score of a paper without it."""
        return self.remembered.get(self.first, number, lambda number: self._weigh_postings(number, self._places_of(number)))

    def frequency(self, number: int) -> int:
        """How many papers of the corpus have a term. Raises CorruptData if these are more than there are."""
        count = int(self.frequencies[number])  # each term of each paper that is explained asks, so it is read without a detour
        if not 0 <= count <= self.statistics.papers:
            raise self._damaged
        return count

    def terms_of(self, least: int) -> list[str]:
        """The shard's terms that at least so many papers of the corpus have."""
        terms: list[str] = self.postings.terms.take(np.flatnonzero(self._possible(self.frequencies) >= least)).to_pylist()
        return terms

    def _possible(self, frequencies: Frequencies) -> Frequencies:
        # viewed as unsigned, a negative number is a large one
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
        """Each term's inverse document frequency in Lucene's form, which is positive for every term, (terms,)."""
        return RARITIES["lucene"](self._possible(self.frequencies).astype(np.float64), self.statistics.papers)

    @once
    def _norms(self) -> Weights:
        """What each paper's length does to the weights of its terms, (papers,)."""
        statistics, title = self.statistics, self.parameters.title - 1.0
        mean_length = (statistics.terms + title * statistics.title_terms) / max(statistics.papers, 1)
        lengths = (self.postings.lengths + title * self.postings.title_lengths) / (mean_length or 1.0)  # 0 if titles weigh 0
        return np.asarray(1 - self.parameters.b + self.parameters.b * lengths, np.float32)

    def weights_at(self, number: int, places: Rows) -> Weights:
        """The weights of some of a term's papers: those at these places of `rows_of`."""
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
    """The inverse document frequency of a term that so many of so many papers have, in the variant's form."""
    return float(term_rarities(parameters, np.array([float(frequency)]), papers)[0])


@lru_cache(PARAMETERS_REMEMBERED)
def largest_weight(parameters: Bm25Parameters) -> float:
    """More than a term of rarity 1 can add to any paper's score, beyond what it adds to papers without it."""
    most = float(frequency_weights(parameters, np.array([1e9]), np.zeros(1))[0])
    return 1.0001 * (most - absent_weight(parameters))


@lru_cache(PARAMETERS_REMEMBERED)
def absent_weight(parameters: Bm25Parameters) -> float:
    """What a term of rarity 1 adds to the papers that do not have it: more than 0 in bm25l and bm25+."""
    return float(frequency_weights(parameters, np.zeros(1), np.ones(1))[0])
