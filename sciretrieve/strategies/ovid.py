"""Parser of Ovid syntax: `exp Stroke/`, `(heart adj3 attack*).ti,ab.`, `or/1-3`, `limit 4 to yr="2010-2020"`.

Source of the syntax: Ovid's help, "Advanced Search Techniques" and "Command Line Syntax". adjN allows up to N - 1 words between, in any
order; adj alone means adjacent and in order.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from ..base.errors import InvalidRequest
from ..query.narrowing.combining import combined, mapped
from ..query.narrowing.operators import DEEPEST
from .lines import LineReference
from .terms import (
    MOST_WAYS,
    TEXT,
    AnyText,
    NearTexts,
    Notes,
    Operand,
    Term,
    Years,
    has_open_texts,
    in_columns,
    near,
    plain,
    short,
    spelled,
    ways_of,
)

FIELDS = {
    "ti": ("title",),
    "ab": ("abstract",),
    **dict.fromkeys(("tw", "mp", "af"), TEXT),
    "au": ("authors",),
    **dict.fromkeys(("jn", "jw"), ("venue",)),
    "do": ("doi",),
}
"""Ovid's fields and their columns here."""
YEARS = ("yr", "sa_year", "dp")
WIDER = {"mp": "headings and keywords", "af": "all other fields"}
"""Further content of these fields in Ovid."""
SUFFIX = re.compile(
    r"\s*\.\s*\(?(?P<fields>[a-z_]{2,8}(?:\s*,\s*[a-z_]{2,8})*)\)?\s*\.(?P<freq>\s*/\s*freq\s*=\s*\d+)?(?=[\s)]|$)", re.IGNORECASE
)
OPERATOR = re.compile(r"(?P<name>and|or|not|adj(?P<distance>\d{0,2}))(?=[\s(\"]|$)", re.IGNORECASE)
PIECE = re.compile(
    rf'"(?P<quoted>[^"]*)"|(?P<word>[^\s()"]+?)(?={SUFFIX.pattern.replace("(?P<fields>", "(?:").replace("(?P<freq>", "(?:")}|[\s()"]|$)',
    re.IGNORECASE,
)
_NO_OPERATOR = r'(?:(?!\s(?:or|and|not|adj\d*)\s)[^/()"])+'
HEADING = re.compile(
    rf'(?:exp\s+)?\*?(?:"[^"]+"|{_NO_OPERATOR})/(?:\s*[a-z]{{2}}(?:\s*,\s*[a-z]{{2}})*(?:\s*\[[^\]]*\])?)?'
    r"(?=\s*(?:$|\)|\s(?:and|or|not)\s))",
    re.IGNORECASE,
)
"""A subject heading, with optional subheadings. It may contain quoted words such as "and"."""
SET = re.compile(r"(?P<operator>and|or)\s*/\s*(?P<lines>[\d\s,-]+)", re.IGNORECASE)
LIMIT = re.compile(r"limit\s+(?P<line>\d+)\s+to\s+(?P<limits>.+)", re.IGNORECASE)
DEDUPED = re.compile(r"remove duplicates from\s+(?P<line>\d+)", re.IGNORECASE)
YEAR_LIMIT = re.compile(r'\(?\s*(?:yr|"yr")\s*=\s*"?(?P<first>\d{4})?\s*(?P<dash>-)?\s*(?P<last>\d{4}|current)?\s*"?\s*\)?', re.IGNORECASE)
LISTING = re.compile(r"\s*\[mp=[^\]]*\]", re.IGNORECASE)
"""Ovid's explanation of .mp. after a line."""


def read(text: str, lines: Collection[str], notes: Notes) -> Term:
    """Parse a line, without its number. `lines` are the numbers of all lines.

    Raises InvalidRequest if parentheses or operators do not match, or if it refers to no line.
    """
    text = LISTING.sub("", plain(text))
    reading = _Reading(text, lines, notes)
    if match := SET.fullmatch(text):
        numbers = [number for part in match["lines"].split(",") for number in reading.numbers(part)]
        return combined("OR" if match["operator"].lower() == "or" else "AND", [reading.reference(number) for number in numbers])
    if match := DEDUPED.fullmatch(text):
        notes.add("duplicates are removed from the result, not from a line")
        return reading.reference(match["line"])
    if match := LIMIT.fullmatch(text):
        limits = re.split(r"\s+and\s+", match["limits"].strip().removeprefix("(").removesuffix(")"), flags=re.IGNORECASE)
        return combined("AND", [reading.reference(match["line"]), *(_limit(limit, notes) for limit in limits)])
    term = reading.whole()
    if has_open_texts(term):
        notes.add("text without a field is searched for in title and abstract only, not in headings and keywords as in .mp.")
    return in_columns(term, TEXT, notes)


def _limit(limit: str, notes: Notes) -> Term:
    match = YEAR_LIMIT.fullmatch(limit.strip())
    if not match or not (match["first"] or match["last"]):
        return notes.gone(f"limit to {limit}", "papers here have no such column, or another name for it")
    last = "" if (match["last"] or "").lower() == "current" else match["last"] or ""
    return Years(f"{match['first'] or ''}{'-' if match['dash'] else ''}{last}")


