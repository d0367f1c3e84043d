"""What a typed query demands besides its words: AND, OR, NOT and parentheses, "quoted phrases", -words to leave out, and field:word.

    "graph neural network" molecules -survey author:kipf year:2015-2019
    (transformer OR "attention network") AND protein NOT survey

A quoted phrase must occur in title or abstract; a word or phrase after a minus must not; `title:word`, `abstract:"some words"`
and any other column's name require it there. Words without operators are only searched for.

AND, OR and NOT in capitals demand what stands on both sides: a phrase, a field, something in parentheses, or all of the words up to
the next of these. NOT is read before AND, and AND before OR; what stands side by side without them must all hold. An operator
that lacks a side is a word, and in a query without such operators parentheses are part of the words. What was pasted has none: a title
in capitals, or an abstract, in which more words stand beside an operator than anyone types.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Literal, TypeAlias

from ...errors import InvalidRequest, UnknownName

ALIASES = {"author": "authors", "journal": "venue", "source": "venue", "intitle": "title", "inauthor": "authors", "keyword": "keywords"}
"""Names of fields in other search engines, and the columns that they mean here, where the papers have no column of that name."""
KNOWN_ELSEWHERE = {
    *("affiliation", "allintitle", "collection", "date", "editor", "filetype", "keywords", "language", "mesh", "publication"),
    *("publisher", "site", "subject", "tag", "tags"),
}
"""Further such names. Before a colon, any other name that is none of a column is a word: signal:noise, GO:0008150."""
MISSPELT = 0.8
"""How alike a name before a colon must be to that of a column, by difflib's ratio, to be a slip of it: autor, titel."""
SHORTEST_NAME = 4
"""Letters of a name that may be a slip."""
TEXT_COLUMNS = ("title", "abstract")
MOST_DEMANDS = 500
"""Phrases, fields and runs of words that a query may demand: each takes a look at the papers."""
DEEPEST = 100
"""The most levels of parentheses."""
LONGEST_IN_CAPITALS = 6
"""Words that a query all in capitals, with neither quotes nor parentheses, may have for its AND, OR and NOT to be no words."""
LONGEST_SIDE = 12
"""Words without AND, OR and NOT between them beyond which a text was pasted, not typed: "DESIGN AND METHODS: we asked …"."""
CHUNK = re.compile(r"\S+")
TOKEN = re.compile(r'(?P<minus>-)?(?:(?P<field>[^\W\d][\w.-]*):)?(?:"(?P<phrase>\s*[^"\s][^"]*)"|(?P<word>[^\s"]\S*))')
OPERATOR = re.compile(r'(?P<operator>AND|OR|NOT)(?=[\s()"]|$)')
GROUPING = re.compile(r'(?:^|(?<=[\s()"]))(?:(?:AND|OR|NOT)(?=[\s()"]|$)|-\()')
"""What there must be in a text for its parentheses to group."""
UNTIL_QUOTE = re.compile(r'[^\s"]+')
ENDINGS = "),;.:!?"
"""What may stand at the end of a word that is not of it."""
DOI_ADDRESS = re.compile(r"^(?:https?://)?(?:dx\.)?doi\.org/", re.IGNORECASE)

OperatorName: TypeAlias = Literal["AND", "OR", "NOT"]
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Demand:
    """A text that must, or must not, occur in a paper: in a column, or for None in title or abstract."""

    column: str | None
    text: str
    absent: bool = False

    def __str__(self) -> str:
        text = f'"{self.text}"' if " " in self.text or (self.column is None and not self.absent) else self.text
        return "-" * self.absent + (f"{self.column}:" if self.column else "") + text


@dataclass(frozen=True, slots=True)
class Words:
    """Words that must all occur in title and abstract, in any order."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Combination:
    """AND, OR or NOT (which has one part) over other demands."""

    operator: OperatorName
    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        if self.operator == "NOT":
            return f"NOT {self.parts[0]}" if _is_simple(self.parts[0]) else f"NOT ({self.parts[0]})"
        return f" {self.operator} ".join(str(part) if _is_simple(part) else f"({part})" for part in self.parts)


Expression: TypeAlias = Demand | Words | Combination


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A typed query: the words to search for, and its demands. A `listing` has demands but no words of its own."""

    words: str
    demands: tuple[Expression, ...]
    listing: bool = False


