"""What was meant by the words of a query that no paper has: unfinished ones, and slips of a letter.

A word that papers have is never given up, nor one that is an author's or a venue's name, so a query that is spelt right means
what it says. Where hardly a paper has it, and very many have a word that is one slip away, those papers probably made the slip too:
then both words are searched for. What this brings, and costs, is in docs/quality.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from ...base.types import Rows
from ...papers.folding import fold
from .analysis import Analyzer
from .bm25 import Bm25, weigh_terms
from .name_terms import is_name
from .words import WORD
from .written import joined_forms

SHORTEST_START, SHORTEST_SLIP = 4, 5
"""Letters that a word must have to be taken for the beginning of another; and that a term, and what it is taken for, must
have for a slip: shorter ones are too near to others."""

LONGEST_SLIP = 40
"""Letters beyond which a word is a sequence or a code, with no slip in it; all that is one slip away grows with the square."""

LEAST_PAPERS = 2
"""Papers that must have a term for it to be what was meant: what one paper alone has is often misspelt itself."""

FEW_PAPERS = 2
"""Papers that may have made the same slip: a word that more of them have is one."""
TIMES_AS_MANY = 500
"""How many times as many papers must have a word for one with a slip in papers to stand for it as well. Of rare words
in titles that are a letter from such a word, looked at by eye, nearly all of hep-th's 24 are slips or letters of formulas run into a word,
about half of ACM-CR's 37 are slips and the others names of systems and rarer words, and SciFact's four are words: so both are searched for.
From 50 times on, words and names prevail."""

SURE = 8
"""Letters from which a word with a slip is seldom another word: "bread" is one letter from "broad" and from "break"."""
GUESSED, DOUBTED = 0.8, 0.35
"""What a term that a word was taken for weighs where one that was typed weighs 1: of a sure correction, and of a slip in a
shorter word. Alone, the latter makes no answer that is not weak (`runs.WEAK`)."""

LONGEST_QUERY = 100
"""Words that a query may have of which any is corrected: what is longer was pasted, not typed."""

TRIED = 5
"""Terms, the commonest first, that are tried for what was meant."""
READ = 30
"""Papers that are read for how they spell a term."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of a query that no paper has, or hardly any, the word that it is taken for, as papers spell it, that word's term, and its
    weight in the query, below 1. Where papers have the word, both are searched for: `beside`."""

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
        """How much of an answer's strength it can make: a short word is seldom sure, be it a slip or a beginning, for "bread" is
        no "breadth"."""
        return self.weight if len(self.word) >= SURE else DOUBTED


@dataclass(frozen=True)
class Speller:
    """Reads queries as an index's papers spell things. `texts` gives the texts of so many of the papers at some rows."""

    analyzer: Analyzer
    bm25: Bm25
    texts: Callable[[Rows, int], Sequence[str]]

    def corrections(self, text: str, insisted: Collection[str] = ()) -> list[Correction]:
        """What the unknown and nearly unknown words of a query are taken for, in order; not those that the query insists on."""
        words = [(word, term) for word in self.analyzer.words(text) if (term := self.analyzer.term(word)) is not None]
        if len(words) > LONGEST_QUERY:
            return []
        last = len(words) - 1
        rare = {
            word: (term, papers, place == last)
            for place, (word, term) in enumerate(words)
            # words with digits are names, which are not guessed
            if word.isalpha()
            and word not in insisted
            and (papers := self.bm25.frequency(term)) <= FEW_PAPERS
            and not is_name(self.bm25, word)
        }
        corrections = (
            self._beside(word, term, papers) if papers else self._corrected(word, term, unfinished)
            for word, (term, papers, unfinished) in rare.items()
        )
        return [correction for correction in corrections if correction is not None]

    def terms(self, text: str, corrections: Sequence[Correction]) -> dict[str, float]:
        """The weighted terms of a query, with what its words are taken for in place of these, and its single characters with those
        neighbours that they have in papers."""
        corrected = {correction.word for correction in corrections if not correction.beside}
        typed = [term for word in self.analyzer.words(text) if word not in corrected and (term := self.analyzer.term(word)) is not None]
        joined = dict.fromkeys(term for term, _ in self.analyzer.joined(text, typed=True) if term not in typed)
        typed += self.bm25.known_terms(joined)
        return {correction.term: correction.weight for correction in corrections} | weigh_terms(typed)

    def own(self, text: str, terms: Mapping[str, float]) -> dict[str, float]:
        """The terms of a query without its compounds that no paper writes as one word, since their parts say the same."""
        compounds = [words for compound in WORD.findall(fold(text)) if len(words := list(self.analyzer.words(compound))) > 1]
        joined = {self.analyzer.term(words[-1]) for words in compounds}
        return {term: weight for term, weight in terms.items() if term not in joined or self.bm25.frequency(term)}

    def _corrected(self, word: str, term: str, unfinished: bool) -> Correction | None:
        """The commonest word that an unknown one may stand for.

        The last word may be the beginning of a longer one; any may have a letter left out, added, changed, or two swapped
        (four in five misspelt words; Damerau, CACM 1964).
        """
        if unfinished and len(word) >= SHORTEST_START:
            begun = (other for other in self.bm25.beginning_with(word) if other.isalpha())
            if spelling := self._spelt(begun, lambda other: other.startswith(word)):
                return Correction(word, *spelling, GUESSED)
        if len(term) < SHORTEST_SLIP or len(word) > LONGEST_SLIP:
            return None
        slips = _slips(word)
        terms = self.bm25.known_terms(term for term in self.analyzer.terms_of(slips) if len(term) >= SHORTEST_SLIP)
        spelling = self._spelt(terms, slips.__contains__)
        return Correction(word, *spelling, GUESSED if len(word) >= SURE else DOUBTED) if spelling else None

    def _beside(self, word: str, term: str, papers: int) -> Correction | None:
        """The word that so many more papers have that these few papers, too, may have meant it."""
        least = papers * TIMES_AS_MANY
        if len(term) < SHORTEST_SLIP or len(word) > LONGEST_SLIP or least > self.bm25.statistics.papers:
            return None
        slips = _slips(word)
        # of a thousand words that papers have so often hardly one is near, which is seen at once; terms would have to be looked up
        terms = self.bm25.common_terms(least).intersection(self.analyzer.stems(slips))
        spelling = self._spelt((other for other in terms if len(other) >= SHORTEST_SLIP), slips.__contains__)
        return Correction(word, *spelling, DOUBTED, beside=True) if spelling else None

    def _spelt(self, terms: Iterable[str], fits: Callable[[str], bool]) -> tuple[str, str] | None:
        """Of the terms, the commonest that papers spell with a word that fits: that word, the commonest such, and the term.

        Terms are stems, which are near to each other where words are not: "Paris" is no beginning of "parity", though of its
        stem, "pariti".
        """
        papers = {term: self.bm25.frequency(term) for term in terms}
        common = sorted((term for term in papers if papers[term] >= LEAST_PAPERS), key=lambda term: (-papers[term], term))
        for term in common[:TRIED]:
            texts = self.texts(self.bm25.rows_with([term]), READ)
            words = Counter(word for text in texts for word in self.analyzer.words(text) if fits(word))
            spelt = {word: count for word, count in words.items() if self.analyzer.term(word) == term}
            if spelt:
                word = min(spelt, key=lambda word: (-spelt[word], len(word), word))
                return joined_forms(self.analyzer, texts, [word])[word], term
        return None


def _slips(word: str) -> set[str]:
    """All that is one slip of a letter from a word."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    without = {left + right[1:] for left, right in splits if right}
    swapped = {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    changed = {left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase}
    added = {left + letter + right for left, right in splits for letter in ascii_lowercase}
    return without | swapped | changed | added
