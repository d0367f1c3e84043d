"""BM25 search over shards: each scores its own postings, with the statistics of the whole corpus."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...errors import CorruptData, InvalidRequest
from ...once import once
from ...options import Bm25Parameters
from ...types import Mask, Rows
from ...waiting import check
from .. import topk
from ..scope import NO_ROWS, RowRange, Scope, union
from ..sharding import by_shard
from .corpus_statistics import Frequencies, Statistics
from .fields import FIELD_END, FIELDS, Fields, field_of, is_field_term
from .postings import Postings
from .variants import FREQUENCY_WEIGHTS, RARITIES, VARIANTS, Floats, frequency_weights, term_rarities

ONE_BY_ONE = 16
"""Terms that are looked up one by one; more are looked for together."""
LOOKED_UP = 48
"""Postings of a term for each paper that is to be scored, up to which adding up all of them is quicker than looking for these papers."""
TRIED = 8
"""Postings of a term for each paper that is to be looked for among them, up to which looking at all of them is quicker."""
WEIGHED = 8
"""Postings that are added up in the time in which one is weighed."""
LONG = 3
"""Papers of a shard for each posting of a term, up to which it is long: reading it takes as long as looking through all papers' scores."""
LEAST_WEIGHT = 1e-6
"""Of a term or of titles: with less, sums of float32 may be 0 for a paper that has the term, so that all scores are looked at."""
GROUPS, LEAST_GROUPS = 16, 1024
"""Groups of papers for each that is asked for, and at least, of which the best scores tell what the last one's is at least."""
K3 = 3.0
"""Saturates a term's frequency in a query; measured, see docs/quality.md."""

REMEMBERED = 64_000_000
"""Postings whose weights an open index keeps in memory, 4 bytes each: those of the terms that were last searched for. Most of
a query's postings are those of common words, which other queries have too. A million papers have some 70 million postings."""
NUMBERS_REMEMBERED = 65_536
"""Terms of a shard whose numbers are kept in memory."""
TERMS_REMEMBERED = 16_384
"""Terms of queries that are kept in memory with their weights; what feedback adds has many."""
PARAMETERS_REMEMBERED = 64

Weights = npt.NDArray[np.float32]
NO_PLACES: npt.NDArray[np.int32] = np.empty(0, np.int32)

