"""BM25 search over shards. Each shard scores its own postings with the statistics of the whole corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ...base.once import once
from ...base.types import Mask, Rows
from ...base.waiting import raise_if_abandoned
from ...options import Bm25Parameters
from ...papers.folding import spellings
from .. import topk
from ..scope import NO_ROWS, RowRange, Scope, are_among, places_among
from ..sharding import by_shard
from .compiled import KERNEL, bests
from .corpus_statistics import Statistics
from .fields import FIELDS, field_term, is_field_term
from .lexical_shard import NUMBERS_REMEMBERED, LexicalShard, RememberedWeights, Weights, absent_weight, largest_weight, rarity_of
from .scoring import LEAST_WEIGHT, Best, Scoring, Term, rows_in_fields
from .variants import RARITIES, Floats

ONE_BY_ONE = 16
"""Most terms that are looked up one by one. More terms are looked up together."""
K3 = 3.0
"""Saturates a term's frequency in a query. Measured, see docs/quality.md."""
TERMS_REMEMBERED = 16_384
"""Terms of queries cached with their weights. Feedback adds many terms."""

FieldTerms: TypeAlias = Mapping[str, Mapping[str, float]]
"""For terms of a query, the field words that also match, with their weights; see `name_terms.NameTerms`."""
NO_FIELDS: FieldTerms = {}


