"""A full text as all readers yield it, and the passages that it is cut into."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["text", "caption", "table", "note", "head", "reference"]
"""What a part of a document is: running text, a figure's or table's caption, the cells of a table or the labels of a figure, a footnote;
the head of a section, or an entry of the list of references, which are no blocks."""
ORDER: tuple[Kind, ...] = ("text", "caption", "note", "table")
"""Blocks of a section in their order: those of a kind follow each other."""
BETWEEN = "\n\n"
"""What is between blocks, and between a head and what follows."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some sentences of a section.

    Attributes:
        section: the head of its section, of several within each other the innermost; "" if unknown.
        page: the first page that it stands on, from 1, as programs that show PDFs count them; 0 where the source has no pages.
        start, end: its range of characters in `Document.text`.
        text: what stands there, with single blanks.
    """

    section: str
    page: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, caption or note: its kind, which is that of no head or reference, and its range of characters in `Document.text`."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its head, "" before the first one, how deep it lies, from 1, and its blocks: captions and notes after its text."""

    head: str
    level: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A full text.

    Attributes:
        title: what the document gives as its title, perhaps wrongly; "" if nothing.
        text: heads and blocks of all sections, with an empty line between them, and single blanks within them. No references.
        sections: in reading order.
        page_starts: (place in the text, page) wherever another page begins; empty where the source has no pages.
        references: the entries of its list of references, as they are printed.
        front: what stands on its first page before the text, and around it: title, people, stamps. It has the identifiers.
        page_count: 0 where the source has no pages.
    """

    title: str
    text: str
    sections: tuple[Section, ...]
    page_starts: tuple[tuple[int, int], ...] = ()
    references: tuple[str, ...] = ()
    front: str = ""
    page_count: int = 0

    def page_at(self, place: int) -> int:
        """The page on which a character of the text stands; 0 where the source has no pages."""
        number = bisect_right(self.page_starts, place, key=lambda start: start[0])
        return self.page_starts[max(number - 1, 0)][1] if self.page_starts else 0


@dataclass(frozen=True, slots=True)
class Part:
    """What a reader finds, in reading order.

    Attributes:
        page_starts: (place in `text`, page), the first at 0; empty where the source has no pages.
        level: of a head, from 1.
    """

    kind: Kind
    text: str
    page_starts: tuple[tuple[int, int], ...] = ()
    level: int = 1


def document_of(parts: Iterable[Part], *, title: str = "", front: str = "", page_count: int = 0) -> Document:
    """Join the parts of a document. Of each section captions, tables and notes follow its text, so that they interrupt no sentence."""
    sections: list[tuple[Part, list[Part]]] = [(Part("head", ""), [])]
    references = []
    for part in parts:
        if part.kind == "head":
            sections.append((part, []))
        elif part.kind == "reference":
            references.append(part.text)
        elif part.text:
            sections[-1][1].append(part)
    text = _Text()
    joined = [text.section(head, blocks) for head, blocks in sections if blocks or head.text]
    return Document(title, "".join(text.strings), tuple(joined), tuple(text.page_starts), tuple(references), front, page_count)


class _Text:
    """The text as it grows, and its pages."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self.page_starts: list[tuple[int, int]] = []
        self._length = 0

    def section(self, head: Part, parts: Sequence[Part]) -> Section:
        """Add a section."""
        if head.text:
            self._add(head)
        ordered = sorted(parts, key=lambda part: ORDER.index(part.kind))
        return Section(head.text, head.level, tuple(Block(part.kind, self._add(part), self._length) for part in ordered))

    def _add(self, part: Part) -> int:
        if self._length:
            self.strings.append(BETWEEN)
            self._length += len(BETWEEN)
        start = self._length
        self.strings.append(part.text)
        self._length += len(part.text)
        for place, page in part.page_starts:
            if not self.page_starts or self.page_starts[-1][1] != page:
                self.page_starts.append((start + place, page))
        return start
