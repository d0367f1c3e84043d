"""A PDF's lines as rows of text: what is usual in the document, and which rows are heads, or belong to tables."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .columns import ColumnLine
from .heads import REFERENCES, LineLook, bare, follows, is_head, is_known, number_of

CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|tab(?:le|\.)?|algorithm|listing|scheme|chart|plate|exhibit|box)\s*(?:[A-Z]?\d{1,3}(?:\.\d{1,2})?[a-z]?|[IVX]{1,5}|[A-Z])"
    r"(?P<mark>\s*[.:|—–-]|\s*$|\s+(?=[A-Z]))",
    re.IGNORECASE,
)
TERMINAL = re.compile(r"[.!?。！？؟।:][\"'”’»)\]]*$")
"""How a whole paragraph ends."""
SMALL, LARGE = 0.945, 1.06
"""Sizes, as shares of the text's, below and above which a line is no running text."""
TABLE_GAP = 2.0
"""Sizes of the font between cells of a table."""
WORDS_OF_CELL = 3
"""Words of a cell, at most where there are few: a line of text has gaps, too, where signs of formulas have no letters."""
BULLET = re.compile(r"[(\[]?(?:\d{1,2}(?:\.\d{1,2}){0,3}|[a-zA-Z]|[ivx]{1,4})[.)\]:]?|[•·*–—-]")
"""What stands before an item of a list, or a head."""
FIGURES = re.compile(r"\d+(?:[.,:]\d+)*%?")
MOST_DIGITS = 0.4
"""The share of a line's characters that are digits, above which it is one of a table."""
NARROW = 0.55
"""The share of a column's width that the labels of a figure take at most."""


@dataclass(slots=True)
class TextRow:
    """A line with what is known of it beyond its place: its text, the distance to the line above in its column, None for the first, the
    distance to the one below, and whether it is a head or a row of a table."""

    line: ColumnLine
    text: str
    above: float | None = None
    below: float | None = None
    is_head: bool = False
    is_tabular: bool = False

    @property
    def width(self) -> float:
        """The share of its column's width that it takes."""
        return (self.line.right - self.line.left) / max(self.line.edges[1] - self.line.edges[0], 1.0)


