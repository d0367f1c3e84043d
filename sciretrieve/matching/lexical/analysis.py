"""How text becomes terms: folded, cut into words and compounds, without English stop words, as Snowball stems.

Scholarly text spells one thing in many ways, so before it is split: LaTeX becomes what it prints (`$\\alpha$` is alpha),
Greek letters their names, accented letters their plain ones, typographic dashes hyphens. A compound gives its parts and
itself without its joints: `IL-6` gives il and il6, `CRISPR/Cas9` crispr, cas9 and crisprcas9, so that each is found by
every spelling. docs/quality.md has the measurements.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import local
from typing import Any

import Stemmer

from ...once import once

WORD = re.compile(r"\d{1,3}(?:,\d{3}){1,6}+(?![\d,])|\d+(?:\.\d+)+|[^\W_]+(?:[-/_^][^\W_]+)*")
"""A number with its points, or words joined by hyphen, slash, underscore or caret.

No number has more than six groups of thousands: without this limit, backtracking would read a long list of digits and
commas again from each of them.
"""
JOINT = re.compile(r"[-/_^]")

# Lucene's English stop words, the usual short list of BM25 baselines
_STOP = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
"""
STOPWORDS = frozenset(_STOP.split())

_STYLES = r"text\w*|math\w+|emph|it|bf|rm|em|sl|sc|tt|cal|left|right|over|frac|sqrt|hat|tilde|bar|vec|dot|label|ref|cite"
LATEX_STYLE = re.compile(rf"\\(?:{_STYLES})(?![A-Za-z])")
# an accent that is a letter is followed by a brace or a space: otherwise it is another command (\beta, \chi)
LATEX_ACCENT = re.compile(r"\\(?:[\"'`^~=.]\s*\{?|[uvHcdbkr](?:\s*\{|\s+))\\?([A-Za-z])\}?")
LATEX_MARKS = str.maketrans({"$": None, "{": None, "}": None})
LATEX_JOINED, LATEX_COMMAND = re.compile(r"(?<=[-/_^])\\"), re.compile(r"\\")
"""The backslash of a command after a joint, which keeps the joint (TNF-\\alpha), and of any other command."""
BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
DASHES = dict.fromkeys([0x2010, 0x2011, 0x2012, 0x2013, 0x2212], "-")


# letters that Unicode does not decompose
LETTERS = str.maketrans(
    {"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ß": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ı": "i"}
)


def _greek() -> dict[int, str]:
    """Greek letter -> its English name, for both cases."""
    names = {}
    for code in (*range(0x391, 0x3AA), *range(0x3B1, 0x3CA)):
        name = unicodedata.name(chr(code), "").split()[-1:]
        if name:
            names[code] = {"LAMDA": "lambda", "SIGMA": "sigma"}.get(name[0], name[0].lower())
    return names


GREEK = _greek()


class _Folded(dict[int, str]):
    """Character -> what it is in plain letters, looked up once per character.

    Character by character, since to normalise a text is to sort the combining marks that follow each other, which takes time that
    grows with the square of their number. Here they are left out.
    """

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKD", DASHES.get(code, chr(code)))
        plain = "".join(char for char in plain if not unicodedata.combining(char)).translate(GREEK).translate(LETTERS)
        self[code] = plain
        return plain


FOLDED = _Folded()


def fold(text: str) -> str:
    """A text in lower case, spelled in plain letters."""
    if "\\" in text or "$" in text:
        text = LATEX_ACCENT.sub(r"\1", text)
        text = LATEX_STYLE.sub(" ", text).translate(LATEX_MARKS)
        text = LATEX_COMMAND.sub(" ", LATEX_JOINED.sub("", text))
    if not text.isascii():
        text = BEYOND_ASCII.sub(lambda match: match[0].translate(FOLDED), text)  # of most texts, a few characters
    return text.lower()


class _Stemmers(local):
    """A separate stemmer for each thread: PyStemmer's must not be used by two at once."""

    def __init__(self, language: str) -> None:
        self.stemmer = Stemmer.Stemmer(language)


@dataclass(frozen=True)
class Analyzer:
    """Turns text into terms. An index's manifest records `spec`, and only an equal analyzer may read the index."""

    language: str = "english"
    spec: dict[str, Any] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        spec = {"form": 2, "pattern": WORD.pattern, "stopwords": "lucene-english", "stemmer": f"snowball-{self.language}"}
        object.__setattr__(self, "spec", spec)

    @once
    def _stemmers(self) -> _Stemmers:
        return _Stemmers(self.language)

    @staticmethod
    def words(text: str) -> Iterator[str]:
        """The words of `text`, in order, a compound after its parts; before stop words are removed and words stemmed."""
        for match in WORD.findall(fold(text)):
            if match.isalnum():
                yield match
            elif "," in match:
                yield match.replace(",", "")
            elif "." in match:
                yield match
            else:
                parts = JOINT.split(match)
                yield from parts
                yield "".join(parts)

    def term(self, word: str) -> str | None:
        """The term that stands for a word, or None for a stop word or a single character."""
        return None if len(word) < 2 or word in STOPWORDS else str(self._stemmers.stemmer.stemWord(word))

    def terms(self, text: str) -> list[str]:
        """The terms of `text`, in order, with repetitions."""
        return [term for word in self.words(text) if (term := self.term(word)) is not None]

    def spellings(self, text: str) -> list[list[set[str]]]:
        """For each word of `text` that is no stop word, the sets of terms of which a paper that has the word has one.

        A compound is its joined term, or, where no part is a single character, the terms of all its parts: IL-6 is il6 and not any il.
        """
        spellings = []
        for match in WORD.findall(fold(text)):
            *parts, joined = self.words(match)
            terms = {term for part in parts if (term := self.term(part)) is not None}
            ways = [{term}] if (term := self.term(joined)) is not None else []
            if terms and min(map(len, parts)) > 1:
                ways.append(terms)
            if ways:
                spellings.append(ways)
        return spellings
