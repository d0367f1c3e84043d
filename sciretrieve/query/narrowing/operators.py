"""What a typed query demands besides its words: AND, OR, NOT and parentheses, "quoted phrases", -words to leave out, and field:word.

    "graph neural network" molecules -survey author:kipf year:2015-2019
    (transformer OR "attention network") AND protein NOT survey

A quoted phrase must occur in title or abstract; a word or phrase after a minus must not; `title:word`, `abstract:"some words"`
and any other column's name require it there, and `title:(…)` all of what is in parentheses. `child*` is the beginning of a word,
`"some words"~3` a phrase whose words may be apart, and `a NEAR/3 b` demands two texts near each other; see `phrases`. Words without
operators are only searched for.

AND, OR and NOT in capitals demand what stands on both sides: a phrase, a field, something in parentheses, or all of the words up to
the next of these. NOT is read before AND, and AND before OR; what stands side by side without them must all hold. An operator
that lacks a side is a word, and in a query without such operators parentheses are part of the words. Prose has none of all these, but
phrases that one would like and fields at its end, see `prose`.
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
LONGEST_PHRASE = 5_000
"""Characters of a phrase, which is compared with texts as a whole."""
LONGEST_LOOSE = 50
"""Words of a phrase that may stand apart."""
DEEPEST = 100
"""The most levels of parentheses."""
HAS_OPERATOR = re.compile(r'["*?~\[]|\w:\S|(?:^|[\s(])-\S|AND|OR|NOT|NEAR|ADJ|\b(?:N|W|PRE|WITHIN)/')
"""What there is in every text that has more than words."""
CHUNK = re.compile(r"\S+")
TOKEN = re.compile(
    r'(?P<minus>-)?(?:(?P<field>[^\W\d][\w.-]*):)?(?:"(?P<phrase>\s*[^"\s][^"]*)"(?:~(?P<slop>\d{1,3})(?!\w))?|(?P<word>[^\s"]\S*))'
)
FIELD_GROUP = re.compile(r"(?P<minus>-)?(?P<field>[^\W\d][\w.-]*):\(")
BEGINNING = re.compile(r"[(\[]*+(?P<beginning>[^\s*\"]*+(?<=[^\W_]{2})\*)[\]),;.:!?]*$")
NEARNESS = re.compile(r'NEAR/(?P<distance>\d{1,3})(?=[\s()"]|$)')
OPERATOR = re.compile(r'(?P<operator>AND|OR|NOT)(?=[\s()"]|$)')
GROUPING = re.compile(r'(?:^|(?<=[\s()"]))(?:(?:AND|OR|NOT)(?=[\s()"]|$)|-\(|NEAR/|-?[^\W\d][\w.-]*:\()')
"""What there must be in a text for its parentheses to group."""
UNTIL_QUOTE = re.compile(r'[^\s"]+')
DOI_BEGINNING = re.compile(f"^{DOI_ADDRESS}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A typed query: the words to search for, and its demands. A `listing` has demands but no words of its own. The `free` words are those
    that nothing demands, which a paper may lack and be ranked. Of prose, `liked` are the texts in quotation marks, and `ignored` what else
    would be an operator elsewhere; a single quotation is demanded `perhaps`, where any paper has it."""

    words: str
    demands: tuple[Expression, ...]
    listing: bool = False
    free: str = field(default="", compare=False)
    liked: tuple[str, ...] = field(default=(), compare=False)
    ignored: tuple[str, ...] = field(default=(), compare=False)
    perhaps: Demand | None = None