def parse(text: str, columns: Collection[str]) -> TypedQuery:
    """Parse a typed query. What is not an operator is read as words, and so are fields where `columns` is empty.

    A query with only demands searches for the words that it demands.

    Raises:
        UnknownName: it asks for a field that is not among the columns.
        InvalidRequest: it has too many demands, or AND, OR, NOT and a parenthesis without its other.
    """
    reading = _Reading(text, columns, groups=bool(GROUPING.search(text)) and not _is_title_in_capitals(text))
    if reading.groups and (not reading.combines or reading.is_prose):
        reading = _Reading(text, columns, groups=False)
    if reading.combines and reading.unbalanced:
        missing = '"(" without ")"' if reading.unbalanced == "(" else '")" without "("'
        raise InvalidRequest(
            f"the query has {missing}; add the other parenthesis, or write and, or, not in small letters if they are only words"
        )
    demands = reading.demands
    count = sum(1 for demand in demands for _ in leaves(demand))
    if count > MOST_DEMANDS:
        raise InvalidRequest(
            f"the query has {count:,} operators (phrases, -words, field:words, words), and at most {MOST_DEMANDS} are read"
        )
    query_words = reading.words
    if not query_words:
        return TypedQuery(" ".join(text for demand in demands for text in _wanted(demand)), demands, bool(demands))
    return TypedQuery(query_words, demands)


def _is_title_in_capitals(text: str) -> bool:
    words = text.split()
    is_in_capitals = text == text.upper() and any(word.isupper() and not OPERATOR.fullmatch(word) for word in words)
    return is_in_capitals and not set(text) & set('"()') and len(words) > LONGEST_IN_CAPITALS


def leaves(demand: Expression) -> Iterator[Demand | Words]:
    """The texts that a demand is about."""
    if isinstance(demand, Combination):
        for part in demand.parts:
            yield from leaves(part)
    else:
        yield demand


def _wanted(demand: Expression) -> Iterator[str]:
    """The texts that a paper should have."""
    if isinstance(demand, Combination):
        for part in () if demand.operator == "NOT" else demand.parts:
            yield from _wanted(part)
    elif isinstance(demand, Words) or not demand.absent:
        yield demand.text


def _is_simple(demand: Expression) -> bool:
    """Whether a demand needs no parentheses within others."""
    if isinstance(demand, Combination):
        return demand.operator == "NOT"
    return isinstance(demand, Demand) or " " not in demand.text


def _is_left_out(token: re.Match[str]) -> bool:
    """Whether a minus means "without": before a letter it does, before a digit it is a negative number."""
    return bool(token["minus"]) and token["word"][0].isalpha()


@dataclass(frozen=True, slots=True)
class _Plain:
    """Words side by side, which demand nothing by themselves."""

    places: list[Span]


@dataclass(frozen=True, slots=True)
class _Field:
    """A phrase, a word with a minus or one with a field, and where it stands."""

    demand: Demand
    place: Span


@dataclass(frozen=True, slots=True)
class _Sign:
    """AND, OR or NOT as typed."""

    operator: OperatorName
    place: Span


@dataclass(frozen=True, slots=True)
class _Joined:
    """AND, OR or NOT with what stands on its sides."""

    operator: OperatorName
    parts: list[_Node]
    places: list[Span]


@dataclass(frozen=True, slots=True)
class _Level:
    """What stands side by side in parentheses, or in all of the query."""

    parts: list[_Node]
    places: list[Span]


_Node: TypeAlias = _Plain | _Field | _Joined | _Level


@dataclass(slots=True)
class _Open:
    """A level whose closing parenthesis was not read yet."""

    place: Span
    is_left_out: bool = False
    parts: list[_Node | _Sign] = field(default_factory=list)


