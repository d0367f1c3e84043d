"""Filters built in Python: `sr.field("year") >= 2018` is the filter text `year >= 2018`, and can be combined."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np

from ...base.arguments import checked
from ...base.characters import clean
from ...base.choices import is_iterable
from ...base.errors import InvalidRequest
from ...base.wording import shortened
from .combining import OperatorName, combined
from .comparing import Value
from .filters import LONGEST_NUMBER, Condition, Expression, parse, written


class FilterText(str):
    """A filter as text, usable wherever a filter is. `&`, `|` and `~` combine it with filters and texts.

    `expression` is the tree that `filters.parse` returns for the text.
    """

    expression: Expression

    def __new__(cls, expression: Expression) -> FilterText:
        """Write a tree as text."""
        text = super().__new__(cls, written(expression))
        text.expression = expression
        return text

    def __getnewargs__(self) -> tuple[Expression]:  # type: ignore[override]
        return (self.expression,)

    def __repr__(self) -> str:
        return f"<filter {self}>"

    def __and__(self, other: str) -> FilterText:
        """Both must hold."""
        return _combined("AND", self, other)

    def __rand__(self, other: str) -> FilterText:
        return _combined("AND", other, self)

    def __or__(self, other: str) -> FilterText:
        """At least one must hold."""
        return _combined("OR", self, other)

    def __ror__(self, other: str) -> FilterText:
        return _combined("OR", other, self)

    def __invert__(self) -> FilterText:
        """It must not hold."""
        return FilterText(combined("NOT", [self.expression]))

    def __bool__(self) -> NoReturn:
        """Raise TypeError. `and`, `or`, `not` and `1 < field < 2` call this, and would silently drop part of the filter."""
        raise TypeError(
            f"a filter is neither true nor false: {self}; combine filters with &, | and ~, each in parentheses, "
            "and ask for a range with field(…).between(first, last)"
        )


class Field:
    """A column of the papers. Comparing it gives a filter.

    Attributes:
        name: the column's name.
    """

    __hash__ = None  # type: ignore[assignment] # == makes a filter

    def __init__(self, name: str) -> None:
        """Raises InvalidRequest for a name that filters do not allow."""
        if not isinstance(name, str) or not name or "`" in name:
            raise InvalidRequest(f"a field is the name of a column, without backquotes, not {shortened(name)}")
        self.name = name

    def __repr__(self) -> str:
        return f"<field {self.name}>"

    def __eq__(self, value: object) -> FilterText:  # type: ignore[override]
        return self._condition("==", value)

    def __ne__(self, value: object) -> FilterText:  # type: ignore[override]
        return self._condition("!=", value)

    def __lt__(self, value: Any) -> FilterText:
        return self._condition("<", value)

    def __le__(self, value: Any) -> FilterText:
        return self._condition("<=", value)

    def __gt__(self, value: Any) -> FilterText:
        return self._condition(">", value)

    def __ge__(self, value: Any) -> FilterText:
        return self._condition(">=", value)

    def between(self, first: Any, last: Any) -> FilterText:
        """The value lies between two values, both included."""
        return self._condition("between", first, last)

    def isin(self, values: Iterable[Any]) -> FilterText:
        """The value, or an element of the list, is one of these. Sets are sorted as text, so that the filter is the same in every
        process."""
        if isinstance(values, Mapping | bytes) or not is_iterable(values):
            raise InvalidRequest(f"`isin` of {self.name} needs a list of values, not {shortened(values)}")
        items = [values] if isinstance(values, str) else sorted(values, key=str) if isinstance(values, Set) else list(values)
        if not items:
            raise InvalidRequest(f"`isin` of {self.name} needs at least one value")
        return self._condition("in", *items)

    def contains(self, text: str) -> FilterText:
        """The text, or an element of the list, contains another text. Case is ignored."""
        if not isinstance(text, str):
            raise InvalidRequest(f"`contains` of {self.name} needs a text, not {shortened(text)}")
        return self._condition("contains", text)

    def is_null(self) -> FilterText:
        """The value is missing or empty."""
        return self._condition("is null")

    def _condition(self, operator: str, *values: Any) -> FilterText:
        return FilterText(Condition(self.name, operator, tuple(self._value(value) for value in values)))

    def _value(self, value: Any) -> Value:
        """A value in filter syntax: NumPy values as Python's, dates and times as text. Raises InvalidRequest for others."""
        if isinstance(value, np.datetime64):
            value = None if np.isnat(value) else str(value)
        value = value.item() if isinstance(value, np.generic) else value
        if value is None:
            raise InvalidRequest(f"missing values of {self.name} are found with `field({self.name!r}).is_null()`")
        if isinstance(value, datetime.date | datetime.time) and value == value:  # NaT of pandas is no date
            return value.isoformat()
        if isinstance(value, float) and math.isfinite(value):
            value = Decimal(repr(float(value)))
        if isinstance(value, Decimal) and value.is_finite() and len(str(value)) <= LONGEST_NUMBER:
            return value
        if not isinstance(value, str | int) or (isinstance(value, int) and abs(value) >= 10**LONGEST_NUMBER):
            shown = f"an integer of more than {LONGEST_NUMBER} digits" if isinstance(value, int) else repr(value)
            raise InvalidRequest(f"{self.name} is compared with a text, a finite number, a date, a time or a truth value, not {shown}")
        return clean(value) if isinstance(value, str) else value


@checked
def field(name: str) -> Field:
    """A column of the papers, for building a filter: `(field("year") >= 2018) & ~field("authors").contains("kipf")`.

    Raises InvalidRequest for a name that filters do not allow. Comparisons raise it for a value that filters do not allow.

    >>> (sr.field("year") >= 2010) & ~sr.field("venue").isin(["ACL"])
    <filter (year >= 2010 and not (venue in ("ACL")))>
    """
    return Field(name)


def _combined(operator: OperatorName, *filters: object) -> FilterText:
    parts: list[Expression] = []
    for filter in filters:
        if not isinstance(filter, str):
            raise InvalidRequest(
                f"a filter is combined with another filter or its text, not {shortened(filter)}; put comparisons in parentheses"
            )
        parts.append(filter.expression if isinstance(filter, FilterText) else parse(filter))
    return FilterText(combined(operator, parts))
