"""Parser of typed queries: AND, OR, NOT, parentheses, "quoted phrases", -excluded words and field:word.

    "graph neural network" molecules -survey author:kipf year:2015-2019
    (transformer OR "attention network") AND protein NOT survey

A quoted phrase must occur in title or abstract; a word or phrase after a minus must not. `title:word`, `abstract:"some words"` and any
other column's name require it in that column, and `title:(…)` requires all of the parentheses there. `child*` is a truncated word, `"some
words"~3` a phrase whose words may be apart, and `a NEAR/3 b` requires two texts close together; see `phrases`. Words without operators are
only searched for.

Capital AND, OR and NOT require the operand on each side: a phrase, a field, parentheses, or all words up to the next of these. NOT binds
before AND, and AND before OR; adjacent parts must all hold. An operator without an operand on each side is a word, and without such
operators parentheses belong to words. Prose has no operators except fields at its end; its quoted phrases are only preferred, see `prose`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...base.characters import typed
from ...base.errors import InvalidRequest, UnknownName
from ...papers.identifiers import DOI_ADDRESS
from .combining import Combination, OperatorName, leaves
from .demands import STAR, Demand, Expression, Near, Words, combined, wanted, whole_words
from .joining import ENDINGS, Level, Nearness, Node, Operand, Plain, Sign, Span, joined
from .prose import prose
from .refusals import refusal, refused

ALIASES = {"author": "authors", "journal": "venue", "source": "venue", "intitle": "title", "inauthor": "authors", "keyword": "keywords"}
"""Field names of other search engines, and the columns that they stand for if the papers lack a column of that name."""
KNOWN_ELSEWHERE = {
    *("affiliation", "allintitle", "collection", "date", "editor", "filetype", "keywords", "language", "mesh", "publication"),
    *("publisher", "site", "subject", "tag", "tags"),
}
"""More such names. Before a colon, any other name that is not a column is a word: signal:noise, GO:0008150."""
MISSPELT = 0.8
"""Least similarity, by difflib's ratio, of a name before a colon to a column's name for it to be a misspelling: autor, titel."""
SHORTEST_NAME = 4
"""Fewest letters of a misspelt field name."""
TEXT_COLUMNS = ("title", "abstract")
MOST_DEMANDS = 500
"""Most phrases, fields and runs of words in a query. Each is looked up among the papers."""
LONGEST_PHRASE = 5_000
"""Most characters of a phrase, which is compared with texts as a whole."""
LONGEST_LOOSE = 50
"""Most words of a phrase whose words may stand apart."""
DEEPEST = 100
"""Deepest nesting of parentheses."""
HAS_OPERATOR = re.compile(r'["*?~\[]|\w:\S|(?:^|[\s(])-\S|AND|OR|NOT|NEAR|ADJ|\b(?:N|W|PRE|WITHIN)/')
"""Matches every text that contains an operator."""
CHUNK = re.compile(r"\S+")
TOKEN = re.compile(
    r'(?P<minus>-)?(?:(?P<field>[^\W\d][\w.-]*):)?(?:"(?P<phrase>\s*[^"\s][^"]*)"(?:~(?P<slop>\d{1,3})(?!\w))?|(?P<word>[^\s"]\S*))'
)
FIELD_GROUP = re.compile(r"(?P<minus>-)?(?P<field>[^\W\d][\w.-]*):\(")
BEGINNING = re.compile(r"[(\[]*+(?P<beginning>[^\s*\"]*+(?<=[^\W_]{2})\*)[\]),;.:!?]*$")
NEARNESS = re.compile(r'NEAR/(?P<distance>\d{1,3})(?=[\s()"]|$)')
OPERATOR = re.compile(r'(?P<operator>AND|OR|NOT)(?=[\s()"]|$)')
GROUPING = re.compile(r'(?:^|(?<=[\s()"]))(?:(?:AND|OR|NOT)(?=[\s()"]|$)|-\(|NEAR/|-?[^\W\d][\w.-]*:\()')
"""Matches every text whose parentheses group."""
UNTIL_QUOTE = re.compile(r'[^\s"]+')
DOI_BEGINNING = re.compile(f"^{DOI_ADDRESS}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A typed query: words to search for, and demands.

    Attributes:
        words: the words to search for.
        demands: what papers must meet.
        listing: whether the query has only demands, whose words are searched for.
        free: words without a demand; a paper may lack them and still be ranked.
        liked: in prose, the quoted texts, which are preferred.
        ignored: in prose, signs that would be operators in a query.
        perhaps: a single quotation, required if any paper contains it.
    """

    words: str
    demands: tuple[Expression, ...]
    listing: bool = False
    free: str = field(default="", compare=False)
    liked: tuple[str, ...] = field(default=(), compare=False)
    ignored: tuple[str, ...] = field(default=(), compare=False)
    perhaps: Demand | None = None


