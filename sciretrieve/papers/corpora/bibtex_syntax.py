"""BibTeX's notation: the entries of a file with the parts of their fields' values, also where people have broken an entry by hand.

What BibTeX reads is read as BibTeX reads it (Patashnik 1988). An entry that it does not read is read once more, by where its lines and
commas say that the next field begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import InvalidRequest
from ...files.streams import LARGEST_TEXT
from ..bibliographies.bibtex_entries import entry

KIND = r"[^\W\d][^\s{}(),=\"#%@]*"
START = re.compile(rf"^[ \t]*%[^\n]*|(?<!\w)@\s*({KIND})\s*([{{(])|^[ \t]*@({KIND})", re.MULTILINE)
"""Where an entry begins, outside of another, or a line that is a comment. An address such as me@example.org is none."""
HEAD = re.compile(
    rf"^[ \t]*@\s*(?:{KIND}\s*\{{\s*(?:[^\s,{{}}\"=]+\s*)?,\s*[\w-]+\s*=|string\s*\{{\s*[^\s,{{}}\"=]+\s*=|(?:preamble|comment)\s*\{{)",
    re.MULTILINE | re.IGNORECASE,
)
"""What can only be the next entry, even where one before it was not closed: a line that begins with a kind, a key and a field."""
RESTART = re.compile(rf"(?:^|(?<=[}})]))[ \t]*@\s*{KIND}\s*[{{(]", re.MULTILINE)
"""What else may be the next entry after a broken one."""
_WORD = r"[^\s{}(),=\"#%@\\]+"
_NAME = rf"(?!\d){_WORD}(?:[ \t]{{1,9}}{_WORD}){{0,3}}"
FIELD = re.compile(rf"({_NAME})\s*=\s*")
"""A field's name, which may have blanks, as in Web of Science's `Early Access Date = `."""
KEY = re.compile(r"\s*([^\s,}]+)(?:\s*(?=[,})])|\s+(?=[\w-]+\s*=)|(?=[ \t]*\n))")
LOOSE_KEY = re.compile(r"([^,{}=\"\n]*)(?=[,})])")
"""A key as BibTeX has it, also without a comma behind it; and one with blanks, or none."""
KEYLESS = re.compile(r"\s*[^\W\d][\w-]*\s*=\s*[{\"\d]")
GAP = re.compile(r"[\s,]*(?:%[^\n]*[\s,]*)*")
"""What may stand between fields: commas, even two or none, and comments."""
PART = re.compile(rf"\s*(?:%[^\n]*\n\s*)*(?:([{{\"])|({_WORD}))")
WORD, WORDS = re.compile(_WORD), re.compile(r"[^,\n{}\"]*")
QUOTED = re.compile(rf"\s*['‘“„]([^{{}}\n]*)['’”“](?=[ \t]*,?\s*(?:$|[}})]|{_NAME}\s*=))")
NOTHING = re.compile(r"\s*(?=[,})])")
"""A value between other quotation marks than BibTeX's, and none, as in `doi = ,`."""
JOINT = re.compile(r"\s*#")
BRACES, BRACES_OR_QUOTE = re.compile(r"[{}]"), re.compile(r"[{}\"]")
BARE_BRACES, BARE_BRACES_OR_QUOTE = re.compile(r"(?<!\\)[{}]"), re.compile(r"(?<!\\)[{}\"]")
AFTER = re.compile(rf"[\s,]*(?:%[^\n]*[\s,]*)*(?:$|#|{_NAME}\s*=|[}})](?=\s*(?:$|[@%])|[ \t]*\n))")
"""What follows a value that ends where it seems to end."""
FIELD_AHEAD = re.compile(rf"(?:(?<=[}}\"\d])[ \t]{{0,9}},\s{{0,99}}|\n[ \t]{{0,99}})(?={_NAME}\s*=\s*[{{\"\w])")
NEXT_FIELD = re.compile(rf"[,\n][ \t]{{0,99}}(?={_NAME}\s*=)")
"""Where the next field begins, even if nothing ends the one before it; and where one may begin after what is none."""
CLOSED = re.compile(r"\}\s*$")
CLOSED_AT_END = re.compile(r"[}\"],?\s*\n\s*\}\s*$")
"""How a broken entry ends, and how the last of a file does, which would otherwise be taken for one that is cut off."""
LEFT_OVER = re.compile(rf"\s*[,}}]\s*{KIND}\s*=")
"""What follows an entry that a brace too many ended before its last field."""
OPEN = "a brace or a quotation mark is not closed"
MOST_BRACES = 100
"""Braces within braces that are read."""


