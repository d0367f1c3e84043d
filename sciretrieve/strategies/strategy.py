"""A search strategy: named lines, the indexes that they are run over, and limits; read from a TOML file.

indexes = ["mine", "lab"]
since = 2010

[lines]
s1 = 'title:(tumour OR neoplasm*)'
s2 = 'mouse OR rat'
s3 = 's1 AND s2'
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from ..base.errors import InvalidRequest, NotFound, UnknownName
from ..options import SearchOptions
from ..query.narrowing.combining import OPERATORS, OperatorName, folded, leaves
from .lines import MOST_LINES, NAME, Line, LineReference, TypedWords, UnavailableText, read_line

KEYS = ("indexes", "filter", "since", "until", "result", "lines")
LARGEST = 1_000_000
"""Bytes of a file that may be a strategy."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy that was checked as far as it can be without an index.

    Attributes:
        text: the file's.
        lines: its lines by name, in the file's order.
        order: the names, each after those that its line refers to.
        result: the name of the line whose papers are the result.
        indexes: names or folders, as written; empty where the file names none.
        filters: what papers must pass, in all lines.
        without: for each line, the operands that have no counterpart here and are left out of an OR, in it or in what it refers to.
    """

    text: str
    lines: Mapping[str, Line]
    order: tuple[str, ...]
    result: str
    indexes: tuple[str, ...]
    filters: tuple[str, ...]
    without: Mapping[str, tuple[str, ...]]


def read(path: str | Path) -> Strategy:
    """Read a strategy's file. Raises NotFound if there is none, and as `parse`."""
    text = read_text(path)
    try:
        return parse(text)
    except InvalidRequest as error:
        raise InvalidRequest(f"{path}: {error}") from error


def read_text(path: str | Path) -> str:
    """A strategy's file as text. Raises NotFound if there is none, InvalidRequest if it is no text."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST:
            raise InvalidRequest(f"{path} is too large to be a strategy")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise NotFound(f"there is no strategy {path}") from error
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{path} cannot be read as text in UTF-8: {error}") from error


def parse(text: str) -> Strategy:
    """A strategy of the text of its file.

    Raises InvalidRequest, in one line: it is no TOML, has no lines, or one that refers to none, to itself or in a circle, or that cannot
    be read; or one that demands, with AND or NOT, what has no counterpart here.
    """
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(
            f"this is no TOML: {error}; write s1 = 'title:cancer' below [lines], or translate what PubMed or Ovid have"
        ) from error
    for key in values:
        if key not in KEYS:
            raise UnknownName("key of a strategy", key, KEYS)
    lines = _lines(values.get("lines"))
    try:
        needed = {name: {leaf.name for leaf in leaves(line.expression) if isinstance(leaf, LineReference)} for name, line in lines.items()}
        order = tuple(TopologicalSorter(needed).static_order())
    except CycleError as error:
        names = " → ".join(reversed(error.args[1]))
        raise InvalidRequest(f"lines refer to each other in a circle: {names}; name another line in one of them") from error
    result = values.get("result", list(lines)[-1])
    if result not in lines:
        raise UnknownName("line that is the `result`", str(result), lines)
    voids: dict[str, bool] = {}
    without: dict[str, tuple[str, ...]] = {}
    for name in order:
        voids[name], lacking = _lacking(lines[name], voids, without)
        without[name] = tuple(dict.fromkeys(lacking))
    if voids[result]:
        raise InvalidRequest(f"line {result} is the result, and has nothing but what is not available here: {_named(without[result])}")
    indexes = values.get("indexes", [])
    indexes = [indexes] if isinstance(indexes, str) else indexes
    if not _is_texts(indexes):
        raise InvalidRequest('`indexes` is a list of names or folders, such as ["mine", "lab"]')
    return Strategy(text, lines, order, result, tuple(indexes), _limits(values), without)


def _lines(table: Any) -> dict[str, Line]:
    if not isinstance(table, dict) or not table:
        raise InvalidRequest("it has no lines; write [lines], and below it lines such as s1 = 'title:cancer'")
    if len(table) > MOST_LINES:
        raise InvalidRequest(f"it has {len(table):,} lines, and at most {MOST_LINES:,} are read; join some with OR")
    taken: dict[str, str] = {}
    for name, query in table.items():
        if not NAME.fullmatch(name) or name.upper() in OPERATORS:
            raise InvalidRequest(
                f"{name!r} cannot be a line's name: one begins with a letter, has letters, digits, - and _, and is no operator"
            )
        if (other := taken.setdefault(name.casefold(), name)) != name:
            raise InvalidRequest(f"the names {other} and {name} differ in their case alone; rename one")
        if not isinstance(query, str) or not query.strip():
            raise InvalidRequest(f"line {name} has no query; write it in quotes, as in {name} = 'title:cancer'")
    return {name: read_line(name, query, table) for name, query in table.items()}


def _limits(values: Mapping[str, Any]) -> tuple[str, ...]:
    filter = values.get("filter")
    if not (filter is None or isinstance(filter, str) or _is_texts(filter)):
        raise InvalidRequest("`filter` is a text such as 'year >= 2018', or a list of them")
    for key in ("since", "until"):
        if type(values.get(key, 0)) is not int:
            raise InvalidRequest(f"`{key}` is a year, such as {key} = 2010")
    return replace(SearchOptions(), filter=filter, since=values.get("since"), until=values.get("until")).filters


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)


def _lacking(line: Line, voids: Mapping[str, bool], without: Mapping[str, tuple[str, ...]]) -> tuple[bool, list[str]]:
    """Whether a line is nothing but what is not available, and what it lacks.

    OR leaves out what is not available, and the line is said to lack it. AND and NOT of nothing else cannot be answered: raises
    InvalidRequest.
    """

    def of_operand(operand: TypedWords | LineReference | UnavailableText) -> tuple[bool, list[str]]:
        if isinstance(operand, LineReference):
            return voids[operand.name], list(without[operand.name])
        return (True, [operand.text]) if isinstance(operand, UnavailableText) else (False, [])

    def joined(operator: OperatorName, parts: list[tuple[bool, list[str]]]) -> tuple[bool, list[str]]:
        for is_void, texts in parts:
            if is_void and operator != "OR":
                raise InvalidRequest(
                    f"line {line.name} has {operator} with nothing but what is not available here: {_named(texts)}; "
                    "leave that out, or write words in its place"
                )
        return all(is_void for is_void, _ in parts), [text for _, texts in parts for text in texts]

    return folded(line.expression, of_operand, joined)


def _named(texts: list[str] | tuple[str, ...]) -> str:
    return " and ".join(dict.fromkeys(texts))
