"""From the lines of a PDF's pages to its title and its parts, of which each sentence is whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .columns import ColumnLine
from .document import Part
from .glyphs import BROKEN_OFF
from .heads import RUN_IN, bare, level_of
from .hyphens import Hyphens, text_of
from .paragraphs import Paragraph, paragraphs_of
from .rows import TERMINAL, TextRow, Usual, without_items

STRICT_TERMINAL = re.compile(r"[.!?。！？؟।][\"'”’»)\]]*$")
ABSTRACT = re.compile(r"abstract|summary", re.IGNORECASE)
FIRST_HEAD = re.compile(r"introduction|background|motivation|keywords", re.IGNORECASE)
MOST_FRONT = 80
"""Lines among which the head of an abstract is."""
FRONT_WORDS = 25
"""Words of a paragraph that is no title, name or address."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a PDF's lines say: its title, what else stands before its text, and its parts."""

    title: str
    front: str
    parts: list[Part]


def layout_of(lines: Sequence[ColumnLine]) -> Layout:
    """Find out what each line is, and join them."""
    rows = [row for line in lines if (row := TextRow(line, text_of(line))).text.strip(f" {BROKEN_OFF}")]
    if not rows:
        return Layout("", "", [])
    usual = Usual(rows)
    title_rows = usual.title(rows)
    usual.look(rows)
    hyphens = Hyphens(row.text for row in rows)
    for row in title_rows:
        row.is_head = False
    first = _first_of_text(rows, title_rows, usual)
    without_items(rows[first:])
    title = _Joined(hyphens)
    for row in title_rows:
        title.add(row)
    front = " ".join(row.text.replace(BROKEN_OFF, "-") for row in rows[:first])
    return Layout(title.text, front, list(_parts(rows[first:], usual, hyphens)))


def _first_of_text(rows: Sequence[TextRow], title_rows: Sequence[TextRow], usual: Usual) -> int:
    """The place of the first line after title, names and addresses: that of the first head, or of the first paragraph."""
    start = rows.index(title_rows[-1]) + 1 if title_rows else 0
    for place, row in enumerate(rows[:MOST_FRONT]):
        if row.line.page == rows[0].line.page and (RUN_IN.match(row.text) or (row.is_head and ABSTRACT.fullmatch(bare(row.text)))):
            return place
    paragraph = 0
    for place in range(start, len(rows)):
        row = rows[place]
        name = bare(row.text)
        if row.line.page != rows[0].line.page or (row.is_head and FIRST_HEAD.fullmatch(name)):
            return place
        is_on = row.above is not None and usual.lines(row.above, row.line.size) < 1.35 and row.width > 0.7 and place > start
        paragraph = paragraph + len(row.text.split()) if is_on else len(row.text.split())
        if paragraph >= FRONT_WORDS and is_on:
            first = place
            while first > start and rows[first].above is not None and usual.lines(rows[first].above, row.line.size) < 1.35:
                first -= 1
            return first - 1 if first > start and rows[first - 1].is_head else first
    return start


class _Joined:
    """Text that grows by lines."""

    def __init__(self, hyphens: Hyphens) -> None:
        self._hyphens = hyphens
        self._strings: list[str] = []
        self._length = 0
        self._last = ""
        self.page_starts: list[tuple[int, int]] = []
        self.last_row: TextRow | None = None

    @property
    def text(self) -> str:
        """All of it."""
        return "".join([*self._strings, self._last.replace(BROKEN_OFF, "-")])

    def add(self, row: TextRow) -> None:
        """Add a line."""
        before, between = self._hyphens.join(self._last, row.text)
        self._strings.append(before + between)
        self._length += len(before) + len(between)
        self._last = row.text
        if not self.page_starts or self.page_starts[-1][1] != row.line.page:
            self.page_starts.append((self._length, row.line.page))
        self.last_row = row

    def is_open(self, row: TextRow) -> bool:
        """Whether the last sentence goes on in a line that another block begins with."""
        last = self.last_row
        if last is None or not self._last:
            return False
        if self._last.endswith((BROKEN_OFF, "-")) or (row.text[0].islower() and not STRICT_TERMINAL.search(self._last)):
            return True
        if TERMINAL.search(self._last):
            return False
        return row.above is None or last.line.right > last.line.edges[1] - 1.5 * last.line.size


def _parts(rows: Sequence[TextRow], usual: Usual, hyphens: Hyphens) -> Iterator[Part]:
    """The parts of a document's rows. A sentence goes on below a figure or a note, which follow it."""
    running: _Joined | None = None
    waiting: list[Part] = []
    for paragraph in paragraphs_of(rows, usual):
        first = paragraph.rows[0]
        if paragraph.kind not in ("text", "head", "reference"):
            waiting.append(_part(paragraph, hyphens))
            continue
        run_in = RUN_IN.match(first.text) if paragraph.kind == "text" else None
        is_on = paragraph.kind == "text" and run_in is None and running is not None and running.is_open(first)
        if not is_on:
            if running is not None:
                yield Part("text", running.text, tuple(running.page_starts))
            yield from waiting
            waiting.clear()
            running = None
        if paragraph.kind != "text":
            yield _part(paragraph, hyphens)
            continue
        if run_in is not None:
            yield Part("head", run_in[1], ((0, first.line.page),))
            first.text = first.text[run_in.end() :]
        running = running or _Joined(hyphens)
        for row in paragraph.rows:
            running.add(row)
    if running is not None:
        yield Part("text", running.text, tuple(running.page_starts))
    yield from waiting


def _part(paragraph: Paragraph, hyphens: Hyphens) -> Part:
    text = _Joined(hyphens)
    for row in paragraph.rows:
        text.add(row)
    return Part(paragraph.kind, text.text, tuple(text.page_starts), level_of(text.text) if paragraph.kind == "head" else 1)
