"""Text analysis: words and compounds, without English stop words, stemmed by Snowball.

A compound gives its parts, and itself without its joints, so every spelling finds it: `IL-6` gives il and il6, `CRISPR/Cas9` gives crispr,
cas9 and crisprcas9. British and American spellings give one term. A single letter or digit counts with its neighbour: vitamin D, type 2.
Names with Greek letters give one term however the letters are written. In scripts without blanks, every two characters are a word. See
docs/quality.md for measurements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from threading import local
from typing import Any

import Stemmer

from ...base.once import once
from ...papers.folding import fold
from . import greek, single_characters
from .american import american
from .words import JOINT, STOPWORDS, WORD, pieces, remembering, spaced

WORDS_REMEMBERED = 65_536
"""Words whose terms are cached. Papers used as queries repeat words."""
NEWEST = 4
FORMS = (NEWEST, 3, 2)
"""Forms of analysis that existing indexes have."""


class _Stemmers(local):
    """One stemmer per thread. Two threads must not share a PyStemmer stemmer."""

    def __init__(self, language: str) -> None:
        # its own cache costs several times as much as stemming when words are new, and known words are cached here
        self.stemmer = Stemmer.Stemmer(language, 0)


def cut(plain: str) -> Iterator[str]:
    """Words of a folded text in order, a compound after its parts."""
    for match in WORD.findall(plain):
        parts = parts_of(match)
        yield from parts
        if len(parts) > 1:
            yield "".join(parts)


def parts_of(match: str) -> list[str]:
    """Parts of a compound that `WORD` matched. A word is its only part, and so is a number, without commas."""
    if match.isalnum():
        return [match]
    return [match.replace(",", "")] if "," in match or "." in match else JOINT.split(match)


@dataclass(frozen=True)
class Analyzer:
    """Turns text into terms. An index's manifest records the `spec`, and only an equal analyzer may read the index.

    Attributes:
        language: language of the stemmer.
        form: version of the analysis: 4; 3 for indexes built before 2026-11-25; or 2 for indexes built before 2026-11-24. Form 3 joins
            Greek letters to a digit before them, and cuts Indic scripts and scripts without blanks wrongly. Form 2 also separates British
            from American spellings and ignores single characters.
    """

    language: str = "english"
    form: int = NEWEST
    spec: dict[str, Any] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        spec = {"form": self.form, "pattern": WORD.pattern, "stopwords": "lucene-english", "stemmer": f"snowball-{self.language}"}
        object.__setattr__(self, "spec", spec)

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Analyzer | None:
        """The analyzer with which an index was built; None if this version does not know it."""
        return next((known for form in FORMS if (known := cls(form=form)).spec == spec), None)

    @once
    def _stemmers(self) -> _Stemmers:
        return _Stemmers(self.language)

    def fold(self, text: str) -> str:
        """Fold a text to plain letters, in which `WORD` finds words and compounds."""
        if self.form < 4:
            return fold(text, marks=False)
        return greek.together(fold(text) if text.isascii() else spaced(fold(greek.separated(text))))

    @once
    def words(self) -> Callable[[str], Sequence[str]]:
        """A function from a text to its words in order, a compound after its parts, with stop words and without stemming."""
        return remembering(lambda text: tuple(chain.from_iterable(map(self._words_of, pieces(self.fold(text))))))

    def counts(self, texts: Iterable[str]) -> Counter[str]:
        """How often some texts have each of their words."""
        counts: Counter[str] = Counter()
        for piece, times in Counter(chain.from_iterable(pieces(self.fold(text)) for text in texts)).items():
            for word in self._words_of(piece):
                counts[word] += times
        return counts

    @once
    def _words_of(self) -> Callable[[str], Sequence[str]]:
        """A function from a piece of a folded text (`pieces`) to its words."""
        return lru_cache(WORDS_REMEMBERED)(lambda piece: tuple(self.cut(piece)))

    def cut(self, plain: str) -> Iterator[str]:
        """Words of a folded text. A compound with a Greek letter also gives the name before the letter, and the name with the letter:
        il-1-beta-induced also gives il1 and il1beta."""
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
        """A function from a word to its term, or None for a stop word or a single character."""
        return lru_cache(WORDS_REMEMBERED)(self._term)

    def _term(self, word: str) -> str | None:
        if len(word) < 2 or word in STOPWORDS:
            return None
        return str(self._stemmers.stemmer.stemWord(word if self.form == 2 else american(word)))

    def terms_of(self, words: Iterable[str]) -> set[str]:
        """Terms of some words, see `term`. Computing them together takes half the time."""
        kept = [word if self.form == 2 else american(word) for word in words if len(word) >= 2 and word not in STOPWORDS]
        return set(self._stemmers.stemmer.stemWords(kept))

    def stems(self, words: Iterable[str]) -> list[str]:
        """Stems of words as written: like terms, but with British spellings and stop words. Much faster than `term`."""
        stems: list[str] = self._stemmers.stemmer.stemWords(list(words))
        return stems

    def terms(self, text: str) -> list[str]:
        """Terms of the words of `text`, in order, with repetitions."""
        return [term for word in self.words(text) if (term := self.term(word)) is not None]

    def joined(self, text: str, *, typed: bool = False) -> list[tuple[str, str]]:
        """Terms of the single characters of `text` joined with a neighbour, each with its form in plain letters. `typed` is set for a
        query, see `single_characters.joined`."""
        pairs = self.pairs(text, self.fold(text), typed=typed)
        terms = [(self.joined_term(before, after), " ".join(filter(None, (before, after)))) for before, after in pairs]
        return [(term, form) for term, form in terms if term is not None]

    def pairs(self, text: str, plain: str, *, typed: bool = False) -> list[tuple[str, str]]:
        """Single characters of `text`, and Greek letters after a blank, each with a neighbour. `plain` is `text` folded; see
        `single_characters.joined`."""
        if self.form == 2:
            return []
        pairs = single_characters.joined(text, plain, typed=typed)
        return pairs if self.form < 4 else pairs + [(JOINT.sub("", before), letter) for before, letter in greek.beside(plain)]

    def joined_term(self, before: str, after: str) -> str | None:
        """Term of one of these pairs."""
        if self.form > 3 and (joined := greek.spelled(before + after)) != before + after:
            return self.term(JOINT.sub("", joined))
        # a letter after a word is not an ending: "kinase D" is not a form of "kinase"
        return american(before) + after if len(after) < 2 else self.term(before + after)

    def indexed(self, text: str) -> list[str]:
        """Terms by which a paper with this text is indexed: those of its words and of its single characters with a neighbour."""
        return self.terms(text) + [term for term, _ in self.joined(text)]

    def spellings(self, text: str) -> list[list[set[str]]]:
        """For each word of `text` except stop words, alternative sets of terms. A paper with the word has all terms of at least one set.

        A compound is its joined term; or, if no part is a single character, the terms of all its parts: IL-6 is il6, not every il. A name
        with its Greek letter is one part: in anti-TNF-α, tnfalpha.
        """
        return [ways for match in self.compounds(text) if (ways := self._spelling(match))]

    @once
    def _spelling(self) -> Callable[[str], list[set[str]]]:
        """A function from a word or compound to its alternative sets of terms."""

        def spelling(match: str) -> list[set[str]]:
            parts = parts_of(match)
            ways = [{term}] if (term := self.term("".join(parts))) is not None else []
            if self.form > 3:
                parts = greek.merged(parts)
            terms = {term for part in parts if (term := self.term(part)) is not None}
            return [*ways, terms] if len(parts) > 1 and terms and min(map(len, parts)) > 1 else ways

        return lru_cache(WORDS_REMEMBERED)(spelling)

    @once
    def part_terms(self) -> Callable[[str], Sequence[str]]:
        """A function from a word or compound to the terms of its parts."""
        return lru_cache(WORDS_REMEMBERED)(lambda match: tuple(term for part in parts_of(match) if (term := self.term(part)) is not None))

    @once
    def compounds(self) -> Callable[[str], Sequence[str]]:
        """A function from a typed text to its words and compounds."""
        respelled = (lambda plain: plain) if self.form < 4 else greek.respelled
        compounds_of = lru_cache(WORDS_REMEMBERED)(WORD.findall)
        return remembering(lambda text: tuple(chain.from_iterable(map(compounds_of, pieces(respelled(self.fold(text)))))))
