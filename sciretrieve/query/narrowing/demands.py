"""Demands of a typed query on papers: texts joined by AND, OR and NOT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from . import combining
from .combining import Combination, OperatorName

STAR = re.compile(r"(?<=[^\W_]{2})\*(?=\s|$)")
"""A star that truncates a word. After a single letter it belongs to a name: A*, C*-algebra."""
BEGINNING = re.compile(rf"\S*{STAR.pattern}")


@dataclass(frozen=True, slots=True)
class Demand:
    """A text that must, or must not, occur in a paper: in a column, or if None in title or abstract.

    An `exact` text must occur as written, see `phrases`; with `slop`, its words may stand apart. In title and abstract, other words match
    any form with the same stem.
    """

    column: str | None
    text: str
    absent: bool = False
    exact: bool = False
    slop: int | None = None

    def __str__(self) -> str:
        is_quoted = " " in self.text or (self.exact and not STAR.search(self.text))
        text = f'"{self.text}"' if is_quoted else self.text
        return "-" * self.absent + (f"{self.column}:" if self.column else "") + text + (f"~{self.slop}" if self.slop is not None else "")


@dataclass(frozen=True, slots=True)
class Near:
    """Two groups of texts, one of each of which must, or must not, occur close together, in either order, with at most `distance` words
    between. Column as in `Demand`."""

    column: str | None
    left: tuple[str, ...]
    right: tuple[str, ...]
    distance: int
    absent: bool = False

    @property
    def text(self) -> str:
        """All texts joined."""
        return " ".join([*self.left, *self.right])

    def __str__(self) -> str:
        text = f"{_alternatives(self.left)} NEAR/{self.distance} {_alternatives(self.right)}"
        if self.column or self.absent:
            text = f"({text})"
        return "-" * self.absent + (f"{self.column}:" if self.column else "") + text


@dataclass(frozen=True, slots=True)
class Words:
    """Words that must all occur in title and abstract, in any order."""

    text: str

    def __str__(self) -> str:
        return self.text


Leaf: TypeAlias = Demand | Near | Words
Expression: TypeAlias = combining.Tree[Leaf]


def written(demand: Expression) -> str:
    """A demand in query syntax."""
    if not isinstance(demand, Combination):
        return str(demand)
    parts = [written(part) if _is_simple(part) else f"({written(part)})" for part in demand.parts]
    return f"NOT {parts[0]}" if demand.operator == "NOT" else f" {demand.operator} ".join(parts)


def wanted(demand: Expression) -> Iterator[Leaf]:
    """Texts that a paper should contain."""
    return (leaf for leaf in combining.leaves(demand, wanted=True) if isinstance(leaf, Words) or not leaf.absent)


def whole_words(text: str) -> str:
    """A text without truncated words, which are not searched for."""
    return " ".join(BEGINNING.sub("", text).split())


def combined(operator: OperatorName, expressions: Sequence[Expression]) -> Expression | None:
    """Join demands as flat as possible, with as few NOT as possible; None if there are none."""
    if not expressions:
        return None
    if operator == "NOT":
        (part,) = expressions
        if isinstance(part, Demand | Near):
            return replace(part, absent=not part.absent)
        if isinstance(part, Combination) and part.operator == "NOT":
            return part.parts[0]
    return combining.combined(operator, expressions)


def _alternatives(texts: Sequence[str]) -> str:
    quoted = [f'"{text}"' if " " in text else text for text in texts]
    return quoted[0] if len(quoted) == 1 else f"({' OR '.join(quoted)})"


def _is_simple(demand: Expression) -> bool:
    """Whether a demand needs no parentheses inside another."""
    if isinstance(demand, Combination):
        return demand.operator == "NOT"
    if isinstance(demand, Near):
        return False
    return isinstance(demand, Demand) or " " not in demand.text