def parse(text: str, columns: Collection[str]) -> TypedQuery:
    """Parse a typed query. What is not an operator is read as words, and so are fields where `columns` is empty.

    A query with only demands searches for the words that it demands.

    Raises:
        UnknownName: it asks for a field that is not among the columns.
        InvalidRequest: it has too many demands, AND, OR, NOT and a parenthesis without its other, or what looks like an operator and
            is none.
    """
    text = typed(text)
    if HAS_OPERATOR.search(text) is None:
        words = " ".join(text.split())
        return TypedQuery(words, (), free=words)
    names = {*(column.lower() for column in columns), *ALIASES, *KNOWN_ELSEWHERE} if columns else set()
    if (pasted := prose(text, lambda name: name.lower() in names)) is not None:
        end = _Reading(pasted.operators, columns, groups=False)
        plain = pasted.text.replace('"', "") if pasted.quotations else pasted.text  # an encoder would read the marks
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
        advice = "add the other parenthesis, or write and, or, not in small letters if they are only words"
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
    """A level whose closing parenthesis was not read yet."""

    place: Span
    is_left_out: bool = False
    column: str | None = None
    parts: list[Node | Sign | Nearness] = field(default_factory=list)


class _Reading:
    """One way to read a text, in which parentheses group or are part of words."""

    def __init__(self, text: str, columns: Collection[str], *, groups: bool) -> None:
        self.groups = groups
        self.combines = False
        """Whether AND, OR, NOT, NEAR, or a minus or a field before parentheses was read as such."""
        self.unbalanced: int | None = None
        """Where a parenthesis is whose other is missing."""
        self.refusal: InvalidRequest | None = None
        """Why a word is refused that looks like an operator."""
        self._text, self._columns, self._is_in_capitals = text, columns, text.isupper()
        self._changes: list[tuple[int, int, str]] = []
        self._parentheses: set[int] = set()
        self._parentheses_known_until = 0
        self._columns_by_name: dict[str, str | None] = {}
        self.free: list[str] = []
        """The words that nothing demands."""
        self.demands = tuple(self._all_demanded(self._read()))
        """What the text demands, as parts that must all hold."""
        self.words = self._searched()
        """The words to search for."""

    def _all_demanded(self, parts: Sequence[Node]) -> Iterator[Expression]:
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
            if start >= end:  # else it is within what stands near another
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
        """Read a word, a phrase, or one of them with a field or a minus; where it ends."""
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
        """A demand on a text as one on a column, as typed at a place. What is not exact may still be the beginning of a word.

        Raises InvalidRequest for what is only understood in title and abstract.
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

    def _field_group(self, place: int) -> _Open | None:
        """The level that opens where a field stands before a parenthesis."""
        token = FIELD_GROUP.match(self._text, place)
        if token is None or not self._columns or not self._is_group(token.end() - 1):
            return None
        column = self._column(token["field"], "(")
        if column is None:
            self.refusal = self.refusal or UnknownName("field in the query", token["field"], self._columns)
            return None
        return _Open((place, token.end()), bool(token["minus"]), column)

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

    def _demanded(self, node: Node, required: bool, unwanted: bool, column: str | None = None) -> Expression | None:
        """What a part demands, in a column, and what becomes of its words: those that are unwanted are not searched for."""
        if isinstance(node, Plain):
            return self._words_demanded(node, required, unwanted, column)
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
        expressions = [self._demanded(part, required, unwanted, column) for part in node.parts]
        inside = combined(operator, [expression for expression in expressions if expression is not None])
        return combined("NOT", [inside]) if isinstance(node, Level) and node.is_left_out and inside is not None else inside

    def _words_demanded(self, node: Plain, required: bool, unwanted: bool, column: str | None) -> Expression | None:
        """What words side by side demand: those in a column each by itself, or as one value; others together, and their beginnings."""
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
        """Raises InvalidRequest for a text that is too long to be compared with others."""
        count, most, what = len(text), LONGEST_PHRASE, "characters"
        if slop is not None and count <= most:
            count, most, what = len(text.split()), LONGEST_LOOSE, "words, which may stand apart"
        if count > most:
            problem = f"the query has a phrase of {count:,} {what}, and at most {most:,} are compared"
            raise refused(self._text, place, problem, "quote a part of it, or leave out the quotation marks")


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
    """Where parentheses begin, in a text without white space, that are not closed before its end."""
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
