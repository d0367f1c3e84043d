"""The terms of a query, with what was meant by words that no paper has: unfinished ones, and slips of a letter.

A word that any paper has is never touched, so a query that is spelt right means what it says. What this brings,
and costs, is in docs/quality.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase

from .analysis import Analyzer
from .bm25 import Bm25

SHORTEST_START, SHORTEST_SLIP = 4, 5
"""Letters that a word must have to be taken for the beginning of another; and that a term, and what it is taken for, must
have for a slip: shorter ones are too near to others."""

LONGEST_SLIP = 40
"""Letters beyond which a word is a sequence or a code, with no slip in it; all that is one slip away grows with the square."""

LEAST_PAPERS = 2
"""Papers that must have a term for it to be what was meant: what one paper alone has is often misspelt itself."""


@dataclass(frozen=True)
class Speller:
    """Reads queries as an index's papers spell things."""

    analyzer: Analyzer
    bm25: Bm25

    def terms(self, text: str) -> list[tuple[str, str]]:
        """The words of a query, in order, stop words left out, each with the term to look for."""
        said = [(word, term) for word in self.analyzer.words(text) if (term := self.analyzer.term(word)) is not None]
        last = len(said) - 1
        return [(word, term if self.bm25.known([term]) else self._meant(word, term, at == last)) for at, (word, term) in enumerate(said)]

    def _meant(self, word: str, term: str, last: bool) -> str:
        """What an unknown word stands for: of the terms in question the one that most papers have, or else its own.

        The last word may be the beginning of a longer one; any may have a letter left out, added, changed, or two swapped
        (four in five misspelt words; Damerau, CACM 1964). Words with digits are names, which are not guessed.
        """
        if not word.isalpha():
            return term
        begun = self.bm25.beginning_with(term) if last and len(word) >= SHORTEST_START else []
        if found := self._commonest(other for other in begun if other.isalpha()):
            return found
        slips = {self.analyzer.term(other) for other in _slips(word)} if len(term) >= SHORTEST_SLIP and len(word) <= LONGEST_SLIP else set()
        return self._commonest(other for other in slips if other is not None and len(other) >= SHORTEST_SLIP) or term

    def _commonest(self, terms: Iterable[str]) -> str | None:
        papers = {term: len(self.bm25.rows_with([term])) for term in self.bm25.known(terms)}
        return min((term for term in papers if papers[term] >= LEAST_PAPERS), key=lambda term: (-papers[term], term), default=None)


def _slips(word: str) -> set[str]:
    """All that is one slip of a letter from a word."""
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    without = {left + right[1:] for left, right in splits if right}
    swapped = {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    changed = {left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase}
    added = {left + letter + right for left, right in splits for letter in ascii_lowercase}
    return without | swapped | changed | added