class _Reading:
    """One way to read a text, in which parentheses group or are part of words."""

    def __init__(self, text: str, columns: Collection[str], *, groups: bool) -> None:
        self.groups = groups
        self.combines = False
        """Whether AND, OR, NOT or a minus before parentheses was read as such."""
        self.unbalanced = ""
        """A parenthesis whose other is missing."""
        self._text, self._columns = text, columns
        self._changes: list[tuple[int, int, str]] = []
        self._parentheses: set[int] = set()
        self._parentheses_known_until = 0
        self._columns_by_name: dict[str, str | None] = {}
        self.is_prose = False
        """Whether so many words follow each other that AND, OR and NOT beside them are words, too."""
        self._words_in_a_row = 0
        self.demands = tuple(self._all_demanded(self._read()))
        """What the text demands, as parts that must all hold."""
        self.words = self._searched()
        """The words to search for."""

    def _all_demanded(self, parts: Sequence[_Node]) -> Iterator[Expression]:
        for part in parts:
            expression = self._demanded(part, False, False)
            if isinstance(expression, Combination) and expression.operator == "AND":
                yield from expression.parts
            elif expression is not None:
                yield expression

    def _searched(self) -> str:
        """The text without what is not searched for."""
        pieces, end = [], 0
        for start, stop, replacement in sorted(self._changes):
            pieces += [self._text[end:start], replacement]
            end = stop
        return " ".join(" ".join([*pieces, self._text[end:]]).split())

    def _read(self) -> list[_Node]:
        text, levels = self._text, [_Open((0, 0))]
        place, is_start = 0, True
        while place < len(text):
            if text[place].isspace():
                place, is_start = place + 1, True
            elif self.groups and text[place] == ")":
                place, is_start = place + 1, True
                self._close(levels, place)
            elif not is_start:
                place = self._chunk_end(place)
            elif self.groups and text[place] == "(" and self._is_group(place):
                self._open(levels, _Open((place, place + 1)))
                place += 1
            elif self.groups and text.startswith("-(", place) and self._is_left_out_group(place):
                self._open(levels, _Open((place, place + 2), is_left_out=True))
                place += 2
            elif self.groups and (sign := OPERATOR.match(text, place)):
                levels[-1].parts.append(_Sign(sign["operator"], sign.span()))  # type: ignore[arg-type]
                place, self._words_in_a_row = sign.end(), 0
            else:
                place, is_start = self._token(levels[-1], place), False
        while len(levels) > 1:
            self.unbalanced = "("
            self._close(levels, len(text))
        return self._joined(levels[0].parts)

    def _token(self, level: _Open, place: int) -> int:
        """Read a word, a phrase, or one of them with a field or a minus; where it ends."""
        token = TOKEN.match(self._text, place)
        end = self._word_end(token) if token else self._chunk_end(place)
        demand = self._demand(token, end) if token else None
        if demand is not None:
            level.parts.append(_Field(demand, (place, end)))
            return end
        self._words_in_a_row += 1
        self.is_prose = self.is_prose or self._words_in_a_row > LONGEST_SIDE
        if level.parts and isinstance(level.parts[-1], _Plain):
            level.parts[-1].places.append((place, end))
        else:
            level.parts.append(_Plain([(place, end)]))
        return end

    def _demand(self, token: re.Match[str], end: int) -> Demand | None:
        name, absent = token["field"], bool(token["minus"])
        value = token["phrase"] or self._text[token.start("word") : end]
        if not name:
            return Demand(None, value, absent) if token["phrase"] is not None or _is_left_out(token) else None
        column = self._column(name, value)
        if column is None or not value:
            return None
        return Demand(column, (DOI_ADDRESS.sub("", value) or value) if column == "doi" else value, absent)

    def _column(self, name: str, value: str) -> str | None:
        """The column that a name before a colon means; None where it is only a word. Raises UnknownName."""
        if value.startswith("//"):  # of an address
            return None
        if name not in self._columns_by_name:
            self._columns_by_name[name] = self._column_called(name)
        return self._columns_by_name[name]

    def _column_called(self, name: str) -> str | None:
        lower = name.lower()
        by_name = {column.lower(): column for column in reversed(list(self._columns))}
        if column := by_name.get(lower) or by_name.get(ALIASES.get(lower, "")):
            return column
        if not self._columns or not name.isalpha():
            return None
        is_slip = len(name) >= SHORTEST_NAME and bool(difflib.get_close_matches(lower, [*by_name, *ALIASES], n=1, cutoff=MISSPELT))
        if is_slip or lower in KNOWN_ELSEWHERE or lower in ALIASES:
            raise UnknownName("field in the query", name, self._columns)
        return None

    def _chunk_end(self, place: int) -> int:
        """Where the text that begins here ends: at white space, or a parenthesis that closes a level."""
        chunk = CHUNK.match(self._text, place)
        assert chunk is not None
        return place + _unclosed(chunk[0]) if self.groups else chunk.end()

    def _word_end(self, token: re.Match[str]) -> int:
        return token.end() if token["word"] is None or not self.groups else token.start("word") + _unclosed(token["word"])

    def _is_left_out_group(self, place: int) -> bool:
        """Whether a minus before a parenthesis means "without", as before a word."""
        first = self._text[place + 2 : place + 3]
        return (first.isalpha() or first in ('"', "(")) and self._is_group(place + 1)

    def _is_group(self, place: int) -> bool:
        """Whether a parenthesis where a word might begin opens a level: not that of (S)-ibuprofen, which ends within the word."""
        if place >= self._parentheses_known_until:
            chunk = UNTIL_QUOTE.match(self._text, place)
            assert chunk is not None
            self._parentheses_known_until = chunk.end()
            self._parentheses |= {place + opening for opening in _grouping(chunk[0])}
        return place in self._parentheses

    def _open(self, levels: list[_Open], level: _Open) -> None:
        if len(levels) > DEEPEST:
            raise InvalidRequest(f"the query nests parentheses more than {DEEPEST} levels deep; write it flatter")
        levels.append(level)

    def _close(self, levels: list[_Open], end: int) -> None:
        if len(levels) == 1:
            self.unbalanced = self.unbalanced or ")"
            return
        level = levels.pop()
        places = [level.place, (end - 1, end)] if self._text[end - 1] == ")" else [level.place]
        parts = self._joined(level.parts)
        if not parts:
            return
        inner: _Node = _Level(parts, places)
        if level.is_left_out:
            self.combines = True
            inner = _Joined("NOT", [inner], [])
        levels[-1].parts.append(inner)

    def _joined(self, parts: Sequence[_Node | _Sign]) -> list[_Node]:
        """A level's parts, where what AND, OR and NOT join is one. An operator that lacks a side stays a word."""
        joined = _joined_by("OR", _joined_by("AND", _negated(parts)))
        nodes = [node for node in joined if not isinstance(node, _Sign)]
        self.combines = self.combines or _signs(joined) < _signs(parts)
        return nodes

    def _demanded(self, node: _Node, required: bool, unwanted: bool) -> Expression | None:
        """What a part demands, and what becomes of its words: those that are unwanted are not searched for."""
        if isinstance(node, _Plain):
            if unwanted:
                self._changes += [(start, end, "") for start, end in node.places]
            return Words(" ".join(self._text[start:end] for start, end in node.places)) if required else None
        if isinstance(node, _Field):
            is_searched = node.demand.absent == unwanted and node.demand.column in (None, *TEXT_COLUMNS)
            self._changes.append((*node.place, node.demand.text if is_searched else ""))
            return node.demand
        self._changes += [(start, end, "") for start, end in node.places]
        operator: OperatorName = "AND"
        if isinstance(node, _Joined):
            operator, required, unwanted = node.operator, True, unwanted != (node.operator == "NOT")
        expressions = [self._demanded(part, required, unwanted) for part in node.parts]
        return _combined(operator, [expression for expression in expressions if expression is not None])


