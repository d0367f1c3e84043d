"""The lines of a page in the order in which they are read, column by column.

A page is divided where a white stripe runs down it. Lines that cross the stripe, such as a title or a wide table's caption, divide the page
into bands, of which each is read by itself: the left column, then the right one, each of which may be divided again.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from .glyphs import Atom, SeenPage, Stretch

DEEPEST = 3
"""How often a part of a page is divided again: columns are few."""
SIDE_BY_SIDE = (10, 10, 3)
"""Lines that each of two columns must have beside each other, by how often a part may still be divided: within a column, gaps between words
that come to stand below each other by chance are no columns."""
NARROWEST = 0.5
"""Sizes of the font that are between columns at least."""
MOST_STRIPES = 5
"""Stripes that are compared, the widest ones."""
LONG = 0.3
"""The share of a region's width above which a piece is a line of text, and no cell of a table."""
MIDDLE = (0.25, 0.75)
"""The part of a region's width in which it is divided."""
ABSTRACT = re.compile(r"(?:abstract|summary)(?:$|[.:—–-])", re.IGNORECASE)
CLEAR = 2.2
"""Sizes of the font above the head of an abstract, within which another column may begin."""
SAME_LINE = 0.45
"""Sizes of the font that pieces of one line may be higher or lower than each other."""


@dataclass(slots=True)
class ColumnLine:
    """A line of a column.

    Attributes:
        pieces: from the left; those of a table are several.
        left, right, base: in points from the page's upper left corner.
        edges: the left and right edge of its column.
    """

    page: int
    pieces: list[Stretch]
    left: float
    right: float
    base: float
    size: float
    edges: tuple[float, float]

    @property
    def is_bold(self) -> bool:
        """Whether all of it is."""
        return all(piece.is_bold for piece in self.pieces)

    @property
    def atoms(self) -> Iterator[Atom]:
        """Its atoms, of which the first of each further piece is apart."""
        for number, piece in enumerate(self.pieces):
            for place, atom in enumerate(piece.atoms):
                atom.is_apart = atom.is_apart or (number > 0 and place == 0 and self._gap(number) > 0.15 * atom.size)
                yield atom

    def _gap(self, number: int) -> float:
        return self.pieces[number].left - self.pieces[number - 1].right


def lines_of(page: SeenPage) -> list[ColumnLine]:
    """The lines of a page, in reading order. What is above an abstract is read first: names may stand in columns, too."""
    top = _top(page) if page.number == 1 else 0.0
    above = [piece for piece in page.pieces if piece.base < top]
    below = [piece for piece in page.pieces if piece.base >= top]
    return [*_column(page.number, above), *_in_order(page.number, below, DEEPEST)]


def _top(page: SeenPage) -> float:
    """How far down title, names and addresses stand; 0 if there is no head of an abstract that says so."""
    heads = (piece for piece in page.pieces if ABSTRACT.match("".join(atom.text for atom in piece.atoms)))
    return min((head.base - CLEAR * head.size for head in heads), default=0.0)


def rows_of(pieces: Sequence[Stretch]) -> list[list[Stretch]]:
    """Pieces that stand on one base line together, from the top of the page, each row from the left."""
    rows: list[list[Stretch]] = []
    for piece in sorted(pieces, key=lambda piece: piece.base):
        near = next((row for row in reversed(rows[-4:]) if _is_in_row(row, piece)), None)
        if near is None:
            rows.append([piece])
        else:
            near.append(piece)
    return [sorted(row, key=lambda piece: piece.left) for row in rows]


def _is_in_row(row: list[Stretch], piece: Stretch) -> bool:
    """Whether a piece belongs to a row: on its base line, or a little off it beside what is larger, as an exponent is."""
    main = max(row, key=lambda other: other.size * (other.right - other.left))
    size = max(piece.size, main.size)
    distance = abs(piece.base - main.base)
    if distance <= 0.15 * size:
        return True
    if distance > SAME_LINE * size:
        return False
    return not any(piece.left < other.right - 1 and other.left < piece.right - 1 for other in row)