FieldTerms: TypeAlias = Mapping[str, Mapping[str, float]]
"""Of terms of a query, the words in fields that stand for them too, with their weights; see `names.field_terms`."""
NO_FIELDS: FieldTerms = {}


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

    def in_titles(self, number: int, rows: Rows) -> Mask:
        """Which of its papers at these rows, ascending, have a term in their title, as `rows_within` has it: (rows,)."""
        term_rows, titles = self.rows_of(number), self.postings.titles[self._places_of(number)]
        if TRIED * len(rows) > len(term_rows):
            flags = np.zeros(self.papers, bool)
            flags[term_rows] = titles > 0
            return flags[rows]
        places = np.minimum(np.searchsorted(term_rows, rows), len(term_rows) - 1)
        in_title: Mask = (term_rows[places] == rows) & (titles[places] > 0)
        return in_title

    def rows_in_field(self, term: str) -> npt.NDArray[np.int32]:
        """The rows within the shard of the papers that have a word in a field (`fields.field_term`), deleted ones too, ascending."""
        field, _, word = term.partition(FIELD_END)
        return NO_PLACES if self.fields is None else self.fields.rows_with(word, field)

    def known_weights(self, number: int) -> TermWeights | None:
        """A term's weights, if they are known already; see `weights_of`."""
        return self.remembered.known(self.first, number)

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
            span = slice(shard.first, shard.first + shard.papers)
            scores[span], matched[span] = scoring.all(shard)
        return scores, matched

    def best(self, terms: Mapping[str, float], k: int, scope: Scope | RowRange, others: Rows = NO_ROWS) -> tuple[Rows, Weights, Weights]:
        """The k best papers of a scope for weighted query terms, a shard at a time.

        Returns:
            The rows of the best of those that have any of the terms, in no particular order, with every tie at the k-th score;
            their scores; and the scores of the rows `others` of the scope, -inf for those that have none of the terms.
        """
        rows, scores, edge = NO_ROWS, np.empty(0, np.float32), -np.inf
        other_scores = np.full(len(others), -np.inf, np.float32)
        parts = [(shard, scope.part(shard.first, shard.papers)) for shard in self.shards]
        scoring = _Scoring(self, terms, [shard for shard, part in parts if len(part)])
        for shard, part in parts:
            if not len(part):
                continue
            check()
            positions = np.flatnonzero((others >= shard.first) & (others < shard.first + shard.papers)) if len(others) else NO_ROWS
            best = scoring.best(shard, k, edge, part.mask, others[positions] - shard.first if len(positions) else NO_ROWS)
            if len(positions):
                other_scores[positions] = best.other_scores
            if not len(best.rows):
                continue
            rows, scores = np.concatenate([rows, best.rows + shard.first]), np.concatenate([scores, best.scores])
            if len(rows) > k:
                best_places = topk.best(scores, k)
                rows, scores = rows[best_places], scores[best_places]
            if len(rows) >= k:
                edge = float(scores.min(initial=np.inf))
        return rows, scores, other_scores

    def frequency(self, term: str) -> int:
        """How many papers have a term, or a word in a field (`fields.field_term`)."""
        known = self._frequencies
        if (frequency := known.get(term)) is None:
            if self.frequencies is not None:
                return self.frequencies.get(term, 0)
            if is_field_term(term):
                return self._field_frequency(term)
            numbers = ((shard, shard.number(term)) for shard in self.shards)
            frequency = next((shard.frequency(number) for shard, number in numbers if number is not None), 0)
            if len(known) >= NUMBERS_REMEMBERED:
                known.clear()
            known[term] = frequency
        return frequency

    @once
    def _frequencies(self) -> dict[str, int]:
        """How many papers have the terms that were asked for."""
        return {}

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

    @once
    def term(self) -> Callable[[str, float], _Term]:
        """Gives a term of a query that has this weight in it. Raises CorruptData."""
        absent, largest, papers = absent_weight(self.parameters), largest_weight(self.parameters), self.statistics.papers

        def weighed(term: str, weight: float) -> _Term:
            rarity = rarity_of(self.parameters, self.frequency(term), papers)
            return _Term(term, np.float32(weight), np.float32(absent and absent * rarity), weight * rarity * largest)

        return lru_cache(TERMS_REMEMBERED)(weighed)

    @once
    def is_plain(self) -> bool:
        """Whether a term adds something to the score of every paper that has it, which is not lost to rounding, and nothing to others."""
        parameters = self.parameters
        return not absent_weight(parameters) and parameters.title > LEAST_WEIGHT and parameters.k1 < 1 / LEAST_WEIGHT

    def known_terms(self, terms: Iterable[str]) -> list[str]:
        """The given terms that any paper has."""
        listed = list(terms)
        if self.frequencies is None:
            known = self._frequencies
            unknown = [term for term in listed if term not in known and not is_field_term(term)]
            if len(unknown) > ONE_BY_ONE:
                absent = set(unknown).difference(*(shard.postings.vocabulary.among(unknown) for shard in self.shards))
                listed = [term for term in listed if term not in absent]
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
            for term, rows in _rows_in_fields(shard, filter(is_field_term, terms)).items():
                if shard_rows[0] in rows:
                    contributions[term] = float(np.float32(terms[term] * self.rarity(term)))
            for term, weight in terms.items():
                number = shard.number(term)
                if number is None:
                    continue
                rows = shard.rows_of(number)
                place = int(np.searchsorted(rows, shard_rows[0]))
                if place < len(rows) and rows[place] == shard_rows[0]:
                    contributions[term] = weight * float(shard.weights_of(number)[place])
        return dict(sorted(contributions.items(), key=lambda item: (-item[1], item[0])))


class _Best(NamedTuple):
    """Those of a shard's papers that may be among the k best, and what others score: -inf for those that have none of the terms."""

    rows: Rows
    scores: Weights
    other_scores: Weights


class _Term(NamedTuple):
    """A query's term: its weight, what it adds to every paper's score, and what it adds to any paper's beyond that at the most."""

    term: str
    weight: np.float32
    at_least: np.float32
    most: float


