"""Strategies as PubMed and Ovid write them, one search a line, as strategies here. What has no counterpart is named, line by line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ..choices import check_choice
from ..errors import InvalidRequest
from ..wording import without_controls
from . import ovid, pubmed
from .terms import Notes, as_query, plain

Syntax: TypeAlias = Literal["pubmed", "ovid"]

TITLES: dict[Syntax, str] = {"pubmed": "PubMed", "ovid": "Ovid"}
READERS = {"pubmed": pubmed.read, "ovid": ovid.read}
NUMBERED = re.compile(r"#?(?P<number>\d{1,4})(?P<mark>[.):]\s*|\t\s*|\s+)(?P<search>\S.*)")
COUNT = re.compile(r"(?:\t|\s{2,})\d[\d,]*$|\s\(\d[\d,]*\)$")
"""How many papers a line found where it was copied from."""
SEARCH = re.compile(r"search:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Translation:
    """A strategy that was translated.

    Attributes:
        syntax: whose lines they were.
        original: as they were written.
        text: the strategy as a TOML file, with the lines as they were written, and the notes, as comments.
        notes: what is not available, and what is read otherwise than where it was written for; each begins with its line.
    """

    syntax: Syntax
    original: str
    text: str
    notes: tuple[str, ...]


def translate(text: str, syntax: Syntax) -> Translation:
    """Translate a strategy. Its lines are numbered, or one search each; line 3 becomes s3.

    Raises InvalidRequest: it is empty, or a line cannot be read; the message names the line.
    """
    check_choice("syntax", syntax, get_args(Syntax))
    searches = numbered(without_controls(text))
    if not searches:
        raise InvalidRequest(f"there is nothing in it; {TITLES[syntax]}'s lines are searches such as {EXAMPLES[syntax]}")
    numbers = [number for number, _ in searches]
    head = [f"# Translated from {TITLES[syntax]}. OR leaves out what is not available; replace or delete it where AND and NOT need it."]
    lines, said = [*head, "", "[lines]"], []
    for number, search in searches:
        notes = Notes()
        query = as_query(READERS[syntax](search, number, numbers, notes))
        lines += ["", f"# {number}. {plain(search)}", *(f"# {note}" for note in notes.texts), f"s{number} = {_quoted(query)}"]
        said += [f"line s{number}: {note}" for note in notes.texts]
    return Translation(syntax, text, "\n".join(lines) + "\n", tuple(said))


EXAMPLES: dict[Syntax, str] = {"pubmed": '"heart attack"[tiab]', "ovid": "(heart adj3 attack*).ti,ab."}


def numbered(text: str) -> list[tuple[str, str]]:
    """The searches of a strategy with their numbers, which begin lines, or are counted where the first line has none.

    A line without a number, or whose number does not follow, goes on with the search above it. Counts of papers at the end of lines are
    left out. Raises InvalidRequest for a line that has a number alone.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = NUMBERED.fullmatch(lines[0]) if lines else None
    if first is None or (not _is_marked(first) and first["number"] != "1"):
        return [(str(number), _search(line)) for number, line in enumerate(lines, 1)]
    searches: list[tuple[str, str]] = []
    for line in lines:
        match = NUMBERED.fullmatch(line)
        is_next = match is not None and (
            not searches
            or (int(match["number"]) > int(searches[-1][0]) if _is_marked(first) else int(match["number"]) == int(searches[-1][0]) + 1)
        )
        if match and is_next and _is_marked(match) == _is_marked(first):
            searches.append((str(int(match["number"])), _search(match["search"])))
        else:
            number, before = searches[-1]
            searches[-1] = (number, f"{before} {_search(line)}")
    return searches


def _is_marked(match: re.Match[str]) -> bool:
    """Whether more than a blank stands after a number."""
    return bool(match["mark"].strip()) or match[0].startswith("#")


def _search(line: str) -> str:
    return SEARCH.sub("", COUNT.sub("", line), count=1) if SEARCH.match(line) else COUNT.sub("", line)


def _quoted(query: str) -> str:
    """A query as a string of TOML."""
    if "'" not in query:
        return f"'{query}'"
    if "'''" not in f"{query}'":
        return f"'''{query}'''"
    escaped = query.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
