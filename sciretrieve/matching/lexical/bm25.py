"""BM25 search over shards: each scores its own postings, with the statistics of the whole corpus."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...errors import CorruptData, InvalidRequest
from ...once import once
from ...options import Bm25Parameters
from ...types import Mask, Rows
from ...waiting import check
from .. import topk
from ..scope import RowRange, Scope
from ..sharding import by_shard
from .corpus_statistics import Frequencies, Statistics
from .fields import FIELD_END, FIELDS, Fields, field_of, is_field_term
from .postings import Postings
from .variants import FREQUENCY_WEIGHTS, RARITIES, VARIANTS, Floats, frequency_weights, term_rarities

ONE_BY_ONE = 16
"""Terms that are looked up one by one; more are looked for together."""
LOOKED_UP = 16
"""Postings of a term for each paper that is to be scored, up to which adding up all of them is quicker than looking for these papers."""
K3 = 3.0
"""Saturates a term's frequency in a query; measured, see docs/quality.md."""

REMEMBERED = 16_000_000
"""Postings whose weights an open index keeps in memory, 4 bytes each: those of the terms that were last searched for. Most of
a query's postings are those of common words, which other queries have too."""
NUMBERS_REMEMBERED = 65_536
"""Terms of a shard whose numbers are kept in memory."""

Weights = npt.NDArray[np.float32]
NO_ROWS: Rows = np.empty(0, np.int64)
NO_PLACES: npt.NDArray[np.int32] = np.empty(0, np.int32)

FieldTerms: TypeAlias = Mapping[str, Mapping[str, float]]
"""Of terms of a query, the words in fields that stand for them too, with their weights; see `names.field_terms`."""
NO_FIELDS: FieldTerms = {}


class RememberedWeights:
    """The weights of the terms that were last searched for, of all shards together; several threads may use it."""

    def __init__(self) -> None:
        self._size = 0
        self._weights: OrderedDict[tuple[int, int], Weights] = OrderedDict()
        self._lock = Lock()

    def known(self, first: int, number: int) -> Weights | None:
        """The weights of a term, if they are here; see `get`."""
        key = first, number
        with self._lock:
            weights = self._weights.get(key)
            if weights is not None:
                self._weights.move_to_end(key)
            return weights

    def get(self, first: int, number: int, compute: Callable[[int], Weights]) -> Weights:
        """The weights of a term, by its number, in the shard that begins at the row `first`; computed if they are not here."""
        key = first, number
        if (weights := self.known(first, number)) is not None:
            return weights
        weights = compute(number)
        with self._lock:
            if key not in self._weights:
                self._weights[key] = weights
                self._size += len(weights)
            while self._size > REMEMBERED:
                self._size -= len(self._weights.popitem(last=False)[1])
        return weights


@dataclass(frozen=True)
class LexicalShard:
    """One shard's part of a BM25 index.

    Attributes:
        postings: its terms and their papers.
        frequencies: how many papers of the corpus have each of its terms, (terms,).
        scope: which of its papers are not deleted.
        first: its first paper's row, counted over all shards.
        statistics: the corpus's.
        parameters: how terms are weighted.
        remembered: what all shards share.
        fields: the words of its papers' authors, venues and keywords; None in an index that was built before these were kept.
    """

    postings: Postings
    frequencies: Frequencies
    scope: Scope
    first: int
    statistics: Statistics
    parameters: Bm25Parameters
    remembered: RememberedWeights = field(default_factory=RememberedWeights)
    fields: Fields | None = None

    @property
    def papers(self) -> int:
        """How many rows it has, those of deleted papers among them."""
        return self.postings.papers

    @once
    def number(self) -> Callable[[str], int | None]:
        """Gives a term's number; None if no paper of the shard has it."""
        return lru_cache(NUMBERS_REMEMBERED)(self.postings.number)

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

    def rows_in_field(self, term: str) -> npt.NDArray[np.int32]:
        """The rows within the shard of the papers that have a word in a field (`fields.field_term`), deleted ones too, ascending."""
        field, _, word = term.partition(FIELD_END)
        return NO_PLACES if self.fields is None else self.fields.rows_with(word, field)

    def weights_of(self, number: int) -> Weights:
        """A term's part of these papers' scores, less its part of the score of a paper without it."""
        return self.remembered.get(self.first, number, self._weigh)

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
        if (weights := self.remembered.known(self.first, number)) is not None:
            return weights[places]
        return self._weigh_postings(number, self._places_of(number).start + places)

    def _weigh(self, number: int) -> Weights:
        return self._weigh_postings(number, self._places_of(number))

    def _weigh_postings(self, number: int, places: slice | Rows) -> Weights:
        counts = self.postings.counts[places].astype(np.float32)
        counts += np.float32(self.parameters.title - 1.0) * self.postings.titles[places]
        weigh = FREQUENCY_WEIGHTS[VARIANTS[self.parameters.variant].frequency]
        weights = weigh(counts, self._norms[self.postings.rows[places]], self.parameters)
        rarity = rarity_of(self.parameters, self.frequency(number), self.statistics.papers)
        return np.asarray(np.float32(rarity) * weights - np.float32(rarity * absent_weight(self.parameters)), np.float32)