class _Reading:
    """A line that is parsed from left to right."""

    def __init__(self, text: str, lines: Collection[str], notes: Notes) -> None:
        self._text, self._lines, self._notes = text, lines, notes
        self._place = self._depth = 0

    def whole(self) -> Term:
        term = self._expression()
        if self._place < len(self._text):
            raise self._refused('")" without "("')
        return term

    def numbers(self, part: str) -> list[str]:
        """Line numbers in "4" and "1-3"."""
        first, dash, last = (item.strip() for item in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()) or int(last or first) - int(first) > len(self._lines):
            raise self._refused(f"{part.strip()!r}, which is no line, and no range of lines")
        return [str(number) for number in range(int(first), int(last or first) + 1)]

    def reference(self, number: str) -> LineReference:
        if number not in self._lines:
            raise self._refused(f"the line {number}, and there is none")
        return LineReference(f"s{number}")

    def _expression(self) -> Term:
        """Parse up to a closing parenthesis or the end."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._refused(f"parentheses more than {DEEPEST} levels deep")
        start = self._place
        groups: list[list[Term]] = [[self._operand()]]
        signs: list[str] = []
        while operator := self._operator():
            name = operator["name"].lower()
            before, place = groups[-1], self._place
            operand = self._operand()
            if name.startswith("adj"):
                before[-1] = self._adjacent(before[-1], operand, operator["distance"], self._text[start : self._place])
                continue
            start = place
            signs.append(name)
            if name == "or":
                groups.append([operand])
            else:
                before.append(combined("NOT", [operand]) if name == "not" else operand)
        if "or" in signs and set(signs) != {"or"}:
            self._notes.add("AND and NOT are read before OR; add parentheses if it is meant otherwise")
        self._depth -= 1
        return combined("OR", [combined("AND", group) for group in groups])

    def _operator(self) -> re.Match[str] | None:
        self._skip()
        match = OPERATOR.match(self._text, self._place)
        if match:
            self._place = match.end()
        return match

    def _operand(self) -> Term:
        self._skip()
        start = self._place
        if match := HEADING.match(self._text, self._place):
            self._place = match.end()
            return self._notes.gone(match[0], "a subject heading; write its words, and those of the headings below it")
        if self._text.startswith("(", self._place):
            self._place += 1
            term = self._expression()
            if not self._text.startswith(")", self._place):
                raise self._refused('"(" without ")"')
            self._place += 1
        else:
            term = self._term()
        if match := SUFFIX.match(self._text, self._place):
            self._place = match.end()
            term = self._in_fields(term, match, self._text[start : match.end()])
        return term

    def _term(self) -> Term:
        """Parse words up to an operator, a parenthesis or a field."""
        start, is_quoted = self._place, False
        words: list[str] = []
        while not OPERATOR.match(self._text, self._place) and (piece := PIECE.match(self._text, self._place)):
            is_quoted = is_quoted or piece["quoted"] is not None
            words += piece["quoted"].split() if piece["quoted"] is not None else [piece["word"]]
            self._place = piece.end()
            if SUFFIX.match(self._text, self._place):
                break
            self._skip()
        if not words:
            raise self._refused("an operator or a parenthesis with nothing beside it")
        if len(words) == 1 and words[0].isdecimal() and not is_quoted and not SUFFIX.match(self._text, self._place):
            return self.reference(words[0])
        return spelled(words, self._text[start : self._place], self._notes)

    def _adjacent(self, left: Term, right: Term, distance: str, written: str) -> Term:
        """Join two operands by adjacency, in order or in any order."""
        term: Term | None = None
        if distance:
            term = near(left, right, max(int(distance) - 1, 0), self._notes)
        elif (befores := ways_of(left)) and (afters := ways_of(right)):
            if len(befores) * len(afters) <= MOST_WAYS:
                return AnyText(tuple(f"{before} {after}" for before in befores for after in afters))
            self._notes.add(f"{short(written)} is read as next to each other in either order, which finds a little more")
            term = near(left, right, 0, self._notes)
        return term or self._notes.gone(written, "adj only joins words, phrases, and an OR of these")

    def _in_fields(self, term: Term, suffix: re.Match[str], written: str) -> Term:
        """Apply the fields after a term."""
        if suffix["freq"]:
            return self._notes.gone(written, "the frequency of a word cannot be required here")
        codes = [code.strip().lower() for code in suffix["fields"].split(",")]
        if set(codes) <= set(YEARS):
            return mapped(term, self._year)
        columns = tuple(dict.fromkeys(column for code in codes for column in FIELDS.get(code, ())))
        if not columns:
            return self._notes.gone(written, f"there is no column for .{','.join(codes)}.")
        if lacking := [code for code in codes if code not in FIELDS]:
            self._notes.add(
                f"not available: the field{'s' * (len(lacking) > 1)} {', '.join(lacking)} of {short(written)}; the others are searched"
            )
        for code in codes:
            if code in WIDER:
                self._notes.add(f".{code}. is title and abstract here, without {WIDER[code]}")
        return in_columns(term, columns, self._notes)

    def _year(self, operand: Operand) -> Term:
        if not isinstance(operand, AnyText | NearTexts):
            return operand
        ways = operand.ways if isinstance(operand, AnyText) else ()
        years = [Years(way.replace(":", "-")) for way in ways if re.fullmatch(r"\d{4}([:-]\d{4})?", way)]
        if not years or len(years) < len(ways):
            return self._notes.gone(" or ".join(ways), "no year, and no range of years")
        return combined("OR", years)

    def _skip(self) -> None:
        while self._place < len(self._text) and self._text[self._place].isspace():
            self._place += 1

    def _refused(self, what: str) -> InvalidRequest:
        return self._notes.refused(what, self._text)