def _signs(parts: Sequence[_Node | _Sign]) -> int:
    return sum(isinstance(part, _Sign) for part in parts)


def _negated(parts: Sequence[_Node | _Sign]) -> list[_Node | _Sign]:
    """Parts of a level, where each NOT is one with what follows it."""
    negated: list[_Node | _Sign] = []
    for part in reversed(parts):
        following = negated[-1] if negated else None
        if isinstance(part, _Sign) and part.operator == "NOT" and following is not None and not isinstance(following, _Sign):
            negated[-1] = _Joined("NOT", [following], [part.place])
        else:
            negated.append(part)
    return negated[::-1]


def _joined_by(operator: OperatorName, parts: Sequence[_Node | _Sign]) -> list[_Node | _Sign]:
    """Parts of a level, where what this operator stands between is one. NOT between two is AND NOT."""
    joined: list[_Node | _Sign] = []
    places: list[Span] | None = None  # of the operator that waits for what follows it
    for part, following in zip_longest(parts, parts[1:]):
        left = joined[-1] if joined and not isinstance(joined[-1], _Sign) else None
        if isinstance(part, _Sign):
            if part.operator == operator and left is not None and following is not None and not isinstance(following, _Sign):
                places = [part.place]
            else:
                joined.append(part)
            continue
        if operator == "AND" and left is not None and isinstance(part, _Joined) and part.places and places is None:
            places = []
        if places is None or left is None:
            joined.append(part)
        elif isinstance(left, _Joined) and left.operator == operator:
            left.parts.append(part)
            left.places.extend(places)
        else:
            joined[-1] = _Joined(operator, [left, part], places)
        places = None
    return joined


def _combined(operator: OperatorName, expressions: Sequence[Expression]) -> Expression | None:
    """Demands as one, written as flat as it can be."""
    if operator == "NOT" or not expressions:
        (part,) = expressions or (None,)
        if isinstance(part, Demand):
            return replace(part, absent=not part.absent)
        if isinstance(part, Combination) and part.operator == "NOT":
            return part.parts[0]
        return None if part is None else Combination("NOT", (part,))
    parts: list[Expression] = []
    for expression in expressions:
        is_alike = isinstance(expression, Combination) and expression.operator == operator
        parts += expression.parts if isinstance(expression, Combination) and is_alike else (expression,)
    return parts[0] if len(parts) == 1 else Combination(operator, tuple(parts))


def _unclosed(chunk: str) -> int:
    """How much of a text without white space comes before a parenthesis, at its end, that closes a level."""
    body = chunk.rstrip(ENDINGS)
    inner = max(body.count("(") - body.count(")"), 0)
    for place in range(len(body), len(chunk)):
        if chunk[place] == ")":
            if not inner:
                return place
            inner -= 1
    return len(chunk)


def _grouping(chunk: str) -> Iterator[int]:
    """Where in a text without white space parentheses begin that do not end within it, but for those that end at its end."""
    body = len(chunk.rstrip(ENDINGS))
    waiting: list[int] = []
    for place, char in enumerate(chunk):
        if char == "(":
            waiting.append(place)
        elif char == ")" and waiting:
            opening = waiting.pop()
            if place >= body:
                yield opening
    yield from waiting
