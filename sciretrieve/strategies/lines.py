"""Parser of a strategy's lines: typed queries and references to lines, joined by AND, OR, NOT and parentheses.

    s3 = '(s1 OR s2) NOT title:review'

A line refers to another by its name as a whole word outside quotation marks, in any case. A part without references is one typed query. NOT
binds before AND, and AND before OR, as in queries. The operand `unavailable:"exp Stroke/"` stands for text that a translation could not
express.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..base.characters import typed
from ..base.errors import InvalidRequest
from ..base.wording import shortlist
from ..query.narrowing.combining import OPERATORS, Combination, OperatorName, Tree
from ..query.narrowing.operators import DEEPEST
from ..query.narrowing.prose import LONGEST_SIDE, prose

TOKEN = re.compile(r'unavailable:"(?P<unavailable>[^"]*)"|[^\s()"]*"[^"]*"(?:~\d+)?|(?P<sign>[()])|(?P<word>[^\s()"]+)|"')
"""A quotation with its prefix, a parenthesis, or a word."""
NAME = re.compile(r"[^\W\d_][\w-]*")
NUMBERED = re.compile(r"(?P<stem>[^\W\d_][\w-]*?)\d+")
HASHED = re.compile(r"#\d+")
AROUND = "-.,;:!?"
"""Punctuation that may surround a name by mistake."""
NEAR_NAME = 0.8
"""Least similarity, by difflib's ratio, of a word beside references to a line's name for it to be a misspelling."""
SHORTEST_SLIP = 4
"""Fewest letters of such a word."""
MOST_COMPARED = 200
"""Most words of a line that are compared with names."""
MOST_LINES = 1000
"""Most lines of a strategy."""
LISTED = 8
"""Most names that an error lists."""
PRECEDENCE: tuple[OperatorName, ...] = ("OR", "AND")


@dataclass(frozen=True, slots=True)
class TypedWords:
    """A typed query."""

    query: str


@dataclass(frozen=True, slots=True)
class LineReference:
    """A reference to another line, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class UnavailableText:
    """Text that has no counterpart here, as written."""

    text: str


Expression: TypeAlias = Tree[TypedWords | LineReference | UnavailableText]


@dataclass(frozen=True, slots=True)
class Line:
    """A named line as written, and its parsed expression."""

    name: str
    query: str
    expression: Expression


