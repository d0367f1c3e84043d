"""BibTeX and BibLaTeX, parsed by pybtex: each entry's fields as plain text, and the original entry."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ...files.streams import LARGEST_TEXT
from ..bibliographies.author_names import MORE_AUTHORS, Name, parsed
from ..bibliographies.bibtex_entries import ENTRY, PARENTS, entry
from ..bibliographies.keywords import listed
from .encodings import read_text
from .latex import plain_text, verbatim_text
from .people import OTHERS, People, people_in
from .raw import CutOff, Rejected, Row, free_name

NOT_PAPERS = {"string", "preamble", "xdata"}
NAMES = {"author": "authors", "editor": "editors"}
VENUES = ("journal", "journaltitle", "booktitle")
KEYWORDS = "keywords"
VERBATIM = {"doi", "url", "eprint", "file", "pdf"}
LONGEST_NAMES = 100_000
"""Characters of names up to which braces keep names together: some 3,000 names. Looking for them takes time that grows with the
square."""
LONGEST_NAME = 2_000
"""Characters of one name up to which its parts are looked for."""
AND = re.compile(r"\s+and(?:\s+|$)", re.IGNORECASE)
TRAILING = re.compile(r"\s+and\s*$", re.IGNORECASE)
UNLIKE_BIBTEX = re.compile(r";|,\s*$|(?:,.*){3}")
"""What a name in BibTeX has not: a semicolon, a comma at its end, three commas."""
WHOLE = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
"""A name that braces keep together, as that of an institution."""
PHRASE = re.compile(r"\{[^{}\\]*\s")
NAME_PART = re.compile(r"\s*([a-z]+(?:-i)?)\s*=\s*(.*)", re.DOTALL)
"""A part of a name where BibLaTeX names the parts: `family=Berg, given=Jan, prefix=van der`."""

KIND = r"[^\W\d][^\s{}(),=\"#%@]*"
START = re.compile(rf"(?<!\w)@\s*({KIND})\s*[{{(]|^[ \t]*@({KIND})", re.MULTILINE)
"""Where an entry begins, outside of another. An address such as me@example.org is none."""
HEAD = re.compile(
    rf"^[ \t]*@\s*(?:{KIND}\s*\{{\s*(?:[^\s,{{}}\"=]+\s*)?,\s*[\w-]+\s*=|string\s*\{{\s*[^\s,{{}}\"=]+\s*=|(?:preamble|comment)\s*\{{)",
    re.MULTILINE | re.IGNORECASE,
)
"""What can only be the next entry, even where one before it was not closed: a line that begins with a kind, a key and a field."""
RESTART = re.compile(rf"(?:^|(?<=[}})]))[ \t]*@\s*{KIND}\s*[{{(]", re.MULTILINE)
"""What else may be the next entry after a broken one."""
LEFT_OVER = re.compile(rf"\s*[,}}]\s*{KIND}\s*=")
"""What follows an entry that a brace too many ended before its last field."""

REFERENCE = re.compile(r"\b(?:crossref|xdata)\s*=\s*[{\"]([^}\"]*)", re.IGNORECASE)
OF_PARENT = {"abstract", "crossref", "doi", "eprint", "file", "ids", "shorttitle", "subtitle", "titleaddon", "url", "xdata", "xref"}
"""Fields that say what a parent itself is; a paper in it does not get them."""
MOST_LEVELS, MOST_PARENTS = 50, 50
"""Parents of parents that are followed, and that an entry is kept with."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry: its kind, its key, and its fields with the parts of their values."""

    kind: str
    key: str
    fields: Sequence[tuple[str, list[str]]]

    def values(self) -> dict[str, str]:
        """The values by their lower-cased names. BibTeX uses the first of repeated fields."""
        return {name.lower(): " ".join("".join(parts).split()) for name, parts in reversed(self.fields)}

    def text(self) -> str:
        """The entry as it stands, with the file's own macros expanded."""
        return entry(self.kind, self.key, ((name, _value(parts)) for name, parts in self.fields))


@dataclass(frozen=True, slots=True)
class _Broken:
    """An entry that cannot be read: its key, if that is readable; the fault; and whether it is the last entry."""

    key: str | None
    reason: str
    is_last: bool = False


def rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the entries but for `@string`, `@preamble` and `@xdata`.

    Each has its fields by their lower-cased names, as plain text, and inherits missing fields from the entries that its `crossref` and
    `xdata` name. `type` is its kind, and `bibtex` the original entry, with the file's own macros expanded.

    A broken entry is rejected with its key and line, and costs no other: the next begins where a line says so.
    """
    text = read_text(path)
    parents = _Parents(path, text)
    papers = (item for item in _entries(path, text) if isinstance(item, _Broken) or item.kind.lower() not in NOT_PAPERS)
    for number, item in enumerate(papers, start=1):
        if isinstance(item, _Broken):
            kind = CutOff if item.is_last else Rejected
            yield number, kind(str(path), number, item.reason, item.key)
        else:
            row = _row(item, parents.completed(item))
            own = [parent.text() for parent in parents.above(item)]
            yield number, {**row, PARENTS: own} if own else row


def _entries(path: Path, text: str) -> Iterator[_Entry | _Broken]:
    """The entries of a bibliography in order, but for `@string` and `@preamble`."""
    from pybtex.scanner import PrematureEOF, PybtexSyntaxError

    parser = _parser()(text, macros=_Macros(path))
    heads = (match.start() for match in HEAD.finditer(text))
    place, line, limit = 0, 1, 0
    while (match := START.search(text, place)) is not None:
        line += text.count("\n", place, match.start())
        start, place = match.span()
        while limit <= start:
            limit = next(heads, len(text) + 1)
        if (match[1] or match[2]).lower() != "comment":
            parser.pos, parser.lineno, parser.limit = text.index("@", start) + 1, line, limit
            try:
                kind, content = parser.parse_command()
            except PybtexSyntaxError as error:
                is_open = isinstance(error, PrematureEOF)
                wrong = "a brace or a quotation mark is not closed" if is_open else f"{error.args[0]} in line {error.lineno}"
                yield _Broken(parser.current_entry_key, f"the entry in line {line} is broken: {wrong}", limit > len(text))
                restart = RESTART.search(text, place)
                place = min(limit, restart.start() if restart else len(text))
            else:
                place = parser.pos
                if kind.lower() not in {"string", "preamble"}:
                    is_cut = LEFT_OVER.match(text, place)
                    wrong = f"the entry in line {line} is broken: a brace too many ends it"
                    yield _Broken(content[0], wrong) if is_cut else _Entry(kind, *content)
        line += text.count("\n", start, place)


@cache
def _parser() -> Any:
    """Pybtex's parser, which takes a quarter of a second to import, so only reading BibTeX imports it."""
    from pybtex.database.input.bibtex import LowLevelParser
    from pybtex.scanner import Token

    @cache
    def any_of(signs: str) -> re.Pattern[str]:
        return re.compile(f"[{signs}]")

    class Parser(LowLevelParser):  # type: ignore[misc]
        """The same, which reads to a limit, and looks for the ends of texts once: its own looks to the end of the file where one of them
        is missing."""

        pos: int
        limit: int

        def eof(self) -> bool:
            return self.pos >= self.limit or self.pos >= len(self.text)

        def skip_to(self, patterns: Sequence[Any]) -> Any:
            signs = {pattern.description.strip("'"): pattern for pattern in patterns}  # each is one character
            match = any_of("".join(signs)).search(self.text, self.pos, self.limit)
            if match is None:
                return None
            value = self.text[self.pos : match.end()]
            self.pos = match.end()
            self.update_lineno(value)
            return Token(value, signs[match[0]])

    return Parser


class _Parents:
    """The entries that others of a bibliography name in `crossref` or `xdata`. If there are any, the bibliography is parsed twice."""

    def __init__(self, path: Path, text: str) -> None:
        keys = {_folded(key) for value in REFERENCE.findall(text) for key in value.split(",")}
        entries = _entries(path, text) if keys else iter(())
        self._entries = {_folded(item.key): item for item in entries if isinstance(item, _Entry) and _folded(item.key) in keys}
        self._values: dict[str, Mapping[str, str]] = {}

    def completed(self, child: _Entry, depth: int = 0) -> Mapping[str, str]:
        """An entry's own values, then values that it inherits.

        They are passed on as by BibTeX (Patashnik 1988, BibTeXing, section 2.1), but for `OF_PARENT`. A parent's title is also that of
        the book, journal or series that the child is in, as in BibLaTeX's manual (appendix B).
        """
        values = child.values()
        for key in values.get("xdata", "").split(","):
            values |= {name: value for name, value in self._values_of(key, depth).items() if name not in values}
        inherited = dict(self._values_of(values.get("crossref", ""), depth))
        whole = _title_of_whole(child.kind.lower())
        if "title" in inherited and (whole == "maintitle" or not any(name in values or name in inherited for name in VENUES)):
            inherited.setdefault(whole, inherited["title"])
        return values | {name: value for name, value in inherited.items() if name not in values and name not in OF_PARENT}

    def above(self, child: _Entry) -> Sequence[_Entry]:
        """The parents of an entry, and their parents, nearest first."""
        found: dict[str, _Entry] = {}
        queue = deque([child] if self._entries else [])
        while queue and len(found) < MOST_PARENTS:
            values = queue.popleft().values()
            for key in map(_folded, [*values.get("xdata", "").split(","), values.get("crossref", "")]):
                if key in self._entries and key not in found and key != _folded(child.key):
                    found[key] = self._entries[key]
                    queue.append(found[key])
        return list(found.values())[:MOST_PARENTS]

    def _values_of(self, key: str, depth: int) -> Mapping[str, str]:
        name = _folded(key)
        if name not in self._values:
            self._values[name] = {}  # what an entry gets from itself, where one leads back to it
            if name in self._entries and depth < MOST_LEVELS:
                self._values[name] = self.completed(self._entries[name], depth + 1)
        return self._values[name]


