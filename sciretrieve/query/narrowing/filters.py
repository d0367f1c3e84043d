"""The filter language, which restricts the papers that may answer.

    year >= 2018 and venue in ("ACL", "EMNLP")
    authors contains "lovelace" or not (title contains "survey")

A condition is one of these: a column, one of `== != < <= > >=`, and a value; `COLUMN in (VALUE, …)`; `COLUMN between VALUE and VALUE`, both
included; `COLUMN contains TEXT`; or `COLUMN is null`, for a value that is missing or empty. `contains` ignores case, and in a list looks at
every element. `not` may stand before `in`, `between` and `null`. `and`, `or`, `not` and parentheses combine conditions. Texts are in single
or double quotes; a column name with special characters is in backquotes. A paper without a value fails every condition but `is null`, so
`not` of the condition lets it pass.

Numbers are compared exactly, as in Python. A quoted date, month or year covers all of its time: `day == "2020-05"` is any time in that May,
and `day <= "2020-05"` any time until it ends. A field of objects is named with dots, as in `open_access.is_oa == true`. If there are lists
on the way, one matching element is enough, and for `!=` none may be equal. Texts are compared in Unicode NFC.

Values are compared in their own type. A text that is a number also compares as a number, so 6 < "12"; a text that is a date or time also
compares with dates. Values of different types are never equal, and their order is undefined. A paper with an undefined comparison passes
only if the rest of the filter lets it pass for either answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache, reduce
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...base.characters import in_filter
from ...base.errors import InvalidRequest
from ...base.types import Mask, Paper
from ...base.waiting import raise_if_abandoned
from ...files.schema import FIELD_NAMES, booleans, in_one_form, is_list, is_number, is_text
from ...files.streams import checked_text
from .combining import Combination, OperatorName, Tree, leaves
from .comparing import Value, as_text, compares, equal, is_missing, is_numeric, split
from .nested import Elements, elements, json_elements, place_of, values_within

GRAMMAR = r"""
?start: or
?or: and (_OR and)*
?and: not (_AND not)*
?not: _NOT not -> negation
    | "(" or ")"
    | condition
