"""A draft: the sentences of a text that somebody is writing, where each stands in its source, and what is cited in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..sentences import sentence_ranges

Notation: TypeAlias = Literal["latex", "markdown"]
r"""How a draft cites: `\cite{key}` or `[@key]`."""
BREAK = re.compile(r"\n[^\S\n]*\n\s*")
BEFORE_MARK = re.compile(r"\s+([,.;:!?)])")
EMPTY = re.compile(r"[(\[]\s*(?:(?:see|cf\.|e\.g\.,?)\s*)?[,;\s]*[)\]]")
"""Brackets that held a citation alone."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A citation in a draft.

    Attributes:
        start, end: its characters in the source.
        keys: citation keys, as in `\\cite{a,b}`.
        names: works as they are written out: "Tillmann and Ney 2000". Both are empty for a number, such as [12].
    """

    start: int
    end: int
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence of a draft.

    Attributes:
        start, end: its characters in the source.
        line: the line on which it begins, from 1.
        text: what it says, without markup and citations.
        section: the head of its section; "" if there is none.
        paragraph: the number of its paragraph, from 0.
        mentions: its citations.
    """

    start: int
    end: int
    line: int
    text: str
    section: str
    paragraph: int
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Manuscript:
    """A text that somebody is writing: its source, how it cites, and its sentences in order."""

    source: str
    notation: Notation
    sentences: tuple[DraftSentence, ...]


class Masked:
    """The source of a draft while its markup is found.

    Attributes:
        text: the source.
        mentions: citations found so far.
        heads: (place, text) of the heads of sections found so far.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.mentions: list[Mention] = []
        self.heads: list[tuple[int, str]] = []
        self._shape, self._words = list(text), list(text)

    @property
    def shape(self) -> str:
        """The source with blanks for markup and capitals for citations and formulas: it has the same sentences, at the same places."""
        return "".join(self._shape)

    def blank(self, start: int, end: int, fill: str = " ") -> None:
        """Leave characters out. Line breaks as `fill` end the paragraph."""
        self._shape[start:end] = self._words[start:end] = [fill] * (end - start)

    def unmark(self, start: int, end: int) -> None:
        """Leave markup out of the shape alone: whoever reads the words understands it."""
        self._shape[start:end] = [" "] * (end - start)

    def stand_in(self, start: int, end: int) -> None:
        """Leave characters out, but keep that a sentence may begin with them."""
        self.blank(start, end)
        self._shape[start] = "X"

    def mention(self, mention: Mention) -> None:
        """Take a citation out of the words."""
        self.mentions.append(mention)
        self.stand_in(mention.start, mention.end)

    def head(self, start: int, end: int, text: str) -> None:
        """Take the head of a section out of the words."""
        self.heads.append((start, text))
        self.blank(start, end, "\n")

    def blank_all(self, pattern: re.Pattern[str], fill: str = " ") -> None:
        """Leave out all that matches in the shape as it is now."""
        for match in pattern.finditer(self.shape):
            self.blank(*match.span(), fill)

    def draft(self, notation: Notation, plain: Callable[[str], str] = str) -> Manuscript:
        """The draft; `plain` reads what markup is left in the words of a sentence."""
        shape, words = self.shape, "".join(self._words)
        heads, mentions = sorted(self.heads), sorted(self.mentions, key=lambda mention: mention.start)
        lines = [match.end() for match in re.finditer("\n", self.text)]
        places = [head for head, _ in heads]
        ranges = [
            (paragraph, start, end)
            for paragraph, (first, last) in enumerate(paragraphs(shape))
            for start, end in ((first + start, first + end) for start, end in sentence_ranges(shape[first:last]))
        ]
        of_sentence = _shared_out(mentions, ranges, words)
        sentences = []
        for (paragraph, start, end), own in zip(ranges, of_sentence, strict=True):
            text = EMPTY.sub(" ", " ".join(plain(words[start:end]).split()))
            text = BEFORE_MARK.sub(r"\1", " ".join(text.split()))
            section = heads[place - 1][1] if (place := bisect_right(places, start)) else ""
            if text or own:
                sentences.append(DraftSentence(start, end, bisect_right(lines, start) + 1, text, section, paragraph, tuple(own)))
        return Manuscript(self.text, notation, tuple(sentences))


def paragraphs(shape: str) -> list[tuple[int, int]]:
    """The ranges of characters between empty lines."""
    starts = [0, *(match.end() for match in BREAK.finditer(shape))]
    ends = [*(match.start() for match in BREAK.finditer(shape)), len(shape)]
    return list(zip(starts, ends, strict=True))


def _shared_out(mentions: Sequence[Mention], ranges: Sequence[tuple[int, int, int]], words: str) -> list[list[Mention]]:
    """The citations of each sentence. One that follows a full stop and precedes another sentence belongs to the sentence before it."""
    starts = [start for _, start, _ in ranges]
    of_sentence: list[list[Mention]] = [[] for _ in ranges]
    for mention in mentions:
        place = bisect_right(starts, mention.start) - 1
        if place < 0:
            continue
        paragraph, start, end = ranges[place]
        is_first = not words[start : mention.start].strip()
        follows = place > 0 and ranges[place - 1][0] == paragraph
        following = words[mention.end : end].lstrip()
        if is_first and follows and (not following or following[0].isupper()):
            place -= 1
        of_sentence[place].append(mention)
    return of_sentence