class Usual:
    """What most lines of a document are: the size of their font, and the distance between two, as a share of the size."""

    def __init__(self, rows: Sequence[TextRow]) -> None:
        sizes: Counter[float] = Counter()
        for row in rows:
            sizes[round(2 * row.line.size) / 2] += len(row.text)
        self.size = sizes.most_common(1)[0][0]
        distances: list[float] = []
        for row, following in pairwise(rows):
            distance = _distance(row.line, following.line)
            if distance is not None:
                row.below = following.above = distance
                if abs(row.line.size - self.size) < 1 and distance < 2.5 * self.size:
                    distances.append(distance)
        bold = sum(len(row.text) for row in rows if row.line.is_bold)
        self.is_bold = bold > 0.5 * sum(len(row.text) for row in rows)
        self.leading = (statistics.median(distances) if distances else 1.2 * self.size) / self.size

    def lines(self, distance: float | None, size: float) -> float:
        """A distance in usual ones of lines in this size; of what is at an end of its column, a large one."""
        return distance / (self.leading * size) if distance is not None else 9.0

    def title(self, rows: Sequence[TextRow]) -> list[TextRow]:
        """The lines of the title: those at the top of the first page in its largest letters."""
        page = rows[0].line.page
        candidates: list[TextRow] = []
        for row in rows:
            if row.line.page != page or len(candidates) > 40 or REFERENCES.fullmatch(bare(row.text)):
                break
            if bare(row.text).lower() in ("abstract", "summary", "introduction"):
                break
            candidates.append(row)
        wordy = [row for row in candidates if sum(map(str.isalpha, row.text)) > 5 and "@" not in row.text]
        if not wordy:
            return []
        largest = max(row.line.size for row in wordy)
        distance = 2.2
        if largest < 1.04 * self.size:  # one size for all: the first lines, to a gap
            largest, distance = wordy[0].line.size, 1.25
        first = next(place for place, row in enumerate(candidates) if row in wordy and row.line.size > 0.93 * largest)
        rows_of_title = [candidates[first]]
        largest = candidates[first].line.size
        for row in candidates[first + 1 : first + 5]:
            near = row.above is not None and row.above < distance * self.leading * row.line.size
            if not near or abs(row.line.size - largest) > 0.04 * largest or row.line.is_bold != rows_of_title[0].line.is_bold:
                break
            rows_of_title.append(row)
        return rows_of_title

    def look(self, rows: Sequence[TextRow]) -> None:
        """Find the heads, and the rows of tables."""
        for row in rows:
            row.is_tabular = _has_cells(row) or _has_figures(row)
        for before, row, following in zip([None, *rows], rows, [*rows[1:], None], strict=False):
            is_alone = not any(near is not None and near.is_tabular for near in (before, following))
            if row.is_tabular and is_alone and row.width > NARROW and len(row.text.split()) > 3:
                row.is_tabular = False  # a line of text with a formula, whose signs have no letters
            if row.is_tabular:
                continue
            above, below = self.lines(row.above, row.line.size), self.lines(row.below, row.line.size)
            look = LineLook(row.line.is_bold and not self.is_bold, row.line.size > LARGE * self.size, above, below, row.width)
            row.is_head = not CAPTION.match(row.text) and is_head(row.text, look)
        for before, row, following in zip([None, *rows], rows, [*rows[1:], None], strict=False):
            if row.is_head and not number_of(row.text) and not is_known(row.text):
                near = [other for other, gap in ((before, row.above), (following, row.below)) if other is not None and gap is not None]
                row.is_head = not any(other.is_tabular for other in near)


def without_items(rows: Sequence[TextRow]) -> None:
    """Of numbered heads keep those of the longest series: the others are items of lists."""
    heads = [(row, number) for row in rows if row.is_head and (number := number_of(row.text))]
    lengths: list[int] = []
    befores: list[int] = []
    for place, (_, number) in enumerate(heads):
        earlier = [other for other in range(place) if befores[other] >= -1 and follows(number, heads[other][1])]
        best = max(earlier, key=lambda other: (lengths[other], other), default=-1)
        starts = follows(number, [])
        lengths.append(lengths[best] + 1 if best >= 0 else int(starts))
        befores.append(best if best >= 0 else -1 if starts else -2)
    kept = set()
    place = max(range(len(heads)), key=lambda place: lengths[place], default=-1)
    while place >= 0:
        kept.add(place)
        place = befores[place]
    for place, (row, _) in enumerate(heads):
        row.is_head = place in kept


def _distance(line: ColumnLine, following: ColumnLine) -> float | None:
    """The distance between two lines of one column; None if the second begins a column."""
    if line.page != following.page or following.base <= line.base or following.left > line.right or line.left > following.right:
        return None
    return following.base - line.base


def _has_cells(row: TextRow) -> bool:
    """Whether a row has wide gaps, as those of a table have."""
    line = row.line
    cells = line.pieces[1:] if BULLET.fullmatch("".join(atom.text for atom in line.pieces[0].atoms)) else line.pieces
    gaps = sum(right.left - left.right > TABLE_GAP * line.size for left, right in pairwise(cells))
    words = len(row.text.split())
    return gaps > 1 + (words > WORDS_OF_CELL * (gaps + 1)) or (gaps == 1 and words < 9)


def _has_figures(row: TextRow) -> bool:
    """Whether a row is mostly numbers."""
    words = row.text.split()
    digits = sum(map(len, FIGURES.findall(row.text)))
    return len(words) > 2 and digits > MOST_DIGITS * sum(map(len, words)) and not TERMINAL.search(row.text)