def read_line(name: str, query: str, names: Collection[str]) -> Line:
    """Parse a line of a strategy whose lines have these names.

    Raises InvalidRequest, with the line's name, if it refers to no line or cannot be parsed.
    """
    return Line(name, query, _Reading(name, typed(query), names).whole())


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, a quotation or a parenthesis of a line. `reference` is the line that it names."""

    start: int
    end: int
    text: str
    depth: int
    reference: str | None = None
    unavailable: str | None = None

    @property
    def is_word(self) -> bool:
        """Whether it is an unquoted word of a typed query."""
        return not self.is_apart and '"' not in self.text and self.text not in (*OPERATORS, "(", ")")

    @property
    def is_apart(self) -> bool:
        """Whether it stands outside typed queries."""
        return self.reference is not None or self.unavailable is not None


class _Reading:
    """A line's tokens and their parsing."""

    def __init__(self, name: str, query: str, names: Collection[str]) -> None:
        self._name, self._query = name, query
        self._names = {one.casefold(): one for one in names}
        self._tokens = list(self._scanned())
        self._check_pairs()
        self._check_operators()
        self._check_names()

    def whole(self) -> Expression:
        """The line's expression."""
        return self._expression(self._tokens)

    def _expression(self, tokens: Sequence[_Token]) -> Expression:
        """The expression of consecutive tokens."""
        first, last = tokens[0], tokens[-1]
        if not any(token.is_apart for token in tokens):
            text = " ".join(self._query[first.start : last.end].split())
            pasted = None if any(token.text in OPERATORS for token in tokens) else prose(text, lambda _: True)
            if pasted is not None and not pasted.is_quotation and (signs := [*pasted.signs, *(f'"{one}"' for one in pasted.quotations)]):
                advice = "join its parts by AND, OR and NOT, and put those that are a phrase in quotes"
                raise self._refused(f"it reads as a sentence, in which {signs[0]} would demand nothing", advice)
            return TypedWords(text)
        depth = min(token.depth for token in tokens)
        for operator in PRECEDENCE:
            if len(parts := self._split(tokens, depth, operator)) > 1:
                return Combination(operator, tuple(map(self._expression, parts)))
        if first.text == "NOT" and first.depth == depth:
            return Combination("NOT", (self._expression(tokens[1:]),))
        if len(tokens) == 1:
            return LineReference(first.reference) if first.reference is not None else UnavailableText(first.unavailable or "")
        if first.text == "(" and last.text == ")" and all(token.depth > depth for token in tokens[1:-1]):
            return self._expression(tokens[1:-1])
        apart = next(token for token in tokens if token.is_apart)
        what = f"{' '.join(self._query[first.start : last.end].split())} joins {apart.text} with words without AND, OR or NOT"
        advice = f"write one between them, or put {apart.text} in quotes if it is a word" if apart.reference else "write one between them"
        raise self._refused(what, advice)

    def _split(self, tokens: Sequence[_Token], depth: int, operator: OperatorName) -> list[Sequence[_Token]]:
        """Split tokens at an operator. The outermost tokens are at `depth`. NOT between two parts is AND NOT."""
        parts, start = [], 0
        for place, token in enumerate(tokens):
            if token.depth != depth:
                continue
            if token.text == operator:
                parts.append(tokens[start:place])
                start = place + 1
            elif operator == "AND" and token.text == "NOT" and place and tokens[place - 1].text != "AND":
                parts.append(tokens[start:place])
                start = place
        return [*parts, tokens[start:]]

    def _scanned(self) -> Iterator[_Token]:
        depth = 0
        for match in TOKEN.finditer(self._query):
            sign = match["sign"]
            depth -= sign == ")"
            reference = self._names.get(match["word"].casefold()) if match["word"] else None
            yield _Token(match.start(), match.end(), match[0], depth, reference, match["unavailable"])
            depth += sign == "("

    def _check_pairs(self) -> None:
        """Raise InvalidRequest for an unmatched quotation mark or parenthesis, and for empty parentheses."""
        depth = 0
        for token in self._tokens:
            depth += (token.text == "(") - (token.text == ")")
            if depth > DEEPEST:
                raise self._refused(f"it nests parentheses more than {DEEPEST} levels deep", "write parts of it as lines of their own")
            if token.text == '"' or depth < 0:
                raise self._refused(f"the {token.text} at character {token.start + 1} is unmatched", "add it, or leave it out")
        if depth:
            raise self._refused('a "(" has no ")"', "add it, or leave it out")

    def _check_operators(self) -> None:
        """Raise InvalidRequest for an operator without operands, or one that would be read as a word, as in pasted text."""
        words = most = 0
        for before, token, after in zip([None, *self._tokens], self._tokens, [*self._tokens[1:], None], strict=False):
            lacks_left = before is None or before.text in (*OPERATORS, "(")
            lacks_right = after is None or after.text in ("AND", "OR", ")", "NOT" if token.text == "NOT" else "")
            if token.text in OPERATORS and (lacks_right or (lacks_left and token.text != "NOT")):
                raise self._refused(
                    f"{token.text} has nothing beside it", "write a query or a line's name there, or quote it if it is a word"
                )
            if token.text == "(" and after is not None and after.text == ")":
                raise self._refused("there is nothing in ()", "write a query or a line's name there")
            words = words + 1 if token.is_word else 0
            most = max(most, words)
        if most > LONGEST_SIDE and any(token.text in OPERATORS for token in self._tokens):
            raise self._refused(f"it has {most} words in a row beside an operator", "put those that are a phrase in quotes")

    def _check_names(self) -> None:
        """Raise InvalidRequest if a word looks like a line's name but does not refer to it."""
        stems = {found["stem"] for name in self._names if (found := NUMBERED.fullmatch(name))}
        refers = len(self._tokens) <= MOST_COMPARED and any(token.is_apart for token in self._tokens)
        if own := next((token for token in self._tokens if token.reference == self._name), None):
            raise self._refused("it refers to itself", f"put {own.text} in quotes if it is a word there, or rename the line")
        for token in self._tokens:
            if not token.is_word:
                continue
            word = token.text.strip(AROUND).casefold()
            numbered = NUMBERED.fullmatch(word)
            is_slip = refers and len(word) >= SHORTEST_SLIP and difflib.get_close_matches(word, self._names, n=1, cutoff=NEAR_NAME)
            if word in self._names or (numbered and numbered["stem"] in stems) or HASHED.fullmatch(word) or is_slip:
                raise self._no_line(token.text, word)

    def _no_line(self, text: str, word: str) -> InvalidRequest:
        if word in self._names:
            return self._refused(f"{text} is not read as the line {self._names[word]}", "leave out what stands beside the name")
        near = difflib.get_close_matches(word.lstrip("#"), self._names, n=3, cutoff=0.5)
        names = [self._names[one] for one in near] or list(self._names.values())
        hint = f"did you mean {' or '.join(names)}?" if near else f"there are {shortlist(names[:LISTED], len(names))};"
        return self._refused(f"it refers to {text}, and no line has that name", f"{hint} in quotes it is a word")

    def _refused(self, what: str, advice: str) -> InvalidRequest:
        return InvalidRequest(f"line {self._name}: {what}; {advice}")
