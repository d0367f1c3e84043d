"""How text becomes terms: cut into words and compounds, without English stop words, as Snowball stems.

A compound gives its parts and itself without its joints: `IL-6` gives il and il6, `CRISPR/Cas9` crispr, cas9 and crisprcas9,
so that each is found by every spelling. British and American spellings give one term, and a single letter or digit counts with
its neighbour: vitamin D, type 2. Names with Greek letters are one however these are written, and of scripts without blanks every two
characters are a word. docs/quality.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from threading import local
from typing import Any

import Stemmer

from ...base.once import once
from ...papers.folding import fold
from . import greek, single_characters
from .american import american
from .words import JOINT, STOPWORDS, WORD, spaced

WORDS_REMEMBERED = 65_536
"""Words whose terms are kept in memory: those of papers that are queries come again and again."""
NEWEST = 4
FORMS = (NEWEST, 3, 2)
"""The forms of analysis that indexes have."""


class _Stemmers(local):
    """A separate stemmer for each thread: PyStemmer's must not be used by two at once."""

    def __init__(self, language: str) -> None:
        self.stemmer = Stemmer.Stemmer(language)


def cut(plain: str) -> Iterator[str]:
    """The words of a folded text, in order, a compound after its parts."""
    for match in WORD.findall(plain):
        parts = parts_of(match)
        yield from parts
        if len(parts) > 1:
            yield "".join(parts)


def parts_of(match: str) -> list[str]:
    """The parts of a compound that `WORD` found; a number without commas, or a word, by itself."""
    if match.isalnum():
        return [match]
    return [match.replace(",", "")] if "," in match or "." in match else JOINT.split(match)


@dataclass(frozen=True)
class Analyzer:
    """Turns text into terms. An index's manifest records `spec`, and only an equal analyzer may read the index.

    Attributes:
        language: of the stemmer.
        form: which words are one, and which characters count: 4; 3 for indexes built before 2026-11-25, where Greek letters are glued to a
            digit before them, and scripts without blanks, and Indic ones, are not cut rightly; or 2 for those built before 2026-11-24,
            where also British and American spellings are two and single characters are nothing.
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

    def fold(self, text: str) -> str:
        """A text in plain letters, in which `WORD` finds words and compounds."""
        if self.form < 4:
            return fold(text, marks=False)
        return greek.together(fold(text) if text.isascii() else spaced(fold(greek.separated(text))))

    def words(self, text: str) -> Iterator[str]:
        """The words of `text`, in order, a compound after its parts; before stop words are removed and words stemmed."""
        return self.cut(self.fold(text))

    def cut(self, plain: str) -> Iterator[str]:
        """The words of a folded text; of a compound with a Greek letter also the name before the letter, and that with it: of
        il-1-beta-induced also il1 and il1beta."""
        if self.form < 4:
            yield from cut(plain)
            return
        for match in WORD.findall(plain):
            parts = parts_of(greek.spelled(match))
            yield from parts
            if len(parts) == 1:
                continue
            for start, place in greek.names_in(parts):
                yield from ("".join(parts[start:end]) for end in (place, place + 1) if 1 < end - start < len(parts))
            yield "".join(parts)

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
        pairs = self.pairs(text, self.fold(text), typed=typed)
        terms = [(self.joined_term(before, after), " ".join(filter(None, (before, after)))) for before, after in pairs]
        return [(term, form) for term, form in terms if term is not None]

    def pairs(self, text: str, plain: str, *, typed: bool = False) -> list[tuple[str, str]]:
        """The single characters of `text`, which is `plain` when folded, and Greek letters behind a blank, with a neighbour; see
        `single_characters.joined`."""
        if self.form == 2:
            return []
        pairs = single_characters.joined(text, plain, typed=typed)
        return pairs if self.form < 4 else pairs + [(JOINT.sub("", before), letter) for before, letter in greek.beside(plain)]

    def joined_term(self, before: str, after: str) -> str | None:
        """The term of one of these pairs."""
        if self.form > 3 and (joined := greek.spelled(before + after)) != before + after:
            return self.term(JOINT.sub("", joined))
        # a letter after a word is no ending: "kinase D" is no form of "kinase"
        return american(before) + after if len(after) < 2 else self.term(before + after)

    def indexed(self, text: str) -> list[str]:
        """The terms that a paper with this text is indexed by: those of its words, and of its single characters with a neighbour."""
        return self.terms(text) + [term for term, _ in self.joined(text)]

    def spellings(self, text: str) -> list[list[set[str]]]:
        """For each word of `text` that is no stop word, the sets of terms of which a paper that has the word has one.

        A compound is its joined term, or, where no part is a single character, the terms of all its parts: IL-6 is il6 and not any il.
        A name with its Greek letter is one part: of anti-TNF-α, tnfalpha.
        """
        spellings = []
        for match in self.compounds(text):
            parts = parts_of(match)
            ways = [{term}] if (term := self.term("".join(parts))) is not None else []
            if self.form > 3:
                parts = greek.merged(parts)
            terms = {term for part in parts if (term := self.term(part)) is not None}
            if len(parts) > 1 and terms and min(map(len, parts)) > 1:
                ways.append(terms)
            if ways:
                spellings.append(ways)
        return spellings

    def compounds(self, text: str) -> list[str]:
        """The words and compounds of a typed text."""
        plain = self.fold(text)
        return WORD.findall(plain if self.form < 4 else greek.respelled(plain))