class _Scoring:
    """Scores the papers of shards, one after the other, for one query.

    Terms that can add most come first. Once k papers are known, and the terms that are left cannot bring another paper up to the k-th's
    score, the long ones among these are looked up for those papers that still can reach it (MaxScore: Turtle and Flood, "Query evaluation:
    strategies and optimizations", Information Processing & Management 1995). Scores are added up in one order in any case, and so are the
    same to the last bit.
    """

    def __init__(self, bm25: Bm25, terms: Mapping[str, float], shards: Sequence[LexicalShard]) -> None:
        known = sorted(bm25.known_terms(terms))
        self._bm25 = bm25
        self._in_fields = {term: terms[term] for term in known if is_field_term(term)}
        # by what they can add at the most, and then by themselves
        weighted = [bm25.term(term, terms[term]) for term in known if term not in self._in_fields]
        self._terms = sorted(weighted, key=lambda term: -term.most)
        # then a paper's score is above 0 just where it has any of the terms, and no term makes it less
        weights = [*(term.most for term in self._terms), *self._in_fields.values()]
        self._grows = bm25.is_plain and min(weights, default=1.0) > LEAST_WEIGHT
        self._scores = np.empty(max((shard.papers for shard in shards), default=0), np.float32)

    def _lists(self, shard: LexicalShard) -> list[_List]:
        """The postings of the terms that a shard has, and those of words in fields, in the order in which scores are added up."""
        lists = []
        for term in self._terms:
            if (number := shard.number(term.term)) is None:
                continue
            known = shard.known_weights(number)
            most = term.most if known is None else float(term.weight) * known.most
            lists.append(_List(shard.rows_of(number), term.weight, most, shard, number, known and known.weights))
        return lists + _in_fields(self._bm25, shard, self._in_fields) if self._in_fields else lists

    def all(self, shard: LexicalShard) -> tuple[Weights, Mask]:
        """A shard's papers' scores, and which have any of the terms; the former are the next shard's when that is scored."""
        scores, matched = self._scores[: shard.papers], np.zeros(shard.papers, bool)
        scores.fill(0)
        for postings in self._lists(shard):
            postings.add_to(scores)
            matched[postings.rows] = True
        for term in self._terms:
            if term.at_least:
                scores += term.weight * term.at_least
        return scores, matched

    def best(self, shard: LexicalShard, k: int, edge: float, mask: Mask | None, others: Rows) -> _Best:
        """Score a shard's papers.

        Args:
            shard: the shard.
            k: how many of the best papers are asked for.
            edge: the score of the k-th best of earlier shards; -inf as long as fewer are known.
            mask: which papers may be among them, (papers,); None for all.
            others: rows whose scores are asked for, too.
        """
        if not self._grows:
            scores, matched = self.all(shard)
            passing = np.flatnonzero((matched if mask is None else matched & mask) & (scores >= edge))
            return _Best(passing, scores[passing], np.where(matched[others], scores[others], np.float32(-np.inf)))
        scores, lists = self._scores[: shard.papers], self._lists(shard)
        rests = _rests(lists)
        within = 0.9999 * edge  # the edge with room for rounding, whose errors are as large as scores, however little a term adds
        rows: Rows | None = None  # those that may still reach the edge, once these are told apart
        if rests[0] < within:
            rows = NO_ROWS
        elif rests[1] < within:
            rows = lists[0].reaching(within - rests[1])
        if rows is not None and not len(rows) and not len(others):
            return _Best(rows, scores[rows], scores[others])
        if rows is None:
            scores.fill(0)
        else:
            scores[_union(rows, others)] = 0
        for postings, rest in zip(lists, rests, strict=False):
            if rows is None and rest < within and postings.costs * LONG > shard.papers:
                rows = np.flatnonzero(scores >= within - rest)
            if rows is None:
                postings.add_to(scores)
                continue
            if rest < within:
                rows = rows[scores[rows] >= within - rest]
            postings.look_up(scores, _union(rows, others))
        if rows is not None:
            rows = rows[scores[rows] >= edge]
        elif edge > 0:
            rows = np.flatnonzero(scores >= edge)
        else:
            rows = _first(scores, k, mask)
        rows = rows if mask is None else rows[mask[rows]]
        other_scores = scores[others]
        other_scores[other_scores <= 0] = -np.inf
        return _Best(rows, scores[rows], other_scores)


