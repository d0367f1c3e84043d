"""The filter language: which papers a search may answer with.

    year >= 2018 and venue in ("ACL", "EMNLP")
    authors contains "lovelace" or not (title contains "survey")

A condition is a column, one of `== != < <= > >=`, and a value; `COLUMN in (VALUE, …)`; `COLUMN between VALUE and VALUE`,
both included; `COLUMN contains TEXT`, which ignores case and, in a list, looks at every element; or `COLUMN is null`, which is
a value that is missing or empty. `not` may stand before `in`, `between` and `null`. `and`, `or`, `not` and parentheses combine
conditions. Texts are in single or double quotes; a column name with special characters is in backquotes. A paper without the
value fails every condition but `is null` (so `not` of the condition lets it through).

A value is compared in its own type, and a text that is a number also as one: with 6, "12" compares as 12. Values of different types are
not equal, and which is the greater cannot be told: then a paper passes only if the rest of the filter lets it through whatever the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...characters import in_filter
from ...errors import InvalidRequest
from ...files.schema import FIELD_NAMES, booleans, is_list, is_number, is_text
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

BARE = re.compile(r"[^\W\d]\w*")
RESERVED = {"or", "and", "not", "in", "contains", "between", "is", "null", "true", "false"}
"""Names of columns that need no backquotes whatever their case, and the words of the language among them, which do."""
DEEPEST = 100
"""The most levels of nesting (`not`, `and` within `or` within `and`) in a filter."""
LONGEST_NUMBER = 1000
"""The most characters in a number; Python itself refuses integers of more than 4,300 digits."""
NUMERAL = re.compile(r"-?\d+(\.\d+)?")
WHOLE, PLAIN = r"^-?(0|[1-9]\d{0,17})$", r"^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$"
"""Texts that are whole numbers of up to 18 digits, and any numbers. A number as JSON has it: 007 and 1,000 are texts."""
LONG = r"^-?\d{19,}$"
"""Whole numbers that a float does not tell from others: long ids."""
COMPARED = re.compile(r"(?P<sign>==|!=|<=|>=|<|>|=)(?P<value>.+)")
SPAN = re.compile(r"(?P<first>-?\d+(?:\.\d+)?)[-–](?P<last>-?\d+(?:\.\d+)?)?")
UNTIL = re.compile(r"[-–](\d+)")
"""How people write ranges in a query: year:>=2015, year:2015-2019 and year:2015-, year:-2019."""

Value: TypeAlias = str | int | float | bool
Columns: TypeAlias = Mapping[str, Any]
"""Column name -> Arrow array, all of one length."""

CONDITIONS = {"member": "in", "between": "between", "null": "is null", "contains": "contains"}
"""What a rule of the grammar is called as an operator."""
EQUALITIES = ("==", "=", "!=", "in")
ORDERS: Mapping[str, Callable[[Any, Any], Any]] = {"<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on one column; `operator` is a comparison, `in`, `between`, `contains`, `is null` or `is not null`."""

    column: str
    operator: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        values = [_quoted(value) if isinstance(value, str) else json.dumps(value) for value in self.values]
        listed = f"({', '.join(values)})" if self.operator == "in" else " and ".join(values)
        column = self.column if BARE.fullmatch(self.column) and self.column.lower() not in RESERVED else f"`{self.column}`"
        return f"{column} {self.operator} {listed}".rstrip()

    def columns(self) -> set[str]:
        """The columns that it looks at."""
        return {self.column}

    def check(self, schema: Mapping[str, Sequence[pa.DataType]]) -> None:
        """Raise InvalidRequest if it cannot be asked of a column with any of the types that it has in an index's shards."""
        # of those that are equal to one of several values, each value may be of another type
        for values in [(value,) for value in self.values] if self.operator in EQUALITIES else [self.values]:
            faults = [fault for kind in schema[self.column] if (fault := self._fault(kind, values)) is not None]
            if faults and len(faults) == len(schema[self.column]):
                raise InvalidRequest(faults[0])

    def evaluate(self, columns: Columns) -> Any:
        """True where the condition holds, false where it does not or the value is missing, null where that cannot be told."""
        array = columns[self.column]
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        if self.operator in ("is null", "is not null"):
            return _is_missing(array) if self.operator == "is null" else pc.invert(_is_missing(array))
        try:
            verdicts = self._any_element(array) if is_list(array.type) else self._verdicts(array)
        except pa.ArrowException as error:
            raise self.incomparable(array.type) from error
        return pc.coalesce(verdicts, pc.if_else(_is_missing(array), False, pa.scalar(None, pa.bool_())))

    def _any_element(self, array: Any) -> Any:
        if self.operator not in ("contains", "in"):
            return pa.nulls(len(array), pa.bool_())
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        hits = pc.list_parent_indices(array).filter(pc.fill_null(self._verdicts(pc.list_flatten(array)), False))
        mask = np.zeros(len(array), bool)
        mask[hits.to_numpy()] = True
        return booleans(mask)

    def _verdicts(self, array: Any) -> Any:
        """What `evaluate` says of single values; of missing ones it need not be told."""
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        if pa.types.is_null(array.type):
            return pa.nulls(len(array), pa.bool_())
        if self.operator == "contains":
            if not is_text(array.type):
                return booleans(np.zeros(len(array), bool))
            return pc.match_substring(array, str(self.values[0]), ignore_case=True)
        if self.operator in EQUALITIES:
            equal = self._equal(array)
            return pc.if_else(pc.is_valid(array), pc.invert(equal) if self.operator == "!=" else equal, pa.scalar(None, pa.bool_()))
        if self._fault(array.type, self.values) is not None:
            return pa.nulls(len(array), pa.bool_())
        if is_text(array.type) and _is_number(self.values[0]):
            return pc.coalesce(*map(self._ordered, _numbers(array)))
        return self._ordered(array)

    def _equal(self, array: Any) -> Any:
        """Where a value is one of those that are asked for; a value of another type is none of them."""
        kind = array.type
        if is_text(kind):
            found = pc.is_in(array, value_set=pa.array(map(_as_text, self.values), kind))
            numbers = [value for value in self.values if _is_number(value)]
            return pc.or_(found, self._equal_number(array)) if numbers else found
        # in quotation marks for the papers in which it is a text, if there are any: `check` says so
        values = [_numeral(value) if is_number(kind) and isinstance(value, str) else value for value in self.values]
        literals = [literal for value in values if (literal := _literal(value, kind)) is not None]
        if not literals:
            return booleans(np.zeros(len(array), bool))
        if not is_number(kind) or len(literals) == 1:
            return reduce(pc.or_, (pc.fill_null(pc.equal(array, literal), False) for literal in literals))
        kind = pa.float64() if any(pa.types.is_floating(literal.type) for literal in literals) else literals[0].type
        return pc.is_in(array.cast(kind), value_set=pa.array([literal.as_py() for literal in literals], kind))

    def _equal_number(self, texts: Any) -> Any:
        """Where a text is a number that is asked for, in whatever form; whole numbers of 19 digits or more in their own alone."""
        parts = _numbers(pc.if_else(pc.match_substring_regex(texts, LONG), None, texts))
        return reduce(pc.or_, map(self._equal, parts))

    def _ordered(self, array: Any) -> Any:
        literals = [_literal(value, array.type) for value in self.values]
        if self.operator == "between":
            return pc.and_(pc.greater_equal(array, literals[0]), pc.less_equal(array, literals[1]))
        return ORDERS[self.operator](array, literals[0])

    def _fault(self, kind: pa.DataType, values: tuple[Value, ...]) -> str | None:
        """Why the values cannot be asked for in a column of that type; None if they can."""
        if pa.types.is_dictionary(kind):
            return self._fault(kind.value_type, values)
        if pa.types.is_null(kind) or self.operator in ("is null", "is not null"):
            return None
        if is_list(kind):
            if self.operator not in ("contains", "in"):
                return f'{self.column} is a list; ask with `{self.column} contains "…"` or `{self.column} in (…)`'
            return self._fault(kind.value_type, values)
        if self.operator == "contains":
            return None if is_text(kind) else f"`contains` searches texts, but {self.column} holds {kind}; use a comparison"
        if is_text(kind):
            is_comparable = self.operator in EQUALITIES or all(map(_is_number, values)) or all(isinstance(value, str) for value in values)
        else:
            is_comparable = all(_literal(value, kind) is not None for value in values)
        return None if is_comparable else self._incomparable(kind)

    @property
    def quotes_numbers(self) -> bool:
        """Whether it asks of a number in quotation marks which is the greater."""
        is_order = self.operator in ORDERS or self.operator == "between"
        return is_order and all(isinstance(value, str) and NUMERAL.fullmatch(value) for value in self.values)

    def incomparable(self, kind: pa.DataType) -> InvalidRequest:
        """The error for a column of that type none of whose values compares with what is asked for."""
        return InvalidRequest(self._incomparable(kind))

    def _incomparable(self, kind: pa.DataType) -> str:
        hint = ""
        if quoted := [value for value in self.values if isinstance(value, str) and NUMERAL.fullmatch(value)]:
            hint = f"; write {quoted[0]} without quotation marks" * is_number(kind)
        elif numbers := [value for value in self.values if _is_number(value)]:
            hint = f'; write "{numbers[0]}" in quotation marks to compare texts' * is_text(kind)
        return f"{self.column} holds {kind}, which does not compare with {', '.join(map(repr, self.values))}{hint}"


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

    def check(self, schema: Mapping[str, Sequence[pa.DataType]]) -> None:
        """Raise InvalidRequest if one of its parts cannot be asked."""
        for part in self.parts:
            part.check(schema)

    def evaluate(self, columns: Columns) -> Any:
        """True where the combination holds, null where that cannot be told: Kleene's logic."""
        verdicts = [part.evaluate(columns) for part in self.parts]
        if self.operator == "not":
            return pc.invert(verdicts[0])
        return reduce(pc.and_kleene if self.operator == "and" else pc.or_kleene, verdicts)


