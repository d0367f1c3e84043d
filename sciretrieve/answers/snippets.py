"""Snippets of a paper for a query: the positions of the query's words, and the sentence with most of them.

Both use words alone, so they cost little. The sentence nearest in meaning is part of an `Explanation`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..matching.lexical import Analyzer
from ..matching.lexical.words import parts_as_written
from ..papers.sentences import sentence_ranges, sentences
from ..query.index import Index
from .answering import Answer

TOKEN = re.compile(r"\S+")
LETTER = re.compile(r"([^\W_])[^\w\s]*")
"""A letter or digit that stands alone."""


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The words that an answer was searched by.

    Attributes:
        analyzer: the index's text analysis.
        rarities: inverse document frequencies of the query's terms.
        letters: letters and digits that stand alone, which are not terms, each with a term of the word before it: vitamin D.
    """

    analyzer: Analyzer
    rarities: Mapping[str, float]
    letters: frozenset[tuple[str, str]] = frozenset()

    def marks(self, text: str) -> list[tuple[int, int]]:
        """Positions of the query's words in a text, in any form that the search treats as equal: (start, end), ascending.

        In a compound, only parts that are query words are marked, unless the whole is one: IL-6 for "il6".
        """
        spans: list[tuple[int, int]] = []
        terms: set[str] = set()
        for token in TOKEN.finditer(text):
            terms_before, terms = terms, self.rarities.keys() & self.analyzer.terms(token[0])
            if not terms:  # a lower-case letter is more often its own word
                letters = {letter for term, letter in self.letters if term in terms_before}
                spans += [span for span in parts_as_written(text, *token.span()) if text[slice(*span)] in letters] if letters else []
                continue
            parts = list(parts_as_written(text, *token.span()))
            terms_of = {span: self.rarities.keys() & self.analyzer.terms(text[slice(*span)]) for span in parts}
            if terms == set().union(*terms_of.values()):
                spans += [span for span in parts if terms_of[span]]
            else:
                spans.append((parts[0][0], parts[-1][1]) if parts else token.span())
        joined: list[tuple[int, int]] = []
        for start, end in spans:  # in scripts without blanks, overlapping words are merged
            joined[-1:] = [(joined[-1][0], end)] if joined and start < joined[-1][1] else [*joined[-1:], (start, end)]
        return joined

    def snippet(self, abstract: str) -> str:
        """The first sentence of an abstract with the most query words, weighted by rarity; "" if there is none."""
        return max(sentences(abstract), key=self.weight, default="")

    def excerpt(self, text: str, most: int) -> str:
        """The whole sentences around the best one, of at most so many characters unless it is longer itself; "…" stands for the others."""
        spans = list(sentence_ranges(text))
        if not spans:
            return ""
        first = max(range(len(spans)), key=lambda place: self.weight(text[slice(*spans[place])]))
        start, end = spans[first]
        end = next((stop for _, stop in reversed(spans) if end <= stop <= start + most), end)
        start = next((begin for begin, _ in spans if end - most <= begin <= start), start)
        return f"{'… ' * (start > spans[0][0])}{text[start:end]}{' …' * (end < spans[-1][1])}"

    def weight(self, text: str) -> float:
        """How much a text has of the query's words, each counted once by its rarity."""
        return sum(self.rarities.get(term, 0.0) for term in set(self.analyzer.terms(text)))


def query_words(index: Index, answer: Answer) -> QueryWords:
    """The words of an answer's query, as typed or read; for example papers, the words of their titles."""
    request = answer.request
    if request.query is None:
        texts = [*(paper.title for paper in index.papers(request.like)), request.text or ""]
    else:
        texts = [answer.ranking.query.words, *answer.ranking.corrections.values()]
    return words_in(index, texts)


def words_in(index: Index, texts: Sequence[str]) -> QueryWords:
    """The words of some texts as a query."""
    terms = {term for text in texts for term in index.snapshot.analyzer.terms(text)}
    letters = frozenset(
        (term, match[1].upper())
        for text in texts
        for before, word in pairwise(TOKEN.findall(text))
        if (match := LETTER.fullmatch(word))
        for term in index.snapshot.analyzer.terms(before)
    )
    bm25 = index.snapshot.bm25
    return QueryWords(index.snapshot.analyzer, {term: 1.0 if bm25 is None else bm25.rarity(term) for term in terms}, letters)
