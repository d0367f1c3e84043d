"""Parser of PubMed syntax: `"heart attack"[tiab] OR MI[ti]`, `2010:2020[dp]`, `#1 AND #2`.

Source of the syntax: PubMed's help, "Advanced search", "Search field tags", "Proximity search", "Truncation". PubMed evaluates AND, OR and
NOT from left to right.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import combinations

from ..base.errors import InvalidRequest
from ..query.narrowing.combining import OPERATORS, OperatorName, combined
from ..query.narrowing.operators import DEEPEST
from .lines import LineReference, UnavailableText
from .terms import TEXT, AnyText, NearTexts, Notes, Term, Years, in_columns, plain, spelled

FIELDS = {
    **dict.fromkeys(("ti", "title"), ("title",)),
    **dict.fromkeys(("ab", "abstract"), ("abstract",)),
    **dict.fromkeys(("tiab", "title/abstract", "tw", "text word", "text words", "all", "all fields"), TEXT),
    **dict.fromkeys(("au", "author", "fau", "full author name"), ("authors",)),
    **dict.fromkeys(("1au", "first author", "author - first", "lastau", "last author", "author - last"), ("authors",)),
    **dict.fromkeys(("ta", "jour", "journal"), ("venue",)),
    **dict.fromkeys(("aid", "doi"), ("doi",)),
}
"""PubMed's tags and their columns here."""
WIDER = ("tw", "text word", "text words", "all", "all fields")
"""Tags that cover more in PubMed than here."""
ANY_AUTHOR = ("1au", "first author", "author - first", "lastau", "last author", "author - last")
DATES = ("dp", "pdat", "date - publication", "publication date")
HEADINGS = ("mh", "mesh", "mesh terms", "majr", "mesh major topic", "sh", "mesh subheading")
FILTERS = ("hasabstract", "free full text", "systematic")
TOKEN = re.compile(r'"(?P<quoted>[^"]*)"|\[(?P<tag>[^\]]*)\]|(?P<sign>[()])|#(?P<line>\d+)(?![\w-])|(?P<word>[^\s()\[\]"]+)|(?P<stray>\S)')
PROXIMITY = re.compile(r"(?P<tag>.*?):~(?P<distance>\d{1,3})")
DATE = re.compile(r"(?P<year>\d{4})(?P<day>/\d{1,2}(?:/\d{1,2})?)?")
FIRST_DAYS, LAST_DAYS = ("", "/01", "/1", "/01/01", "/1/1"), ("", "/12", "/12/31")
END = "3000"
"""PubMed's year for "until now"."""


def read(text: str, lines: Collection[str], notes: Notes) -> Term:
    """Parse a line, without its number. `lines` are the numbers of all lines.

    Raises InvalidRequest if parentheses, quotation marks or operators do not match, or if it refers to no line.
    """
    reading = _Reading(plain(text), lines, notes)
    return in_columns(reading.whole(), TEXT, notes)


