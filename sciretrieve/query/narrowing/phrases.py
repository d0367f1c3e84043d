"""What is looked for in texts character by character: phrases, beginnings of words, and words near each other.

Both sides are folded as terms are (case, accents, Greek letters, LaTeX), but neither stemmed nor without stop words. In a phrase, blanks
and hyphens are the same, and in a text punctuation beside them is passed over: "T cell" is in "T-cell," and in "(HIV/T cell)". Everything
else that is typed must be there: "C++", "N=4". A phrase begins and ends with whole words, and numbers: "p = 0" is not in "p = 0.05".
A star ends a word of two letters or more that may go on: "neural network*". A name with a Greek letter is there however it is spelled, and
in scripts without blanks a phrase may begin and end within a longer text.

A text in plain ASCII without LaTeX is its own folded form but for case, so Arrow's regular expressions tell most texts apart, and
Python's are asked only about the others.
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
"""What there is in every text that folding changes but for case."""
PIECE = re.compile(r"(?P<gap>[\s-]+)|(?P<word>[^\W_]+)(?P<star>(?<=[^\W_]{2})\*(?=\s|$))?|(?P<sign>.)", re.DOTALL)
WORD = re.compile(r"[^\W_]+")
SIGNS = str.maketrans(dict.fromkeys(QUOTES, '"') | dict.fromkeys(APOSTROPHES, "'") | dict.fromkeys("—―", "-"))
"""Signs that are written in several ways."""
_PUNCTUATION = r".,;:!?()\[\]'\""
GAP = rf"[{_PUNCTUATION}]*[\s/-][{_PUNCTUATION}\s/-]*"
"""What a typed blank stands for."""
STAR = r"[^\W_]*\*?"
"""What a typed star stands for: RRT* is itself, too."""

AROUND = ".,;:!?([])"
"""Punctuation that is not of a word beside it."""
KERNEL_PIECES = 20
"""Pieces of a phrase that Arrow looks for; of longer ones the compiled form would take more memory than it allows."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Edges:
    """What stands at the edges of a word and of a number, as expressions."""

    before_word: str
    before_number: str
    after_word: str
    after_number: str


LOOKING = _Edges(r"(?<![^\W_])", r"(?<![^\W_])(?<!\d\.)", r"(?![^\W_])", r"(?![^\W_]|\.\d)")
CONSUMING = _Edges(r"(?:^|[\W_])", r"(?:^|[^\w.]|_|(?:^|\D)\.)", r"(?:$|[\W_])", r"(?:$|[^\w.]|_|\.(?:$|\D))")
"""The same for Arrow, whose expressions cannot look around."""


class Sought(Protocol):
    """Something that a text has or has not."""

    def words(self, form: int, /) -> Sequence[str]:
        """Folded words that are in every text that has it: only those that an index with this form of analysis cuts out of any text."""

    @property
    def kernels(self) -> Sequence[str]:
        """Expressions of Arrow, ignoring case, that a plain text that has it matches."""

    @property
    def needs_look(self) -> bool:
        """Whether a plain text may match these and not have it."""

    def is_in(self, text: str) -> bool:
        """Whether a folded text has it."""


@dataclass(frozen=True)
class Phrase:
    """Pieces of a folded text that follow each other, as `PIECE` finds them."""

    pieces: tuple[re.Match[str], ...]

    def __bool__(self) -> bool:
        return bool(self.pieces)

    def words(self, form: int, /) -> Sequence[str]:
        """See `Sought`."""
        # a number may be part of another in the text: 5 of 2.5
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
        """What is in every text that has it, and found at once."""
        return {
            written
            for place, piece in enumerate(self.pieces)
            if not piece["gap"] and (written := _written(self.pieces, place)) in (piece["word"], piece["sign"])
        }

    @once
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(f"(?=({_expression(self.pieces, LOOKING)}))")  # ahead, since two places may overlap

    def is_in(self, text: str) -> bool:
        """See `Sought`."""
        return all(map(text.__contains__, self._literals)) and self._compiled.search(text) is not None

    def spans(self, text: str) -> list[Span]:
        """Where a folded text has it, rising."""
        has_literals = all(map(text.__contains__, self._literals))
        return [match.span(1) for match in self._compiled.finditer(text)] if has_literals else []

    @property
    def size(self) -> int:
        """How many words it has."""
        return sum(piece["word"] is not None for piece in self.pieces)

    def parts(self) -> Iterator[Phrase]:
        """What stands between its blanks."""
        pieces: list[re.Match[str]] = []
        for piece in self.pieces:
            if piece["gap"]:
                yield Phrase(tuple(pieces))
                pieces = []
            else:
                pieces.append(piece)
        yield Phrase(tuple(pieces))


