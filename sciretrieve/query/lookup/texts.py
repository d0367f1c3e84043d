"""Comparison of typed texts with papers' texts. Case, accents, LaTeX, punctuation and hyphens make no difference.

These are pure functions of a typed text and a paper. Tests compare the lookup by terms with these functions over every paper.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from ...base.once import once
from ...matching.lexical import greek
from ...matching.lexical.fields import name_words
from ...matching.lexical.name_terms import YEARS
from ...papers.bibliographies.author_names import family
from ...papers.folding import fold, without_digraphs

PLAIN_WORD = re.compile(r"[^\W_]+")
ROMAN = re.compile(r"[ivx]{1,5}")

LEAST_WORDS = 4
"""Fewest words of a title's beginning, and of a misspelt title. Fewer words are a subject."""
SLIPS = ((12, 1), (24, 2), (48, 3))
"""Number of letters from which a title may have so many slips. A slip leaves out, adds or changes a letter, or swaps two."""
LONG_WORD = 8
"""Fewest letters of a word that may have more than one slip; a shorter word would be another word."""
LONG_TITLE = 20
"""Fewest letters of a title that cannot match by chance in a reference that runs words together."""
TITLES_REMEMBERED = 4_096
"""Titles that are cached in plain letters."""
RUN = 5
"""Words per run when a text is compared with a paper's."""


@dataclass(frozen=True)
class TypedText:
    """A typed text in the forms in which it is compared."""

    text: str

    @once
    def words(self) -> list[str]:
        """Folded words, with compounds split."""
        return words(self.text)

    @once
    def letters(self) -> str:
        """Letters and digits only."""
        return "".join(self.words)

    def is_title(self, title: str) -> bool:
        """Whether the text is the whole title."""
        return bool(self.letters) and self.letters == letters(title)

    def begins(self, title: str) -> bool:
        """Whether a longer title begins with the text, and the text is long enough not to be a subject. Its last word may be unfinished."""
        other = letters(title)
        return len(self.words) >= LEAST_WORDS and len(self.letters) < len(other) and other.startswith(self.letters)

    def slips(self, title: str) -> int | None:
        """Number of slips that separate the text from a title, or from the beginning of a title at least a word longer; None for another
        text."""
        title_words = words(title)
        most = most_slips(len(self.letters))
        beginnings = range(1, len(title_words)) if len(self.words) > LEAST_WORDS else ()
        least = None
        for count in (len(title_words), *beginnings):
            slips = self._slips(title_words[:count], most)
            if slips is not None and (least is None or slips < least):
                least = slips
        return least

    def _slips(self, title_words: Sequence[str], most: int) -> int | None:
        from rapidfuzz.distance import OSA

        letters = "".join(title_words)
        slips = OSA.distance(self.letters, letters, score_cutoff=most) if abs(len(letters) - len(self.letters)) <= most else most + 1
        if slips > most or numerals(self.words) != numerals(title_words):
            return None
        if len(self.words) == len(title_words):  # otherwise words are joined or split
            pairs = zip(self.words, title_words, strict=True)
            if any(OSA.distance(word, other) > (1 if len(other) < LONG_WORD else most) for word, other in pairs):
                return None
        return slips

    def likeness(self, title: str) -> float:
        """Share of letters that the text and a title have in common, in order, from 0 to 1."""
        from rapidfuzz.distance import Indel

        return Indel.normalized_similarity(self.letters, letters(title))

    def cites(self, title: str, authors: Iterable[str], year: int | None) -> bool:
        """Whether the text is a reference to a paper: it contains the title word by word, and a family name or the year beside it. A title
        of fewer than four words needs both, where the paper has them."""
        title_words = words(title)
        beside = self._beside(title_words)
        if len(title_words) < 2 or beside is None:
            return False
        families = [word for name in authors for word in words(family(name)) if len(word) > 1]
        has_author = any(word in beside for word in families)
        has_year = year is not None and any(str(near) in beside for near in (year, year - 1, year + 1))
        if len(title_words) < LEAST_WORDS:
            return has_author and (has_year or year is None)
        return has_author or has_year or not (families or year)

    def _beside(self, title_words: Sequence[str]) -> set[str] | None:
        """Words of the text outside the title; None if the text does not contain the title."""
        typed, count = self.words, len(title_words)
        for start in range(len(typed) - count + 1):
            if typed[start : start + count] == title_words:
                return {*typed[:start], *typed[start + count :]}
        title = "".join(title_words)
        place = self.letters.find(title)
        if place < 0 or len(title) < LONG_TITLE:
            return None
        ends = accumulate(map(len, typed))  # words may be joined, or split at the end of a line
        return {word for word, end in zip(typed, ends, strict=True) if end <= place or end - len(word) >= place + len(title)}

    def share(self, text: str) -> float:
        """Share of the text's runs of words that a paper's text contains, from 0 to 1."""
        if text.split() == self.text.split() and len(self.words) >= RUN:
            return 1.0
        runs = _runs(self.words)
        return len(runs & _runs(words(text))) / len(runs) if runs else 0.0


