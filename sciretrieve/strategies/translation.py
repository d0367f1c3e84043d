"""Translation of strategies from PubMed and Ovid syntax. Everything without a counterpart is reported line by line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..base.errors import InvalidRequest, UnknownName
from ..base.wording import without_controls
from . import ovid, pubmed
from .lines import MOST_LINES
from .terms import Notes, as_query, plain

Syntax: TypeAlias = Literal["pubmed", "ovid"]

TITLES: dict[Syntax, str] = {"pubmed": "PubMed", "ovid": "Ovid"}
READERS = {"pubmed": pubmed.read, "ovid": ovid.read}
NUMBERED = re.compile(r"#?(?P<number>\d{1,4})(?P<mark>[.):]?\s+)(?P<search>\S.*)")
NUMBER_ALONE = re.compile(r"#?\d{1,4}[.):]")
COUNT = re.compile(r"(?:\t|\s\s)\d[\d,]*$|\s\(\d[\d,]*\)$")
"""The count of papers after a line copied from a search history."""
ENDS_WITH_OPERATOR = re.compile(r"(?:^|[\s)\"])(?:and|or|not|adj\d*)$", re.IGNORECASE)
BEGINS_WITH_OPERATOR = re.compile(r"(?:(?:and|or|not|adj\d*)(?=[\s(\"]|$)(?!\s*/)|\))", re.IGNORECASE)
SEARCH = re.compile(r"search:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Translation:
    """A translated strategy.

    Attributes:
        syntax: syntax of the original.
        original: the original text.
        text: the strategy as a TOML file, with the original lines and the notes as comments.
        notes: what is unavailable, and what is read differently from the original syntax; each begins with its line.
    """

    syntax: Syntax
    original: str
    text: str
    notes: tuple[str, ...]


def translate(text: str, syntax: Syntax) -> Translation:
    """Translate a strategy. Its lines are numbered, or hold one search each; line 3 becomes s3.

    Raises InvalidRequest if it is empty or a line cannot be parsed; the message names the line.
    """
    if syntax not in READERS:
        raise UnknownName("syntax", syntax, READERS)
    searches = numbered(without_controls(text))
    if not searches:
        raise InvalidRequest(f"there is nothing in it; {TITLES[syntax]}'s lines are searches such as {EXAMPLES[syntax]}")
    if len(searches) > MOST_LINES:
        raise InvalidRequest(f"it has {len(searches):,} lines, and at most {MOST_LINES:,} are read; join some with OR")
    numbers = [number for number, _ in searches]
    head = [f"# Translated from {TITLES[syntax]}. OR leaves out what is not available; replace or delete it where AND and NOT need it."]
    lines, said = [*head, "", "[lines]"], []
    for number, search in searches:
        notes = Notes(number)
        query = as_query(READERS[syntax](search, numbers, notes))
        lines += ["", f"# {number}. {plain(search)}", *(f"# {note}" for note in notes.texts), f"s{number} = {_quoted(query)}"]
        said += [f"line s{number}: {note}" for note in notes.texts]
    return Translation(syntax, text, "\n".join(lines) + "\n", tuple(said))


EXAMPLES: dict[Syntax, str] = {"pubmed": '"heart attack"[tiab]', "ovid": "(heart adj3 attack*).ti,ab."}


def numbered(text: str) -> list[tuple[str, str]]:
    """Searches of a strategy with their numbers. If the first line has no number, searches are counted.

    A line without a number continues the search above it. If no line has one, a line within parentheses or beside an operator does. Counts
    of papers at the end of lines are removed.

    Raises InvalidRequest if numbers do not rise, or if a line has only a number.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = NUMBERED.fullmatch(lines[0]) if lines else None
    if first is None or (not _is_marked(first) and first["number"] != "1"):
        return [(str(number), " ".join(parts)) for number, parts in enumerate(_wholes(lines), 1)]
    numbers: list[int] = []
    searches: list[list[str]] = []
    for line in lines:
        match = NUMBERED.fullmatch(line)
        if NUMBER_ALONE.fullmatch(line):
            raise InvalidRequest(f"line {line} has a number, and no search after it")
        if match and _is_marked(match) and _is_marked(first) and numbers and int(match["number"]) <= numbers[-1]:
            raise InvalidRequest(f"line {match['number']} stands after line {numbers[-1]}; number lines so that they rise, each once")
        if match and _is_marked(match) == _is_marked(first) and (_is_marked(first) or int(match["number"]) == len(numbers) + 1):
            numbers.append(int(match["number"]))
            searches.append([_search(match["search"])])
        else:
            searches[-1].append(_search(line))
    return [(str(number), " ".join(parts)) for number, parts in zip(numbers, searches, strict=True)]


def _is_marked(match: re.Match[str]) -> bool:
    """Whether more than a blank follows a number."""
    return bool(match["mark"].strip()) or match[0].startswith("#")


def _wholes(lines: Sequence[str]) -> list[list[str]]:
    """Join unnumbered lines into searches. A search continues within parentheses, and after or before an operator."""
    wholes: list[list[str]] = []
    depth = 0
    for line in lines:
        goes_on = depth > 0 or (wholes and ENDS_WITH_OPERATOR.search(wholes[-1][-1])) or BEGINS_WITH_OPERATOR.match(line)
        if wholes and goes_on:
            wholes[-1].append(_search(line))
        else:
            wholes.append([_search(line)])
            depth = 0
        depth += line.count("(") - line.count(")")
    return wholes


def _search(line: str) -> str:
    """A line's search, without the count of papers after it and "Search:" before it."""
    match = COUNT.search(line)
    if match and not ENDS_WITH_OPERATOR.search(line[: match.start()].rstrip()):
        line = line[: match.start()].rstrip()
    return SEARCH.sub("", line, count=1) if SEARCH.match(line) else line


def _quoted(query: str) -> str:
    """A query as a TOML string."""
    if "'" not in query:
        return f"'{query}'"
    if "'''" not in f"{query}'":
        return f"'''{query}'''"
    escaped = query.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