condition: column OPERATOR value -> comparison
    | column _IN (LIST | "(" value ("," value)* ")") -> member
    | column _NOT _IN (LIST | "(" value ("," value)* ")") -> not_member
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
LIST.2: /@LIST@/
%ignore /\s+/
"""
VALUE = r"""(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|(?i:true|false)\b)"""
LIST = rf"\(\s*{VALUE}(?:\s*,\s*{VALUE})*\s*\)"
"""A value, and a list of values. The grammar reads a list as one token, so that thousands of ids take milliseconds."""

BARE = re.compile(r"([^\W\d]\w*)(?:\.[\w.]*)?")
RESERVED = {"or", "and", "not", "in", "contains", "between", "is", "null", "true", "false"}
"""A column name that needs no backquotes, and the words of the language that do need them, in any case."""
DEEPEST = 100
"""Deepest nesting of `not`, `and` and `or` in a filter."""
LONGEST, LONGEST_LISTS = 60_000, 4_000_000
"""Most characters of a filter, without and with its lists of values. The former take half a second to parse."""
LONGEST_NUMBER = 1000
"""Most characters in a number. Python itself refuses integers of more than 4,300 digits."""
NUMERAL = re.compile(r"-?\d+(\.\d+)?")
COMPARED = re.compile(r"(?P<sign>==|!=|<=|>=|<|>|=)(?P<value>.+)")
SPAN = re.compile(r"(?P<first>-?\d+(?:\.\d+)?)[-–](?P<last>-?\d+(?:\.\d+)?)?")
UNTIL = re.compile(r"[-–](\d+)")
"""Ranges as people type them in a query: year:>=2015, year:2015-2019, year:2015-, year:-2019."""

Columns: TypeAlias = Mapping[str, Any]
"""Column name -> Arrow array, or `Elements` of lists within objects. All have the same length."""

WRITTEN = {
    "is_timestamp": 'write a date or a time as in "2020-05-01" or "2020-05-01T12:30:00"',
    "is_date": 'write a date as in "2020-05-01"',
    "is_time": 'write a time as in "12:30:00"',
    "is_boolean": "write true or false",
    "is_duration": "durations only support `is null`",
}
"""How to write values of some types, by the name of Arrow's test for the type."""
CONDITIONS = {"member": "in", "between": "between", "null": "is null", "contains": "contains"}
"""Operators by their rules in the grammar."""
JOINING: dict[str, OperatorName] = {"or": "OR", "and": "AND", "negation": "NOT"}
"""Rules that join conditions."""
EQUALITIES = ("==", "=", "!=", "in")
ORDERS = ("<", "<=", ">", ">=")
UNKNOWN = pa.nulls(1, pa.bool_())[0]  # `pa.scalar` imports pandas


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on one column. `operator` is a comparison, `in`, `between`, `contains`, `is null` or `is not null`."""

    column: str
    operator: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        values = [_quoted(value) if isinstance(value, str) else as_text(value) for value in self.values]
        values_text = f"({', '.join(values)})" if self.operator == "in" else " and ".join(values)
        bare = BARE.fullmatch(self.column)
        column = self.column if bare and bare[1].lower() not in RESERVED else f"`{self.column}`"
        return f"{column} {self.operator} {values_text}".rstrip()

    def check(self, schema: Mapping[str, Sequence[pa.DataType]]) -> None:
        """Raise InvalidRequest if the condition fits none of the column's types in the shards."""
        # with == and in, each value is checked alone, since the values may have different types
        for values in [(value,) for value in self.values] if self.operator in EQUALITIES else [self.values]:
            faults = [fault for kind in schema[self.column] if (fault := self._fault(kind, values)) is not None]
            if faults and len(faults) == len(schema[self.column]):
                raise InvalidRequest(faults[0])

    def evaluate(self, columns: Columns) -> Any:
        """True where the condition holds; false where it does not or the value is missing; null where the comparison is undefined."""
        raise_if_abandoned()
        array = columns[self.column]
        if isinstance(array, Elements):
            return self._of_elements(array)
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        missing = pc.fill_null(pc.equal(pc.list_value_length(array), 0), True) if is_list(array.type) else is_missing(array)
        if self.operator in ("is null", "is not null"):
            return missing if self.operator == "is null" else pc.invert(missing)
        if not is_list(array.type):
            return pc.if_else(missing, False, self._verdicts(array))
        if self.operator not in ("contains", "in"):
            return pc.if_else(missing, False, UNKNOWN)
        lists = elements(array)
        return booleans(_rows(lists, self._verdicts(lists.values)))

    def _of_elements(self, array: Elements) -> Any:
        """The same for lists of values: one matching value is enough, and for `!=` none may be equal."""
        missing = is_missing(array.values)
        known = _rows(array, pc.invert(missing))
        if self.operator in ("is null", "is not null"):
            return booleans(~known if self.operator == "is null" else known)
        if self.operator == "!=":
            return booleans(known & ~_rows(array, equal(array.values, self._comparable_values(array.type))))
        verdicts = self._verdicts(array.values)
        passes = _rows(array, verdicts)
        undecided = _rows(array, pc.and_(pc.is_null(verdicts), pc.invert(missing))) & ~passes
        return pc.if_else(booleans(undecided), UNKNOWN, booleans(passes))

    def _verdicts(self, array: Any) -> Any:
        """The result of `evaluate` for single values; the result for a missing value is arbitrary."""
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        if self.operator == "contains":
            if not is_text(array.type):
                return booleans(np.zeros(len(array), bool))
            return pc.match_substring(in_one_form(array), as_text(self.values[0]), ignore_case=True)
        if self.operator in EQUALITIES:
            matches = equal(array, self._comparable_values(array.type))
            if self.operator == "in" and is_text(array.type) and (lists := json_elements(array)) is not None:
                matches = pc.or_(matches, booleans(_rows(lists, equal(lists.values, self._comparable_values(lists.type)))))
            valid = pc.invert(pc.is_null(array, nan_is_null=pa.types.is_floating(array.type)))
            return pc.if_else(valid, pc.invert(matches) if self.operator == "!=" else matches, UNKNOWN)
        if pa.types.is_null(array.type) or self._fault(array.type, self.values) is not None:
            return pa.nulls(len(array), pa.bool_())
        parts = [matches for value in self.values if (matches := split(array, value)) is not None]
        if self.operator == "between":
            return pc.and_(pc.invert(parts[0][0]), pc.invert(parts[1][1]))
        below, above = parts[0]
        return {"<": below, ">=": pc.invert(below), ">": above, "<=": pc.invert(above)}[self.operator]

    def _comparable_values(self, kind: pa.DataType) -> list[Value]:
        """Values that an element of this column type may equal. In a column of numbers, quoted numbers become numbers.

        They are quoted for shards in which the column is text; `check` raises if there are none.
        """
        if not _holds_numbers(kind):
            return list(self.values)
        return [_numeral(value) if isinstance(value, str) else value for value in self.values]

    def _fault(self, kind: pa.DataType, values: tuple[Value, ...]) -> str | None:
        """Reason why a column of this type cannot be compared with the values; None if it can."""
        if pa.types.is_dictionary(kind):
            return self._fault(kind.value_type, values)
        if pa.types.is_null(kind) or self.operator in ("is null", "is not null"):
            return None
        if is_list(kind):
            if self.operator not in ("contains", "in"):
                return f'{self.column} is a list; use `{self.column} contains "…"` or `{self.column} in (…)`'
            return self._fault(kind.value_type, values)
        if pa.types.is_struct(kind) or pa.types.is_map(kind):
            name = kind.field(0).name if pa.types.is_struct(kind) else "KEY"
            return f"{self.column} holds objects; name one of their fields, as in {self.column}.{name}, or use `is null`"
        if self.operator == "contains":
            return None if is_text(kind) else f"`contains` searches texts, but {self.column} holds {kind}; use a comparison"
        if is_text(kind) and self.operator in EQUALITIES:
            return None
        is_alike = not is_text(kind) or len({isinstance(value, str) for value in values}) == 1
        return None if is_alike and all(compares(kind, value) for value in values) else self._incomparable(kind, values)

    @property
    def quotes_numbers(self) -> bool:
        """Whether the condition orders by a quoted number."""
        is_order = self.operator in ORDERS or self.operator == "between"
        return is_order and all(isinstance(value, str) and NUMERAL.fullmatch(value) for value in self.values)

    def incomparable(self, kind: pa.DataType) -> InvalidRequest:
        """The error for a column of this type, none of whose values compares with the condition's."""
        return InvalidRequest(self._incomparable(kind, self.values))

    def _incomparable(self, kind: pa.DataType, values: Sequence[Value]) -> str:
        hint = ""
        if quoted := [value for value in values if isinstance(value, str) and NUMERAL.fullmatch(value)]:
            hint = f"; write {quoted[0]} without quotation marks" * _holds_numbers(kind)
        elif numbers := [value for value in values if is_numeric(value)]:
            hint = f'; write "{numbers[0]}" in quotation marks to compare texts' * is_text(kind)
        hint = hint or next((f"; {written}" for holds, written in WRITTEN.items() if getattr(pa.types, holds)(kind)), "")
        shown = [str(value) if isinstance(value, Decimal) else repr(value) for value in values]
        return f"{self.column} holds {kind}, which does not compare with {', '.join(shown)}{hint}"


