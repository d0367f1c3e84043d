"""Records of lines that begin with a tag, as RIS, Web of Science, EndNote, RefWorks and MEDLINE write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from ...base.errors import InvalidRequest
from ...files.streams import LONGEST_LINE
from .encodings import text_lines
from .raw import Rejected, Row, filled

MOST_LINES = 1_000_000
"""Lines that a record may have: a compressed file may expand to billions."""
EMPTY_LINE = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a format writes records.

    Attributes:
        name: the format's, for people.
        tag: a line with a tag, its first group, and a text, its second.
        first: the tags that begin a record: where a record has one already, the next begins another.
        titles: the tags of titles. A second one that an empty line parts from the first is that of a record whose beginning is missing.
        end: a line that ends a record; its group is what else is in the line.
        ends: the tags of such lines.
        between: a line between records, which is in none.
        is_parted: whether an empty line ends a record.
        is_indented: whether all other lines that go on are indented; a record that has others is damaged.
    """

    name: str
    tag: re.Pattern[str]
    first: frozenset[str]
    titles: frozenset[str]
    end: re.Pattern[str] | None = None
    ends: frozenset[str] = frozenset({"ER"})
    between: re.Pattern[str] | None = None
    is_parted: bool = False
    is_indented: bool = False


@dataclass(slots=True)
class Record:
    """The lines of a record by their tags.

    Attributes:
        line: the number of its first line in the file.
        parts: each tag and its text in their order; a text may have several lines.
        fault: why it cannot be read, "" if it can.
    """

    line: int
    parts: list[tuple[str, str]]
    fault: str = ""
    _values: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self._values = {}
        for tag, text in self.parts:
            self._values.setdefault(tag, []).append(text)

    def has(self, tags: Set[str]) -> bool:
        """Whether there is any of some tags."""
        return not tags.isdisjoint(self._values)

    def first(self, *tags: str) -> str:
        """The first text of the first tag that has any, in one line."""
        for tag in tags:
            for text in self._values.get(tag, ()):
                if line := " ".join(text.split()):
                    return line
        return ""

    def ranked(self, *tags: str) -> list[str]:
        """The texts of tags, those of the first tag first, each in one line."""
        return [line for tag in tags for text in self._values.get(tag, ()) if (line := " ".join(text.split()))]

    def texts(self, *tags: str) -> list[str]:
        """The texts of tags in their order in the record, each in one line."""
        return [line for text in self._of(tags) if (line := " ".join(text.split()))]

    def lines(self, *tags: str) -> list[str]:
        """The lines of all texts of tags, of which each is a value."""
        return [bare for text in self._of(tags) for line in text.split("\n") if (bare := " ".join(line.split()))]

    def paragraphs(self, *tags: str) -> str:
        """The texts of tags, with empty lines between and within them."""
        texts = self._of(tags)
        if len(texts) == 1 and "\n" not in texts[0]:
            return " ".join(texts[0].split())
        parts = (" ".join(part.split()) for text in texts for part in EMPTY_LINE.split(text))
        return "\n\n".join(filter(None, parts))

    def others(self, prefix: str, tags: Set[str]) -> dict[str, list[str]]:
        """The texts of all tags but these, as columns."""
        return {f"{prefix}_{tag.lower()}": texts for tag in self._values if tag not in tags and (texts := self.texts(tag))}

    def _of(self, tags: tuple[str, ...]) -> Sequence[str]:
        if len(tags) == 1:
            return self._values.get(tags[0], ())
        if self._values.keys().isdisjoint(tags):
            return ()
        return [text for tag, text in self.parts if tag in tags]


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
    lines, match, heads, ends = _Lines(syntax), syntax.tag.match, syntax.first | syntax.titles, syntax.ends
    for number, line in enumerate(text_lines(path), 1):
        tag = match(line)
        while (tag is None or tag[1] in ends) and syntax.end is not None and (end := syntax.end.match(line)):
            if (record := lines.closed()) is not None:
                yield record
            line = (end[1] or "").lstrip("\ufeff")
            tag = match(line)
        if tag is not None:
            name, text = tag.groups()
            if lines.more:
                lines.join()
            if (name in heads or lines.is_after_gap or not lines.parts) and (record := lines.begun(name, number)) is not None:
                yield record
            lines.add(name, text)
        elif syntax.between is not None and syntax.between.match(line):
            if (record := lines.closed()) is not None:
                yield record
        elif (record := lines.gone_on(line.rstrip(), number)) is not None:
            yield record
        elif number - lines.line > MOST_LINES:
            raise InvalidRequest(f"{path} cannot be read as {syntax.name}: the record of line {lines.line:,} has over {MOST_LINES:,} lines")
    if (record := lines.closed(is_last=True)) is not None:
        yield record


