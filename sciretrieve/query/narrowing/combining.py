"""Trees of AND, OR and NOT, shared by typed queries, filters, strategies and their translations. Only their leaves differ.

mypy cannot infer the leaf type of a union of leaves and combinations, so functions that only walk a tree take `Any`.
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
    """AND, OR or NOT with its parts; NOT has one part."""

    operator: OperatorName
    parts: tuple[Tree[Leaf], ...]


Tree: TypeAlias = Leaf | Combination[Leaf]


def combined(operator: OperatorName, parts: Sequence[Tree[Leaf]]) -> Tree[Leaf]:
    """Join parts by an operator, as flat as possible."""
    flat: list[Tree[Leaf]] = []
    for part in parts:
        flat += part.parts if isinstance(part, Combination) and part.operator == operator != "NOT" else (part,)
    return flat[0] if len(flat) == 1 and operator != "NOT" else Combination(operator, tuple(flat))


def leaves(tree: Any, *, wanted: bool = False) -> Iterator[Any]:
    """Leaves of a tree, from left to right. With `wanted`, only leaves that are not negated."""
    if isinstance(tree, Combination):
        for part in () if wanted and tree.operator == "NOT" else tree.parts:
            yield from leaves(part, wanted=wanted)
    else:
        yield tree


def mapped(tree: Any, change: Callable[[Any], Tree[Leaf]]) -> Tree[Leaf]:
    """A copy of a tree with each leaf changed."""
    if isinstance(tree, Combination):
        return combined(tree.operator, [mapped(part, change) for part in tree.parts])
    return change(tree)


def folded(tree: Any, value: Callable[[Any], Value], joined: Callable[[OperatorName, list[Value]], Value]) -> Value:
    """Fold a tree: compute `value` for each leaf, and join values by `joined` at each operator."""
    if isinstance(tree, Combination):
        return joined(tree.operator, [folded(part, value, joined) for part in tree.parts])
    return value(tree)
