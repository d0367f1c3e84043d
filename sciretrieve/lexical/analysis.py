"""How text becomes terms: lower case, words of two characters and more, no English stop words, Snowball stems."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import Stemmer

WORD = re.compile(r"\b\w\w+\b")

# Lucene's English stop words, the usual short list of BM25 baselines
_STOP = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
"""
STOPWORDS = frozenset(_STOP.split())


@dataclass(frozen=True)
class Analyzer:
    """Turns text into terms. An index's manifest records `spec`, and only an equal analyzer may read the index."""

    language: str = "english"
    spec: dict[str, Any] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        spec = {"pattern": WORD.pattern, "lowercase": True, "stopwords": "lucene-english", "stemmer": f"snowball-{self.language}"}
        object.__setattr__(self, "spec", spec)

    @cached_property
    def _stemmer(self) -> Stemmer.Stemmer:
        return Stemmer.Stemmer(self.language)

    @staticmethod
    def words(text: str) -> list[str]:
        """The words of `text`, in order, before stop words go and stems are taken."""
        return WORD.findall(text.lower())

    def term(self, word: str) -> str | None:
        """The term that stands for a word, or None for a stop word."""
        return None if word in STOPWORDS else str(self._stemmer.stemWord(word))

    def terms(self, text: str) -> list[str]:
        """The terms of `text`, in order, with repetitions."""
        return [term for word in self.words(text) if (term := self.term(word)) is not None]
