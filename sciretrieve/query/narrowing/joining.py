"""Parsing of one level of a typed query: AND, OR, NOT and NEAR join adjacent parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias

from .combining import Combination, OperatorName, Tree, combined
from .demands import Demand, Near
from .refusals import refused

ENDINGS = "),;.:!?"
"""Punctuation at the end of a word that does not belong to it."""

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Plain:
    """Adjacent words. They demand nothing by themselves, except for truncated words among them."""

    places: list[Span]


@dataclass(frozen=True, slots=True)
class Operand:
    """A phrase, a word with a minus or a field, or texts near each other, with its position."""

    demand: Demand | Near
    place: Span


@dataclass(frozen=True, slots=True)
class Sign:
    """AND, OR or NOT as typed, with its position."""

    operator: OperatorName
    place: Span


@dataclass(frozen=True, slots=True)
class Nearness:
    """NEAR/3 as typed, with its position."""

    distance: int
    place: Span


@dataclass(frozen=True, slots=True)
class Level:
    """The parts within one pair of parentheses, which may follow a field or a minus."""

    parts: list[Node]
    places: list[Span]
    column: str | None = None
    is_left_out: bool = False


Node: TypeAlias = Tree[Plain | Operand | Level]


def joined(text: str, parts: Sequence[Node | Sign | Nearness]) -> tuple[list[Node], list[Span]]:
    """Join a level's parts by its operators. Returns the parts and the operators' positions. AND, OR and NOT without an operand on each
    side stay words.

    Raises InvalidRequest if NEAR lacks an operand, or has one that is not words, phrases or an OR of these.
    """
    rest = _joined_by("OR", _joined_by("AND", _join_not(_join_near(text, parts))))
    words = [part.place for part in rest if isinstance(part, Sign)]
    operators = [part.place for part in parts if isinstance(part, Sign | Nearness) and part.place not in words]
    return [node for node in rest if not isinstance(node, Sign)], operators


def _join_near(text: str, parts: Sequence[Node | Sign | Nearness]) -> list[Node | Sign]:
    """Join each NEAR with the words or phrases on both sides."""
    done: list[Node | Sign] = []
    rest = list(reversed(parts))
    while rest:
        part = rest.pop()
        if not isinstance(part, Nearness):
            done.append(part)
            continue
        left, right = _take_operand(done, -1), _take_operand(rest, 0)
        left_texts, right_texts = (() if side is None else _alternatives(text, side) for side in (left, right))
        if left is None or right is None or not left_texts or not right_texts:
            what = f"the query has {text[slice(*part.place)]} without a word or a phrase on each side"
            raise refused(text, part.place[0], what, 'write it as in (child* OR teenager) NEAR/3 "heart failure"')
        done.append(Operand(Near(None, left_texts, right_texts, part.distance), (_span(left)[0], _span(right)[1])))
    return done


def _take_operand(parts: list[Node | Sign] | list[Node | Sign | Nearness], place: int) -> Node | None:
    """Remove the node at the end of a list and return it; of adjacent words, only the word at that end."""
    if not parts or isinstance(parts[-1], Sign | Nearness):
        return None
    node = parts[-1]
    if isinstance(node, Plain) and len(node.places) > 1:
        return Plain([node.places.pop(place)])
    parts.pop()
    return node


def _alternatives(text: str, node: Node) -> tuple[str, ...]:
    """The words and phrases that an operand of NEAR allows; none if the operand is of another kind."""
    if isinstance(node, Plain):
        words = [text[start:end] for start, end in node.places]
        return (words[0].rstrip(ENDINGS) or words[0],) if len(words) == 1 else ()
    if isinstance(node, Operand):
        is_phrase = isinstance(node.demand, Demand) and node.demand == Demand(None, node.demand.text, exact=True)
        return (node.demand.text,) if is_phrase else ()
    if isinstance(node, Level):
        return _alternatives(text, node.parts[0]) if len(node.parts) == 1 and node.column is None and not node.is_left_out else ()
    parts = [_alternatives(text, part) for part in node.parts]
    return tuple(other for part in parts for other in part) if node.operator == "OR" and all(parts) else ()


def _span(node: Node) -> Span:
    if isinstance(node, Operand):
        return node.place
    assert not isinstance(node, Combination)  # combinations only occur in parentheses
    return node.places[0][0], node.places[-1][1]


def _join_not(parts: Sequence[Node | Sign]) -> list[Node | Sign]:
    """Join each NOT with the part after it."""
    negated: list[Node | Sign] = []
    for part in reversed(parts):
        following = negated[-1] if negated else None
        if isinstance(part, Sign) and part.operator == "NOT" and following is not None and not isinstance(following, Sign):
            negated[-1] = Combination("NOT", (following,))
        else:
            negated.append(part)
    return negated[::-1]


def _joined_by(operator: OperatorName, parts: Sequence[Node | Sign]) -> list[Node | Sign]:
    """Join the parts on both sides of each of these operators. NOT between two parts is AND NOT."""
    groups: list[list[Node] | Sign] = []
    joins = False
    for part, following in zip_longest(parts, parts[1:]):
        left = groups[-1] if groups else None
        if isinstance(part, Sign):
            joins = part.operator == operator and isinstance(left, list) and following is not None and not isinstance(following, Sign)
            if not joins:
                groups.append(part)
            continue
        if isinstance(left, list) and (joins or (operator == "AND" and isinstance(part, Combination))):
            left.append(part)
        else:
            groups.append([part])
        joins = False
    return [group if isinstance(group, Sign) else combined(operator, group) for group in groups]
