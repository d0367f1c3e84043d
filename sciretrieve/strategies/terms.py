"""What a translated line says, as a tree, and how it is written as a query here."""

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
"""Ways to spell a text that are written out; of two letters that may be any there are more."""
PLAIN_BEGINNING = re.compile(r"[^\W_]+(?:-[^\W_]+)*\*")
BARE = re.compile(r"[^\W_]{2}\*(?=\s|$)")
INITIAL = re.compile(r"(?<=\s)([^\W_]?)\*(?=\s|$)")
"""An initial with a star, or a star alone, after a name."""
SLASH = re.compile(r"(?<=\w)/(?=\w)")


@dataclass(frozen=True, slots=True)
class AnyText:
    """One of some texts, word by word as they are, in one of some columns; None where the columns are not said yet."""

    ways: tuple[str, ...]
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class NearTexts:
    """One of some texts, and one of others, in either order with at most so many words between them."""

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
    """What is to be said of one line, by its number: what is not available, and what is read otherwise than where it was written for."""

    line: str
    texts: list[str] = field(default_factory=list)

    def add(self, note: str) -> None:
        """Add a note, once."""
        if note not in self.texts:
            self.texts.append(note)

    def gone(self, text: str, why: str) -> UnavailableText:
        """An operand that has no counterpart, and a note that says why."""
        text = " ".join(text.replace('"', "").split())
        self.add(f"not available: {text} ({why})")
        return UnavailableText(text)

    def refused(self, what: str, text: str) -> InvalidRequest:
        """An error that says what the line has, whose text this is."""
        return InvalidRequest(f"line {self.line} has {what}: {short(text)}")


def short(text: str) -> str:
    """The beginning of a text, for a message."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def in_columns(term: Term, columns: tuple[str, ...], notes: Notes) -> Term:
    """A term whose texts that have no columns yet have these. In columns of names no beginning of a word is looked for; of an author's
    initials, it is in any case."""

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
    """Texts with a blank in place of a slash between words, which finds both."""
    return tuple(SLASH.sub(" ", way) for way in ways)


def has_open_texts(term: Term) -> bool:
    """Whether the columns of a text are not said."""
    return any(map(_is_open, leaves(term)))


def _is_open(operand: Operand) -> TypeGuard[AnyText | NearTexts]:
    return isinstance(operand, AnyText | NearTexts) and operand.columns is None


def ways_of(term: Term) -> tuple[str, ...] | None:
    """The texts of which a term is any, in columns that are not said; None if it is something else."""
    if isinstance(term, AnyText) and term.columns is None:
        return term.ways
    if isinstance(term, Combination) and term.operator == "OR":
        parts = [ways_of(part) for part in term.parts]
        if None not in parts:
            return tuple(dict.fromkeys(way for part in parts for way in part or ()))
    return None


def near(left: Term, right: Term, distance: int, notes: Notes) -> Term | None:
    """A term near another; None where one of them is no text, and no OR of texts. A third text must be near one of the first two, and
    these near each other."""
    right_ways = ways_of(right)
    if right_ways is None:
        return None
    if isinstance(left, NearTexts) and left.columns is None:
        notes.add("three texts near each other are read as the third near one of the first two, which finds a little more")
        return combined("AND", [left, NearTexts((*left.left, *left.right), right_ways, distance)])
    left_ways = ways_of(left)
    return None if left_ways is None else NearTexts(left_ways, right_ways, distance)


def spelled(words: Sequence[str], written: str, notes: Notes) -> AnyText | UnavailableText:
    """Words that follow each other, with the truncations and wildcards of Ovid: `*`, `$` and `:` at the end of a word, `$3` for up to three
    letters, `#` for a letter, `?` for one or none."""
    ways: list[list[str]] = []
    for word in words:
        stem, star, limit = _without_star(word)
        if re.search(r"[*$]", stem):
            return notes.gone(written, "a star within a word; write the words that it stands for")
        if limit:
            notes.add(f"{word} is read as {stem}*, without a limit to the letters that follow, which finds more")
        letters = [[char] if char not in "#?" else [*([""] if char == "?" else []), *ascii_lowercase] for char in stem]
        if prod(map(len, letters)) > MOST_WAYS:
            return notes.gone(written, "several letters that may be any; write the words that it stands for")
        if prod(map(len, letters)) > 1:
            notes.add(f"{word} is written out, with each letter from a to z")
        ways.append(["".join(way) + star for way in product(*letters)])
    if prod(map(len, ways)) > MOST_WAYS:
        return notes.gone(written, "several letters that may be any; write the words that it stands for")
    texts = tuple(" ".join(way) for way in product(*ways))
    if not all(re.search(r"[^\W_]", text) for text in texts):
        return notes.gone(written, "neither letters nor digits")
    return AnyText(texts)


def _without_star(word: str) -> tuple[str, str, str]:
    """A word without its truncation, a star where there is one, and the most letters that it stands for, as written."""
    match = re.fullmatch(r"(?P<stem>.+?)(?:[*$](?P<limit>\d*)|:)", word)
    return (match["stem"], "*", match["limit"] or "") if match else (word, "", "")


def plain(text: str) -> str:
    """A line as it is read: as it would be typed, with one blank at a time."""
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
    """What is demanded of each column; title and abstract together are what a query looks in."""
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
