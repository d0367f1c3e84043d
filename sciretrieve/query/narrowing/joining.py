"""What AND, OR, NOT and NEAR join in a typed query, of what stands side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias

from .combining import Combination, OperatorName, Tree, combined
from .demands import Demand, Near
from .refusals import refused

ENDINGS = "),;.:!?"
"""What may stand at the end of a word that is not of it."""

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Plain:
    """Words side by side, which demand nothing by themselves but for the beginnings among them."""

    places: list[Span]


@dataclass(frozen=True, slots=True)
class Operand:
    """A phrase, a word with a minus or one with a field, or texts near each other, and where that stands."""

    demand: Demand | Near
    place: Span


@dataclass(frozen=True, slots=True)
class Sign:
    """AND, OR or NOT as typed."""

    operator: OperatorName
    place: Span


@dataclass(frozen=True, slots=True)
class Nearness:
    """NEAR/3 as typed."""

    distance: int
    place: Span


@dataclass(frozen=True, slots=True)
class Level:
    """What stands side by side in parentheses, which a field or a minus may stand before."""

    parts: list[Node]
    places: list[Span]
    column: str | None = None
    is_left_out: bool = False


Node: TypeAlias = Tree[Plain | Operand | Level]


def joined(text: str, parts: Sequence[Node | Sign | Nearness]) -> tuple[list[Node], list[Span]]:
    """A level's parts, where what operators join is one, and where these operators stand. AND, OR and NOT that lack a side stay words.

    Raises InvalidRequest if NEAR lacks a side, or has another than words, phrases and an OR of them.
    """
    rest = _joined_by("OR", _joined_by("AND", _negated(_neared(text, parts))))
    words = [part.place for part in rest if isinstance(part, Sign)]
    operators = [part.place for part in parts if isinstance(part, Sign | Nearness) and part.place not in words]
    return [node for node in rest if not isinstance(node, Sign)], operators


def _neared(text: str, parts: Sequence[Node | Sign | Nearness]) -> list[Node | Sign]:
    """Parts of a level, where each NEAR is one with the words or phrases on its sides."""
    done: list[Node | Sign] = []
    rest = list(reversed(parts))
    while rest:
        part = rest.pop()
        if not isinstance(part, Nearness):
            done.append(part)
            continue
        left, right = _taken(done, -1), _taken(rest, 0)
        left_texts, right_texts = (() if side is None else _alternatives(text, side) for side in (left, right))
        if left is None or right is None or not left_texts or not right_texts:
            what = f"the query has {text[slice(*part.place)]} without a word or a phrase on each side"
            raise refused(text, part.place[0], what, 'write it as in (child* OR teenager) NEAR/3 "heart failure"')
        done.append(Operand(Near(None, left_texts, right_texts, part.distance), (_span(left)[0], _span(right)[1])))
    return done


def _taken(parts: list[Node | Sign] | list[Node | Sign | Nearness], place: int) -> Node | None:
    """The node at the end of a list, taken off it; of words the one at that place."""
    if not parts or isinstance(parts[-1], Sign | Nearness):
        return None
    node = parts[-1]
    if isinstance(node, Plain) and len(node.places) > 1:
        return Plain([node.places.pop(place)])
    parts.pop()
    return node


def _alternatives(text: str, node: Node) -> tuple[str, ...]:
    """The words and phrases of which a side of NEAR is one; none if it is something else."""
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
    assert not isinstance(node, Combination)  # only in parentheses
    return node.places[0][0], node.places[-1][1]


def _negated(parts: Sequence[Node | Sign]) -> list[Node | Sign]:
    """The parts of a level, each NOT joined with the part after it."""
    negated: list[Node | Sign] = []
    for part in reversed(parts):
        following = negated[-1] if negated else None
        if isinstance(part, Sign) and part.operator == "NOT" and following is not None and not isinstance(following, Sign):
            negated[-1] = Combination("NOT", (following,))
        else:
            negated.append(part)
    return negated[::-1]


def _joined_by(operator: OperatorName, parts: Sequence[Node | Sign]) -> list[Node | Sign]:
    """Parts of a level, where what this operator stands between is one. NOT between two is AND NOT."""
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
