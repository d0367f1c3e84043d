"""Results of the tools: each has a schema for programs, and a text for language models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from inspect import isclass
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from ...base.wording import counted, without_controls
from ..facts import IndexFacts

Direction = Literal["cites", "cited_by"]
Format = Literal["bibtex", "ris", "csl-json", "markdown", "text"]

PAPER_ID = "The paper's id, for the other tools."


class ToolModel(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid")


class Item(ToolModel):
    """An item of an answer's list, which a page contains whole or not at all."""

    @abstractmethod
    def text(self) -> str:
        """Its text for a language model, one line or several."""


class ToolResult(ToolModel):
    """The result of a tool."""

    notes: list[str] = Field(default=[], description="What to know of this answer.")
    cursor: str = Field(default="", description="Where the answer goes on: call again with the same arguments and this. Empty at its end.")

    def head(self) -> Iterator[str]:
        """The lines before the items."""
        return iter(())

    def lists_of(self, items: Sequence[Item]) -> dict[str, list[Item]]:
        """Some items in the answer's lists, by the lists' names."""
        kinds = {name: get_args(field.annotation)[:1] for name, field in type(self).model_fields.items()}
        item_kinds = {name: kind for name, found in kinds.items() for kind in found if isclass(kind) and issubclass(kind, Item)}
        return {name: [item for item in items if isinstance(item, kind)] for name, kind in item_kinds.items()}

    def text(self) -> str:
        """The whole text for a language model."""
        items = [item.text() for _, value in self if isinstance(value, list) for item in value if isinstance(item, Item)]
        lines = [*self.head(), *items, *(f"Note: {note}." for note in self.notes)]
        if self.cursor:
            lines.append(f'There is more: call again with the same arguments and cursor="{self.cursor}".')
        return "\n".join(lines)


class Missing(Item):
    """An unknown name."""

    name: str = Field(description="What was asked for.")
    reason: str = Field(description="Why there is no paper, and suggestions.")

    def text(self) -> str:
        """See `Item`."""
        return f"Not found: {self.reason}"


class ListedPaper(Item):
    """A paper that was found."""

    rank: int = Field(description="Its place in the answer, from 1.")
    id: str = Field(description=PAPER_ID)
    title: str
    authors: str = Field(default="", description="The family names of one or two authors, or of the first and et al.")
    year: int | None = None
    venue: str = ""
    sentence: str = Field(default="", description="The sentence of its abstract that is nearest to the query.")
    passage: str = Field(default="", description="The best sentences of its full text; … stands for what is left out.")
    place: str = Field(default="", description="The page and the section of the passage, as far as known.")
    why: str = Field(default="", description="Its places by meaning alone and by words alone, with the words that it has of the query.")
    also: list[str] = Field(default=[], description="Ids of other records of the same work.")

    def text(self) -> str:
        """See `Item`."""
        about = byline(self.authors, self.year, self.venue)
        lines = [f"{self.rank}. {self.title}", f"   id: {self.id}{f' · {about}' * bool(about)}"]
        lines += [f"   “{self.sentence}”"] * bool(self.sentence)
        lines += [f"   {self.place or 'full text'}: “{self.passage}”"] * bool(self.passage)
        lines += [f"   why: {self.why}"] * bool(self.why)
        lines += [f"   also: {', '.join(self.also)}"] * bool(self.also)
        return "\n".join(lines)


class FoundPapers(ToolResult):
    """The papers that answer a search, best first."""

    asked: str = Field(description="What was asked: for a query, or like papers.")
    count: int = Field(description="How many papers the whole answer has, over all of its pages.")
    matching: str = Field(default="", description="How many papers of the index have all of the query's words, or meet its demands.")
    papers: list[ListedPaper]

    def head(self) -> Iterator[str]:
        """See `ToolResult`."""
        matching = f" {self.matching[:1].upper()}{self.matching[1:]}." * bool(self.matching)
        yield f"{counted(self.count, 'paper') if self.count else 'No paper'} {self.asked}.{matching}"


class FoundPassage(Item):
    """A passage of a full text that was found."""

    rank: int = Field(description="Its place in the answer, from 1.")
    id: str = Field(description=PAPER_ID)
    title: str
    authors: str = Field(default="", description="The family names of one or two authors, or of the first and et al.")
    year: int | None = None
    page: int | None = Field(default=None, description="The page of the file on which it begins, from 1.")
    section: str = Field(default="", description="The head of its section.")
    passage: str = Field(description="Its whole sentences, to be quoted unchanged.")

    def text(self) -> str:
        """See `Item`."""
        about = byline(self.authors, self.year, "")
        lines = [f"{self.rank}. {self.title}", f"   id: {self.id}{f' · {about}' * bool(about)}"]
        return "\n".join([*lines, f"   {place_of(self.page, self.section) or 'full text'}: “{self.passage}”"])