@dataclass(frozen=True, slots=True)
class Typed:
    """The text after a column's name and a colon. It is read in the type of each shard's own column, see `matching`.

    Attributes:
        as_numbers: whether texts are numbers, too.
    """

    column: str
    text: str
    as_numbers: bool

    def columns(self) -> set[str]:
        """The columns that it looks at."""
        return {self.column}

    def check(self, schema: Mapping[str, Sequence[pa.DataType]]) -> None:
        """Raise InvalidRequest if it cannot be asked of a column with any of the types that it has in an index's shards."""
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


Expression: TypeAlias = Condition | Combination | Typed


def comparisons(expression: Expression) -> Iterator[Condition]:
    """The conditions of an expression that compare a value. Such a condition cannot always be decided."""
    if isinstance(expression, Combination):
        for part in expression.parts:
            yield from comparisons(part)
    elif isinstance(expression, Condition) and expression.operator not in ("contains", "in", "is null", "is not null"):
        yield expression


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
        tree = _parser().parse(text := in_filter(checked_text(text, "filter")))
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


def matching(column: str, text: str, kind: pa.DataType) -> Condition:
    """The condition that a column of type `kind` contains a text; for numbers, equals it or lies in a range (`2015-2019`, `2015-`,
    `>=2015`), both ends included; for dates, equals it or compares with it."""
    if is_text(kind) or is_list(kind):
        return Condition(column, "contains", (text,))
    if pa.types.is_boolean(kind) and text.lower() in ("true", "false"):
        return Condition(column, "==", (text.lower() == "true",))
    if compared := COMPARED.fullmatch(text):
        return Condition(column, compared["sign"], (_numeral(compared["value"]),))
    if not is_number(kind):
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