def _in_order(number: int, pieces: Sequence[Stretch], depth: int) -> Iterator[ColumnLine]:
    stripe = _stripe(pieces, SIDE_BY_SIDE[depth - 1]) if depth else None
    if stripe is None:
        yield from _column(number, pieces)
        return
    for is_divided, band in _bands(pieces, stripe, SIDE_BY_SIDE[depth - 1]):
        if is_divided:
            yield from _in_order(number, [piece for piece in band if piece.right <= stripe], depth - 1)
            yield from _in_order(number, [piece for piece in band if piece.right > stripe], depth - 1)
        else:  # it may be divided elsewhere, as text below a table is
            yield from _in_order(number, band, depth - 1)


def _column(number: int, pieces: Sequence[Stretch]) -> Iterator[ColumnLine]:
    rows = rows_of(pieces)
    if not rows:
        return
    edges = (_usual([row[0].left for row in rows], 0.25), _usual([max(piece.right for piece in row) for row in rows], 0.75))
    for row in rows:
        main = max(row, key=lambda piece: piece.right - piece.left)
        yield ColumnLine(number, row, row[0].left, max(piece.right for piece in row), main.base, main.size, edges)


def _usual(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def _stripe(pieces: Sequence[Stretch], fewest_lines: int) -> float | None:
    """The middle of the stripe that divides the most lines, of those that few pieces cross; None if there are no columns."""
    wide = [piece for piece in pieces if piece.right - piece.left > 2 * piece.size]
    if len(wide) < 2 * fewest_lines:
        return None
    left, right = min(piece.left for piece in wide), max(piece.right for piece in wide)
    first, last = (int(left + share * (right - left)) for share in MIDDLE)
    starts, ends = sorted(piece.left + 1 for piece in wide), sorted(piece.right - 1 for piece in wide)
    counts = [bisect_left(starts, x) - bisect_left(ends, x) for x in range(first, last + 1)]
    narrowest = NARROWEST * _usual([piece.size for piece in wide], 0.5)
    few = min(counts) + 2 + len(wide) // 25
    middles = [first + middle for most in (few, len(wide) // 5) for middle in _low_middles(counts, most, narrowest)]
    if not middles:
        return None
    scores = [_divided(pieces, middle, fewest_lines, LONG * (right - left)) for middle in middles]
    best = max(range(len(middles)), key=lambda place: (*scores[place], -place))
    return middles[best] if any(scores[best]) else None


def _low_middles(counts: Sequence[int], most: int, narrowest: float) -> Iterator[float]:
    """The middles of the widest stripes that at most so many pieces cross."""
    stretches = [list(group) for is_low, group in groupby(range(len(counts)), key=lambda place: counts[place] <= most) if is_low]
    for stretch in sorted((stretch for stretch in stretches if len(stretch) >= narrowest), key=len)[-MOST_STRIPES:]:
        yield (stretch[0] + stretch[-1]) / 2


def _divided(pieces: Sequence[Stretch], stripe: float, fewest_lines: int, long: float) -> tuple[int, int]:
    """How many pieces a stripe divides that are lines of text and no cells, and how many in all."""
    bands = [band for is_divided, band in _bands(pieces, stripe, fewest_lines) if is_divided]
    return sum(piece.right - piece.left >= long for band in bands for piece in band), sum(map(len, bands))


def _bands(pieces: Sequence[Stretch], stripe: float, fewest_lines: int) -> list[tuple[bool, list[Stretch]]]:
    """The bands of a region from the top: whether it is divided, and its pieces."""
    bands: list[tuple[bool, list[Stretch]]] = []
    for is_crossed, rows in groupby(rows_of(pieces), key=lambda row: any(piece.left < stripe < piece.right for piece in row)):
        band = [piece for row in rows for piece in row]
        is_divided = not is_crossed and _has_columns(band, stripe, fewest_lines)
        if bands and not is_divided and not bands[-1][0]:
            bands[-1][1].extend(band)
        else:
            bands.append((is_divided, band))
    return bands


def _has_columns(band: Sequence[Stretch], stripe: float, fewest_lines: int) -> bool:
    """Whether enough lines are on both sides."""
    left_bases = [piece.base for piece in band if piece.right <= stripe and piece.right - piece.left > 2 * piece.size]
    right_bases = [piece.base for piece in band if piece.left >= stripe and piece.right - piece.left > 2 * piece.size]
    return min(len(set(left_bases)), len(set(right_bases))) >= fewest_lines
