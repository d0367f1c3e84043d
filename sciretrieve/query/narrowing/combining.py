"""AND, OR and NOT: the one tree of typed queries, filters, strategies and their translations. What stands at its leaves differs.

Of a union of leaves and combinations, mypy cannot tell what the leaves are; so trees that are only gone through are `Any`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

OperatorName: TypeAlias = Literal["AND", "OR", "NOT"]
OPERATORS: tuple[OperatorName, ...] = ("AND", "OR", "NOT")
Leaf = TypeVar("Leaf")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Combination(Generic[Leaf]):
    """AND, OR, or NOT, which has one part."""

    operator: OperatorName
    parts: tuple[Tree[Leaf], ...]


Tree: TypeAlias = Leaf | Combination[Leaf]


def combined(operator: OperatorName, parts: Sequence[Tree[Leaf]]) -> Tree[Leaf]:
    """Parts as one, as flat as it can be."""
    flat: list[Tree[Leaf]] = []
    for part in parts:
        flat += part.parts if isinstance(part, Combination) and part.operator == operator != "NOT" else (part,)
    return flat[0] if len(flat) == 1 and operator != "NOT" else Combination(operator, tuple(flat))


def leaves(tree: Any, *, wanted: bool = False) -> Iterator[Any]:
    """The leaves of a tree, from left to right; those that are `wanted` stand below no NOT."""
    if isinstance(tree, Combination):
        for part in () if wanted and tree.operator == "NOT" else tree.parts:
            yield from leaves(part, wanted=wanted)
    else:
        yield tree


def mapped(tree: Any, change: Callable[[Any], Tree[Leaf]]) -> Tree[Leaf]:
    """A tree with another in the place of each leaf."""
    if isinstance(tree, Combination):
        return combined(tree.operator, [mapped(part, change) for part in tree.parts])
    return change(tree)


def folded(tree: Any, value: Callable[[Any], Value], joined: Callable[[OperatorName, list[Value]], Value]) -> Value:
    """What a tree comes to: `value` of each leaf, `joined` by the operators."""
    if isinstance(tree, Combination):
        return joined(tree.operator, [folded(part, value, joined) for part in tree.parts])
    return value(tree)