@dataclass(frozen=True, slots=True)
class BibTeXEntry:
    """An entry: its kind, its key, "" without one, its fields with the parts of their values, its line, and whether it was broken."""

    kind: str
    key: str
    fields: Sequence[tuple[str, list[str]]]
    line: int
    is_mended: bool = False

    def values(self) -> dict[str, str]:
        """The values by their lower-cased names. BibTeX uses the first of repeated fields."""
        return {name.lower(): " ".join("".join(parts).split()) for name, parts in reversed(self.fields)}

    def text(self) -> str:
        """The entry as it stands, with the file's own macros expanded, and a hyphen for each blank in the names of fields."""
        key = "_".join(re.findall(_WORD, self.key)) if re.search(r"[\s{}]", self.key) else self.key
        return entry(self.kind, key, (("-".join(name.split()), _value(parts)) for name, parts in self.fields))


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry that cannot be read: its key, if that is readable; the fault; and whether it is the last entry."""

    key: str | None
    reason: str
    is_last: bool = False


class _Fault(Exception):
    """What is wrong with an entry, and where."""

    def __init__(self, reason: str, place: int | None = None) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


def entries(path: Path, text: str) -> Iterator[BibTeXEntry | Broken]:
    """The entries of a bibliography in order, but for `@string`, `@preamble`, and what `@comment{}` and a percent sign leave out."""
    reader = _Reader(text, _Macros(path))
    heads = (match.start() for match in HEAD.finditer(text))
    place, line, counted, limit, has_open_comment = 0, 1, 0, 0, False
    while (match := START.search(text, place)) is not None:
        start, place = match.span()
        line, counted = line + text.count("\n", counted, start), start
        while limit <= start:
            limit = next(heads, len(text) + 1)
        kind, opener = match[1] or match[3], match[2] or ""
        if kind and kind.lower() == "comment":
            end = None if has_open_comment or opener != "{" else _comment_end(text, place)
            has_open_comment |= opener == "{" and end is None
            place = end or place
        elif kind:
            is_last, end = limit > len(text), min(limit, len(text))
            fault, item = _Fault(OPEN), None
            for is_lenient in (False, True):
                if is_lenient and (restart := RESTART.search(text, place, end)):
                    is_last, end = False, restart.start()
                try:
                    key, fields, ending = reader.entry(kind, opener, place, end, is_lenient=is_lenient, is_last=is_last)
                except _Fault as error:
                    fault = fault if is_lenient else error
                else:
                    item, place = BibTeXEntry(kind, key, fields, line, is_lenient), ending
                    break
            if item is None:
                where = "" if fault.place is None else f" in line {line + text.count(chr(10), start, fault.place)}"
                yield Broken(reader.key or None, f"the entry in line {line} is broken: {fault.reason}{where}", is_last)
                place = max(place, end)
            elif kind.lower() not in {"string", "preamble"}:
                yield item


class _Reader:
    """Reads entries from a text; `key` is that of the entry it is in."""

    def __init__(self, text: str, macros: _Macros) -> None:
        self._text, self._macros = text, macros
        self._end, self._is_lenient, self._is_last = 0, False, False
        self.key = ""

    def entry(
        self, kind: str, opener: str, place: int, end: int, *, is_lenient: bool, is_last: bool
    ) -> tuple[str, list[tuple[str, list[str]]], int]:
        """The key and the fields of an entry whose content begins at `place`, and where it ends. `end` is where another begins.

        Raises _Fault: it is broken; where it is read leniently, beyond repair.
        """
        self._end, self._is_lenient, self._is_last, self.key = end, is_lenient, is_last, ""
        if not opener:
            raise _Fault("'(' or '{' expected", place)
        fields: list[tuple[str, list[str]]] = []
        closer = "}" if opener == "{" else ")"
        kind = kind.lower()
        if kind == "preamble":
            _, place = self._value(place)
        elif kind != "string":
            place = self._after_key(place)
        while True:
            place = self._after_gap(place)
            if place >= end:
                if is_lenient and fields and not is_last:
                    return self.key, fields, place
                raise _Fault(OPEN)
            if self._text[place] == closer:
                if kind in {"string", "preamble"} or not LEFT_OVER.match(self._text, place + 1, end):
                    return self.key, fields, place + 1
                if not is_lenient:
                    raise _Fault("a brace too many ends it")
                place += 1
                continue
            field = FIELD.match(self._text, place, end)
            if field is None:
                place = self._next_field(place)
                continue
            parts, place = self._value(field.end())
            if kind == "string":
                self._macros[field[1]] = "".join(parts)
            else:
                fields.append((field[1], parts))

    def _after_key(self, place: int) -> int:
        """Reads the key, and returns where the fields begin."""
        text, end = self._text, self._end
        if KEYLESS.match(text, place, end):
            return place
        match = KEY.match(text, place, end) or LOOSE_KEY.match(text, place, end)
        if match is None:
            raise _Fault("entry key expected" if self._after_gap(place) < end else OPEN, place)
        self.key = " ".join(match[1].split())
        return match.end()

    def _after_gap(self, place: int) -> int:
        match = GAP.match(self._text, place, self._end)
        return match.end() if match else place

    def _next_field(self, place: int) -> int:
        """Where the next field begins after what is none."""
        ahead = NEXT_FIELD.search(self._text, place, self._end) if self._is_lenient else None
        if ahead is None:
            word = WORD.match(self._text, place, self._end)
            raise _Fault("'=' expected", word.end() if word else place)
        return ahead.end()

    def _value(self, place: int) -> tuple[list[str], int]:
        """The parts of a value that begins at `place`, and where it ends."""
        parts: list[str] = []
        while True:
            if self._is_lenient and (other := QUOTED.match(self._text, place, self._end)):
                return [*parts, other[1]], other.end()
            if self._is_lenient and (nothing := NOTHING.match(self._text, place, self._end)):
                return parts or [""], nothing.end()
            match = PART.match(self._text, place, self._end)
            if match is None:
                raise _Fault("field value expected" if place < self._end else OPEN, place if place < self._end else None)
            if match[1]:
                content, place = self._lenient_text(match.end(), match[1]) if self._is_lenient else self._strict_text(match.end(), match[1])
                parts.append(content)
            else:
                parts.append(match[2] if match[2].isdecimal() else self._macros[match[2]])
                place = match.end()
                if self._is_lenient and not AFTER.match(self._text, place, self._end):
                    words = WORDS.match(self._text, match.start(2), self._end)
                    parts[-1], place = (words[0].strip(), words.end()) if words else ("", place)
            joint = JOINT.match(self._text, place, self._end)
            if joint is None:
                return parts, place
            place = joint.end()

    def _strict_text(self, place: int, opener: str) -> tuple[str, int]:
        """What is between braces or quotation marks, and where it ends, as BibTeX sees it."""
        end = self._text.find("}", place, self._end) if opener == "{" else -1
        if end < 0 or self._text.find("{", place, end) >= 0:
            signs, closer = (BRACES, "}") if opener == "{" else (BRACES_OR_QUOTE, '"')
            ending = _end(self._text, place, self._end, signs, closer)
            if ending is None:
                raise _Fault(OPEN)
            end = ending - 1
        return self._text[place:end], end + 1

    def _lenient_text(self, place: int, opener: str) -> tuple[str, int]:
        """The same where braces or quotation marks are not in pairs: those that a backslash precedes are no braces, else a text ends where
        the next field begins."""
        text = self._text
        closer = "}" if opener == "{" else '"'
        for signs in (BRACES, BARE_BRACES) if opener == "{" else (BRACES_OR_QUOTE, BARE_BRACES_OR_QUOTE):
            try:
                end = _end(text, place, self._end, signs, closer)
            except _Fault:
                end = None
            if end is not None and AFTER.match(text, end, self._end) and not FIELD_AHEAD.search(text, place, end - 1):
                return _balanced(text[place : end - 1]), end
        ahead = FIELD_AHEAD.search(text, place, self._end)
        content = text[place : ahead.start() if ahead else self._end].rstrip(" \t\r\n,")
        if ahead is not None:
            return _balanced(content.removesuffix(closer)), ahead.end()
        if not (CLOSED_AT_END if self._is_last else CLOSED).search(content):
            raise _Fault(OPEN)
        content = content[:-1]
        return _balanced(content.rstrip().removesuffix(closer)), place + len(content)


def _comment_end(text: str, place: int) -> int | None:
    """Where a comment in braces has ended; None if nothing closes it."""
    with suppress(_Fault):
        return _end(text, place, len(text), BRACES, "}")
    return None


def _end(text: str, place: int, limit: int, signs: re.Pattern[str], closer: str) -> int | None:
    """Where a text that begins at `place` has ended: behind its closing sign, outside of inner braces; None if nothing closes it.

    Raises _Fault: a brace closes what none has opened, or braces are too deep.
    """
    depth = 0
    for match in signs.finditer(text, place, limit):
        sign = match[0]
        if depth == 0 and sign == closer:
            return match.end()
        if sign == "{":
            depth += 1
            if depth > MOST_BRACES:
                raise _Fault("too many nested braces", match.start())
        elif sign == "}":
            depth -= 1
            if depth < 0:
                raise _Fault("unbalanced braces", match.start())
    return None


def _balanced(text: str) -> str:
    """A text without the braces that have no counterpart."""
    open_places: list[int] = []
    lone: set[int] = set()
    for match in BRACES.finditer(text):
        if match[0] == "{":
            open_places.append(match.start())
        elif open_places:
            open_places.pop()
        else:
            lone.add(match.start())
    lone.update(open_places)
    if not lone:
        return text
    lone.update(place - 1 for place in [*lone] if text[place - 1 : place] == "\\")
    return "".join(char for place, char in enumerate(text) if place not in lone)


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
