"""Records of lines that begin with a tag, as RIS, Web of Science, EndNote, RefWorks and MEDLINE write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ...base.errors import InvalidRequest
from ...files.streams import LONGEST_LINE
from .encodings import text_lines
from .raw import Rejected, Row, filled


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a format writes records.

    Attributes:
        name: the format's, for people.
        tag: a line that begins with a tag, its first group, and then has a text, its last.
        first: the tags that begin a record: where a record has one already, the next begins another.
        titles: the tags of titles. A second one that an empty line parts from the first is that of a record whose beginning is missing.
        end: a line that ends a record; its last group is what else is in the line.
        between: a line between records, which is in none.
        is_parted: whether an empty line ends a record.
        is_indented: whether all other lines that go on are indented; a record that has others is damaged.
    """

    name: str
    tag: re.Pattern[str]
    first: frozenset[str]
    titles: frozenset[str]
    end: re.Pattern[str] | None = None
    between: re.Pattern[str] | None = None
    is_parted: bool = False
    is_indented: bool = False


@dataclass(slots=True)
class Record:
    """The lines of a record by their tags.

    Attributes:
        line: the number of its first line in the file.
        values: the texts of each tag, in lines, with their places in the record.
        fault: why it cannot be read, "" if it can.
    """

    line: int
    values: dict[str, list[tuple[int, list[str]]]] = field(default_factory=dict)
    fault: str = ""

    def texts(self, *tags: str) -> list[str]:
        """The texts of tags in their order in the record, each in one line."""
        return [text for lines in self._of(tags) if (text := " ".join(" ".join(lines).split()))]

    def first(self, *tags: str) -> str:
        """The first text of the first tag that has any."""
        return next((text for tag in tags for text in self.texts(tag)), "")

    def lines(self, *tags: str) -> list[str]:
        """The lines of all texts of tags, of which each is a value."""
        return [text for lines in self._of(tags) for line in lines if (text := " ".join(line.split()))]

    def paragraphs(self, *tags: str) -> str:
        """The texts of tags, with empty lines between and within them."""
        texts = ("\n".join(line.strip() for line in lines) for lines in self._of(tags))
        paragraphs = (" ".join(part.split()) for text in texts for part in text.split("\n\n"))
        return "\n\n".join(filter(None, paragraphs))

    def others(self, prefix: str, *tags: str) -> dict[str, list[str]]:
        """The texts of all tags but these, as columns."""
        return {f"{prefix}_{tag.lower()}": texts for tag in self.values if tag not in tags and (texts := self.texts(tag))}

    def _of(self, tags: tuple[str, ...]) -> list[list[str]]:
        values = self.values
        if len(tags) == 1:
            return [lines for _, lines in values.get(tags[0], ())]
        return [lines for _, lines in sorted((value for tag in tags for value in values.get(tag, ())), key=lambda value: value[0])]


def rows(path: Path, syntax: Syntax, row: Callable[[Record], dict[str, object]]) -> Iterator[tuple[int, Row | Rejected]]:
    """Yield the records as rows; those that cannot be read, and those without title and abstract, are rejected.
    Raises InvalidRequest: the file has no record, or cannot be read to its end.
    """
    number = 0
    for number, record in enumerate(records(path, syntax), 1):
        paper = {} if record.fault else filled(row(record))
        if paper.get("title") or paper.get("abstract"):
            yield number, paper
        else:
            reason = record.fault or "no title and no abstract"
            yield number, Rejected(str(path), number, f"{reason} (the record of line {record.line:,})")
    if not number and any(line.strip() for line in text_lines(path)):
        raise InvalidRequest(f"{path} cannot be read as {syntax.name}: no line has the tag of a record or of a title")


def records(path: Path, syntax: Syntax) -> Iterator[Record]:
    """Yield the records of a file. Lines that stand between records are left out."""
    lines = _Lines(syntax)
    for number, line in enumerate(text_lines(path), 1):
        while syntax.end is not None and (end := syntax.end.match(line)):
            if (record := lines.closed()) is not None:
                yield record
            line = (end[end.re.groups] or "").lstrip("\ufeff")
        if tag := syntax.tag.match(line):
            if (record := lines.begun(tag[1])) is not None:
                yield record
            lines.add(tag[1], tag[tag.re.groups] or "", number)
        elif syntax.between is not None and syntax.between.match(line):
            if (record := lines.closed()) is not None:
                yield record
        elif (record := lines.gone_on(line.rstrip(), number)) is not None:
            yield record
    if (record := lines.closed(is_last=True)) is not None:
        yield record


class _Lines:
    """The lines of the record at hand."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax
        self._begin([])

    def _begin(self, parts: list[tuple[str, list[str], int]]) -> None:
        self._parts = parts  # tag, lines, number of the first line
        self._tags = {tag for tag, *_ in parts}
        self._gap = 0  # how many parts are before the last empty line
        self._tags_before_gap: set[str] = set()
        self._is_after_gap = self._has_gaps = False
        self._size = sum(len(line) for _, lines, _ in parts for line in lines)
        self._fault = ""

    def begun(self, tag: str) -> Record | None:
        """The record before, if a line with this tag begins another."""
        syntax = self._syntax
        if self._is_after_gap:
            if syntax.is_parted:
                return self.closed()
            self._is_after_gap = False
            self._gap, self._tags_before_gap = len(self._parts), set(self._tags)
        if tag in syntax.first:
            if tag in self._tags or "" in self._tags:
                return self.closed()
            if self._has_gaps and self._tags.isdisjoint(syntax.titles):
                self._begin([])  # what stood between records
        elif tag in self._tags_before_gap and tag in syntax.titles:
            parts = self._parts[self._gap :]
            del self._parts[self._gap :]
            record = self.closed()
            self._begin(parts)
            return record
        return None

    def add(self, tag: str, text: str, number: int) -> None:
        """Add a line with a tag, which is "" for one that should have one."""
        self._tags.add(tag)
        self._parts.append((tag, [text.rstrip()], number))
        self._grow(text)

    def gone_on(self, line: str, number: int) -> Record | None:
        """The record before, if a line without a tag is in none. Otherwise it goes on with the text before it, if there is any."""
        record = None
        if not line or not self._parts:
            self._is_after_gap = self._has_gaps = bool(self._parts)
            return record
        if self._syntax.is_indented and not line[0].isspace():
            if self._is_after_gap:
                record = self.closed()
                self.add("", "", number)
            self._fault = self._fault or f"not a line of {self._syntax.name}: {line[:60]!r}"
        self._parts[-1][1].extend(["", line] if self._is_after_gap else [line])
        self._is_after_gap = False
        self._grow(line)
        return record

    def _grow(self, line: str) -> None:
        self._size += len(line)
        if self._size > LONGEST_LINE:
            self._fault = f"more than {LONGEST_LINE >> 20} MB in one record"
            del self._parts[1:], self._parts[0][1][1:]

    def closed(self, *, is_last: bool = False) -> Record | None:
        """The record at hand, if it is one. Lines at the end of a file that have neither its beginning nor a title are none."""
        record = None
        is_paper = not is_last or not self._tags.isdisjoint(self._syntax.first | self._syntax.titles)
        if self._parts and (is_paper or self._fault):
            record = Record(self._parts[0][2], fault=self._fault)
            for place, (tag, lines, _) in enumerate(self._parts):
                record.values.setdefault(tag, []).append((place, lines))
        self._begin([])
        return record