@dataclass(frozen=True, slots=True)
class TypedCondition:
    """A text after a column's name and a colon, as in year:2015-2019. It is read by the type of each shard's column, see `matching`.

    Attributes:
        as_numbers: whether numeric texts also count as numbers.
    """

    column: str
    text: str
    as_numbers: bool

    def check(self, schema: Mapping[str, Sequence[pa.DataType]]) -> None:
        """Raise InvalidRequest if the condition fits none of the column's types in the shards."""
        errors = []
        for kind in schema[self.column]:
            try:
                self._condition(kind).check({self.column: [kind]})
            except InvalidRequest as error:
                errors.append(error)
            else:
                return
        if errors:
            raise errors[0]

    def evaluate(self, columns: Columns) -> Any:
        """As `Condition.evaluate`."""
        return self._condition(columns[self.column].type).evaluate(columns)

    def _condition(self, kind: pa.DataType) -> Condition:
        return matching(self.column, self.text, pa.float64() if self.as_numbers and is_text(kind) else kind)


Expression: TypeAlias = Tree[Condition | TypedCondition]


def written(expression: Expression) -> str:
    """Write an expression in the filter language."""
    if not isinstance(expression, Combination):
        return str(expression)
    parts = list(map(written, expression.parts))
    return f"not ({parts[0]})" if expression.operator == "NOT" else f"({f' {expression.operator.lower()} '.join(parts)})"


