"""What a typed query demands besides its words: "quoted phrases", -words to leave out, and field:word.

    "graph neural network" molecules -survey author:kipf year:2017

A quoted phrase must occur in title or abstract; what has a minus before it must not; `title:word`, `abstract:"some words"`
and any other column's name demand it there. Words without operators are searched for and demand nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

ALIASES = {"author": "authors", "journal": "venue"}
TEXT_COLUMNS = ("title", "abstract")
TOKEN = re.compile(r'(?:^|(?<=\s))(?P<minus>-)?(?:(?P<field>[^\W\d][\w.-]*):)?(?:"(?P<phrase>\s*[^"\s][^"]*)"|(?P<word>[^\s"]\S*))')


@dataclass(frozen=True, slots=True)
class Demand:
    """Something that must, or must not, occur in a paper: in a column, or with None in title or abstract."""

    column: str | None
    text: str
    absent: bool = False

    def __str__(self) -> str:
        text = f'"{self.text}"' if " " in self.text or (self.column is None and not self.absent) else self.text
        return "-" * self.absent + (f"{self.column}:" if self.column else "") + text


@dataclass(frozen=True, slots=True)
class Typed:
    """A typed query: the words to search for, and what it demands. A `listing` has no words of its own for texts."""

    words: str
    demands: tuple[Demand, ...]
    listing: bool = False


def parse(text: str, columns: Collection[str]) -> Typed:
    """Take a typed query apart. What names no column, or is no operator after all, are words.

    A query of nothing but demands searches for what it demands.
    """
    words, demands = [], []
    end = 0
    for token in TOKEN.finditer(text):
        words.append(text[end : token.start()])
        end = token.end()
        field = token["field"]
        field_name = ALIASES.get(field.lower(), field.lower()) if field else None
        column = next((name for name in columns if name.lower() == field_name), None)
        value = token["phrase"] or token["word"] or ""
        if (field and column is None) or (not field and token["phrase"] is None and not _is_left_out(token)):
            words.append(token[0])
            continue
        demands.append(Demand(column, value, bool(token["minus"])))
        if not token["minus"] and column in (None, *TEXT_COLUMNS):
            words.append(value)
    words.append(text[end:])
    query_words = " ".join(" ".join(words).split())
    if not query_words:
        return Typed(" ".join(demand.text for demand in demands if not demand.absent), tuple(demands), bool(demands))
    return Typed(query_words, tuple(demands))


def _is_left_out(token: re.Match[str]) -> bool:
    """Whether a minus means "without": before a letter it does, before a digit it is a negative number."""
    return bool(token["minus"]) and token["word"][0].isalpha()