class _Reading:
    """A line's tokens, parsed from left to right."""

    def __init__(self, text: str, lines: Collection[str], notes: Notes) -> None:
        self._text, self._lines, self._notes = text, lines, notes
        self._tokens = list(TOKEN.finditer(text))
        self._place = self._depth = 0

    def whole(self) -> Term:
        if stray := next((token for token in self._tokens if token["stray"]), None):
            raise self._refused(f"a {stray[0]} that has no other")
        term = self._expression()
        if self._place < len(self._tokens):
            raise self._refused('")" without "("')
        return term

    def _expression(self) -> Term:
        """Parse up to a closing parenthesis or the end. Each operator joins everything before it with the next operand."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._refused(f"parentheses more than {DEEPEST} levels deep")
        negates = self._takes("NOT")
        first = self._operand()
        parts: list[Term] = [combined("NOT", [first]) if negates else first]
        joining: OperatorName = "AND"
        signs, turns = set(), 0
        while self._place < len(self._tokens) and self._tokens[self._place]["sign"] != ")":
            operator: OperatorName = "OR" if self._takes("OR") else "AND"
            if operator == "AND":
                self._takes("AND")
            negates = self._takes("NOT")
            operand = self._operand()
            signs.add("NOT" if negates else operator)
            if operator != joining:
                parts, joining, turns = [combined(joining, parts)], operator, turns + 1
                if turns > DEEPEST:
                    raise self._refused(f"more than {DEEPEST} turns from AND to OR and back, without parentheses")
            parts.append(combined("NOT", [operand]) if negates else operand)
        if "OR" in signs and len(signs) > 1:
            self._notes.add("AND, OR and NOT are read from left to right, as PubMed does")
        self._depth -= 1
        return combined(joining, parts)

    def _takes(self, word: str) -> bool:
        takes = self._place < len(self._tokens) and self._tokens[self._place]["word"] == word
        self._place += takes
        return takes

    def _operand(self) -> Term:
        token = self._tokens[self._place] if self._place < len(self._tokens) else None
        if token is None or token["sign"] == ")" or token["tag"] is not None or token["word"] in OPERATORS:
            raise self._refused("an operator, a tag or a parenthesis with nothing beside it")
        if token["sign"] == "(":
            self._place += 1
            term = self._expression()
            if self._place == len(self._tokens):
                raise self._refused('"(" without ")"')
            self._place += 1
            return term if self._tag() is None else self._notes.gone(self._text, "a tag after a parenthesis")
        if token["line"]:
            self._place += 1
            if token["line"] not in self._lines:
                raise self._refused(f"#{token['line']}, and there is no such line")
            return LineReference(f"s{token['line']}")
        return self._term()

    def _term(self) -> Term:
        """Parse a quotation or adjacent words with the tag after them, or a range of dates."""
        start = self._tokens[self._place].start()
        words, is_phrase = self._words()
        tag = self._tag()
        if tag in DATES and self._takes(":"):
            words += [":", *self._words()[0]]
            self._tag()
        written = self._text[start : self._tokens[self._place - 1].end()]
        if tag in DATES:
            return self._dates("".join(words), written)
        return self._tagged(words, is_phrase, tag, written)

    def _words(self) -> tuple[list[str], bool]:
        """The next words, and whether they are a phrase: quoted or truncated, as in PubMed."""
        token = self._tokens[self._place] if self._place < len(self._tokens) else None
        if token is not None and token["quoted"] is not None:
            self._place += 1
            return token["quoted"].split(), True
        words: list[str] = []
        while self._place < len(self._tokens) and (word := self._tokens[self._place]["word"]) not in (None, *OPERATORS):
            words.append(word)
            self._place += 1
        if not words:
            raise self._refused("a range of dates that does not end")
        return words, len(words) == 1 or any("*" in word for word in words)

    def _tag(self) -> str | None:
        if self._place == len(self._tokens) or self._tokens[self._place]["tag"] is None:
            return None
        self._place += 1
        return " ".join(self._tokens[self._place - 1]["tag"].lower().split())

    def _tagged(self, words: Sequence[str], is_phrase: bool, tag: str | None, written: str) -> Term:
        if tag is None:
            if " ".join(words).lower() in FILTERS:
                return self._notes.gone(written, "a filter of PubMed")
            self._notes.add(f"{written} has no tag: it is searched for in title and abstract, and not mapped to headings")
        proximity = PROXIMITY.fullmatch(tag or "")
        name = proximity["tag"] if proximity else tag or "tiab"
        if name.partition(":")[0] in HEADINGS:
            return self._notes.gone(written, "a heading; write its words, and those of the headings below it")
        columns = FIELDS.get(name)
        if columns is None:
            return self._notes.gone(written, f"there is no column for [{tag}]")
        if name in WIDER:
            self._notes.add(f"[{tag}] is title and abstract here, without headings and other fields")
        if name in ANY_AUTHOR:
            self._notes.add(f"{written} is any author here, which finds more")
        is_name = not set(columns) <= set(TEXT)
        term = spelled(words, written, self._notes) if is_name else self._text_of(words, is_phrase, proximity, written)
        return in_columns(term, columns, self._notes)

    def _text_of(self, words: Sequence[str], is_phrase: bool, proximity: re.Match[str] | None, written: str) -> Term:
        """Words in title and abstract: a phrase, all words, or words near each other."""
        if proximity and len(words) > 1:
            if any("*" in word for word in words):
                return self._notes.gone(written, "stars in a proximity search, which PubMed has not either")
            distance = int(proximity["distance"])
            if len(words) == 2:
                return NearTexts((words[0],), (words[1],), distance)
            self._notes.add(f"{written} is read as each two of its words near each other, which finds a little more")
            return combined("AND", [NearTexts((one,), (other,), distance + len(words) - 2) for one, other in combinations(words, 2)])
        if is_phrase:
            return self._spelled(words, written)
        self._notes.add(f"{written} is read as words that must all occur; PubMed takes it for a phrase if it knows it as one")
        spoken = [word for word in words if re.search(r"[^\W_]", word)]
        return combined("AND", [self._spelled([word], written) for word in spoken]) if spoken else self._spelled(words, written)

    def _spelled(self, words: Sequence[str], written: str) -> AnyText | UnavailableText:
        if any(re.search(r"[?#$]", word) for word in words):
            words = [re.sub(r"[?#$]", " ", word) for word in words]  # PubMed treats these signs as blanks
            words = " ".join(words).split()
        return spelled([word.rstrip(".,;:") or word for word in words], written, self._notes)

    def _dates(self, text: str, written: str) -> Term:
        first, colon, last = text.partition(":")
        dates = [DATE.fullmatch(part) for part in ((first, last) if colon else (first,))]
        if None in dates:
            return self._notes.gone(written, "neither a date nor from one to another")
        begins, ends = dates[0], dates[-1]
        assert begins is not None
        assert ends is not None
        if (begins["day"] or "") not in FIRST_DAYS or (ends["day"] or "") not in LAST_DAYS or (not colon and begins["day"]):
            self._notes.add(f"{written} is read as whole years, which finds more")
        if not colon:
            return Years(begins["year"])
        return Years(f"{begins['year']}-{'' if ends['year'] == END else ends['year']}")

    def _refused(self, what: str) -> InvalidRequest:
        return self._notes.refused(what, self._text)
