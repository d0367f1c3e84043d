"""How text becomes terms: cut into words and compounds, without English stop words, as Snowball stems.

A compound gives its parts and itself without its joints: `IL-6` gives il and il6, `CRISPR/Cas9` crispr, cas9 and crisprcas9,
so that each is found by every spelling. British and American spellings give one term, and a single letter or digit counts with
its neighbour: vitamin D, type 2. docs/quality.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from threading import local
from typing import Any

import Stemmer

from ...once import once
from ...papers.folding import fold
from . import single_characters
from .american import american
from .words import JOINT, STOPWORDS, WORD

WORDS_REMEMBERED = 65_536
"""Words whose terms are kept in memory: those of papers that are queries come again and again."""
NEWEST = 3
FORMS = (NEWEST, 2)
"""The forms of analysis that indexes have."""


class _Stemmers(local):
    """A separate stemmer for each thread: PyStemmer's must not be used by two at once."""

    def __init__(self, language: str) -> None:
        self.stemmer = Stemmer.Stemmer(language)


def cut(plain: str) -> Iterator[str]:
    """The words of a folded text, see `Analyzer.words`."""
    for match in WORD.findall(plain):
        if match.isalnum():
            yield match
        elif "," in match:
            yield match.replace(",", "")
        elif "." in match:
            yield match
        else:
            parts = JOINT.split(match)
            yield from parts
            yield "".join(parts)


@dataclass(frozen=True)
class Analyzer:
    """Turns text into terms. An index's manifest records `spec`, and only an equal analyzer may read the index.

    Attributes:
        language: of the stemmer.
        form: which words are one, and which characters count: 3, or 2 for indexes built before 2026-11-24, where British and American
            spellings are two and single characters are nothing.
    """

    language: str = "english"
    form: int = NEWEST
    spec: dict[str, Any] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        spec = {"form": self.form, "pattern": WORD.pattern, "stopwords": "lucene-english", "stemmer": f"snowball-{self.language}"}
        object.__setattr__(self, "spec", spec)

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Analyzer | None:
        """The analyzer that an index was built with; None for one that this version does not know."""
        return next((known for form in FORMS if (known := cls(form=form)).spec == spec), None)

    @once
    def _stemmers(self) -> _Stemmers:
        return _Stemmers(self.language)

    @staticmethod
    def words(text: str) -> Iterator[str]:
        """The words of `text`, in order, a compound after its parts; before stop words are removed and words stemmed."""
        return cut(fold(text))

    @once
    def term(self) -> Callable[[str], str | None]:
        """Gives the term that stands for a word, or None for a stop word or a single character."""
        return lru_cache(WORDS_REMEMBERED)(self._term)

    def _term(self, word: str) -> str | None:
        if len(word) < 2 or word in STOPWORDS:
            return None
        return str(self._stemmers.stemmer.stemWord(word if self.form == 2 else american(word)))

    def terms_of(self, words: Iterable[str]) -> set[str]:
        """The terms that stand for some words, see `term`: all at once, which takes half the time."""
        kept = [word if self.form == 2 else american(word) for word in words if len(word) >= 2 and word not in STOPWORDS]
        return set(self._stemmers.stemmer.stemWords(kept))

    def stems(self, words: Iterable[str]) -> list[str]:
        """The stems of words as they are written: their terms, but for British spellings and stop words. Far quicker than `term`."""
        stems: list[str] = self._stemmers.stemmer.stemWords(list(words))
        return stems

    def terms(self, text: str) -> list[str]:
        """The terms of the words of `text`, in order, with repetitions."""
        return [term for word in self.words(text) if (term := self.term(word)) is not None]

    def joined(self, text: str, *, typed: bool = False) -> list[tuple[str, str]]:
        """The terms of the single characters of `text` with a neighbour, each with its form in plain letters; `typed` for a query, see
        `single_characters.joined`."""
        pairs = self.pairs(text, fold(text), typed=typed)
        terms = [(self.joined_term(before, after), " ".join(filter(None, (before, after)))) for before, after in pairs]
        return [(term, form) for term, form in terms if term is not None]

    def pairs(self, text: str, plain: str, *, typed: bool = False) -> list[tuple[str, str]]:
        """The single characters of `text`, which is `plain` when folded, with a neighbour; see `single_characters.joined`."""
        return [] if self.form == 2 else single_characters.joined(text, plain, typed=typed)

    def joined_term(self, before: str, after: str) -> str | None:
        """The term of one of these pairs."""
        # a letter after a word is no ending: "kinase D" is no form of "kinase"
        return american(before) + after if len(after) < 2 else self.term(before + after)

    def indexed(self, text: str) -> list[str]:
        """The terms that a paper with this text is indexed by: those of its words, and of its single characters with a neighbour."""
        return self.terms(text) + [term for term, _ in self.joined(text)]

    def spellings(self, text: str) -> list[list[set[str]]]:
        """For each word of `text` that is no stop word, the sets of terms of which a paper that has the word has one.

        A compound is its joined term, or, where no part is a single character, the terms of all its parts: IL-6 is il6 and not any il.
        """
        spellings = []
        for match in WORD.findall(fold(text)):
            *parts, joined = self.words(match)
            terms = {term for part in parts if (term := self.term(part)) is not None}
            ways = [{term}] if (term := self.term(joined)) is not None else []
            if terms and min(map(len, parts)) > 1:
                ways.append(terms)
            if ways:
                spellings.append(ways)
        return spellings