def parse(text: str, columns: Collection[str]) -> TypedQuery:
    """Parse a typed query. Everything but operators is read as words. If `columns` is empty, fields are words, too.

    A query of demands alone searches for their words.

    Raises:
        UnknownName: a field is not among the columns.
        InvalidRequest: too many demands, an unmatched parenthesis beside AND, OR or NOT, or a word that looks like an operator but is none.
    """
    text = typed(text)
    if HAS_OPERATOR.search(text) is None:
        words = " ".join(text.split())
        return TypedQuery(words, (), free=words)
    names = {*(column.lower() for column in columns), *ALIASES, *KNOWN_ELSEWHERE} if columns else set()
    if (pasted := prose(text, lambda name: name.lower() in names)) is not None:
        end = _Reading(pasted.operators, columns, groups=False)
        plain = pasted.text.replace('"', "") if pasted.quotations else pasted.text  # an encoder would read the quotation marks
        words = " ".join(f"{plain} {end.words}".split())
        perhaps = Demand(None, pasted.text, exact=True) if pasted.is_quotation and len(pasted.text) <= LONGEST_PHRASE else None
        return TypedQuery(words, end.demands, free=words, liked=pasted.quotations, ignored=pasted.signs, perhaps=perhaps)
    reading = _Reading(text, columns, groups=bool(GROUPING.search(text)))
    if reading.groups and not reading.combines:
        reading = _Reading(text, columns, groups=False)
    if reading.refusal is not None:
        raise reading.refusal
    if reading.combines and reading.unbalanced is not None:
        missing = '"(" without ")"' if text[reading.unbalanced] == "(" else '")" without "("'
        advice = "add the other parenthesis, or write and, or, not in lower case if they are only words"
        raise refused(text, reading.unbalanced, f"the query has {missing}", advice)
    demands = reading.demands
    count = sum(1 for demand in demands for _ in leaves(demand))
    if count > MOST_DEMANDS:
        raise InvalidRequest(
            f"the query has {count:,} operators (phrases, -words, field:words, words), and at most {MOST_DEMANDS} are read"
        )
    query_words = reading.words
    if not query_words:
        return TypedQuery(STAR.sub("", " ".join(leaf.text for demand in demands for leaf in wanted(demand))), demands, bool(demands))
    return TypedQuery(query_words, demands, free=" ".join(reading.free))


@dataclass(slots=True)
class _Open:
    """A level whose closing parenthesis has not been read yet."""

    place: Span
    is_left_out: bool = False
    column: str | None = None
    parts: list[Node | Sign | Nearness] = field(default_factory=list)