def columns(expression: Expression) -> set[str]:
    """Columns that an expression uses."""
    return {leaf.column for leaf in leaves(expression)}


def evaluate(expression: Expression, columns: Columns) -> Any:
    """True where an expression holds, null where it is undefined, by Kleene's logic."""
    if not isinstance(expression, Combination):
        return expression.evaluate(columns)
    verdicts = [evaluate(part, columns) for part in expression.parts]
    if expression.operator == "NOT":
        return pc.invert(verdicts[0])
    return reduce(pc.and_kleene if expression.operator == "AND" else pc.or_kleene, verdicts)


def comparisons(expression: Expression) -> Iterator[Condition]:
    """Conditions of an expression that compare a value. Such a condition can be undefined for a paper."""
    others = ("contains", "in", "is null", "is not null")
    return (leaf for leaf in leaves(expression) if isinstance(leaf, Condition) and leaf.operator not in others)


def conjuncts(expression: Expression) -> Sequence[Expression]:
    """Conditions that must all hold: the parts of an `and`, else the expression itself."""
    return expression.parts if isinstance(expression, Combination) and expression.operator == "AND" else (expression,)


def value_of(paper: Paper, column: str) -> str:
    """A paper's value in a column, for display."""
    place = place_of([*FIELD_NAMES, *paper.extra], column) or (column, "")
    value = getattr(paper, place[0]) if place[0] in FIELD_NAMES else paper.extra.get(place[0])
    value = values_within(value, place[1])
    return "not known" if value in (None, "", ()) else json.dumps(value, ensure_ascii=False, default=str)


@lru_cache(maxsize=64)
def parse(text: str) -> Expression:
    """Parse a filter.

    Raises:
        InvalidRequest: it cannot be parsed (the message shows where), nests too deeply, or is too long.
        TimedOut: nobody waits for the result any more.
    """
    from lark.exceptions import UnexpectedInput

    if len(checked_text(text, "filter")) > LONGEST and (len(text) > LONGEST_LISTS or len(re.sub(LIST, "", text)) > LONGEST):
        raise InvalidRequest(
            f"the filter has {len(text):,} characters; at most {LONGEST:,} are read, and {LONGEST_LISTS:,} with lists of values, "
            "as in: id in (…)"
        )
    try:
        tree = _parser().parse(text := in_filter(text))
    except UnexpectedInput as error:
        position = error.pos_in_stream
        token = getattr(error, "token", None)
        is_at_end = position is None or (token is not None and token.type == "$END")
        where = "at its end" if is_at_end else f"at {text[position : position + 20]!r}"
        is_unquoted_text = token is not None and token.type == "NAME" and "STRING" in error.accepts
        advice = f'put texts in quotation marks: "{token}"' if is_unquoted_text else 'write it like: year >= 2018 and venue == "ACL"'
        if str(token).lower() in ("null", "none"):
            advice = "find missing values with: COLUMN is null"
        raise InvalidRequest(f"the filter cannot be read {where}; {advice}") from error
    return _expression(tree)