def words(text: str) -> list[str]:
    """Words of a text in plain letters, with compounds split."""
    return PLAIN_WORD.findall(greek.respelled(fold(greek.separated(text))))


@lru_cache(TITLES_REMEMBERED)
def letters(title: str) -> str:
    """Letters and digits of a title, in plain."""
    return "".join(words(title))


def numerals(text_words: Iterable[str]) -> list[str]:
    """Numbers among the words: part II is no misspelling of part I."""
    return sorted(word for word in text_words if any(map(str.isdigit, word)) or ROMAN.fullmatch(word))


def most_slips(letters: int) -> int:
    """Most slips allowed in a text with this many letters."""
    return max((slips for least, slips in SLIPS if letters >= least), default=0)


def _runs(text_words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(text_words[start : start + RUN]) for start in range(len(text_words) - RUN + 1)}


BETWEEN = re.compile(r"\bet\s+al\b\.?|[&;()]|\b(?:and|und|et|y)\b", re.IGNORECASE)
"""Separators of names."""
MOST_WORDS = 8
"""Most words of a text that consists of names."""


@dataclass(frozen=True, slots=True)
class TypedNames:
    """A text read as names: its words, its initials and its year.

    Attributes:
        words: words of more than one letter.
        initials: single letters.
        year: the year beside the names; None if there is none.
    """

    words: frozenset[str]
    initials: frozenset[str]
    year: int | None

    def are_of_one(self, authors: Iterable[str]) -> bool:
        """Whether all words belong to the name of a single author."""
        return any(self._are_of(_plain(name_words(name))) for name in authors)

    def are_of(self, authors: Iterable[str]) -> bool:
        """Whether each word belongs to some author's name, and each initial begins a further word of one of these names."""
        names = [name for name in (_plain(name_words(author)) for author in authors) if name & _plain(self.words)]
        return self._are_of(set().union(*names))

    def _are_of(self, name: set[str]) -> bool:
        others = {word[0] for word in name - _plain(self.words)}
        return _plain(self.words) <= name and self.initials <= others


def _plain(words: Iterable[str]) -> set[str]:
    return set(map(without_digraphs, words))


def typed_names(text: str) -> TypedNames | None:
    """Read a text as names; None if it cannot be names."""
    words = name_words(BETWEEN.sub(" ", text))
    years = [word for word in words if YEARS.fullmatch(word)]
    names = [word for word in words if word not in years]
    if not names or len(names) > MOST_WORDS or len(years) > 1 or any(any(map(str.isdigit, word)) for word in names):
        return None
    long_words = frozenset(word for word in names if len(word) > 1)
    year = int(years[0]) if years else None
    return TypedNames(long_words, frozenset(word for word in names if len(word) == 1), year) if long_words else None
