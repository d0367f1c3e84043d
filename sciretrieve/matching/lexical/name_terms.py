"""Detection of names in queries: the corpus shows which words are names of authors or venues.

In "vaswani 2017" or "ishii tangible bits", some words are names that titles and abstracts lack. So a query's word also counts in papers
with an author or a venue of that name. Its weight is the share of its papers that have it as a name. Words that are seldom names add
nothing. docs/quality.md has the effect and the weights tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ...base.once import once
from .analysis import Analyzer
from .bm25 import Bm25, FieldTerms
from .fields import field_term, name_words

WEIGHTS = {"authors": 1.0, "venue": 0.5}
"""Weight of a word that only occurs as a name, by field, times its inverse document frequency there."""
YEAR = 1.0
"""The same for a year, which counts in papers with such a name."""
LEAST_SHARES = {"authors": 0.3, "venue": 0.8}
"""Least share of a word's papers that have it as a name. Venues are named after their subjects, which queries contain, too."""
LONGEST_QUERY = 100
"""Most words of a query in which a word may be a name. Longer queries are texts."""
CITED = re.compile(r"\b([A-Z][^\W\d_]+)(?:\s+(?:and|&)\s+([A-Z][^\W\d_]+)\b|,?\s+et\s+al\b)")
"""Names as prose cites them: Randall and Sundrum showed, Smith et al."""
MAY_CITE = re.compile(r"\s(?:and|&)\s|\sal\b")
"""What every such name has beside it."""
MOST_CITED = 200
"""Most papers by authors that a text cites so. If there are more, the name says little."""
WORDS_REMEMBERED = 65_536
"""Words whose weights are cached."""
YEARS = re.compile(r"(?:1[5-9]|20)\d\d")


@dataclass(frozen=True)
class NameTerms:
    """Finds names among the words of queries of an index."""

    analyzer: Analyzer
    bm25: Bm25

    def in_fields(self, text: str) -> FieldTerms:
        """Terms of a query that may be names, each with its field words and their weights."""
        words = list(dict.fromkeys(name_words(text)))
        cited = cited_names(self.bm25, text)
        if len(words) > LONGEST_QUERY:
            words = [word for word in words if word in cited]
        terms: dict[str, dict[str, float]] = {}
        for word in words:
            term, weights = self._weighed(word, is_cited=True) if word in cited else self._weights(word)
            if weights:
                terms.setdefault(term, {}).update(weights)
        for word in words if terms else ():
            if YEARS.fullmatch(word) and self.bm25.frequency(key := field_term("year", word)):
                terms.setdefault(word, {})[key] = YEAR
        return terms

    @once
    def _weights(self) -> Callable[[str], tuple[str, Mapping[str, float]]]:
        """A function from a word to its term, and the weights of its field words."""
        return lru_cache(WORDS_REMEMBERED)(self._weighed)

    def _weighed(self, word: str, *, is_cited: bool = False) -> tuple[str, Mapping[str, float]]:
        # stop words are no names here, and neither are numbers, which venues contain
        term = None if word.isdigit() else self.analyzer.term(word)
        if term is None:
            return "", {}
        as_name = self.bm25.as_name(word)
        as_word = self.bm25.frequency(term) if as_name else 0
        weights: dict[str, float] = {}
        for field, names in as_name.items():
            papers = sum(names.values())
            # an author's name may also name a method in texts, which must not count against a cited author
            share = 1.0 if field == "authors" and is_cited else papers / max(papers + as_word, 1)
            if share >= LEAST_SHARES[field]:
                weights |= dict.fromkeys(names, WEIGHTS[field] * share)
        return term, weights


def cited_names(bm25: Bm25, text: str) -> set[str]:
    """Words in a text that cite authors as prose does. Names cited together must have written a paper together."""
    names: set[str] = set()
    if MAY_CITE.search(text) is None:
        return names
    for match in CITED.finditer(text):
        words = [word for name in match.groups("") for word in name_words(name)]
        if 0 < len(bm25.rows_with(words, "authors")) <= MOST_CITED:
            names.update(words)
    return names


def is_name(bm25: Bm25, word: str) -> bool:
    """Whether any paper has an author or a venue of this name."""
    return bool(bm25.as_name(word))
