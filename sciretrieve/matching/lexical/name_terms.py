"""Which words of a query may be names, of authors or of venues: a corpus tells names from other words by where it has them.

In "vaswani 2017" or "ishii tangible bits" some words are names, which titles and abstracts do not have. So a word of a query also counts in
papers with an author or a venue of that name, by how often it is that of a name: of the papers that have it as a name or in their text,
the share that has it as a name. A word that is mostly none of a name adds nothing. What this brings, and which weights were tried, is in
docs/quality.md.
"""

from __future__ import annotations

import re

from ...papers.folding import spellings
from .analysis import Analyzer
from .bm25 import Bm25, FieldTerms
from .fields import field_term, name_words

WEIGHTS = {"authors": 1.0, "venue": 0.5}
"""What a word that is only ever a name weighs in a field, times its inverse document frequency there."""
YEAR = 1.0
"""The same for a year, which counts in papers with such a name."""
LEAST_SHARES = {"authors": 0.3, "venue": 0.8}
"""The least share of a word's papers that have it as a name. Venues are named after what they are about, which a query is about, too."""
LONGEST_QUERY = 100
"""Words that a query may have for any of them to be a name: what is longer is a text."""
CITED = re.compile(r"\b([A-Z][^\W\d_]+)(?:\s+(?:and|&)\s+([A-Z][^\W\d_]+)\b|,?\s+et\s+al\b)")
"""Names as prose has them: Randall and Sundrum showed, Smith et al."""
MOST_CITED = 200
"""Papers that may be by those whom a text names so; what more are by says little."""
YEARS = re.compile(r"(?:1[5-9]|20)\d\d")


def field_terms(bm25: Bm25, analyzer: Analyzer, text: str) -> FieldTerms:
    """Of a query's terms those that may be names: each with the words in fields that it may be, and their weights."""
    words = list(dict.fromkeys(name_words(text)))
    cited = cited_names(bm25, text)
    if len(words) > LONGEST_QUERY:
        words = [word for word in words if word in cited]
    terms: dict[str, dict[str, float]] = {}
    # neither a stop word is taken for a name nor a number, which a venue may well have
    known = [(word, term) for word in words if (term := analyzer.term(word)) is not None]
    for word, term in known:
        as_name = {} if word.isdigit() else {field: names_of(bm25, field, word) for field in WEIGHTS}
        as_word = bm25.frequency(term) if any(as_name.values()) else 0
        for field, names in as_name.items():
            papers = sum(names.values())
            # names of methods are in texts, too: where authors are meant, that does not tell against them
            share = 1.0 if field == "authors" and word in cited else papers / max(papers + as_word, 1)
            if share >= LEAST_SHARES[field]:
                terms.setdefault(term, {}).update(dict.fromkeys(names, WEIGHTS[field] * share))
    for word, term in known if terms else ():
        if YEARS.fullmatch(word) and bm25.frequency(key := field_term("year", word)):
            terms.setdefault(term, {})[key] = YEAR
    return terms


def cited_names(bm25: Bm25, text: str) -> set[str]:
    """The words of authors whom a text names as prose does, who wrote papers, and those that are named together the same papers."""
    names: set[str] = set()
    for match in CITED.finditer(text):
        words = [word for name in match.groups("") for word in name_words(name)]
        if 0 < len(bm25.rows_with(words, "authors")) <= MOST_CITED:
            names.update(words)
    return names


def names_of(bm25: Bm25, field: str, word: str) -> dict[str, int]:
    """The words that a field has for a name, in each spelling of an author's, as terms, and how many papers have each."""
    terms = [field_term(field, form) for form in (spellings(word) if field == "authors" else [word])]
    return {term: papers for term in terms if (papers := bm25.frequency(term))}


def is_name(bm25: Bm25, word: str) -> bool:
    """Whether any paper has an author or a venue of that name."""
    return any(names_of(bm25, field, word) for field in WEIGHTS)