def rarity_of(parameters: Bm25Parameters, frequency: int, papers: int) -> float:
    """The inverse document frequency of a term that so many of so many papers have, in the variant's form."""
    return float(term_rarities(parameters, np.array([float(frequency)]), papers)[0])


def largest_weight(parameters: Bm25Parameters, frequency: int, papers: int) -> float:
    """More than a term that so many of so many papers have can add to any paper's score, beyond what it adds to papers without it."""
    most = float(frequency_weights(parameters, np.array([1e9]), np.zeros(1))[0])
    return 1.0001 * rarity_of(parameters, frequency, papers) * (most - absent_weight(parameters))


def absent_weight(parameters: Bm25Parameters) -> float:
    """What a term of rarity 1 adds to the papers that do not have it: more than 0 in bm25l and bm25+."""
    return float(frequency_weights(parameters, np.zeros(1), np.ones(1))[0])


@dataclass(frozen=True)
class Bm25:
    """A BM25 index opened for searching: its shards, in order, or some of them, and what they have in common.

    Attributes:
        frequencies: how many papers have each term that is asked for, where only some of the shards are here.
    """

    shards: Sequence[LexicalShard]
    statistics: Statistics
    parameters: Bm25Parameters
    frequencies: Mapping[str, int] | None = None

    def weighted(self, parameters: Bm25Parameters) -> Bm25:
        """The same index with other parameters."""
        remembered = RememberedWeights()
        shards = [replace(shard, parameters=parameters, remembered=remembered) for shard in self.shards]
        return Bm25(shards, self.statistics, parameters)

    @once
    def _rows(self) -> int:
        return sum(shard.papers for shard in self.shards)

    def scores(self, terms: Mapping[str, float]) -> tuple[Weights, Mask]:
        """Score every paper for weighted query terms: a float32 score per row, and whether it has any of the terms."""
        scores, matched = np.zeros(self._rows, np.float32), np.zeros(self._rows, bool)
        scoring = _Scoring(self, terms, self.shards)
        for shard in self.shards:
            shard_scores, shard_matched, _ = scoring.score(shard)
            span = slice(shard.first, shard.first + shard.papers)
            scores[span], matched[span] = shard_scores, shard_matched
        return scores, matched

    def best(self, terms: Mapping[str, float], k: int, scope: Scope | RowRange, others: Rows = NO_ROWS) -> tuple[Rows, Weights, Weights]:
        """The k best papers of a scope for weighted query terms, a shard at a time.

        Returns:
            The rows of the best of those that have any of the terms, in no particular order, with every tie at the k-th score;
            their scores; and the scores of the rows `others` of the scope, -inf for those that have none of the terms.
        """
        rows, scores, edge = NO_ROWS, np.empty(0, np.float32), -np.inf
        other_scores = np.full(len(others), -np.inf, np.float32)
        scopes = {shard.first: scope.part(shard.first, shard.papers) for shard in self.shards}
        answering_shards = [shard for shard in self.shards if len(scopes[shard.first])]
        scoring = _Scoring(self, terms, answering_shards)
        for shard in answering_shards:
            check()
            positions = np.flatnonzero((others >= shard.first) & (others < shard.first + shard.papers))
            other_rows = others[positions] - shard.first
            shard_scores, matched, candidates = scoring.score(shard, edge, other_rows)
            mask = scopes[shard.first].mask
            if candidates is None:
                places = np.flatnonzero((matched if mask is None else matched & mask) & (shard_scores >= edge))
            else:
                is_best = matched[candidates] & (shard_scores[candidates] >= edge) & (mask is None or mask[candidates])
                places = candidates[is_best].astype(np.int64)
            rows, scores = np.concatenate([rows, places + shard.first]), np.concatenate([scores, shard_scores[places]])
            if len(rows) > k:
                best_places = topk.best(scores, k)
                rows, scores = rows[best_places], scores[best_places]
            if len(rows) >= k:
                edge = scores.min(initial=np.inf)
            other_scores[positions] = np.where(matched[other_rows], shard_scores[other_rows], -np.inf)
        return rows, scores, other_scores

    def frequency(self, term: str) -> int:
        """How many papers have a term, or a word in a field (`fields.field_term`)."""
        if self.frequencies is not None:
            return self.frequencies.get(term, 0)
        if is_field_term(term):
            return self._field_frequency(term)
        for shard in self.shards:
            if (number := shard.number(term)) is not None:
                return shard.frequency(number)
        return 0

    @once
    def _field_frequency(self) -> Callable[[str], int]:
        """Gives how many papers that are not deleted have a word in a field; none have it where any shard lacks fields."""

        def count(term: str) -> int:
            parts = [(shard, shard.rows_in_field(term)) for shard in self.shards] if self.has_fields else []
            return sum(len(rows) if shard.scope.mask is None else int(shard.scope.mask[rows].sum()) for shard, rows in parts)

        return lru_cache(NUMBERS_REMEMBERED)(count)

    def rarity(self, term: str) -> float:
        """A term's, or a field's word's, inverse document frequency in Lucene's form, also for one that no paper has."""
        return float(RARITIES["lucene"](np.array([float(self.frequency(term))]), self.statistics.papers)[0])

    def known_terms(self, terms: Iterable[str]) -> list[str]:
        """The given terms that any paper has."""
        listed = list(terms)
        if self.frequencies is None and len(listed) > ONE_BY_ONE:
            present = set[str]().union(*(shard.postings.vocabulary.among(listed) for shard in self.shards))
            listed = [term for term in listed if term in present or is_field_term(term)]
        return [term for term in listed if self.frequency(term)]

    def covered_rarity(self, terms: Mapping[str, float], rows: Rows, fields: FieldTerms = NO_FIELDS) -> Floats:
        """The sum of weight times `rarity` over the terms that each paper has, in its text or as a field's word, (rows,)."""
        sums = np.zeros(len(rows))
        known = [(term, weight * self.rarity(term)) for term, weight in terms.items() if term in fields or self.frequency(term)]
        for shard, positions, shard_rows in by_shard(rows, self.shards):
            for term, weight in known:
                sums[positions] += weight * _have(shard, term, fields, shard_rows)
        return sums

    def beginning_with(self, start: str) -> list[str]:
        """The terms that begin with `start`, ascending."""
        return sorted({term for shard in self.shards for term in shard.postings.beginning_with(start)})

    @once
    def common_terms(self) -> Callable[[int], frozenset[str]]:
        """Gives the terms that at least so many papers of the corpus have."""

        def common(least: int) -> frozenset[str]:
            return frozenset(term for shard in self.shards for term in shard.terms_of(least))

        return lru_cache(common)

    def rows_with(self, terms: Iterable[str], column: str | None = None) -> Rows:
        """The rows of the papers that have all of the terms in one place, ascending; none for no terms.

        Args:
            terms: terms, or words of authors and venues as `fields.name_words` gives them.
            column: title, abstract or one of `fields.FIELDS`; None for title or abstract.

        Raises:
            InvalidRequest: a field is asked for, and the index does not have them.
        """
        distinct_terms = set(terms)
        if column in FIELDS:
            return self._rows_with_words(distinct_terms, column)
        parts = [np.empty(0, np.int64)]
        for shard in self.shards if distinct_terms else ():
            numbers = [number for term in distinct_terms if (number := shard.number(term)) is not None]
            if len(numbers) < len(distinct_terms):
                continue
            rarest, *others = sorted((shard.rows_within(number, column) for number in numbers), key=len)
            rows = np.asarray(rarest)
            for term_rows in others:  # the rarest came first, so the rest only shrinks the rows
                rows = rows[_among(rows, term_rows)]
            parts.append(rows[shard.scope.has(rows.astype(np.int64))].astype(np.int64) + shard.first)
        return np.concatenate(parts)

    @once
    def has_fields(self) -> bool:
        """Whether authors, venues and keywords of all papers can be searched."""
        return all(shard.fields is not None for shard in self.shards)

    def _rows_with_words(self, words: Set[str], field: str) -> Rows:
        """The rows of the papers that have all of the words in a field, ascending."""
        parts = [NO_ROWS]
        for shard in self.shards if words else ():
            if shard.fields is None:
                raise InvalidRequest("the index does not have the words of authors, venues and keywords; `sciretrieve reindex` adds them")
            rarest, *others = sorted((shard.fields.rows_with(word, field) for word in words), key=len)
            rows = rarest
            for word_rows in others:
                rows = rows[_among(rows, word_rows)]
            parts.append(rows[shard.scope.has(rows.astype(np.int64))].astype(np.int64) + shard.first)
        return np.concatenate(parts)

    def weights(self, terms: Mapping[str, float], row: int) -> dict[str, float]:
        """What each query term that a paper has, in its text or in a field, adds to the paper's score; the greatest first."""
        contributions = {}
        for shard, _, shard_rows in by_shard(np.array([row]), self.shards):
            for posting in _field_postings(self, shard, {term: weight for term, weight in terms.items() if is_field_term(term)}):
                if shard_rows[0] in posting.rows:
                    contributions[posting.term] = float(posting.weight)
            for term, weight in terms.items():
                number = shard.number(term)
                if number is None:
                    continue
                rows = shard.rows_of(number)
                place = int(np.searchsorted(rows, shard_rows[0]))
                if place < len(rows) and rows[place] == shard_rows[0]:
                    contributions[term] = weight * float(shard.weights_of(number)[place])
        return dict(sorted(contributions.items(), key=lambda item: (-item[1], item[0])))


