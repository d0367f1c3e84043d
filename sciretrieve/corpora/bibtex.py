"""BibTeX and BibLaTeX, parsed by pybtex: each entry's fields as plain text, and the original entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..bibliographies.bibtex import ENTRY, entry
from ..errors import InvalidRequest
from ..streams import LARGEST_TEXT, read_text
from .latex import plain_text, verbatim_text
from .raw import RawBatch, Rejected, Row, batches_of_rows, free_name

NOT_PAPERS = {"string", "preamble", "comment"}
NAMES = {"author": "authors", "editor": "editors"}
VERBATIM = {"doi", "url", "eprint", "file", "pdf"}
OTHERS = "others"
"""What BibTeX writes for omitted names."""
LONGEST_NAMES = 100_000
"""Characters of names up to which braces keep names together: some 3,000 names. Looking for them takes time that grows with the
square."""


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the entries of a bibliography in batches; row n is its n-th entry.

    Each has its fields by their lower-cased names, as plain text, its kind as `type`, and as `bibtex` the whole original
    entry, with the file's own macros expanded.
    """
    return batches_of_rows(str(path), _rows(path))


def _rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    errors: list[Exception] = []
    parser = _parser()(read_text(path), handle_error=errors.append, macros=_Macros(path))
    number = 0
    for kind, content in parser:
        number += 1
        if errors:
            yield number, Rejected(str(path), number, "; ".join(map(str, errors)))
            errors.clear()
        elif kind.lower() in NOT_PAPERS:
            number -= 1
        else:
            yield number, _row(kind, *content)
    for error in errors:
        number += 1
        yield number, Rejected(str(path), number, str(error))


@cache
def _parser() -> Any:
    """Pybtex's parser, which takes a quarter of a second to import, so only reading BibTeX imports it."""
    from pybtex.database.input.bibtex import LowLevelParser
    from pybtex.scanner import Token

    class Parser(LowLevelParser):  # type: ignore[misc]
        """The same, which looks for the ends of texts once: its own looks to the end of the file where one of them is missing."""

        pos: int

        def skip_to(self, patterns: Sequence[Any]) -> Any:
            signs = {pattern.description.strip("'"): pattern for pattern in patterns}  # each is one character
            match = re.compile("[" + "".join(signs) + "]").search(self.text, self.pos)
            if match is None:
                return None
            value = self.text[self.pos : match.end()]
            self.pos = match.end()
            self.update_lineno(value)
            return Token(value, signs[match[0]])

    return Parser


def _row(kind: str, key: str, fields: Sequence[tuple[str, list[str]]]) -> Row:
    # BibTeX uses the first of repeated fields
    values = {name.lower(): " ".join("".join(parts).split()) for name, parts in reversed(fields)}
    row: dict[str, Any] = {"id": key, "type": kind.lower()}
    row["venue"] = plain_text(values.get("journal") or values.get("journaltitle") or values.get("booktitle") or "")
    row["year"] = values.get("year") or values.get("date")
    for name in dict.fromkeys(name.lower() for name, _ in fields):
        value: Any = values[name]
        if name in NAMES:
            value = [_name(person) for person in _people(value) if person != OTHERS]
        elif name != "year":
            value = verbatim_text(value) if name in VERBATIM else plain_text(value)
        row[free_name(NAMES.get(name, name), {*row, ENTRY} - {"year"})] = value
    return row | {ENTRY: entry(kind, key, ((name, _value(parts)) for name, parts in fields))}


def _value(parts: Sequence[str]) -> str:
    """A field's value in BibTeX: texts in braces, undefined macros (`month = may`) by their names."""
    groups: list[str] = []
    for part in parts:
        if groups and not isinstance(part, _Macro) and not isinstance(groups[-1], _Macro):
            groups[-1] += part
        else:
            groups.append(part)
    parts_in_one_line = [part if isinstance(part, _Macro) else re.sub(r"\s+", " ", part) for part in groups]
    if len(parts_in_one_line) == 1 and not isinstance(parts_in_one_line[0], _Macro):
        return f"{{{parts_in_one_line[0].strip()}}}"
    return " # ".join(part if isinstance(part, _Macro) else f"{{{part}}}" for part in parts_in_one_line)


class _Macro(str):
    """The name of a macro that the file does not define."""


class _Macros(dict[str, str]):
    """The @string definitions by lower-cased name. Undefined names (months, other files' macros) are kept.

    Raises InvalidRequest for a file whose macros, put in their places, take more than a whole file may: twenty lines in which each
    doubles the one before are a million times as long.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path, self._left = path, LARGEST_TEXT

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(name.lower(), value)

    def __getitem__(self, name: str) -> str:
        value = self.get(name.lower(), _Macro(name))
        self._left -= len(value)
        if self._left < 0:
            raise InvalidRequest(f"{self._path} cannot be read: its macros expand to more than {LARGEST_TEXT >> 20} MB")
        return value


def _people(names: str) -> list[str]:
    from pybtex.bibtex.utils import split_name_list

    people = split_name_list(names) if "{" in names and len(names) <= LONGEST_NAMES else re.split(r"\s+and\s+", names, flags=re.IGNORECASE)
    return [person.strip() for person in people if person.strip()]


def _name(person: str) -> str:
    """A name in its natural order: `van den Oord, Jr., A{\\"a}ron` is `Aäron van den Oord Jr.`."""
    from pybtex.bibtex.utils import split_tex_string

    parts = (
        split_tex_string(person, ",") if "{" in person and len(person) <= LONGEST_NAMES else [part.strip() for part in person.split(",")]
    )
    family, *lineage, first = parts if len(parts) > 1 else ("", parts[0])
    return plain_text(" ".join(part for part in (first, family, *lineage) if part))
