"""Literal search in texts: phrases, truncated words, and words near each other.

Query and texts are folded as terms are (case, accents, Greek letters, LaTeX), but not stemmed, and keep their stop words. In a phrase,
blanks and hyphens are equal, and punctuation beside them in a text is skipped: "T cell" matches "T-cell," and "(HIV/T cell)". Every other
typed character must match: "C++", "N=4". A phrase begins and ends with whole words and numbers: "p = 0" does not match "p = 0.05". A star
truncates a word of at least two letters: "neural network*". A name with a Greek letter matches any spelling of the letter. In scripts
without blanks, a phrase may begin and end inside a longer text.

A plain ASCII text without LaTeX folds to itself except for case. So Arrow's regular expressions decide most texts, and Python's only the
others.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...base.characters import APOSTROPHES, QUOTES
from ...base.once import once
from ...base.types import Mask
from ...matching.lexical import greek
from ...matching.lexical.words import SEAM, UNSPACED
from ...papers.folding import BEYOND_ASCII, fold
from .demands import Demand, Near

FOLDS_OTHERWISE = r"[^\x00-\x7f]|[\\$]"
"""Matches every text that folding changes in more than case."""
PIECE = re.compile(r"(?P<gap>[\s-]+)|(?P<word>[^\W_]+)(?P<star>(?<=[^\W_]{2})\*(?=\s|$))?|(?P<sign>.)", re.DOTALL)
WORD = re.compile(r"[^\W_]+")
SIGNS = str.maketrans(dict.fromkeys(QUOTES, '"') | dict.fromkeys(APOSTROPHES, "'") | dict.fromkeys("—―", "-"))
"""Signs with several spellings."""
_PUNCTUATION = r".,;:!?()\[\]'\""
GAP = rf"[{_PUNCTUATION}]*[\s/-][{_PUNCTUATION}\s/-]*"
"""Expression for a typed blank."""
STAR = r"[^\W_]*\*?"
"""Expression for a typed star. A literal star also matches, as in RRT*."""

AROUND = ".,;:!?([])"
"""Punctuation that does not belong to the word beside it."""
KERNEL_PIECES = 20
"""Most pieces of a phrase in Arrow's expression. A longer phrase would exceed its memory limit."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Edges:
    """Expressions for the edges of a word and of a number."""

    before_word: str
    before_number: str
    after_word: str
    after_number: str


LOOKING = _Edges(r"(?<![^\W_])", r"(?<![^\W_])(?<!\d\.)", r"(?![^\W_])", r"(?![^\W_]|\.\d)")
CONSUMING = _Edges(r"(?:^|[\W_])", r"(?:^|[^\w.]|_|(?:^|\D)\.)", r"(?:$|[\W_])", r"(?:$|[^\w.]|_|\.(?:$|\D))")
"""The same for Arrow, whose expressions cannot look around."""


class Sought(Protocol):
    """A text to search for."""

    def words(self, form: int, /) -> Sequence[str]:
        """Folded words that every matching text contains, limited to words that the analysis of this form always extracts."""

    @property
    def kernels(self) -> Sequence[str]:
        """Arrow expressions, ignoring case, that every matching plain text matches."""

    @property
    def needs_look(self) -> bool:
        """Whether a plain text may match the kernels without matching."""

    def is_in(self, text: str) -> bool:
        """Whether a folded text matches."""


@dataclass(frozen=True)
class Phrase:
    """Consecutive pieces of a folded text, as `PIECE` finds them."""

    pieces: tuple[re.Match[str], ...]

    def __bool__(self) -> bool:
        return bool(self.pieces)

    def words(self, form: int, /) -> Sequence[str]:
        """See `Sought`."""
        # a number may be part of another number in the text: 5 in 2.5
        return [
            word
            for place, piece in enumerate(self.pieces)
            if (word := piece["word"]) and not piece["star"] and not word[0].isdecimal() and self._is_cut_out(place, word, form)
        ]

    def _is_cut_out(self, place: int, word: str, form: int) -> bool:
        if form < 4:
            return not UNSPACED.search(word) and not any(_is_loose(self.pieces, near) for near in (place - 1, place + 1))
        return _written(self.pieces, place) == word

    @once
    def kernels(self) -> Sequence[str]:
        """See `Sought`."""
        return [_expression(self.pieces[:KERNEL_PIECES], CONSUMING)]

    @property
    def needs_look(self) -> bool:
        """See `Sought`."""
        return len(self.pieces) > KERNEL_PIECES

    @once
    def _literals(self) -> set[str]:
        """Strings that every matching text contains, for a fast first test."""
        return {
            written
            for place, piece in enumerate(self.pieces)
            if not piece["gap"] and (written := _written(self.pieces, place)) in (piece["word"], piece["sign"])
        }

    @once
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(f"(?=({_expression(self.pieces, LOOKING)}))")  # lookahead, since matches may overlap

    def is_in(self, text: str) -> bool:
        """See `Sought`."""
        return all(map(text.__contains__, self._literals)) and self._compiled.search(text) is not None

    def spans(self, text: str) -> list[Span]:
        """Matches in a folded text, ascending."""
        has_literals = all(map(text.__contains__, self._literals))
        return [match.span(1) for match in self._compiled.finditer(text)] if has_literals else []

    @property
    def size(self) -> int:
        """Number of words."""
        return sum(piece["word"] is not None for piece in self.pieces)

    def parts(self) -> Iterator[Phrase]:
        """The phrases between its blanks."""
        pieces: list[re.Match[str]] = []
        for piece in self.pieces:
            if piece["gap"]:
                yield Phrase(tuple(pieces))
                pieces = []
            else:
                pieces.append(piece)
        yield Phrase(tuple(pieces))


