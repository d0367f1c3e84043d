"""The filter language: which papers a search may answer with.

    year >= 2018 and venue in ("ACL", "EMNLP")
    authors contains "lovelace" or not (title contains "survey")

A condition is a column, one of `== != < <= > >=`, and a value; `COLUMN in (VALUE, …)`; `COLUMN between VALUE and VALUE`,
both included; `COLUMN contains TEXT`, which ignores case and, in a list, looks at every element; or `COLUMN is null`, which is
a value that is missing or empty. `not` may stand before `in`, `between` and `null`. `and`, `or`, `not` and parentheses combine
conditions. Texts are in single or double quotes; a column name with special characters is in backquotes. A paper without the
value fails every condition but `is null` (so `not` of the condition lets it through).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import InvalidRequest, UnknownName
from ...files.schema import FIELD_NAMES, booleans
from ...files.streams import checked_text
from ...types import Mask, Paper

GRAMMAR = r"""
?start: or
?or: and (_OR and)*
?and: not (_AND not)*
?not: _NOT not -> negation
    | "(" or ")"
    | condition
condition: column OPERATOR value -> comparison
    | column _IN "(" value ("," value)* ")" -> member
    | column _NOT _IN "(" value ("," value)* ")" -> not_member
    | column _BETWEEN value _AND value -> between
    | column _NOT _BETWEEN value _AND value -> not_between
    | column _IS _NULL -> null
    | column _IS _NOT _NULL -> not_null
    | column _CONTAINS value -> contains
