"""Trees of translated lines, and their conversion to queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from string import ascii_lowercase
from typing import TypeAlias, TypeGuard

from ..base.characters import typed
from ..base.errors import InvalidRequest
from ..query.narrowing.combining import Combination, Tree, combined, leaves, mapped
from .lines import LineReference, UnavailableText

TEXT = ("title", "abstract")
MOST_WAYS = 60
"""Most spellings of a text that are written out. Two wildcards for any letter would give more."""
PLAIN_BEGINNING = re.compile(r"[^\W_]+(?:-[^\W_]+)*\*")
BARE = re.compile(r"[^\W_]{2}\*(?=\s|$)")
INITIAL = re.compile(r"(?<=\s)([^\W_]?)\*(?=\s|$)")
"""A truncated initial, or a star alone, after a name."""
SLASH = re.compile(r"(?<=\w)/(?=\w)")


@dataclass(frozen=True, slots=True)
class AnyText:
    """Any of some texts, word by word, in any of some columns; None while the columns are unknown."""

    ways: tuple[str, ...]
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class NearTexts:
    """One text of each of two groups, in either order, with at most `distance` words between."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    distance: int
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Years:
    """2010, 2010-2020, 2010- or -2020."""

    text: str


Operand: TypeAlias = AnyText | NearTexts | Years | LineReference | UnavailableText
Term: TypeAlias = Tree[Operand]


@dataclass(slots=True)
class Notes:
    """Notes on one line, by its number: what is unavailable, and what is read differently from the original syntax."""

    line: str
    texts: list[str] = field(default_factory=list)

    def add(self, note: str) -> None:
        """Add a note unless it is present."""
        if note not in self.texts:
            self.texts.append(note)

    def gone(self, text: str, why: str) -> UnavailableText:
        """An operand without a counterpart here. Adds a note with the reason."""
        text = " ".join(text.replace('"', "").split())
        self.add(f"not available: {text} ({why})")
        return UnavailableText(text)

    def refused(self, what: str, text: str) -> InvalidRequest:
        """An error about what a line contains, with the text concerned."""
        return InvalidRequest(f"line {self.line} has {what}: {short(text)}")


