"""The rows of a PDF in paragraphs of their kinds: heads, text, captions, tables, footnotes, references."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .document import Kind
from .heads import AFTER_REFERENCES, REFERENCES, RUN_IN, bare, level_of
from .rows import CAPTION, LARGE, NARROW, SMALL, TERMINAL, TextRow, Usual

INITIALS = re.compile(r"\b[A-Z]\.|\b(?:19|20)\d\d\b|,")
"""What names have, and no heads."""
LABELLED = re.compile(r"\s*(?:\[[\w+.,\- ]{1,24}\]|\d{1,3}[.)])\s*\S")
"""How an entry of a numbered list of references begins."""
NO_WORDS = re.compile(r"[\d.,:%()\s–-]+")
"""Numbers alone, as along the axes of a figure."""
INDENT = (0.6, 5.0)
"""Sizes of the font by which a paragraph's first line is indented."""


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together."""

    rows: list[TextRow]
    kind: Kind = "text"
    size: float = field(init=False)

    def __post_init__(self) -> None:
        self.size = statistics.median(row.line.size for row in self.rows)


def paragraphs_of(rows: Sequence[TextRow], usual: Usual) -> list[Paragraph]:
    """All rows but the head of the references, in paragraphs of their kinds."""
    return _in_tables(list(_each(rows, usual)), usual)


def _each(rows: Sequence[TextRow], usual: Usual) -> Iterator[Paragraph]:
    place = 0
    while place < len(rows):
        if not rows[place].is_head:
            paragraph = _paragraph(rows, place, usual)
            place += len(paragraph.rows)
            yield paragraph
            continue
        head_rows = _rows_of_head(rows, place, usual)
        place += len(head_rows)
        if not REFERENCES.fullmatch(bare(" ".join(row.text for row in head_rows))):
            yield Paragraph(head_rows, "head")
            continue
        count = _count_of_references(rows[place:])
        yield from (Paragraph(entry, "reference") for entry in _entries(rows[place : place + count], usual))
        place += count


def _in_tables(paragraphs: list[Paragraph], usual: Usual) -> list[Paragraph]:
    """The paragraphs, of which those in small print are of a table if a part of one, or a caption, is above or below them."""
    for numbers in (range(1, len(paragraphs)), range(len(paragraphs) - 2, -1, -1)):
        step = 1 if numbers.step > 0 else -1
        for number in numbers:
            own, near = paragraphs[number], paragraphs[number - step]
            is_near = near.kind in ("table", "caption") and near.rows[0].line.page == own.rows[0].line.page
            if own.kind == "text" and is_near and own.size < SMALL * usual.size and own.size < near.size * 1.05:
                own.kind = "table"
    return paragraphs


def _rows_of_head(rows: Sequence[TextRow], place: int, usual: Usual) -> list[TextRow]:
    """A head's lines, of which further ones look as the first does."""
    first = rows[place]
    head_rows = [first]
    for row in rows[place + 1 : place + 3]:
        is_near = row.above is not None and usual.lines(row.above, row.line.size) < 1.15
        looks_same = abs(row.line.size - first.line.size) < 0.3 and row.line.is_bold == first.line.is_bold
        stands_out = (first.line.is_bold and not usual.is_bold) or first.line.size > LARGE * usual.size
        if not (is_near and looks_same and stands_out and head_rows[-1].width > 0.6) or level_of(row.text) > 1 or row.is_tabular:
            break
        head_rows.append(row)
    return head_rows


def _paragraph(rows: Sequence[TextRow], place: int, usual: Usual) -> Paragraph:
    """The lines from a place on that belong together, and what they are."""
    first = rows[place]
    caption = CAPTION.match(first.text)
    is_caption = caption is not None and _is_caption(rows, place, usual, caption)
    end = place + 1
    while end < len(rows) and not _is_break(rows, end, usual, first, is_caption):
        end += 1
    paragraph = Paragraph(list(rows[place:end]))
    if is_caption:
        paragraph.kind = "caption"
    elif _is_table(paragraph):
        paragraph.kind = "table"
    elif paragraph.size < SMALL * usual.size and _is_at_end(rows, place, usual):
        paragraph.kind = "note"
    return paragraph