column: NAME | QUOTED_NAME
value: NUMBER -> number | STRING -> string | TRUE -> true | FALSE -> false
OPERATOR: "==" | "!=" | "<=" | ">=" | "<" | ">" | "="
_OR.2: /or\b/i
_AND.2: /and\b/i
_NOT.2: /not\b/i
_IN.2: /in\b/i
_CONTAINS.2: /contains\b/i
_BETWEEN.2: /between\b/i
_IS.2: /is\b/i
_NULL.2: /null\b/i
TRUE.2: /true\b/i
FALSE.2: /false\b/i
NAME: /[^\W\d][\w.\-]*/
QUOTED_NAME: /`[^`]+`/
STRING: /"(\\.|[^"\\])*"|'(\\.|[^'\\])*'/
NUMBER: /-?\d+(\.\d+)?([eE][+-]?\d+)?/
%ignore /\s+/
"""

DEEPEST = 100
"""The most levels of nesting (`not`, `and` within `or` within `and`) in a filter."""
LONGEST_NUMBER = 1000
"""The most characters in a number; Python itself refuses integers of more than 4,300 digits."""
NUMERAL = re.compile(r"-?\d+(\.\d+)?")
COMPARED = re.compile(r"(?P<sign>==|!=|<=|>=|<|>|=)(?P<value>.+)")
SPAN = re.compile(r"(?P<first>-?\d+(?:\.\d+)?)[-–](?P<last>-?\d+(?:\.\d+)?)?")
UNTIL = re.compile(r"[-–](\d+)")
"""How people write ranges in a query: year:>=2015, year:2015-2019 and year:2015-, year:-2019."""

Value: TypeAlias = str | int | float | bool
Columns: TypeAlias = Mapping[str, Any]
"""Column name -> Arrow array, all of one length."""

CONDITIONS = {"member": "in", "between": "between", "null": "is null", "contains": "contains"}
"""What a rule of the grammar is called as an operator."""
COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": pc.equal,
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on one column; `operator` is a comparison, `in`, `between`, `contains`, `is null` or `is not null`."""

    column: str
    operator: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        values = [json.dumps(value, ensure_ascii=False) for value in self.values]
        listed = f"({', '.join(values)})" if self.operator == "in" else " and ".join(values)
        return f"{self.column} {self.operator} {listed}".rstrip()

    def columns(self) -> set[str]:
        """The columns that it looks at."""
        return {self.column}

    def evaluate(self, columns: Columns) -> Any:
        """True where the condition holds, never null."""
        array = columns[self.column]
        if self.operator in ("is null", "is not null"):
            return _is_missing(array) if self.operator == "is null" else pc.invert(_is_missing(array))
        try:
            return self._any_element(array) if _is_list(array.type) else self._holds(array)
        except pa.ArrowException as error:
            raise self._incomparable(array.type) from error

    def _any_element(self, array: Any) -> Any:
        if self.operator not in ("contains", "in"):
            raise InvalidRequest(f'{self.column} is a list; ask with `{self.column} contains "…"` or `{self.column} in (…)`')
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        hits = pc.list_parent_indices(array).filter(self._holds(pc.list_flatten(array)))
        mask = np.zeros(len(array), bool)
        mask[hits.to_numpy()] = True
        return booleans(mask)

    def _holds(self, array: Any) -> Any:
        """True where a value, of a list's elements or of a whole column, meets the condition; never null."""
        if pa.types.is_null(array.type):
            return booleans(np.zeros(len(array), bool))
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        return pc.fill_null(self._test(array), False)

    def _test(self, array: Any) -> Any:
        if self.operator == "contains":
            if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
                raise InvalidRequest(f"`contains` searches texts, but {self.column} holds {array.type}; use a comparison")
            return pc.match_substring(array, str(self.values[0]), ignore_case=True)
        values = [self._literal(value, array.type) for value in self.values]
        if self.operator == "in":
            kind = pa.float64() if any(pa.types.is_floating(value.type) for value in values) else values[0].type
            return pc.is_in(array.cast(kind), value_set=pa.array([value.as_py() for value in values], kind))
        if self.operator == "between":
            return pc.and_(pc.greater_equal(array, values[0]), pc.less_equal(array, values[1]))
        return COMPARISONS[self.operator](array, values[0])

    def _literal(self, value: Value, kind: pa.DataType) -> pa.Scalar:
        """The value in a type comparable with the column's. Numbers are not rounded: 2.5 stays 2.5."""
        try:
            if pa.types.is_boolean(kind):
                if isinstance(value, bool):
                    return pa.scalar(value)
            elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
                return pa.scalar(str(value)).cast(kind)
            elif isinstance(value, int) and not isinstance(value, bool) and pa.types.is_integer(kind):
                return pa.scalar(value, pa.int64())
            elif isinstance(value, int | float) and not isinstance(value, bool):
                return pa.scalar(float(value))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OverflowError):
            pass
        raise self._incomparable(kind)

    def _incomparable(self, kind: pa.DataType) -> InvalidRequest:
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        quoted_number = next((value for value in self.values if isinstance(value, str) and NUMERAL.fullmatch(value)), None)
        hint = "" if quoted_number is None or not numeric else f"; write {quoted_number} without quotation marks"
        return InvalidRequest(f"{self.column} holds {kind}, which does not compare with {', '.join(map(repr, self.values))}{hint}")


@dataclass(frozen=True, slots=True)
class Combination:
    """`and`, `or` or `not` over other expressions."""

    operator: str
    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        if self.operator == "not":
            return f"not ({self.parts[0]})"
        return "(" + f" {self.operator} ".join(map(str, self.parts)) + ")"

    def columns(self) -> set[str]:
        """The columns that it looks at."""
        return set().union(*(part.columns() for part in self.parts))

    def evaluate(self, columns: Columns) -> Any:
        """True where the combination holds, never null."""
        mask, *other_masks = (part.evaluate(columns) for part in self.parts)
        if self.operator == "not":
            return pc.invert(mask)
        for other_mask in other_masks:
            mask = pc.and_(mask, other_mask) if self.operator == "and" else pc.or_(mask, other_mask)
        return mask


Expression: TypeAlias = Condition | Combination


def conjuncts(expression: Expression) -> Sequence[Expression]:
    """The conditions that must all hold: the parts of an `and`, else the expression itself."""
    return expression.parts if isinstance(expression, Combination) and expression.operator == "and" else (expression,)


def value_of(paper: Paper, column: str) -> str:
    """A paper's value in a column, for people."""
    value = getattr(paper, column) if column in FIELD_NAMES else paper.extra.get(column)
    return "not known" if value in (None, "", ()) else json.dumps(value, ensure_ascii=False, default=str)


@lru_cache(maxsize=64)
def parse(text: str) -> Expression:
    """Parse a filter.

    Raises:
        InvalidRequest: it cannot be parsed (the message shows where), or is nested too deeply.
    """
    from lark.exceptions import UnexpectedInput

    try:
        tree = _parser().parse(checked_text(text, "filter"))
    except UnexpectedInput as error:
        position = error.pos_in_stream
        token = getattr(error, "token", None)
        is_at_end = position is None or (token is not None and token.type == "$END")
        where = "at its end" if is_at_end else f"at {text[position : position + 20]!r}"
        is_unquoted_text = token is not None and token.type == "NAME" and "STRING" in error.accepts
        advice = f'put texts in quotation marks: "{token}"' if is_unquoted_text else 'write it like: year >= 2018 and venue == "ACL"'
        if str(token).lower() in ("null", "none"):
            advice = "ask for missing values with: COLUMN is null"
        raise InvalidRequest(f"the filter cannot be read {where}; {advice}") from error
    return _expression(tree)


def matching(column: str, text: str, kind: pa.DataType) -> Expression:
    """The condition that a column of type `kind` contains a text; for numbers, equals it or lies in a range (`2015-2019`, `2015-`,
    `>=2015`), both ends included; for dates, equals it or compares with it."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_list(kind):
        return Condition(column, "contains", (text,))
    if pa.types.is_boolean(kind) and text.lower() in ("true", "false"):
        return Condition(column, "==", (text.lower() == "true",))
    if compared := COMPARED.fullmatch(text):
        return Condition(column, compared["sign"], (_numeral(compared["value"]),))
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return Condition(column, "==", (_numeral(text),))
    if column == "year" and (until := UNTIL.fullmatch(text)):  # elsewhere a number may be below 0
        return Condition(column, "<=", (_numeral(until[1]),))
    if span := SPAN.fullmatch(text):
        ends = sorted((_numeral(end) for end in span.groups() if end), key=float)
        return Condition(column, "between" if len(ends) == 2 else ">=", tuple(ends))
    return Condition(column, "==", (_numeral(text),))


def _numeral(text: str) -> Value:
    """The number that a text spells, or the text itself."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def mask(expression: Expression, columns: Columns, column_names: list[str]) -> Mask:
    """Which rows the expression lets through, as NumPy booleans.

    Raises:
        UnknownName: it names a column that is not among `column_names`.
        InvalidRequest: a value does not compare with its column.
    """
    for column in sorted(expression.columns()):
        if column not in column_names:
            raise UnknownName("column in the filter", column, column_names)
    result = expression.evaluate(columns)
    return np.asarray(result.to_numpy(zero_copy_only=False) if isinstance(result, pa.Array) else result.to_numpy(), bool)


def _is_missing(array: Any) -> Any:
    """True where there is no value: null, not a number, an empty text or an empty list."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    missing = pc.is_null(array, nan_is_null=pa.types.is_floating(array.type))
    if _is_list(array.type):
        length = pc.list_value_length(array)
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        length = pc.binary_length(array)
    else:
        return missing
    return pc.or_(missing, pc.fill_null(pc.equal(length, 0), False))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


@cache
def _parser() -> Any:
    from lark import Lark

    return Lark(GRAMMAR, parser="lalr", lexer="contextual")


def _expression(tree: Any, depth: int = 1) -> Expression:
    if depth > DEEPEST:
        raise InvalidRequest(f"the filter nests conditions more than {DEEPEST} levels deep; write it flatter")
    if tree.data in ("or", "and"):
        return Combination(str(tree.data), tuple(_expression(child, depth + 1) for child in tree.children))
    if tree.data == "negation":
        return Combination("not", (_expression(tree.children[0], depth + 1),))
    column = str(tree.children[0].children[0]).strip("`")
    values = tuple(_value(child) for child in tree.children[1:] if hasattr(child, "data"))
    if tree.data == "comparison":
        return Condition(column, str(tree.children[1]), values)
    operator = CONDITIONS[tree.data.removeprefix("not_")]
    if tree.data == "not_null":
        return Condition(column, "is not null", ())
    condition = Condition(column, operator, values)
    return Combination("not", (condition,)) if tree.data.startswith("not_") else condition


def _value(tree: Any) -> Value:
    text = str(tree.children[0])
    if tree.data == "number":
        if len(text) > LONGEST_NUMBER:
            raise InvalidRequest(f"the filter has a number of {len(text)} characters; no column holds one of more than {LONGEST_NUMBER}")
        return float(text) if any(char in text for char in ".eE") else int(text)
    if tree.data == "string":
        return _unescaped(text[1:-1])
    return bool(tree.data == "true")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