def matching(column: str, text: str, kind: pa.DataType) -> Condition:
    """The condition for a text after a column's name. A text column must contain it. Numbers must equal it or lie in a range (`2015-2019`,
    `2015-`, `>=2015`), both ends included. Dates must equal it or compare with it."""
    if is_text(kind) or is_list(kind):
        return Condition(column, "contains", (text,))
    if pa.types.is_boolean(kind) and text.lower() in ("true", "false"):
        return Condition(column, "==", (text.lower() == "true",))
    compared = COMPARED.fullmatch(text)
    if pa.types.is_temporal(kind):
        return Condition(column, compared["sign"] if compared else "==", (compared["value"] if compared else text,))
    if compared:
        return Condition(column, compared["sign"], (_numeral(compared["value"]),))
    if not _holds_numbers(kind):
        return Condition(column, "==", (_numeral(text),))
    if column == "year" and (until := UNTIL.fullmatch(text)):  # in other columns a number may be negative
        return Condition(column, "<=", (_numeral(until[1]),))
    if span := SPAN.fullmatch(text):
        ends = sorted((_numeral(end) for end in span.groups() if end), key=Decimal)
        return Condition(column, "between" if len(ends) == 2 else ">=", tuple(ends))
    return Condition(column, "==", (_numeral(text),))


def _numeral(text: str) -> Value:
    """The number that a text spells, else the text."""
    with suppress(ValueError):
        return int(text)
    with suppress(InvalidOperation):
        number = Decimal(text)
        return number if number.is_finite() else text
    return text


def _holds_numbers(kind: pa.DataType) -> bool:
    return is_number(kind) or bool(pa.types.is_decimal(kind))


def names_numbers(text: str) -> bool:
    """Whether the text after a column's name is a number, a range of numbers, or a comparison with a number."""
    compared = COMPARED.fullmatch(text)
    return bool(SPAN.fullmatch(text)) or not isinstance(_numeral(compared["value"] if compared else text), str)


def decide(verdicts: Any) -> tuple[Mask, Mask]:
    """Split `evaluate`'s results into two boolean arrays: rows that pass, and rows whose result is undefined."""
    passes, undecided = (
        np.asarray(flags.to_numpy(zero_copy_only=False) if isinstance(flags, pa.Array) else flags.to_numpy(), bool)
        for flags in (pc.fill_null(verdicts, False), pc.is_null(verdicts))
    )
    return passes, undecided


def _rows(array: Elements, flags: Any) -> Mask:
    """Rows with at least one flagged element."""
    mask = np.zeros(array.rows, bool)
    mask[array.owners[np.flatnonzero(decide(flags)[0])]] = True
    return mask


@cache
def _parser() -> Any:
    from lark import Lark

    def checked(token: Any) -> Any:
        raise_if_abandoned()
        return token

    grammar = GRAMMAR.replace("@LIST@", LIST)
    return Lark(grammar, parser="lalr", lexer="contextual", lexer_callbacks=dict.fromkeys(("NAME", "QUOTED_NAME"), checked))


def _expression(tree: Any, depth: int = 1) -> Expression:
    if depth > DEEPEST:
        raise InvalidRequest(f"the filter nests conditions more than {DEEPEST} levels deep; write it flatter")
    if tree.data in JOINING:
        return Combination(JOINING[tree.data], tuple(_expression(child, depth + 1) for child in tree.children))
    column = str(tree.children[0].children[0]).strip("`")
    if tree.data == "comparison":
        return Condition(column, str(tree.children[1]), (_value(str(tree.children[2].children[0])),))
    listed = [child for child in tree.children[1:] if not hasattr(child, "data")]  # a list as a whole
    texts = re.findall(VALUE, str(listed[0])) if listed else [str(child.children[0]) for child in tree.children[1:]]
    values = tuple(map(_value, texts))
    operator = CONDITIONS[tree.data.removeprefix("not_")]
    if tree.data == "not_null":
        return Condition(column, "is not null", ())
    condition = Condition(column, operator, values)
    return Combination("NOT", (condition,)) if tree.data.startswith("not_") else condition


def _value(text: str) -> Value:
    if text[0] in "\"'":
        return _unescaped(text[1:-1])
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if len(text) > LONGEST_NUMBER:
        raise InvalidRequest(f"the filter has a number of {len(text)} characters; no column holds one of more than {LONGEST_NUMBER}")
    return Decimal(text) if any(char in text for char in ".eE") else int(text)


def _quoted(text: str) -> str:
    """A text in quotation marks, escaped so that `_unescaped` reads it back."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) if "\\" in text else text
