"""Names of authors as people type them: "Ishii Hiroshi", "H. Ishii", "Vaswani et al. 2017". Pure functions of words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...matching.lexical.fields import name_words
from ...matching.lexical.name_terms import YEARS
from ...papers.folding import without_digraphs

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