class _Scoring:
    """Scores the papers of shards, one after the other, for one query.

    Once k papers are known, a paper of a later shard is of interest only if it reaches the k-th's score. The commonest terms add little:
    papers that have no others cannot reach it, so the postings of these terms are read only for papers that have another (Turtle and
    Flood, "Query evaluation: strategies and optimizations", 1995). Scores are added up in one order, and so are the same to the last bit.
    """

    def __init__(self, bm25: Bm25, terms: Mapping[str, float], shards: Sequence[LexicalShard]) -> None:
        parameters, papers = bm25.parameters, bm25.statistics.papers
        absent = absent_weight(parameters)
        self._bm25, self._names = bm25, frozenset(bm25.known_terms(terms))
        self._terms: list[_Term] = []
        self._in_fields = {term: terms[term] for term in sorted(self._names) if is_field_term(term)}
        for term in sorted(self._names - self._in_fields.keys()):
            frequency, weight = bm25.frequency(term), np.float32(terms[term])
            at_least = np.float32(absent and absent * rarity_of(parameters, frequency, papers))
            self._terms.append(_Term(term, weight, at_least, frequency))
        largest = max((shard.papers for shard in shards), default=0)
        self._scores, self._matched = np.empty(largest, np.float32), np.empty(largest, bool)

    def score(
        self, shard: LexicalShard, edge: float = -np.inf, others: Rows = NO_ROWS
    ) -> tuple[Weights, Mask, npt.NDArray[np.int32] | None]:
        """A shard's papers' scores, and which have any of the terms; the arrays are the next shard's when that is scored.

        Both are right for the rows `others`, and for papers that reach the score `edge`, which are among the rows of the third answer; if
        that is None, for all papers.
        """
        scores, matched = self._scores[: shard.papers], self._matched[: shard.papers]
        scores.fill(0)
        matched.fill(False)
        needed = self._needed(edge)
        in_fields = _field_postings(self._bm25, shard, self._in_fields) if self._in_fields else ()
        candidates = self._candidates(shard, needed, in_fields, matched, others) if len(needed) < len(self._names) else None
        for term in self._terms:
            number = shard.number(term.term)
            if number is not None:
                rows = shard.rows_of(number)
                if candidates is None or term.term in needed or len(rows) < LOOKED_UP * len(candidates):
                    scores[rows] += term.weight * shard.weights_of(number)
                    matched[rows] = True
                elif len(candidates):
                    places = np.minimum(np.searchsorted(rows, candidates), len(rows) - 1)
                    has_term = rows[places] == candidates
                    scores[candidates[has_term]] += term.weight * shard.weights_at(number, places[has_term])
                    matched[candidates[has_term]] = True
            if term.at_least:
                scores += term.weight * term.at_least
        for posting in in_fields:
            scores[posting.rows] += posting.weight
            matched[posting.rows] = True
        return scores, matched, candidates

    def _candidates(
        self, shard: LexicalShard, needed: Set[str], in_fields: Iterable[_FieldPosting], matched: Mask, others: Rows
    ) -> npt.NDArray[np.int32]:
        """The rows of the papers that have a needed term, and the others, ascending; of the type that rows in postings have."""
        for term in needed:
            if (number := shard.number(term)) is not None:
                matched[shard.rows_of(number)] = True
        for posting in in_fields:
            if posting.term in needed:
                matched[posting.rows] = True
        rows = np.flatnonzero(matched).astype(np.int32)
        return np.sort(np.concatenate([rows, np.unique(others[~matched[others]]).astype(np.int32)]), kind="stable")

    def _needed(self, edge: float) -> Set[str]:
        """The terms of which a paper must have one to reach a score."""
        if edge <= 0:  # as long as fewer than k papers are known; bounds then need not be computed
            return self._names
        reached = sum(float(term.weight * term.at_least) for term in self._terms)
        for place, (most, _) in enumerate(self._most):
            reached += max(most, 0.0)
            if reached * 1.0001 >= edge:
                return {term for _, term in self._most[place:]}
        return set()

    @once
    def _most(self) -> list[tuple[float, str]]:
        """The terms with more than each adds to any paper's score at the most, the least first."""
        parameters, papers = self._bm25.parameters, self._bm25.statistics.papers
        most = [(float(term.weight) * largest_weight(parameters, term.frequency, papers), term.term) for term in self._terms]
        most += [(1.0001 * weight * self._bm25.rarity(term), term) for term, weight in self._in_fields.items()]
        return sorted(most)