class FoundPassages(ToolResult):
    """Passages of full texts that answer a search, best first."""

    asked: str = Field(description="What was asked.")
    count: int = Field(description="How many passages the whole answer has, over all of its pages.")
    passages: list[FoundPassage]

    def head(self) -> Iterator[str]:
        """See `ToolResult`."""
        yield f"{counted(self.count, 'passage') if self.count else 'No passage'} {self.asked}."


class PaperToCite(ToolModel):
    """A paper that a sentence should perhaps cite."""

    id: str = Field(description=PAPER_ID)
    key: str = Field(description="Its citation key. Within this answer each paper has one, and no two have the same.")
    title: str
    authors: str = Field(default="", description="The family names of one or two authors, or of the first and et al.")
    year: int | None = None
    is_named: bool = Field(default=False, description="Whether the sentence names its authors.")
    page: int | None = Field(default=None, description="The page of the file on which the passage begins, from 1.")
    section: str = Field(default="", description="The head of the passage's section.")
    passage: str = Field(default="", description="What supports the sentence in its full text; … stands for what is left out.")
    sentence: str = Field(default="", description="Without a full text: what supports the sentence in its abstract.")

    def lines(self) -> Iterator[str]:
        """Its lines for a language model."""
        yield f"   {self.key}: {self.title}"
        about = byline(self.authors, self.year, "")
        yield f"      id: {self.id}{f' · {about}' * bool(about)}{' · named in the sentence' * self.is_named}"
        if self.passage:
            yield f"      {place_of(self.page, self.section) or 'full text'}: “{self.passage}”"
        if self.sentence:
            yield f"      abstract: “{self.sentence}”"


class SentenceToCite(Item):
    """A sentence that needs a citation, and the papers that it should perhaps cite."""

    sentence: str = Field(description="The sentence, without markup.")
    papers: list[PaperToCite] = Field(description="The best first.")

    def text(self) -> str:
        """See `Item`."""
        return "\n".join([f"“{self.sentence}”", *(line for paper in self.papers for line in paper.lines())])


class CitationsToAdd(ToolResult):
    """What a text should cite, sentence by sentence."""

    compared: int = Field(description="How many sentences without a citation were compared with papers.")
    count: int = Field(description="For how many of them papers fit, over all pages of the answer.")
    sentences: list[SentenceToCite]

    def head(self) -> Iterator[str]:
        """See `ToolResult`."""
        yield f"{counted(self.compared, 'sentence')} without a citation compared; papers fit {self.count or 'none'} of them."


class FullTextPassage(Item):
    """A passage of a full text, in its order."""

    page: int | None = Field(default=None, description="The page of the file on which it begins, from 1.")
    section: str = Field(default="", description="The head of its section.")
    passage: str = Field(description="Its whole sentences, to be quoted unchanged.")

    def text(self) -> str:
        """See `Item`."""
        place = place_of(self.page, self.section)
        return f"[{place}] {self.passage}" if place else self.passage


class ReadFullText(ToolResult):
    """The full text of a paper, or a part of it."""

    id: str = Field(description=PAPER_ID)
    title: str
    sections: list[str] = Field(default=[], description="At the beginning: the heads of all sections, each with its first page.")
    count: int = Field(description="How many passages the whole answer has, over all of its pages.")
    passages: list[FullTextPassage]

    def head(self) -> Iterator[str]:
        """See `ToolResult`."""
        yield f"{self.title} · id: {self.id} · {counted(self.count, 'passage')}"
        if self.sections:
            yield f"Sections: {'; '.join(self.sections)}"


class PaperDetails(Item):
    """The facts of a paper. Long values are cut, with a note."""

    id: str = Field(description=PAPER_ID)
    title: str
    authors: list[str] = []
    year: int | None = None
    venue: str = ""
    address: str = Field(default="", description="Its web addresses.")
    abstract: str = ""
    others: dict[str, Any] = Field(default={}, description="Further columns of the index.")

    def text(self) -> str:
        """See `Item`."""
        about = byline("; ".join(self.authors), self.year, self.venue)
        lines = [self.title, f"   id: {self.id}"]
        lines += [f"   {line}" for line in (about, self.address) if line]
        lines += [f"   {name}: {_value(value)}" for name, value in self.others.items()]
        lines += [f"   {self.abstract}"] * bool(self.abstract)
        return "\n".join(lines)


class DetailedPapers(ToolResult):
    """Papers by their names."""

    count: int = Field(description="How many papers and names without one the whole answer has, over all of its pages.")
    papers: list[PaperDetails]
    missing: list[Missing]


class Entry(Item):
    """A paper as an entry of a bibliography."""

    id: str = Field(description=PAPER_ID)
    key: str = Field(default="", description="Its citation key: \\cite{KEY} in LaTeX.")
    entry: str

    def text(self) -> str:
        """See `Item`."""
        return self.entry


class Entries(ToolResult):
    """Entries for a bibliography, complete and unchanged."""

    format: Format
    count: int = Field(description="How many entries and names without a paper the whole answer has, over all of its pages.")
    entries: list[Entry]
    missing: list[Missing]


