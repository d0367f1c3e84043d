"""Spelling correction of query words: unfinished words, and slips of a letter.

Words that papers contain stay in the query, and so do authors' and venues' names, so a correctly spelt query keeps its meaning. If very few
papers have a word, and very many have a word one slip away, those few papers probably contain the slip: then both words are searched for.
docs/quality.md has the benefit and the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase

from ...base.once import once
from ...base.types import Rows
from ...papers.folding import fold
from .analysis import Analyzer
from .bm25 import Bm25, weigh_terms
from .name_terms import is_name
from .words import WORD
from .written import joined_forms

SHORTEST_START, SHORTEST_SLIP = 4, 5
"""Fewest letters of an unfinished word; and fewest letters of a misspelt word and its correction. Shorter words are too similar to
others."""

LONGEST_SLIP = 40
"""Most letters of a misspelt word. Longer words are sequences or codes, and the number of slips grows with the square of the length."""

LEAST_PAPERS = 2
"""Fewest papers with a term for it to be a correction. A term in a single paper is often misspelt itself."""

FEW_PAPERS = 2
"""Most papers that may contain the same slip. If more papers have a word, it is one."""
TIMES_AS_MANY = 500
"""A frequent word is searched for beside a rare one if this many times as many papers have it. Rare words in titles, one letter from such a
word, were looked at by eye: nearly all of hep-th's 24 are slips or formula letters run into a word; about half of ACM-CR's 37 are slips,
the others names of systems and rarer words; SciFact's four are words. So both are searched for. At 50 times and more, real words and names
prevail."""

SURE = 8
"""Fewest letters of a word whose correction is sure. Shorter words are often other words: "bread" is one letter from "broad" and from
"break"."""
GUESSED, DOUBTED = 0.8, 0.35
"""Weights of a correction, where a typed term weighs 1: of a sure one, and of a slip in a shorter word. The latter alone never gives an
answer that is not weak (`runs.WEAK`)."""

LONGEST_QUERY = 100
"""Most words of a query in which words are corrected. Longer queries were pasted, not typed."""

WORDS_REMEMBERED = 4_096
"""Words whose corrections are cached."""
TRIED = 5
"""Most terms tried as corrections, commonest first."""
READ = 30
"""Papers read for the spelling of a term."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction: a query word that no or hardly any paper has, the word meant, as papers spell it, that word's term, and its weight in
    the query, below 1. If papers have the typed word, too, both are searched for: `beside`."""

    word: str
    meant: str
    term: str
    weight: float
    beside: bool = False

    @property
    def doubted(self) -> bool:
        """Whether it may well be wrong."""
        return self.weight == DOUBTED

    @property
    def certainty(self) -> float:
        """How much it can add to an answer's strength. A short word is seldom sure, whether misspelt or unfinished: "bread" is not
        "breadth"."""
        return self.weight if len(self.word) >= SURE else DOUBTED


@dataclass(frozen=True)
class Speller:
    """Corrects query words by the spelling of an index's papers. `texts` returns the texts of a number of papers among the given rows."""

    analyzer: Analyzer
    bm25: Bm25
    texts: Callable[[Rows, int], Sequence[str]]

    def corrections(self, text: str, insisted: Collection[str] = ()) -> list[Correction]:
        """Corrections of a query's unknown and nearly unknown words, in order, except for required words."""
        words = [(word, term) for word in self.analyzer.words(text) if (term := self.analyzer.term(word)) is not None]
        if len(words) > LONGEST_QUERY:
            return []
        last = len(words) - 1
        rare = {
            word: (term, papers, place == last)
            for place, (word, term) in enumerate(words)
            # words with digits are names, which are not corrected
            if word.isalpha()
            and word not in insisted
            and (papers := self.bm25.frequency(term)) <= FEW_PAPERS
            and not is_name(self.bm25, word)
        }
        corrections = (self._remembered(word, term, papers, unfinished and not papers) for word, (term, papers, unfinished) in rare.items())
        return [correction for correction in corrections if correction is not None]

    def terms(self, text: str, corrections: Sequence[Correction]) -> dict[str, float]:
        """Weighted terms of a query, with corrections in place of their words, and single characters with the neighbours that papers give
        them."""
        corrected = {correction.word for correction in corrections if not correction.beside}
        typed = [term for word in self.analyzer.words(text) if word not in corrected and (term := self.analyzer.term(word)) is not None]
        joined = dict.fromkeys(term for term, _ in self.analyzer.joined(text, typed=True) if term not in typed)
        typed += self.bm25.known_terms(joined)
        return {correction.term: correction.weight for correction in corrections} | weigh_terms(typed)

    def own(self, text: str, terms: Mapping[str, float]) -> dict[str, float]:
        """Terms of a query without compounds that no paper writes as one word, since their parts say the same."""
        joined = set(map(self._joined_term, WORD.findall(fold(text))))
        return {term: weight for term, weight in terms.items() if term not in joined or self.bm25.frequency(term)}

    @once
    def _joined_term(self) -> Callable[[str], str | None]:
        """A function from a word or compound to the term of a compound as one word; None for a word."""
        words_of, term = self.analyzer.words, self.analyzer.term
        return lru_cache(WORDS_REMEMBERED)(lambda match: term(words[-1]) if len(words := words_of(match)) > 1 else None)

    @once
    def _remembered(self) -> Callable[[str, str, int, bool], Correction | None]:
        """A function from a word, its term, its number of papers and whether it may be unfinished to its correction."""
        return lru_cache(WORDS_REMEMBERED)(
            lambda word, term, papers, unfinished: self._beside(word, term, papers) if papers else self._correction(word, term, unfinished)
        )

    def _correction(self, word: str, term: str, unfinished: bool) -> Correction | None:
        """The commonest word that an unknown word may stand for.

        The last word may be unfinished. In any word a letter may be left out, added or changed, or two letters swapped (four in five
        misspelt words; Damerau, CACM 1964).
        """
        if unfinished and len(word) >= SHORTEST_START:
            begun = (other for other in self.bm25.beginning_with(word) if other.isalpha())
            if spelling := self._commonest_spelling(begun, lambda other: other.startswith(word)):
                return Correction(word, *spelling, GUESSED)
        if len(term) < SHORTEST_SLIP or len(word) > LONGEST_SLIP:
            return None
        slips = _slips(word)
        terms = self.bm25.known_terms(term for term in self.analyzer.terms_of(slips) if len(term) >= SHORTEST_SLIP)
        spelling = self._commonest_spelling(terms, slips.__contains__)
        return Correction(word, *spelling, GUESSED if len(word) >= SURE else DOUBTED) if spelling else None

    def _beside(self, word: str, term: str, papers: int) -> Correction | None:
        """A frequent word that the few papers with this word may have meant; None if there is none."""
        least = papers * TIMES_AS_MANY
        if len(term) < SHORTEST_SLIP or len(word) > LONGEST_SLIP or least > self.bm25.statistics.papers:
            return None
        slips = _slips(word)
        # tests all slips at once, since most words have none; single lookups would be slow
        terms = self.bm25.common_terms(least).intersection(self.analyzer.stems(slips))
        spelling = self._commonest_spelling((other for other in terms if len(other) >= SHORTEST_SLIP), slips.__contains__)
        return Correction(word, *spelling, DOUBTED, beside=True) if spelling else None

    def _commonest_spelling(self, terms: Iterable[str], fits: Callable[[str], bool]) -> tuple[str, str] | None:
        """The commonest of the terms that papers spell with a fitting word: the commonest such word, and the term.

        Terms are stems, which can be similar where words are not: "Paris" does not begin "parity", but it begins its stem, "pariti".
        """
        papers = {term: self.bm25.frequency(term) for term in terms}
        common = sorted((term for term in papers if papers[term] >= LEAST_PAPERS), key=lambda term: (-papers[term], term))
        for term in common[:TRIED]:
            texts = self.texts(self.bm25.rows_with([term]), READ)
            words = self.analyzer.counts(texts)
            spelt = {word: count for word, count in words.items() if fits(word) and self.analyzer.term(word) == term}
            if spelt:
                word = min(spelt, key=lambda word: (-spelt[word], len(word), word))
                return joined_forms(self.analyzer, texts, [word])[word], term
        return None


def _slips(word: str) -> set[str]:
    """All strings one slip of a letter away from a word."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    without = {left + right[1:] for left, right in splits if right}
    swapped = {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    changed = {left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase}
    added = {left + letter + right for left, right in splits for letter in ascii_lowercase}
    return without | swapped | changed | added