@dataclass(frozen=True, slots=True)
class _Term:
    """A query's term: its weight, the part that every paper's score has at least, and how many papers have it."""

    term: str
    weight: np.float32
    at_least: np.float32
    frequency: int


@dataclass(frozen=True, slots=True)
class _FieldPosting:
    """A word in a field: the rows of its papers within a shard, and its part of each paper's score."""

    term: str
    rows: npt.NDArray[np.int32]
    weight: np.float32


def _field_postings(bm25: Bm25, shard: LexicalShard, terms: Mapping[str, float]) -> list[_FieldPosting]:
    """What weighted words in fields add to the scores of a shard's papers, in one order.

    A year adds only to papers that have another of the words: by itself it says when, and not about what.
    """
    rows_of = {term: shard.rows_in_field(term) for term in sorted(terms)}
    if years := [term for term in rows_of if field_of(term) == "year"]:
        named = np.unique(np.concatenate([NO_PLACES, *(rows for term, rows in rows_of.items() if term not in years)]))
        rows_of |= {term: named[_among(named, rows_of[term])] for term in years}
    return [_FieldPosting(term, rows, np.float32(terms[term] * bm25.rarity(term))) for term, rows in rows_of.items()]


def _have(shard: LexicalShard, term: str, fields: FieldTerms, shard_rows: Rows) -> Mask:
    """Which of a shard's papers have a term in their text, or one of the words in fields that stand for it, (rows,)."""
    number = shard.number(term)
    have = np.zeros(len(shard_rows), bool) if number is None else _among(shard_rows, shard.rows_of(number))
    for field_term in fields.get(term, ()):
        have |= _among(shard_rows, shard.rows_in_field(field_term))
    return have


def _among(rows: npt.NDArray[np.integer], others: npt.NDArray[np.integer]) -> Mask:
    """Which of the rows are among the others, which are ascending."""
    if not len(others):
        return np.zeros(len(rows), bool)
    places = np.minimum(np.searchsorted(others, rows), len(others) - 1)
    is_among: Mask = others[places] == rows
    return is_among


def weigh_terms(terms: Sequence[str]) -> dict[str, float]:
    """A query's terms with their weights: 1 for a term that occurs once, and less than its frequency for any other.

    The weight is BM25's own for queries, (k3 + 1) n / (k3 + n) (Robertson et al., "Okapi at TREC-3", 1994); it matters
    where a whole paper is the query.
    """
    return {term: (K3 + 1) * count / (K3 + count) for term, count in Counter(terms).items()}
