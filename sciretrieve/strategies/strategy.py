"""Search strategies: named lines, the indexes to run them on, and limits, read from a TOML file.

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
"""Largest size of a strategy's file in bytes."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy, checked as far as possible without an index.

    Attributes:
        text: the file's text.
        lines: lines by name, in the file's order.
        order: names of the lines, each after the lines that it refers to.
        result: name of the line whose papers are the result.
        indexes: names or folders as written; empty if the file names none.
        filters: filters that apply to all lines.
        without: for each line, the unavailable operands that are left out of an OR, in it or in lines it refers to.
    """

    text: str
    lines: Mapping[str, Line]
    order: tuple[str, ...]
    result: str
    indexes: tuple[str, ...]
    filters: tuple[str, ...]
    without: Mapping[str, tuple[str, ...]]


def read(path: str | Path) -> Strategy:
    """Read a strategy's file. Raises NotFound if it does not exist, and as `parse`."""
    text = read_text(path)
    try:
        return parse(text)
    except InvalidRequest as error:
        raise InvalidRequest(f"{path}: {error}") from error


def read_text(path: str | Path) -> str:
    """Read a strategy's file as text. Raises NotFound if it does not exist, InvalidRequest if it is not text."""
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
    """Parse the text of a strategy's file.

    Raises InvalidRequest, in one line, if it is no TOML, has no lines, has a line that cannot be parsed or refers to an unknown line, to
    itself or in a circle, or combines an unavailable operand by AND or NOT.
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
        voids[name], lacking = _unavailable(lines[name], voids, without)
        without[name] = tuple(dict.fromkeys(lacking))
    if voids[result]:
        raise InvalidRequest(f"line {result} is the result, but nothing in it is available here: {_name_texts(without[result])}")
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


def _unavailable(line: Line, voids: Mapping[str, bool], without: Mapping[str, tuple[str, ...]]) -> tuple[bool, list[str]]:
    """Whether a line consists only of unavailable operands, and which ones it leaves out.

    OR leaves out unavailable operands. AND and NOT cannot: raises InvalidRequest.
    """

    def of_operand(operand: TypedWords | LineReference | UnavailableText) -> tuple[bool, list[str]]:
        if isinstance(operand, LineReference):
            return voids[operand.name], list(without[operand.name])
        return (True, [operand.text]) if isinstance(operand, UnavailableText) else (False, [])

    def joined(operator: OperatorName, parts: list[tuple[bool, list[str]]]) -> tuple[bool, list[str]]:
        for is_void, texts in parts:
            if is_void and operator != "OR":
                raise InvalidRequest(
                    f"line {line.name} has {operator} with operands that are not available here: {_name_texts(texts)}; "
                    "leave them out, or write words in their place"
                )
        return all(is_void for is_void, _ in parts), [text for _, texts in parts for text in texts]

    return folded(line.expression, of_operand, joined)


def _name_texts(texts: list[str] | tuple[str, ...]) -> str:
    return " and ".join(dict.fromkeys(texts))