class _Lines:
    """The lines of the record at hand.

    Attributes:
        parts: each tag and its text so far.
        more: the further lines of the last text.
        is_after_gap: whether the line before was empty.
        line: the number of the first line.
    """

    __slots__ = ("_fault", "_gap", "_gap_line", "_has_gaps", "_size", "_syntax", "_tags", "is_after_gap", "line", "more", "parts")

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax
        self._begin([], 0)

    def _begin(self, parts: list[tuple[str, str]], line: int) -> None:
        self.parts, self.line = parts, line
        self.more: list[str] = []
        self._tags = {tag for tag, _ in parts}
        self._gap, self._gap_line = 0, 0  # how many parts are before the last empty line, and the line that follows it
        self.is_after_gap = self._has_gaps = False
        self._size = sum(len(text) for _, text in parts)
        self._fault = ""

    def begun(self, tag: str, number: int) -> Record | None:
        """The record before, if a line with this tag begins another; only a first tag, a title and what follows an empty line does."""
        syntax, record = self._syntax, None
        if self.is_after_gap:
            self.is_after_gap = False
            self._gap, self._gap_line = len(self.parts), number
            if syntax.is_parted:
                record = self.closed()
        if tag in syntax.first:
            if tag in self._tags or "" in self._tags:
                record = self.closed()
            elif self._has_gaps and self._tags.isdisjoint(syntax.titles):
                self._begin([], 0)  # what stood between records
        elif tag in syntax.titles and any(other == tag for other, _ in self.parts[: self._gap]):
            parts, line = self.parts[self._gap :], self._gap_line
            del self.parts[self._gap :]
            record = self.closed()
            self._begin(parts, line)
        self.line = self.line or number
        return record

    def add(self, tag: str, text: str | None) -> None:
        """Add a line with a tag, which is "" for one that should have one."""
        text = text.rstrip() if text else ""
        self._tags.add(tag)
        self.parts.append((tag, text))
        self._size += len(text)
        if self._size > LONGEST_LINE:
            self._cut()

    def join(self) -> None:
        """Join the further lines of the last text to it."""
        tag, text = self.parts[-1]
        self.parts[-1] = (tag, "\n".join([text, *self.more]))
        self.more = []

    def gone_on(self, line: str, number: int) -> Record | None:
        """The record before, if a line without a tag is in none. Otherwise it goes on with the text before it, if there is any."""
        record = None
        if not line or not self.parts:
            self.is_after_gap = self._has_gaps = bool(self.parts)
            return record
        if self._syntax.is_indented and not line[0].isspace():
            if self.is_after_gap:
                record = self.closed()
                self.line = number
                self.add("", "")
            self._fault = self._fault or f"not a line of {self._syntax.name}: {line[:60]!r}"
        if self.is_after_gap:
            self.is_after_gap = False
            self.more.append("")
        self.more.append(line)
        self._size += len(line)
        if self._size > LONGEST_LINE:
            self._cut()
        return record

    def _cut(self) -> None:
        self._fault = f"more than {LONGEST_LINE >> 20} MB in one record"
        del self.parts[1:]
        self.parts[0], self.more = (self.parts[0][0], ""), []

    def closed(self, *, is_last: bool = False) -> Record | None:
        """The record at hand, if it is one. Lines at the end of a file that have neither its beginning nor a title are none."""
        record = None
        if self.more:
            self.join()
        is_paper = not is_last or not self._tags.isdisjoint(self._syntax.first | self._syntax.titles)
        if self.parts and (is_paper or self._fault):
            record = Record(self.line, self.parts, self._fault)
        self._begin([], 0)
        return record
