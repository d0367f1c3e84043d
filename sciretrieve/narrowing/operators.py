"""What a typed query demands besides its words: "quoted phrases", -words to leave out, and field:word.

    "graph neural network" molecules -survey author:kipf year:2017

A quoted phrase must occur in title or abstract; a word or phrase after a minus must not; `title:word`, `abstract:"some words"`
and any other column's name require it there. Words without operators are only searched for.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from ..errors import InvalidRequest

ALIASES = {"author": "authors", "journal": "venue"}
TEXT_COLUMNS = ("title", "abstract")
MOST_DEMANDS = 100
"""Demands that a query may have: each takes a look at the papers."""
TOKEN = re.compile(r'(?:^|(?<=\s))(?P<minus>-)?(?:(?P<field>[^\W\d][\w.-]*):)?(?:"(?P<phrase>\s*[^"\s][^"]*)"|(?P<word>[^\s"]\S*))')


@dataclass(frozen=True, slots=True)
class Demand:
    """A text that must, or must not, occur in a paper: in a column, or for None in title or abstract."""

    column: str | None
    text: str
    absent: bool = False

    def __str__(self) -> str:
        text = f'"{self.text}"' if " " in self.text or (self.column is None and not self.absent) else self.text
        return "-" * self.absent + (f"{self.column}:" if self.column else "") + text


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A typed query: the words to search for, and its demands. A `listing` has demands but no words of its own."""

    words: str
    demands: tuple[Demand, ...]
    listing: bool = False


def parse(text: str, columns: Collection[str]) -> TypedQuery:
    """Parse a typed query. Unknown columns and anything else that is not an operator are read as words.

    A query with only demands searches for the words that it demands.

    Raises:
        InvalidRequest: it has too many demands.
    """
    words, demands = [], []
    end = 0
    for token in TOKEN.finditer(text):
        field = token["field"]
        field_name = ALIASES.get(field.lower(), field.lower()) if field else None
        column = next((name for name in columns if name.lower() == field_name), None)
        value = token["phrase"] or token["word"] or ""
        if (field and column is None) or (not field and token["phrase"] is None and not _is_left_out(token)):
            continue  # it stays among the words, as it was typed
        words.append(text[end : token.start()])
        end = token.end()
        demands.append(Demand(column, value, bool(token["minus"])))
        if not token["minus"] and column in (None, *TEXT_COLUMNS):
            words.append(value)
    if len(demands) > MOST_DEMANDS:
        raise InvalidRequest(
            f"the query has {len(demands):,} operators (phrases, -words, field:words), and at most {MOST_DEMANDS} are read"
        )
    words.append(text[end:])
    query_words = " ".join(" ".join(words).split())
    if not query_words:
        return TypedQuery(" ".join(demand.text for demand in demands if not demand.absent), tuple(demands), bool(demands))
    return TypedQuery(query_words, tuple(demands))


def _is_left_out(token: re.Match[str]) -> bool:
    """Whether a minus means "without": before a letter it does, before a digit it is a negative number."""
    return bool(token["minus"]) and token["word"][0].isalpha()