def _expression(pieces: Sequence[re.Match[str]], edges: _Edges) -> str:
    """What matches pieces in a text."""
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
    """Whether a gap of a phrase need not be in a text: before a Greek letter, and the number that it follows; beside scripts without
    blanks."""
    if not 0 < place < len(pieces) - 1 or not pieces[place]["gap"]:
        return False
    before, after = pieces[place - 1]["word"] or " ", pieces[place + 1]["word"] or " "
    if after.isdecimal() and place + 3 < len(pieces):
        return pieces[place + 2]["gap"] is not None and greek.is_letter(pieces[place + 3]["word"] or "")
    return greek.is_letter(after) or bool(UNSPACED.match(after) or UNSPACED.match(before[-1]))


def _written(pieces: Sequence[re.Match[str]], place: int) -> str:
    """A word or sign of a phrase; an expression for a Greek letter that may be spelled in several ways."""
    word = pieces[place]["word"]
    if not word or not greek.is_letter(word):
        return word or pieces[place]["sign"]
    words = [piece["word"] or " " for piece in pieces[:place] if not piece["gap"]][-2:]
    before = "-".join(words) if words and words[-1].isdecimal() else words[-1] if words else ""
    return greek.pattern(before, word, f"(?:{GAP})?")


def phrase(text: str) -> Phrase:
    """A typed phrase; false where nothing of it can be looked for."""
    plain = greek.respelled(folded(text).strip(" \t\n\r\f\v-"))
    return Phrase(tuple(PIECE.finditer(plain)))


@dataclass(frozen=True)
class Either:
    """One of some phrases, of which no paper can be told by its terms."""

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
    """A phrase whose words may stand apart and in another order: some occurrence of each, such that moving each to its place in the
    phrase takes no two of them further apart than `slop`, as in Lucene. One word between two is a slop of 1, two in turn of 2."""

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
    """One of some phrases and one of others, in either order, with at most `distance` words between them."""

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
        """Whether one of the others comes near enough behind one of the spans."""
        for _, end in spans:
            place = bisect_left(others, (end, 0))
            if place < len(others) and bisect_left(starts, others[place][0]) - bisect_left(starts, end) <= self.distance:
                return True
        return False


def sought(demand: Demand | Near) -> Sought | None:
    """What a demand looks for in texts; None for one word of two letters or more, in any form, and where nothing can be looked for."""
    if isinstance(demand, Near):
        sides = [tuple(filter(None, map(phrase, texts))) for texts in (demand.left, demand.right)]
        return Nearby(sides[0], sides[1], demand.distance) if all(sides) else None
    if not demand.exact:
        return exactly(demand.text)
    if (whole := phrase(demand.text)) and demand.slop is not None:
        return Loose(whole, demand.slop)
    return whole or None


def exactly(word: str) -> Sought | None:
    """What a typed word looks for, without the punctuation around it; None for one word of two letters or more, which has terms."""
    whole = phrase(word.strip(AROUND))
    is_plain = not whole or (whole.size == len(whole.pieces) == 1 and len(whole.pieces[0][0]) > 1)
    return None if is_plain else whole


def folded(text: str) -> str:
    """A text as phrases are compared with it."""
    text = fold(text if text.isascii() else greek.separated(text))
    return text if text.isascii() else SEAM.sub("-", BEYOND_ASCII.sub(lambda match: match[0].translate(SIGNS), text))


def having(sought: Sought, texts: pa.ChunkedArray) -> Mask:
    """Which texts have what is sought, (n,)."""
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
    """Whether one number can be chosen from each list such that all are distinct (Kuhn's algorithm)."""
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