class _Reading:
    """One reading of a text, in which parentheses either group or belong to words."""

    def __init__(self, text: str, columns: Collection[str], *, groups: bool) -> None:
        self.groups = groups
        self.combines = False
        """Whether AND, OR, NOT, NEAR, or a minus or field before parentheses was found."""
        self.unbalanced: int | None = None
        """Position of an unmatched parenthesis."""
        self.refusal: InvalidRequest | None = None
        """The error for a word that looks like an operator."""
        self._text, self._columns, self._is_in_capitals = text, columns, text.isupper()
        self._changes: list[tuple[int, int, str]] = []
        self._parentheses: set[int] = set()
        self._parentheses_known_until = 0
        self._columns_by_name: dict[str, str | None] = {}
        self.free: list[str] = []
        """Words without a demand."""
        self.demands = tuple(self._all_demands(self._read()))
        """The demands, all of which must hold."""
        self.words = self._search_text()
        """Words to search for."""

    def _all_demands(self, parts: Sequence[Node]) -> Iterator[Expression]:
        for part in parts:
            expression = self._demand_of(part, False, False)
            if isinstance(expression, Combination) and expression.operator == "AND":
                yield from expression.parts
            elif expression is not None:
                yield expression

    def _search_text(self) -> str:
        """The text without parts that are not searched for."""
        pieces, end = [], 0
        for start, stop, replacement in sorted(self._changes):
            if start >= end:  # otherwise it lies within an operand of NEAR
                pieces += [self._text[end:start], replacement]
                end = stop
        return " ".join(" ".join([*pieces, self._text[end:]]).split())

    def _read(self) -> list[Node]:
        text, levels = self._text, [_Open((0, 0))]
        place, is_start = 0, True
        while place < len(text):
            if text[place].isspace():
                place, is_start = place + 1, True
            elif self.groups and text[place] == ")":
                place, is_start = place + 1, True
                self._close(levels, place)
            elif not is_start:
                start, place = place, self._chunk_end(place)
                self._refuse(start, place)
            elif self.groups and text[place] == "(" and self._is_group(place):
                self._open(levels, _Open((place, place + 1)))
                place += 1
            elif self.groups and text.startswith("-(", place) and self._is_left_out_group(place):
                self._open(levels, _Open((place, place + 2), is_left_out=True))
                place += 2
            elif self.groups and (level := self._field_group(place)):
                self._open(levels, level)
                place = level.place[1]
            elif nearness := NEARNESS.match(text, place):
                levels[-1].parts.append(Nearness(int(nearness["distance"]), nearness.span()))
                place = nearness.end()
            elif self.groups and (sign := OPERATOR.match(text, place)):
                levels[-1].parts.append(Sign(sign["operator"], sign.span()))  # type: ignore[arg-type]
                place = sign.end()
            else:
                place, is_start = self._token(levels[-1], place), False
        while len(levels) > 1:
            self.unbalanced = levels[-1].place[1] - 1
            self._close(levels, len(text))
        return self._joined(levels[0].parts)

    def _token(self, level: _Open, place: int) -> int:
        """Read a word or phrase with its field or minus, and return where it ends."""
        token = TOKEN.match(self._text, place)
        end = self._word_end(token) if token else self._chunk_end(place)
        demand = self._demand(token, end) if token else None
        if demand is not None:
            level.parts.append(Operand(demand, (place, end)))
            return end
        self._refuse(place, end)
        if level.parts and isinstance(level.parts[-1], Plain):
            level.parts[-1].places.append((place, end))
        else:
            level.parts.append(Plain([(place, end)]))
        return end

    def _demand(self, token: re.Match[str], end: int) -> Demand | Near | None:
        name, absent = token["field"], bool(token["minus"])
        is_left_out = absent and bool(token["word"]) and token["word"][0].isalpha()  # before a digit it is a negative number
        value = token["phrase"] or self._text[token.start("word") : end]
        column = self._column(name, value) if name else None
        if not value or (column is None and (name or (token["phrase"] is None and not is_left_out))):
            return None
        if token["phrase"] is None:
            self._refuse(token.start("word"), end)
        slop = None if token["slop"] is None else int(token["slop"])
        return self._on(column, Demand(None, value, absent, token["phrase"] is not None, slop), token.start())

    def _on(self, column: str | None, demand: Demand | Near, place: int) -> Demand | Near:
        """Restrict a demand, typed at a place, to a column. A text that is not exact may still be a truncated word.

        Raises InvalidRequest for operators that only work in title and abstract.
        """
        demand = replace(demand, column=column)
        is_far = isinstance(demand, Near) or demand.slop is not None
        beginning = None if is_far else BEGINNING.match(demand.text)
        if column not in (None, *TEXT_COLUMNS):
            if is_far or beginning:
                what = f"the query has {demand}, which is not understood"
                raise refused(self._text, place, what, "NEAR, ~ and the star of child* are for words of title and abstract")
            text = DOI_BEGINNING.sub("", demand.text) or demand.text if column == "doi" else demand.text
            return Demand(column, text, demand.absent)
        self._check_length(demand.text, place, None if isinstance(demand, Near) else demand.slop)
        if isinstance(demand, Demand) and beginning and not demand.exact:
            return replace(demand, text=beginning["beginning"], exact=True)
        return demand

    def _refuse(self, start: int, end: int) -> None:
        self.refusal = self.refusal or refusal(self._text, start, end, self._is_in_capitals)

    def _column(self, name: str, value: str) -> str | None:
        """The column for a name before a colon; None if the name is only a word. Raises UnknownName."""
        if value.startswith("//"):  # an address, such as https://
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
        """End of the text that begins here: the next white space, or a parenthesis that closes a level."""
        chunk = CHUNK.match(self._text, place)
        assert chunk is not None
        return place + _unclosed(chunk[0]) if self.groups else chunk.end()

    def _word_end(self, token: re.Match[str]) -> int:
        return token.end() if token["word"] is None or not self.groups else token.start("word") + _unclosed(token["word"])

    def _is_left_out_group(self, place: int) -> bool:
        """Whether a minus before a parenthesis excludes the group, as it does before a word."""
        first = self._text[place + 2 : place + 3]
        return (first.isalpha() or first in ('"', "(")) and self._is_group(place + 1)

    def _field_group(self, place: int) -> _Open | None:
        """The level that a field before a parenthesis opens; None otherwise."""
        token = FIELD_GROUP.match(self._text, place)
        if token is None or not self._columns or not self._is_group(token.end() - 1):
            return None
        column = self._column(token["field"], "(")
        if column is None:
            self.refusal = self.refusal or UnknownName("field in the query", token["field"], self._columns)
            return None
        return _Open((place, token.end()), bool(token["minus"]), column)

    def _is_group(self, place: int) -> bool:
        """Whether a parenthesis at the start of a word opens a level. It does not if it closes within the word, as in (S)-ibuprofen."""
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
            self.unbalanced = end - 1 if self.unbalanced is None else self.unbalanced
            return
        level = levels.pop()
        places = [level.place, (end - 1, end)] if self._text[end - 1] == ")" else [level.place]
        parts = self._joined(level.parts)
        if not parts:
            return
        self.combines = self.combines or level.column is not None or level.is_left_out
        levels[-1].parts.append(Level(parts, places, level.column, level.is_left_out))

    def _joined(self, parts: Sequence[Node | Sign | Nearness]) -> list[Node]:
        nodes, operators = joined(self._text, parts)
        self.combines = self.combines or bool(operators)
        self._changes += [(start, end, "") for start, end in operators]
        return nodes

    def _demand_of(self, node: Node, required: bool, unwanted: bool, column: str | None = None) -> Expression | None:
        """The demand of a part, in a column. Its unwanted words are not searched for."""
        if isinstance(node, Plain):
            return self._demand_of_words(node, required, unwanted, column)
        if isinstance(node, Operand):
            demand = self._on(column, node.demand, node.place[0]) if node.demand.column is None else node.demand
            is_searched = demand.absent == unwanted and demand.column in (None, *TEXT_COLUMNS)
            self._changes.append((*node.place, whole_words(demand.text) if is_searched else ""))
            return demand
        operator: OperatorName = "AND"
        if isinstance(node, Combination):
            operator, required, unwanted = node.operator, True, unwanted != (node.operator == "NOT")
        else:
            self._changes += [(start, end, "") for start, end in node.places]
            required, unwanted, column = required or node.is_left_out, unwanted != node.is_left_out, node.column or column
        expressions = [self._demand_of(part, required, unwanted, column) for part in node.parts]
        inside = combined(operator, [expression for expression in expressions if expression is not None])
        return combined("NOT", [inside]) if isinstance(node, Level) and node.is_left_out and inside is not None else inside

    def _demand_of_words(self, node: Plain, required: bool, unwanted: bool, column: str | None) -> Expression | None:
        """The demand of adjacent words. In a column, each word is a demand, or all are one value; elsewhere they form one demand, and
        truncated words others."""
        is_value = column not in (None, *TEXT_COLUMNS)
        if is_value:
            value = self._text[node.places[0][0] : node.places[-1][1]]
            self._changes += [(start, end, "") for start, end in node.places]
            return self._on(column, Demand(None, " ".join(value.split())), node.places[0][0])
        words: list[str] = []
        demands: list[Expression] = []
        for start, end in node.places:
            word = self._text[start:end]
            if column is not None or BEGINNING.match(word):
                demands.append(self._on(column, Demand(None, word), start))
            elif required:
                self._check_length(word, start)
                words.append(word)
            else:
                self.free.append(word)
            if unwanted or BEGINNING.match(word):
                self._changes.append((start, end, ""))
        if words:
            demands.insert(0, Words(" ".join(words)))
        return combined("AND", demands)

    def _check_length(self, text: str, place: int, slop: int | None = None) -> None:
        """Raise InvalidRequest for a text too long to compare."""
        count, most, what = len(text), LONGEST_PHRASE, "characters"
        if slop is not None and count <= most:
            count, most, what = len(text.split()), LONGEST_LOOSE, "words, which may stand apart"
        if count > most:
            problem = f"the query has a phrase of {count:,} {what}, and at most {most:,} are compared"
            raise refused(self._text, place, problem, "quote a part of it, or leave out the quotation marks")


def _unclosed(chunk: str) -> int:
    """Length of a chunk without its trailing parentheses that close a level."""
    body = chunk.rstrip(ENDINGS)
    inner = max(body.count("(") - body.count(")"), 0)
    for place in range(len(body), len(chunk)):
        if chunk[place] == ")":
            if not inner:
                return place
            inner -= 1
    return len(chunk)


def _grouping(chunk: str) -> Iterator[int]:
    """Positions of parentheses that open in a chunk and do not close in it."""
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
