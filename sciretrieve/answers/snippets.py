"""What of a paper to show beside a query: where the query's words stand in it, and the sentence with the most of them.

Both go by words alone, so that they cost a search next to nothing; the sentence nearest in meaning is part of an `Explanation`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from ..matching.lexical import Analyzer
from ..matching.lexical.sentences import sentences
from ..matching.lexical.words import parts_as_written
from ..query.index import Index
from .answering import Answer

TOKEN = re.compile(r"\S+")
LETTER = re.compile(r"([^\W_])[^\w\s]*")
"""A letter or a digit that stands alone."""


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The words that an answer was searched for.

    Attributes:
        analyzer: what makes terms of text in the index.
        rarities: the query's terms, each with how rare it is in the index, its inverse document frequency.
        letters: its letters and digits that stand alone, which are no terms, each with a term of the word before it: vitamin D.
    """

    analyzer: Analyzer
    rarities: Mapping[str, float]
    letters: frozenset[tuple[str, str]] = frozenset()

    def marks(self, text: str) -> list[tuple[int, int]]:
        """Where a text has words of the query, in any form that is the same to the search: (start, end), rising.

        Of a compound only the parts that are words of the query are marked, unless the whole is one: IL-6 for "il6".
        """
        spans: list[tuple[int, int]] = []
        terms: set[str] = set()
        for token in TOKEN.finditer(text):
            terms_before, terms = terms, self.rarities.keys() & self.analyzer.terms(token[0])
            if not terms:  # a small letter is more often a word of its own
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
        for start, end in spans:  # of scripts without blanks, two that overlap are one
            joined[-1:] = [(joined[-1][0], end)] if joined and start < joined[-1][1] else [*joined[-1:], (start, end)]
        return joined

    def snippet(self, abstract: str) -> str:
        """The first of the abstract's sentences that have the most of the query's words, the rare ones counting more; "" without one."""
        parts = sentences(abstract)
        return max(parts, key=lambda part: sum(self.rarities.get(term, 0.0) for term in set(self.analyzer.terms(part))), default="")


def query_words(index: Index, answer: Answer) -> QueryWords:
    """The words of an answer's query, as they were typed or read; of papers as queries, those of their titles."""
    request = answer.request
    if request.query is None:
        texts = [*(paper.title for paper in index.papers(request.like)), request.text or ""]
    else:
        texts = [answer.ranking.query.words, *answer.ranking.corrections.values()]
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