class Work(Item):
    """A work that a paper cites, or that cites it."""

    direction: Direction
    id: str = Field(default="", description=f"{PAPER_ID} Empty if no index has it.")
    title: str = Field(description="Its title; for a work that no index has, what the paper says of it.")
    authors: str = ""
    year: int | None = None

    def text(self) -> str:
        """See `Item`."""
        about = byline(self.authors, self.year, "")
        name = f"id: {self.id}" if self.id else "not in the index"
        return f"{self.direction.replace('_', ' ')}: {self.title}{f' · {about}' * bool(about)} · {name}"


class Works(ToolResult):
    """The citations of a paper."""

    id: str = Field(description=PAPER_ID)
    title: str
    cites: int = Field(description="How many works it cites.")
    cites_indexed: int = Field(description="How many of these are in the index.")
    cited_by: int = Field(description="How many papers of the index cite it.")
    works: list[Work]

    def head(self) -> Iterator[str]:
        """See `ToolResult`."""
        yield f"{self.title} · id: {self.id}"
        indexed = f", {self.cites_indexed:,} of them in the index" * bool(self.cites)
        yield f"It cites {counted(self.cites, 'work')}{indexed}; {counted(self.cited_by, 'paper')} of the index cite it."


class Absent(ToolResult):
    """Why a paper is not among the first of an answer."""

    id: str = Field(description=PAPER_ID)
    title: str
    ranks: dict[str, int | None] = Field(description="Its rank in each mode of search; null where it is not ranked at all.")
    why: str = Field(default="", description="Its places by meaning alone and by words alone, with the words that it has of the query.")
    failed: list[str] = Field(default=[], description="What the query or the filter demands and it does not meet.")
    remedies: list[str] = Field(description="What would bring it in, the smallest change first.")

    def head(self) -> Iterator[str]:
        """See `ToolResult`."""
        yield f"{self.title} · id: {self.id}"
        yield "Its rank: " + ", ".join(f"{mode} {rank or 'none'}" for mode, rank in self.ranks.items())
        if self.why:
            yield f"Why: {self.why}"
        yield from (f"Lost: {failure}" for failure in self.failed)
        yield from (f"Remedy: {remedy}" for remedy in self.remedies)


class Value(Item):
    """A value of a column, and how many papers have it."""

    column: str
    value: str | int | float | bool
    papers: int

    def text(self) -> str:
        """See `Item`."""
        return f"{self.column} {self.value}: {self.papers:,}"


class CountedColumn(ToolModel):
    """A column whose values are counted."""

    column: str
    counted: str = Field(description="Of which papers.")
    papers: int = Field(description="How many papers were counted.")
    others: int = Field(default=0, description="How many further values there are; ask for more of them as in venue:50.")
    missing: int = Field(default=0, description="How many of the papers have no value.")


class Counts(ToolResult):
    """Counts of values."""

    columns: list[CountedColumn]
    values: list[Value]

    def head(self) -> Iterator[str]:
        """See `ToolResult`."""
        for column in self.columns:
            rest = ", ".join(
                [
                    *[counted(column.others, "other value")] * bool(column.others),
                    *[f"{counted(column.missing, 'paper')} without"] * bool(column.missing),
                ]
            )
            yield f"{column.column}: counted in {column.counted}{f'; {rest}' * bool(rest)}."


class ListedIndex(IndexFacts, Item):
    """An index."""

    def text(self) -> str:
        """See `Item`."""
        years = f", {self.first_year} to {self.last_year}" if self.first_year is not None else ""
        columns = ", ".join(f"{name} ({kind})" for name, kind in self.columns.items())
        full_texts = f"\n   full texts: {self.full_texts:,}" * bool(self.full_texts)
        return (
            f"{self.name}: {counted(self.papers, 'paper')}{years}\n   modes: {', '.join(self.modes)}\n   columns: {columns}\n"
            f"   citations: {'yes' if self.has_references else 'no'}{full_texts}"
        )


class IndexList(ToolResult):
    """The indexes that are searched."""

    count: int = Field(description="How many there are.")
    indexes: list[ListedIndex]

    def head(self) -> Iterator[str]:
        """See `ToolResult`."""
        yield counted(self.count, "index", "indexes") + ":"


def byline(authors: str, year: int | None, venue: str) -> str:
    """The authors of a paper, its year and venue, as far as known."""
    return " · ".join(filter(None, (authors, "" if year is None else str(year), venue)))


def place_of(page: int | None, section: str) -> str:
    """The page and the section of a passage, as far as known."""
    return ", ".join(filter(None, (f"p. {page}" if page else "", section)))


def cut(text: str, most: int) -> str:
    """A text on one line, of at most about so many characters; a cut text ends with its full length."""
    line = " ".join(without_controls(text).split())
    return line if len(line) <= most else f"{line[:most].rstrip()}… ({len(line):,} characters in all)"


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
