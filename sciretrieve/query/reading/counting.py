"""Counts of papers for each part of a typed query, line by line, like the search history in PubMed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...base.choices import Filter, conditions
from ...base.errors import InvalidRequest
from ...matching.scope import Scope
from ..narrowing.combining import Combination
from ..narrowing.demands import Demand, Expression, Near, Words, combined, written
from ..narrowing.masks import Narrower
from .reader import Reader


@dataclass(frozen=True, slots=True)
class CountLine:
    """A part of a typed query, or a filter, and the number of papers that it matches alone.

    Attributes:
        number: line number, from 1; later lines refer to it as #1.
        text: an operand, a filter, or a combination of earlier lines, as in "#1 AND #4 NOT #5".
        query: the same without references to lines.
        papers: number of papers in the index that match.
    """

    number: int
    text: str
    query: str
    papers: int


def count_lines(reader: Reader, text: str, filter: Filter) -> list[CountLine]:
    """See `Index.count_lines`."""
    typed, met = reader.matching(text, None)
    lines = _Lines(reader.snapshot.narrower, reader.snapshot.scope)
    joined: list[int] = []
    if typed is None:
        joined.append(lines.add(text, text, met))
    elif (whole := combined("AND", [*([Words(typed.free)] if typed.free else []), *typed.demands])) is not None:
        joined.append(lines.joining(whole, met))
    joined += [lines.add(condition, condition, lines.narrower.passing(condition)) for condition in conditions(filter)]
    if not joined:
        raise InvalidRequest("the query is empty, so there is nothing to count; give some words, operators or a filter")
    if len(joined) > 1:
        queries = [f"({lines.done[number - 1].query})" for number in joined]
        lines.add(" AND ".join(f"#{number}" for number in joined), " AND ".join(queries), reader.matching(text, filter)[1])
    return lines.done


@dataclass
class _Lines:
    """The lines of a query, in order. A part that occurs twice gets one line."""

    narrower: Narrower
    papers: Scope
    done: list[CountLine] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, text: str, query: str, met: Scope) -> int:
        """Append a line for the papers that match it. Returns its number."""
        self.done.append(CountLine(len(self.done) + 1, text, query, len(met)))
        return len(self.done)

    def joining(self, expression: Expression, met: Scope | None = None) -> int:
        """Number of a positive demand's line, added after the lines of its parts. `met` are the papers that meet it, if known."""
        query = written(expression)
        if query not in self._numbers:
            text = self._text(expression)
            self._numbers[query] = self.add(text, query, self.narrower.meeting([expression], self.papers) if met is None else met)
        return self._numbers[query]

    def _text(self, expression: Expression) -> str:
        """A demand with references to the lines of its parts, which are added first. An operand stays as it is."""
        positive = _positive(expression)
        if positive is not None:
            return f"NOT #{self.joining(positive)}"
        if not isinstance(expression, Combination):
            return written(expression)
        text = ""
        for part in expression.parts:
            positive = _positive(part)
            sign = f"#{self.joining(part)}" if positive is None else f"NOT #{self.joining(positive)}"
            is_and_not = positive is not None and expression.operator == "AND"
            text += f" {sign}" if text and is_and_not else f" {expression.operator} {sign}" if text else sign
        return text


def _positive(expression: Expression) -> Expression | None:
    """The demand that a negated demand excludes; None for a positive demand."""
    if isinstance(expression, Combination):
        return expression.parts[0] if expression.operator == "NOT" else None
    return replace(expression, absent=False) if isinstance(expression, Demand | Near) and expression.absent else None