def _folded(key: str | None) -> str:
    """A key as BibTeX compares it."""
    return (key or "").strip().lower()


def _title_of_whole(kind: str) -> str:
    """The field for the title of what an entry of a kind is a part of."""
    if kind in {"article", "suppperiodical"}:
        return "journaltitle"
    return "booktitle" if kind.startswith(("in", "supp", "conference", "bookin")) else "maintitle"


def _row(item: _Entry, values: Mapping[str, str]) -> Row:
    row: dict[str, Any] = {"id": item.key, "type": item.kind.lower()}
    row["venue"] = plain_text(next((values[name] for name in VENUES if values.get(name)), ""))
    row["year"] = plain_text(values.get("year") or values.get("date") or "")
    own = [name.lower() for name, _ in item.fields]
    for name in dict.fromkeys([*own, *values]):
        value: Any = values[name]
        if name in NAMES:
            people = _people(value)
            value = people.rows
            if name == "author" and people.has_more:
                row[MORE_AUTHORS] = True
        elif name != "year":
            value = verbatim_text(value) if name in VERBATIM else plain_text(value)
            value = listed(value) if name == KEYWORDS else value
        used_names = {*row, *NAMES.values(), ENTRY, PARENTS, MORE_AUTHORS} - {"year"}
        row[NAMES[name] if name in NAMES else free_name(name, used_names)] = value
    return row | {ENTRY: item.text()}


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


def _people(names: str) -> People:
    """The names of an author field, as BibTeX takes them apart. What is no name to BibTeX, such as a list with semicolons, is read as in
    any other source."""
    from pybtex.bibtex.utils import split_name_list

    is_plain = "{" not in names or len(names) > LONGEST_NAMES
    persons = AND.split(names) if is_plain else split_name_list(TRAILING.sub("", names))
    people = People()
    for person in (bare for person in persons if (bare := person.strip())):
        if OTHERS.fullmatch(person):
            people.has_more = True
        elif (name := None if is_plain and UNLIKE_BIBTEX.search(person) and "=" not in person else _name(person)) is not None:
            people.names.append(name)
        else:
            others = people_in(plain_text(person))
            people.names += others.names
            people.has_more |= others.has_more
    return people


def _name(person: str) -> Name | None:
    """A name in parts: `van den Oord, Jr., A{\\"a}ron`, `{World Health Organization}`, `family=Berg, given=Jan, prefix=van der`; None if it
    has more parts than a name."""
    from pybtex.bibtex.utils import split_tex_string
    from pybtex.database import InvalidNameString, Person

    if WHOLE.fullmatch(person):
        return Name(literal=plain_text(person))
    if len(person) > LONGEST_NAME:
        return Name(literal=plain_text(person))
    named_parts = [NAME_PART.fullmatch(part) for part in split_tex_string(person, ",")]
    if all(named_parts):
        texts = {match[1]: plain_text(match[2]) for match in named_parts if match}
        return Name(*(texts.get(name, "") for name in ("family", "given", "prefix", "suffix")))
    if len(named_parts) == 1 and not PHRASE.search(person):
        return parsed(plain_text(person))
    try:
        parts = Person(person)
    except InvalidNameString:
        return None
    texts_of = ((*parts.last_names,), (*parts.first_names, *parts.middle_names), (*parts.prelast_names,), (*parts.lineage_names,))
    return Name(*(plain_text(" ".join(words)) for words in texts_of))
