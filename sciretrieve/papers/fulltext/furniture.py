"""What a PDF's pages have around the text: running heads, page numbers, footers, stamps of publishers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from .columns import rows_of
from .glyphs import SeenPage, Stretch

OUTER = 3
"""Rows at the top and at the bottom of a page that may be such."""
EDGE = 0.13
"""The share of a page's height at its top and bottom, within which stamps stand."""
SAME_PLACE = 12.0
"""Points by which a running head may be higher or lower on the next page."""
ALIKE = 0.8
"""How alike running heads are that were recognised letter by letter from pictures."""
FEWEST_LETTERS, FEWEST_LETTERS_OF_TITLE = 4, 10
ROWS_OF_TITLE = 8
"""Rows at the top of the first page among which the title is."""
NEIGHBOURS = (1, 2)
"""Pages further on that have the same running head: the next, or the one after it, where left and right pages differ."""
NUMBER = re.compile(r"[\W_]*(?:page\s*)?(?:\d{1,5}|[ivxl]{1,6}|[A-Z]-?\d{1,4})(?:\s*(?:of|/)\s*\d{1,5})?[\W_]*", re.IGNORECASE)
STAMP = re.compile(
    r"^\W*(?:proceedings of|proc\. of|in proceedings|©|\(c\) ?(?:19|20)\d\d|copyright\b|c (?:19|20)\d\d |published by|permission to |"
    r"this work is licensed|licen[cs]ed under|arxiv:|preprint|accepted |received |under review|downloaded from|doi:|https?://(?:dx\.)?doi)|"
    r"(?:©|copyright|\bc) ?(?:19|20)\d\d|all rights reserved|,? pages? \d+\s*[-–—]\s*\d+|\bpp\. ?\d+\s*[-–—]\s*\d+",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Row:
    pieces: list[Stretch]
    base: float
    size: float
    text: str
    letters: str


def without_furniture(pages: Sequence[SeenPage]) -> tuple[list[SeenPage], str]:
    """The pages without what is around the text, and what was taken off the first one."""
    rows = [[_row(pieces) for pieces in rows_of(page.pieces)] for page in pages]
    removed = [{*_repeated(rows, place), *_like_the_title(rows, place)} for place in range(len(pages))]
    for page, page_rows, numbers in zip(pages, rows, removed, strict=True):
        numbers |= set(_stamps(page, page_rows)) if page.number <= 2 else set()
        numbers |= set(_numbers(page_rows, numbers))
    kept = []
    for page, page_rows, numbers in zip(pages, rows, removed, strict=True):
        gone = {id(piece) for number in numbers for piece in page_rows[number].pieces}
        pieces = [piece for piece in page.pieces if id(piece) not in gone]
        kept.append(replace(page, pieces=pieces))
    first = " ".join(rows[0][number].text for number in sorted(removed[0])) if pages else ""
    return kept, first


def _row(pieces: list[Stretch]) -> _Row:
    text = " ".join("".join(" " * atom.is_apart + atom.text for atom in piece.atoms).strip() for piece in pieces)
    main = max(pieces, key=lambda piece: piece.right - piece.left)
    return _Row(pieces, main.base, main.size, text, "".join(char for char in text.lower() if char.isalpha()))


def _outer(rows: Sequence[_Row]) -> Iterator[tuple[int, bool]]:
    """The numbers of the rows at the top, and of those at the bottom."""
    yield from ((number, True) for number in range(min(OUTER, len(rows))))
    yield from ((number, False) for number in range(max(len(rows) - OUTER, 0), len(rows)))


def _repeated(rows: Sequence[Sequence[_Row]], place: int) -> Iterator[int]:
    """The numbers of a page's outer rows that a page near it has as well."""
    near = [rows[place + step] for distance in NEIGHBOURS for step in (-distance, distance) if 0 <= place + step < len(rows)]
    for number, is_top in _outer(rows[place]):
        row = rows[place][number]
        if len(row.letters) >= FEWEST_LETTERS and any(
            _is_same(row, other[candidate]) for other in near for candidate, at_top in _outer(other) if at_top == is_top
        ):
            yield number


def _like_the_title(rows: Sequence[Sequence[_Row]], place: int) -> Iterator[int]:
    """The number of a page's first row if it says what the first page has at its top, as the title: on some pages it does so but once."""
    if place and rows[place] and len(rows[place][0].letters) >= FEWEST_LETTERS_OF_TITLE:
        first = rows[place][0]
        if any(row.letters and _is_alike(first.letters, row.letters) for row in rows[0][:ROWS_OF_TITLE]):
            yield 0


def _is_same(row: _Row, other: _Row) -> bool:
    return abs(row.base - other.base) <= SAME_PLACE and _is_alike(row.letters, other.letters)


def _is_alike(letters: str, others: str) -> bool:
    if abs(len(letters) - len(others)) > (1 - ALIKE) * len(letters):
        return False
    return letters == others or SequenceMatcher(None, letters, others, autojunk=False).ratio() >= ALIKE


def _stamps(page: SeenPage, rows: Sequence[_Row]) -> Iterator[int]:
    """The rows of publishers at the edges of the first pages, and what is outside of them."""
    numbered = list(enumerate(rows))
    for inwards in (numbered, numbered[::-1]):
        edge = EDGE * page.height
        outer = [
            (number, row)
            for number, row in inwards[: 2 * OUTER]
            if (row.base < edge if inwards is numbered else row.base > page.height - edge)
        ]
        last = max((place for place, (_, row) in enumerate(outer) if STAMP.search(row.text)), default=-1)
        yield from (number for number, _ in outer[: last + 1])


def _numbers(rows: Sequence[_Row], removed: set[int]) -> Iterator[int]:
    """The outermost rows that are numbers of pages, and stand apart from the text."""
    left = [number for number in range(len(rows)) if number not in removed]
    for numbers in (left, left[::-1]):
        if len(numbers) > 1:
            row, inner = rows[numbers[0]], rows[numbers[1]]
            if NUMBER.fullmatch(row.text) and abs(row.base - inner.base) > 1.3 * inner.size:
                yield numbers[0]