def _is_caption(rows: Sequence[TextRow], place: int, usual: Usual, match: re.Match[str]) -> bool:
    """Whether a line that begins like a caption is one, and no sentence about a figure."""
    row = rows[place]
    is_apart = row.above is None or usual.lines(row.above, row.line.size) > 1.15 or (place > 0 and rows[place - 1].is_tabular)
    is_other = abs(row.line.size - usual.size) > 0.05 * usual.size
    if match["mark"].strip():
        return is_apart or is_other
    return (is_apart and (not match["mark"].strip(" ") and match.end() == len(row.text.rstrip()))) or (
        is_apart and (is_other or row.line.is_bold)
    )


def _is_break(rows: Sequence[TextRow], place: int, usual: Usual, first: TextRow, is_caption: bool) -> bool:
    row, before = rows[place], rows[place - 1]
    if row.above is None or row.is_head or RUN_IN.match(row.text):
        return True
    if usual.lines(row.above, row.line.size) > 1.4 and usual.lines(row.above, usual.size) > 1.3:
        return True
    if is_caption:
        return row.is_tabular or abs(row.line.size - first.line.size) > 0.07 * first.line.size
    if row.is_tabular != before.is_tabular:
        return True
    match = CAPTION.match(row.text)
    if match is not None and _is_caption(rows, place, usual, match):
        return True
    if len(row.text.split()) > 3 and len(before.text.split()) > 3 and abs(row.line.size - before.line.size) > 0.07 * usual.size:
        return True
    indent = (row.line.left - row.line.edges[0]) / row.line.size
    indent_before = (before.line.left - before.line.edges[0]) / row.line.size
    is_indented = INDENT[0] < indent < INDENT[1] and indent - indent_before > INDENT[0]
    is_ended = TERMINAL.search(before.text) is not None and before.line.right < before.line.edges[1] + row.line.size
    return is_indented and is_ended


def _is_table(paragraph: Paragraph) -> bool:
    rows = paragraph.rows
    if all(NO_WORDS.fullmatch(row.text) for row in rows):
        return True
    if sum(row.is_tabular for row in rows) > 0.5 * len(rows):
        return True
    narrow = [row for row in rows if row.width < NARROW and len(row.text.split()) <= 4]
    return len(rows) > 2 and len(narrow) == len(rows) and not TERMINAL.search(rows[-1].text)


def _is_at_end(rows: Sequence[TextRow], place: int, usual: Usual) -> bool:
    """Whether all that follows in a line's column is small, too."""
    for row, following in zip(rows[place:], rows[place + 1 :], strict=False):
        if row.line.size > SMALL * usual.size and len(row.text.split()) > 2:
            return False
        if following.above is None:
            break
    return True


def _count_of_references(rows: Sequence[TextRow]) -> int:
    """How many lines the list of references has: all, unless an appendix follows."""
    for place, row in enumerate(rows):
        if row.is_head and AFTER_REFERENCES.match(row.text) and not INITIALS.search(bare(row.text)):
            return place
    return len(rows)


def _entries(rows: Sequence[TextRow], usual: Usual) -> Iterator[list[TextRow]]:
    """The entries of a list of references: by their labels, by lines that hang out, or by the room between them."""
    lefts: dict[tuple[int, tuple[float, float]], float] = {}
    for row in rows:
        key = (row.line.page, row.line.edges)
        lefts[key] = min(row.line.left, lefts.get(key, row.line.left))
    has_labels = sum(LABELLED.match(row.text) is not None for row in rows) > len(rows) / 8
    is_outer = [row.line.left < lefts[row.line.page, row.line.edges] + 0.5 * row.line.size for row in rows]
    hangs = 0.1 < sum(is_outer) / max(len(rows), 1) < 0.8
    entry: list[TextRow] = []
    for row, outer in zip(rows, is_outer, strict=True):
        if has_labels:
            is_first = LABELLED.match(row.text) is not None
        elif hangs:
            is_first = outer
        else:
            is_first = row.above is not None and usual.lines(row.above, row.line.size) > 1.15
        if is_first and entry:
            yield entry
            entry = []
        entry.append(row)
    if entry:
        yield entry