def _expression(pieces: Sequence[re.Match[str]], edges: _Edges) -> str:
    """Expression that matches pieces in a text."""
    first, last = pieces[0]["word"], pieces[-1]["word"]
    before = (edges.before_number if first[0].isdecimal() else edges.before_word) if first and not UNSPACED.match(first) else ""
    is_open = last and (pieces[-1]["star"] or UNSPACED.match(last[-1]))
    after = (edges.after_number if last[-1].isdecimal() else edges.after_word) if last and not is_open else ""
    return before + "".join(_as_expression(pieces, place) for place in range(len(pieces))) + after


def _as_expression(pieces: Sequence[re.Match[str]], place: int) -> str:
    piece = pieces[place]
    if piece["gap"]:
        return f"(?:{GAP})?" if _is_loose(pieces, place) else GAP
    written = _written(pieces, place)
    return (re.escape(written) if written in (piece["word"], piece["sign"]) else written) + STAR * bool(piece["star"])


def _is_loose(pieces: Sequence[re.Match[str]], place: int) -> bool:
    """Whether a gap in a phrase may be missing from a text: before a Greek letter and a number after it, and beside scripts without
    blanks."""
    if not 0 < place < len(pieces) - 1 or not pieces[place]["gap"]:
        return False
    before, after = pieces[place - 1]["word"] or " ", pieces[place + 1]["word"] or " "
    if after.isdecimal() and place + 3 < len(pieces):
        return pieces[place + 2]["gap"] is not None and greek.is_letter(pieces[place + 3]["word"] or "")
    return greek.is_letter(after) or bool(UNSPACED.match(after) or UNSPACED.match(before[-1]))


def _written(pieces: Sequence[re.Match[str]], place: int) -> str:
    """Expression for a word or sign of a phrase. A Greek letter matches in all its spellings."""
    word = pieces[place]["word"]
    if not word or not greek.is_letter(word):
        return word or pieces[place]["sign"]
    words = [piece["word"] or " " for piece in pieces[:place] if not piece["gap"]][-2:]
    before = "-".join(words) if words and words[-1].isdecimal() else words[-1] if words else ""
    return greek.pattern(before, word, f"(?:{GAP})?")


def phrase(text: str) -> Phrase:
    """Parse a typed phrase. The result is false if nothing in it can be searched for."""
    plain = greek.respelled(folded(text).strip(" \t\n\r\f\v-"))
    return Phrase(tuple(PIECE.finditer(plain)))


@dataclass(frozen=True)
class Either:
    """Any of several phrases, none of which terms can decide."""

    phrases: tuple[Phrase, ...]

    def words(self, _form: int, /) -> Sequence[str]:
        """See `Sought`."""
        return ()

    @once
    def kernels(self) -> Sequence[str]:
        """See `Sought`."""
        return ["|".join(f"(?:{kernel})" for phrase in self.phrases for kernel in phrase.kernels)]

    @property
    def needs_look(self) -> bool:
        """See `Sought`."""
        return any(phrase.needs_look for phrase in self.phrases)

    def is_in(self, text: str) -> bool:
        """See `Sought`."""
        return any(phrase.is_in(text) for phrase in self.phrases)