@dataclass(frozen=True)
class Bm25:
    """An open BM25 index: all or some of its shards, in order, with the corpus's statistics.

    Attributes:
        frequencies: number of papers with each requested term, if some shards are missing here.
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

    def scores(self, terms: Mapping[str, float]) -> tuple[Weights, Mask]:
        """Score every paper for weighted query terms: a float32 score per row, and whether the paper has any of the terms."""
        rows = sum(shard.papers for shard in self.shards)
        scores, matched = np.zeros(rows, np.float32), np.zeros(rows, bool)
        scoring = self._scoring(terms, max((shard.papers for shard in self.shards), default=0))
        for shard in self.shards:
            span = slice(shard.first, shard.first + shard.papers)
            scores[span], matched[span] = scoring.all(shard)
        return scores, matched

    def best(self, terms: Mapping[str, float], k: int, scope: Scope | RowRange, others: Rows = NO_ROWS) -> Best:
        """The k best papers in a scope for weighted query terms.

        Returns:
            Rows of the best papers with any of the terms, unordered, with all ties at the k-th score; their scores; and the scores of the
            rows in `others`, -inf for papers without any of the terms.
        """
        return self.bests([terms], k, scope, [others])[0]

    def bests(self, queries: Sequence[Mapping[str, float]], k: int, scope: Scope | RowRange, others: Sequence[Rows]) -> list[Best]:
        """`best` for each of several queries, with its own rows in `others`."""
        parts = [(shard, scope.part(shard.first, shard.papers)) for shard in self.shards]
        asked = [(shard, part) for shard, part in parts if len(part)]
        kernel = KERNEL.after(len(queries)) if self.is_plain and asked and k > 0 else None
        papers = max((shard.papers for shard, _ in asked), default=0)
        scorings = (self._scoring(terms, papers) for terms in queries)
        if kernel is None:
            return [_best(asked, scoring, k, rows) for scoring, rows in zip(scorings, others, strict=True)]
        prepared = list(zip(scorings, others, strict=True))
        compiled = iter(bests(kernel, asked, [(scoring, rows) for scoring, rows in prepared if scoring.grows], k))
        return [next(compiled) if scoring.grows else _best(asked, scoring, k, rows) for scoring, rows in prepared]

    def _scoring(self, terms: Mapping[str, float], papers: int) -> Scoring:
        """A scorer of shards of at most so many papers for weighted query terms."""
        asked: Iterable[str] = terms if len(terms) <= ONE_BY_ONE else self.known_terms(terms)
        in_fields: dict[str, np.float32] = {}
        if is_field_term("".join(asked)):  # one look in place of one for each term
            in_fields = {
                term: np.float32(terms[term] * self.rarity(term)) for term in asked if is_field_term(term) and self.frequency(term)
            }
            asked = [term for term in asked if not is_field_term(term)]
        term_of = self.term
        weighted = [known for term in asked if (known := term_of(term, terms[term])) is not None]
        return Scoring(weighted, in_fields, self.is_plain, papers)

    def frequency(self, term: str) -> int:
        """Number of papers with a term, or with a field word (`fields.field_term`)."""
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
        """Number of papers by requested term."""
        return {}

    @once
    def as_name(self) -> Callable[[str], Mapping[str, Mapping[str, int]]]:
        """A function from a word to the fields of names that have it: for each its field words, in each spelling of an author's, with the
        number of papers of each."""

        def named(word: str) -> Mapping[str, Mapping[str, int]]:
            forms_of = {"authors": spellings(word), "venue": [word]}
            terms_of = {field: [field_term(field, form) for form in forms] for field, forms in forms_of.items()}
            papers_of = {field: {term: papers for term in terms if (papers := self.frequency(term))} for field, terms in terms_of.items()}
            return {field: papers for field, papers in papers_of.items() if papers}

        return lru_cache(NUMBERS_REMEMBERED)(named)

    @once
    def _field_frequency(self) -> Callable[[str], int]:
        """A function from a field word to the number of undeleted papers that have it."""

        def count(term: str) -> int:
            parts = [(shard, shard.rows_in_field(term)) for shard in self.shards]
            return sum(len(rows) if shard.scope.mask is None else int(shard.scope.mask[rows].sum()) for shard, rows in parts)

        return lru_cache(NUMBERS_REMEMBERED)(count)

    def rarity(self, term: str) -> float:
        """Inverse document frequency of a term or field word in Lucene's form, also for one that no paper has."""
        return self.rarity_among(self.frequency(term))

    @once
    def rarity_among(self) -> Callable[[int], float]:
        """A function from a number of papers to an inverse document frequency, as in `rarity`."""
        rarities, papers = RARITIES["lucene"], self.statistics.papers
        return lru_cache(TERMS_REMEMBERED)(lambda frequency: float(rarities(np.array([float(frequency)]), papers)[0]))

    @once
    def term(self) -> Callable[[str, float], Term | None]:
        """A function from a term and its weight to a term of the query; None if no paper has it. Raises CorruptData."""
        absent, largest, papers = absent_weight(self.parameters), largest_weight(self.parameters), self.statistics.papers

        def weighed(term: str, weight: float) -> Term | None:
            if not (frequency := self.frequency(term)):
                return None
            rarity = rarity_of(self.parameters, frequency, papers)
            return Term(term, np.float32(weight), np.float32(absent and absent * rarity), weight * rarity * largest)

        return lru_cache(TERMS_REMEMBERED)(weighed)

    @once
    def is_plain(self) -> bool:
        """Whether a term raises the score of every paper that has it, beyond rounding, and of no others."""
        parameters = self.parameters
        return not absent_weight(parameters) and parameters.title > LEAST_WEIGHT and parameters.k1 < 1 / LEAST_WEIGHT

    def known_terms(self, terms: Iterable[str]) -> list[str]:
        """Given terms that any paper has."""
        candidates = list(terms)
        if self.frequencies is None:
            known = self._frequencies
            unknown = [term for term in candidates if term not in known and not is_field_term(term)]
            if len(unknown) > ONE_BY_ONE:
                absent = set(unknown).difference(*(shard.postings.vocabulary.among(unknown) for shard in self.shards))
                candidates = [term for term in candidates if term not in absent]
        return [term for term in candidates if self.frequency(term)]

    def covered_rarity(self, terms: Mapping[str, float], rows: Rows, fields: FieldTerms = NO_FIELDS) -> Floats:
        """Sum of weight times `rarity` over the terms that each paper has, in its text or as a field word, (rows,)."""
        sums = np.zeros(len(rows))
        known = [(term, weight * self.rarity(term)) for term, weight in terms.items() if term in fields or self.frequency(term)]
        for shard, positions, shard_rows in by_shard(rows, self.shards):
            for term, weight in known:
                sums[positions] += weight * _have(shard, term, fields, shard_rows)
        return sums

    def beginning_with(self, start: str) -> list[str]:
        """Terms that begin with `start`, ascending."""
        return sorted({term for shard in self.shards for term in shard.postings.vocabulary.beginning_with(start)})

    @once
    def common_terms(self) -> Callable[[int], frozenset[str]]:
        """A function from a number of papers to the terms that at least so many papers of the corpus have."""

        def common(least: int) -> frozenset[str]:
            return frozenset(term for shard in self.shards for term in shard.terms_of(least))

        return lru_cache(common)

    def rows_with(self, terms: Iterable[str], column: str | None = None, *, among: Rows | None = None) -> Rows:
        """Rows of the papers that have all of the terms in one place, ascending; empty if there are no terms.

        Args:
            terms: terms, or words of authors and venues from `fields.name_words`.
            column: title, abstract or one of `fields.FIELDS`; None for title or abstract.
            among: rows of the only papers that are looked up, ascending, in title and abstract.

        Raises:
            InvalidRequest: a field is given, and the index has no fields.
        """
        distinct_terms = set(terms)
        if column in FIELDS:
            return self._rows_with_words(distinct_terms, column)
        parts = [np.empty(0, np.int64)]
        rarest_first = sorted(distinct_terms, key=self.frequency)
        for shard in self.shards if distinct_terms else ():
            numbers = shard.numbers(rarest_first)
            if len(numbers) < len(distinct_terms):
                continue
            own = None if among is None else among[slice(*among.searchsorted([shard.first, shard.first + shard.papers]))] - shard.first
            rows = shard.rows_with_all(numbers, column, own)
            parts.append(shard.scope.kept(rows).astype(np.int64) + shard.first)
        return np.concatenate(parts)

    def _rows_with_words(self, words: Set[str], field: str) -> Rows:
        """Rows of the papers that have all of the words in a field, ascending."""
        parts = [NO_ROWS]
        forms_of = [spellings(word) if field == "authors" else [word] for word in words]
        for shard in self.shards if words else ():
            lists = [[shard.fields.rows_with(form, field) for form in forms] for forms in forms_of]
            rarest, *others = sorted((forms[0] if len(forms) == 1 else np.unique(np.concatenate(forms)) for forms in lists), key=len)
            rows = rarest
            for word_rows in others if len(rows) else ():
                rows = rows[are_among(rows, word_rows)]
            parts.append(shard.scope.kept(rows).astype(np.int64) + shard.first)
        return np.concatenate(parts)

    def weights(self, terms: Mapping[str, float], row: int) -> dict[str, float]:
        """Contribution to a paper's score of each query term that it has, in its text or in a field, greatest first."""
        contributions = {}
        for shard, _, shard_rows in by_shard(np.array([row]), self.shards):
            for term, rows in rows_in_fields(shard, filter(is_field_term, terms)).items():
                if shard_rows[0] in rows:
                    contributions[term] = float(np.float32(terms[term] * self.rarity(term)))
            for term, weight in terms.items():
                number = shard.number(term)
                if number is None:
                    continue
                rows = shard.rows_of(number)
                (place,) = places_among(shard_rows, rows).tolist()
                if rows[place] == shard_rows[0]:
                    contributions[term] = weight * float(shard.weights_of(number)[place])
        return dict(sorted(contributions.items(), key=lambda item: (-item[1], item[0])))