class _List(NamedTuple):
    """A list of postings: the rows of a shard's papers, and what they add to the scores, at the most `most`: for a term of this number, its
    weights there, which may be known, times its weight in the query; for a word in a field, the same to all."""

    rows: npt.NDArray[np.int32]
    weight: np.float32
    most: float
    shard: LexicalShard | None = None
    number: int = 0
    known: Weights | None = None

    @property
    def costs(self) -> int:
        """How long it takes to add it up, in postings whose weights are known."""
        is_known = self.shard is None or self.known is not None
        return len(self.rows) if is_known else WEIGHED * len(self.rows)

    @property
    def _additions(self) -> Weights | np.float32:
        """What it adds to the score of each of its papers, (postings,), or to that of all."""
        if self.shard is None:
            return self.weight
        weights = self.shard.weights_of(self.number) if self.known is None else self.known
        return weights if self.weight == 1 else self.weight * weights

    def reaching(self, least: float) -> Rows:
        """The rows of its papers to which it adds so much."""
        rows = self.rows if self.shard is None else self.rows[self._additions >= least]
        return rows.astype(np.int64)

    def add_to(self, scores: Weights) -> None:
        """Add to the scores of all of its papers."""
        np.add.at(scores, self.rows, self._additions)  # in a third of the time of `scores[rows] +=`

    def look_up(self, scores: Weights, wanted: Rows) -> None:
        """Add to the scores of the rows that are wanted, which ascend, or of all where that is quicker."""
        if self.shard is None or self.costs < LOOKED_UP * len(wanted):
            self.add_to(scores)
        elif len(wanted):
            places = np.minimum(np.searchsorted(self.rows, wanted), len(self.rows) - 1)
            has_term = self.rows[places] == wanted
            own_places = places[has_term]
            weights = self.shard.weights_at(self.number, own_places) if self.known is None else self.known[own_places]
            scores[wanted[has_term]] += self.weight * weights


def _rests(lists: Sequence[_List]) -> list[float]:
    """What the lists from each on add to a score at the most; and twice 0 at the end."""
    return [0.0, 0.0, *accumulate(postings.most for postings in reversed(lists))][::-1]


def _union(rows: Rows, others: Rows) -> Rows:
    """Two sets of rows as one, ascending; the first is it already."""
    return union(rows, others) if len(others) else rows


def _first(scores: Weights, k: int, mask: Mask | None) -> Rows:
    """The rows of the k best papers of the mask with scores above 0, and of few others: groups of papers are formed, and those papers taken
    that reach the k-th of the groups' best scores."""
    if mask is not None:
        scores = scores * mask
    groups = max(LEAST_GROUPS, GROUPS * k)
    if not 0 < k <= groups <= len(scores):
        return np.flatnonzero(scores)
    bests = scores[: len(scores) // groups * groups].reshape(-1, groups).max(axis=0)
    least = np.partition(bests, groups - k)[groups - k]
    return np.flatnonzero(scores >= least if least > 0 else scores)


def _in_fields(bm25: Bm25, shard: LexicalShard, terms: Mapping[str, float]) -> list[_List]:
    """What weighted words in fields add to the scores of a shard's papers, in one order.

    A year adds only to papers that have another of the words: by itself it says when, and not about what.
    """
    weights = {term: np.float32(terms[term] * bm25.rarity(term)) for term in terms}
    return [_List(rows, weights[term], 1.0001 * float(weights[term])) for term, rows in _rows_in_fields(shard, terms).items()]


def _rows_in_fields(shard: LexicalShard, terms: Iterable[str]) -> dict[str, npt.NDArray[np.int32]]:
    """The rows of a shard's papers to whose scores each word in a field adds."""
    rows_of = {term: shard.rows_in_field(term) for term in sorted(terms)}
    if years := [term for term in rows_of if field_of(term) == "year"]:
        named = np.unique(np.concatenate([NO_PLACES, *(rows for term, rows in rows_of.items() if term not in years)]))
        rows_of |= {term: named[_among(named, rows_of[term])] for term in years}
    return rows_of


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