@dataclass(frozen=True)
class Loose:
    """A phrase whose words may stand apart and in another order, as in Lucene. It matches if each word occurs, and moving the words to
    their places in the phrase shifts no two of them by more than `slop` against each other. One word in between is a slop of 1, two swapped
    words a slop of 2."""

    phrase: Phrase
    slop: int

    def words(self, form: int, /) -> Sequence[str]:
        """See `Sought`."""
        return self.phrase.words(form)

    @once
    def _parts(self) -> list[Phrase]:
        return list(self.phrase.parts())

    @once
    def kernels(self) -> Sequence[str]:
        """See `Sought`."""
        return [kernel for part in self._parts for kernel in part.kernels]

    needs_look = True

    def is_in(self, text: str) -> bool:
        """See `Sought`."""
        starts = _word_starts(text)
        moves: list[list[int]] = []
        places: list[list[int]] = []
        offset = 0
        for part in self._parts:
            places.append([start for start, _ in part.spans(text)])
            moves.append([bisect_left(starts, start) - offset for start in places[-1]])
            offset += part.size
        for first in sorted({move for part in moves for move in part}):
            bounds = [(bisect_left(part, first), bisect_right(part, first + self.slop)) for part in moves]
            if _are_distinct([part[low:high] for part, (low, high) in zip(places, bounds, strict=True)]):
                return True
        return False


@dataclass(frozen=True)
class Nearby:
    """One phrase of each of two groups, in either order, with at most `distance` words between."""

    left: tuple[Phrase, ...]
    right: tuple[Phrase, ...]
    distance: int

    def words(self, form: int, /) -> Sequence[str]:
        """See `Sought`."""
        return [word for side in (self.left, self.right) if len(side) == 1 for word in side[0].words(form)]

    @once
    def kernels(self) -> Sequence[str]:
        """See `Sought`."""
        return ["|".join(f"(?:{kernel})" for part in side for kernel in part.kernels) for side in (self.left, self.right)]

    needs_look = True

    def is_in(self, text: str) -> bool:
        """See `Sought`."""
        starts = _word_starts(text)
        left, right = (sorted({span for part in side for span in part.spans(text)}) for side in (self.left, self.right))
        return self._follows(left, right, starts) or self._follows(right, left, starts)

    def _follows(self, spans: Sequence[Span], others: Sequence[Span], starts: Sequence[int]) -> bool:
        """Whether one of the other spans starts close enough after one of the spans."""
        for _, end in spans:
            place = bisect_left(others, (end, 0))
            if place < len(others) and bisect_left(starts, others[place][0]) - bisect_left(starts, end) <= self.distance:
                return True
        return False


def sought(demand: Demand | Near) -> Sought | None:
    """The literal search that a demand needs. None for a single word of at least two letters in any form, and if nothing can be searched
    for."""
    if isinstance(demand, Near):
        sides = [tuple(filter(None, map(phrase, texts))) for texts in (demand.left, demand.right)]
        return Nearby(sides[0], sides[1], demand.distance) if all(sides) else None
    if not demand.exact:
        return exactly(demand.text)
    if (whole := phrase(demand.text)) and demand.slop is not None:
        return Loose(whole, demand.slop)
    return whole or None


def exactly(word: str) -> Sought | None:
    """The literal search for a typed word without surrounding punctuation. None for a single word of at least two letters, which has
    terms."""
    whole = phrase(word.strip(AROUND))
    is_plain = not whole or (whole.size == len(whole.pieces) == 1 and len(whole.pieces[0][0]) > 1)
    return None if is_plain else whole


def folded(text: str) -> str:
    """Fold a text for comparison with phrases."""
    text = fold(text if text.isascii() else greek.separated(text))
    return text if text.isascii() else SEAM.sub("-", BEYOND_ASCII.sub(lambda match: match[0].translate(SIGNS), text))


def having(sought: Sought, texts: pa.ChunkedArray) -> Mask:
    """Which texts match, (n,)."""
    matches = (pc.match_substring_regex(texts, f"(?i){kernel}") for kernel in sought.kernels)
    has: Mask = reduce(np.logical_and, (match.to_numpy() for match in matches))
    folds = pc.match_substring_regex(texts, FOLDS_OTHERWISE).to_numpy()
    places = np.flatnonzero(folds | has if sought.needs_look else folds)
    has = np.array(has)
    has[places] = [sought.is_in(folded(text)) for text in texts.take(pa.array(places)).to_pylist()]
    return has


def _word_starts(text: str) -> list[int]:
    return [match.start() for match in WORD.finditer(text)]


def _are_distinct(choices: Sequence[Sequence[int]]) -> bool:
    """Whether a different number can be chosen from each list (Kuhn's algorithm)."""
    owners: dict[int, int] = {}

    def finds(chooser: int, tried: set[int]) -> bool:
        for number in choices[chooser]:
            if number not in tried:
                tried.add(number)
                if number not in owners or finds(owners[number], tried):
                    owners[number] = chooser
                    return True
        return False

    return all(finds(chooser, set()) for chooser in range(len(choices)))