def short(text: str) -> str:
    """Beginning of a text, for a message."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def in_columns(term: Term, columns: tuple[str, ...], notes: Notes) -> Term:
    """Restrict texts without columns to these columns. Columns of names do not support truncated words; an author's initials match
    truncated anyway."""

    def within(text: Operand) -> Term:
        if not _is_open(text):
            return text
        is_name = not set(columns) <= set(TEXT)
        if isinstance(text, NearTexts):
            written = as_query(text)
            if is_name:
                return notes.gone(written, "near is for words of title and abstract")
            return NearTexts(_without_slashes(text.left), _without_slashes(text.right), text.distance, columns)
        ways = text.ways
        if is_name:
            ways = tuple(INITIAL.sub(r"\1", way) for way in ways)
            if any("*" in way for way in ways):
                return notes.gone(text.ways[0], "the beginning of a name or of a journal; write the whole")
        if any("*" in BARE.sub("", way) for way in ways):
            return notes.gone(text.ways[0], "a star needs two letters before it")
        return AnyText(ways if is_name else _without_slashes(ways), columns)

    return mapped(term, within)


def _without_slashes(ways: Sequence[str]) -> tuple[str, ...]:
    """Replace slashes between words by blanks, which match either."""
    return tuple(SLASH.sub(" ", way) for way in ways)


def has_open_texts(term: Term) -> bool:
    """Whether a term has texts without columns."""
    return any(map(_is_open, leaves(term)))


def _is_open(operand: Operand) -> TypeGuard[AnyText | NearTexts]:
    return isinstance(operand, AnyText | NearTexts) and operand.columns is None


def ways_of(term: Term) -> tuple[str, ...] | None:
    """The alternative texts of a term without columns; None for other terms."""
    if isinstance(term, AnyText) and term.columns is None:
        return term.ways
    if isinstance(term, Combination) and term.operator == "OR":
        parts = [ways_of(part) for part in term.parts]
        if None not in parts:
            return tuple(dict.fromkeys(way for part in parts for way in part or ()))
    return None


def near(left: Term, right: Term, distance: int, notes: Notes) -> Term | None:
    """Join two terms by nearness; None unless both are texts or an OR of texts. A third text must be near one of the first two, which must
    be near each other."""
    right_ways = ways_of(right)
    if right_ways is None:
        return None
    if isinstance(left, NearTexts) and left.columns is None:
        notes.add("three texts near each other are read as the third near one of the first two, which finds a little more")
        return combined("AND", [left, NearTexts((*left.left, *left.right), right_ways, distance)])
    left_ways = ways_of(left)
    return None if left_ways is None else NearTexts(left_ways, right_ways, distance)


def spelled(words: Sequence[str], written: str, notes: Notes) -> AnyText | UnavailableText:
    """Expand consecutive words with Ovid's truncations and wildcards: `*`, `$` and `:` at the end of a word, `$3` for up to three letters,
    `#` for one letter, `?` for one letter or none."""
    ways: list[list[str]] = []
    for word in words:
        stem, star, limit = _without_star(word)
        if re.search(r"[*$]", stem):
            return notes.gone(written, "a star within a word; write out the words meant")
        if limit:
            notes.add(f"{word} is read as {stem}*, without a limit to the letters that follow, which finds more")
        letters = [[char] if char not in "#?" else [*([""] if char == "?" else []), *ascii_lowercase] for char in stem]
        if prod(map(len, letters)) > MOST_WAYS:
            return notes.gone(written, "several wildcards; write out the words meant")
        if prod(map(len, letters)) > 1:
            notes.add(f"{word} is written out, with each letter from a to z")
        ways.append(["".join(way) + star for way in product(*letters)])
    if prod(map(len, ways)) > MOST_WAYS:
        return notes.gone(written, "several wildcards; write out the words meant")
    texts = tuple(" ".join(way) for way in product(*ways))
    if not all(re.search(r"[^\W_]", text) for text in texts):
        return notes.gone(written, "neither letters nor digits")
    return AnyText(texts)


def _without_star(word: str) -> tuple[str, str, str]:
    """A word without its truncation, a star if it had one, and the most letters that it stands for, as written."""
    match = re.fullmatch(r"(?P<stem>.+?)(?:[*$](?P<limit>\d*)|:)", word)
    return (match["stem"], "*", match["limit"] or "") if match else (word, "", "")


def plain(text: str) -> str:
    """A line with plain signs and single blanks."""
    return " ".join(typed(text).split())


def as_query(term: Term) -> str:
    """A term as a line of a strategy."""
    if isinstance(term, Combination) and term.operator != "NOT":
        texts: list[str] = []
        for part in term.parts:
            is_without = term.operator == "AND" and texts and isinstance(part, Combination) and part.operator == "NOT"
            texts.append(as_query(part) if is_without else f"{term.operator} {_within(part)}")
        return " ".join(texts).removeprefix(f"{term.operator} ")
    if isinstance(term, Combination):
        return f"NOT {_within(term.parts[0])}"
    if isinstance(term, Years):
        return f"year:{term.text}"
    if isinstance(term, LineReference):
        return term.name
    if isinstance(term, UnavailableText):
        return f'unavailable:"{term.text}"'
    return " OR ".join(_in_columns(term))


def _within(term: Term) -> str:
    query = as_query(term)
    is_one = isinstance(term, Years | LineReference | UnavailableText) or (isinstance(term, AnyText) and query.count(" OR ") == 0)
    return query if is_one else f"({query})"


def _in_columns(term: AnyText | NearTexts) -> Iterator[str]:
    """The term as a demand on each column. Title and abstract together are a query's default."""
    columns = term.columns or TEXT
    groups = [None, *(column for column in columns if column not in TEXT)] if set(TEXT) <= set(columns) else list(columns)
    for column in groups:
        if isinstance(term, NearTexts):
            query = f"{_any(term.left)} NEAR/{term.distance} {_any(term.right)}"
            yield f"{column}:({query})" if column else query
        elif column is None:
            yield from map(_quoted, term.ways)
        else:
            yield f"{column}:{_any(term.ways)}"


def _any(ways: Sequence[str]) -> str:
    quoted = [_quoted(way) for way in ways]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


def _quoted(text: str) -> str:
    return text if PLAIN_BEGINNING.fullmatch(text) else f'"{text}"'