def names_numbers(text: str) -> bool:
    """Whether what people type after a column's name is a number, a range of numbers, or compares with one."""
    compared = COMPARED.fullmatch(text)
    return bool(SPAN.fullmatch(text)) or not isinstance(_numeral(compared["value"] if compared else text), str)


def numbers_among(array: Any) -> int:
    """How many of a column's values are numbers, or texts that are."""
    if is_text(array.type):
        return sum(len(part) - part.null_count for part in _numbers(array))
    return len(array) - array.null_count if is_number(array.type) else 0


def decide(verdicts: Any) -> tuple[Mask, Mask]:
    """What an expression's `evaluate` says of rows, as NumPy booleans: which pass, and of which that cannot be told."""
    passes, undecided = (
        np.asarray(flags.to_numpy(zero_copy_only=False) if isinstance(flags, pa.Array) else flags.to_numpy(), bool)
        for flags in (pc.fill_null(verdicts, False), pc.is_null(verdicts))
    )
    return passes, undecided


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _as_text(value: Value) -> str:
    """A value as a column of texts has it, where numbers and others have become text."""
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _literal(value: Value, kind: pa.DataType) -> pa.Scalar | None:
    """The value in a type that a column of another type than text can be compared with; None if there is none. Numbers are not rounded:
    2.5 stays 2.5."""
    try:
        if pa.types.is_boolean(kind):
            return pa.scalar(value) if isinstance(value, bool) else None
        if not is_number(kind):
            return pa.scalar(str(value)).cast(kind)
        if not _is_number(value):
            return None
        if isinstance(value, int) and pa.types.is_integer(kind):
            return pa.scalar(value, pa.int64())
        return pa.scalar(float(value))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OverflowError):
        return None


def _numbers(texts: Any) -> tuple[Any, Any]:
    """The texts that are plain numbers, as JSON writes them: those of up to 18 digits as integers, the others as floats; null elsewhere."""
    whole, others = pc.match_substring_regex(texts, WHOLE), pc.match_substring_regex(texts, PLAIN)
    return (
        pc.if_else(whole, texts, None).cast(pa.int64()),
        pc.if_else(pc.and_(others, pc.invert(whole)), texts, None).cast(pa.float64()),
    )


def _is_missing(array: Any) -> Any:
    """True where there is no value: null, not a number, an empty text or an empty list."""
    missing = pc.is_null(array, nan_is_null=pa.types.is_floating(array.type))
    if is_list(array.type):
        length = pc.list_value_length(array)
    elif is_text(array.type):
        length = pc.binary_length(array)
    else:
        return missing
    return pc.or_(missing, pc.fill_null(pc.equal(length, 0), False))


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


def _quoted(text: str) -> str:
    """A text in quotation marks, from which `_unescaped` makes it again."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
