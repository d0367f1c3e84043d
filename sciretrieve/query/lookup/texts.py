"""What two texts have in common, however they are written: case, accents, LaTeX, punctuation and hyphens make no difference.

Pure functions of a typed text and of what a paper has, so that looking at every paper is what all of looking up is tested against.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
"""Words of a title's beginning, and of what is misspelt; fewer are a subject."""
SLIPS = ((12, 1), (24, 2), (48, 3))
"""Letters from which on a title may have so many slips: a letter left out, added or changed, or two swapped."""
LONG_WORD = 8
"""Letters of a word with more than one slip: shorter ones are then other words."""
LONG_TITLE = 20
"""Letters of a title that is none by chance where a reference runs words together."""
RUN = 5
"""Words in a row of which a text is compared with a paper's."""


@dataclass(frozen=True)
class TypedText:
    """A typed text, with the forms in which it is compared."""

    text: str

    @once
    def words(self) -> list[str]:
        """Its words, folded, those of a compound apart."""
        return words(self.text)

    @once
    def letters(self) -> str:
        """Its letters and digits alone."""
        return "".join(self.words)

    def is_title(self, title: str) -> bool:
        """Whether it is a title, whole."""
        return bool(self.letters) and self.letters == "".join(words(title))

    def begins(self, title: str) -> bool:
        """Whether it is how a longer title begins, of enough words to be no subject; its last word may be unfinished."""
        other = "".join(words(title))
        return len(self.words) >= LEAST_WORDS and len(self.letters) < len(other) and other.startswith(self.letters)

    def slips(self, title: str) -> int | None:
        """How many slips of letters make it a title, or the beginning of one that is a word longer or more; None if it is another text."""
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
        if len(self.words) == len(title_words):  # else words are run together or torn
            pairs = zip(self.words, title_words, strict=True)
            if any(OSA.distance(word, other) > (1 if len(other) < LONG_WORD else most) for word, other in pairs):
                return None
        return slips

    def likeness(self, title: str) -> float:
        """How many of the letters of both it has in common with a title, in their order, from 0 to 1."""
        from rapidfuzz.distance import Indel

        return Indel.normalized_similarity(self.letters, "".join(words(title)))

    def cites(self, title: str, authors: Iterable[str], year: int | None) -> bool:
        """Whether it is a reference to a paper: it has the title, word by word, and beside it a family name or the year; where the title
        has fewer than four words, both that it may have."""
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
        """Its words beside a title; None if it does not have that."""
        typed, count = self.words, len(title_words)
        for start in range(len(typed) - count + 1):
            if typed[start : start + count] == title_words:
                return {*typed[:start], *typed[start + count :]}
        title = "".join(title_words)
        place = self.letters.find(title)
        if place < 0 or len(title) < LONG_TITLE:
            return None
        ends = accumulate(map(len, typed))  # words run together, or torn at the end of a line
        return {word for word, end in zip(typed, ends, strict=True) if end <= place or end - len(word) >= place + len(title)}

    def share(self, text: str) -> float:
        """The share of its runs of words that a paper's text has, from 0 to 1."""
        runs = _runs(self.words)
        return len(runs & _runs(words(text))) / len(runs) if runs else 0.0


def words(text: str) -> list[str]:
    """The words of a text in plain letters, those of a compound apart."""
    return PLAIN_WORD.findall(greek.respelled(fold(greek.separated(text))))


def numerals(text_words: Iterable[str]) -> list[str]:
    """The numbers among words: part II is no slip of part I."""
    return sorted(word for word in text_words if any(map(str.isdigit, word)) or ROMAN.fullmatch(word))


def most_slips(letters: int) -> int:
    """How many slips a text of so many letters may have."""
    return max((slips for least, slips in SLIPS if letters >= least), default=0)


def _runs(text_words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(text_words[start : start + RUN]) for start in range(len(text_words) - RUN + 1)}


BETWEEN = re.compile(r"\bet\s+al\b\.?|[&;()]|\b(?:and|und|et|y)\b", re.IGNORECASE)
"""What stands between names."""
MOST_WORDS = 8
"""Words beyond which a text has more than names."""


@dataclass(frozen=True, slots=True)
class TypedNames:
    """What a text would be as names: its words, the initials among them, and its year.

    Attributes:
        words: the words of more than one letter.
        initials: the single letters.
        year: the year that stands with them; None if there is none.
    """

    words: frozenset[str]
    initials: frozenset[str]
    year: int | None

    def are_of_one(self, authors: Iterable[str]) -> bool:
        """Whether they all are of one author's name."""
        return any(self._are_of(_plain(name_words(name))) for name in authors)

    def are_of(self, authors: Iterable[str]) -> bool:
        """Whether each of the words is of some author's name, and all initials begin words of the names that have these."""
        names = [name for name in (_plain(name_words(author)) for author in authors) if name & _plain(self.words)]
        return self._are_of(set().union(*names))

    def _are_of(self, name: set[str]) -> bool:
        others = {word[0] for word in name - _plain(self.words)}
        return _plain(self.words) <= name and self.initials <= others


def _plain(words: Iterable[str]) -> set[str]:
    return set(map(without_digraphs, words))


def typed_names(text: str) -> TypedNames | None:
    """A text as names; None if it cannot be any."""
    words = name_words(BETWEEN.sub(" ", text))
    years = [word for word in words if YEARS.fullmatch(word)]
    names = [word for word in words if word not in years]
    if not names or len(names) > MOST_WORDS or len(years) > 1 or any(any(map(str.isdigit, word)) for word in names):
        return None
    long_words = frozenset(word for word in names if len(word) > 1)
    year = int(years[0]) if years else None
    return TypedNames(long_words, frozenset(word for word in names if len(word) == 1), year) if long_words else None