def _best(parts: Sequence[tuple[LexicalShard, Scope]], scoring: Scoring, k: int, others: Rows) -> Best:
    """See `Bm25.best`: computed shard by shard, each with the papers that may answer."""
    rows, scores, edge = NO_ROWS, np.empty(0, np.float32), -np.inf
    other_scores = np.full(len(others), -np.inf, np.float32)
    for shard, part in parts:
        raise_if_abandoned()
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
    return Best(rows, scores, other_scores)


def _have(shard: LexicalShard, term: str, fields: FieldTerms, shard_rows: Rows) -> Mask:
    """Which of a shard's papers have a term in their text, or one of its field words, (rows,)."""
    number = shard.number(term)
    have = np.zeros(len(shard_rows), bool) if number is None else shard.have(number, shard_rows)
    for word in fields.get(term, ()):
        have |= are_among(shard_rows, shard.rows_in_field(word))
    return have


def weigh_terms(terms: Sequence[str]) -> dict[str, float]:
    """A query's terms with their weights: 1 for a term that occurs once, and less than the frequency for others.

    The weight is BM25's own for queries, (k3 + 1) n / (k3 + n) (Robertson et al., "Okapi at TREC-3", 1994). It matters if the query is a
    whole paper.
    """
    once_each = dict.fromkeys(terms, 1.0)
    if len(once_each) == len(terms):
        return once_each
    return {term: (K3 + 1) * count / (K3 + count) for term, count in Counter(terms).items()}
