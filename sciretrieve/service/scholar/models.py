"""Requests and responses, for the OpenAPI description. Records only have the requested fields."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

MOST_PAPERS, MOST_AUTHORS = 500, 1000
"""The most papers, and authors, of a request."""
Record = TypeVar("Record")


class ScholarModel(BaseModel):
    """A model with JSON's names: paperId for paper_id."""

    model_config = ConfigDict(alias_generator=to_camel)


class ScholarRecord(ScholarModel):
    """A record with the requested fields."""

    model_config = ConfigDict(extra="allow")


class AuthorRecord(ScholarRecord):
    """An author: a name, and the papers that have it."""

    author_id: str | None = None
    external_ids: dict[str, Any] | None = None
    url: str | None = None
    name: str | None = None
    aliases: list[str] | None = None
    affiliations: list[str] | None = None
    normalized_affiliations: list[dict[str, Any]] | None = None
    homepage: str | None = None
    paper_count: int | None = None
    citation_count: int | None = None
    h_index: int | None = None
    papers: list[PaperRecord] | None = None


class PaperRecord(ScholarRecord):
    """A paper; in a list of references the id is null for a work that the index does not have."""

    paper_id: str | None
    corpus_id: int | None = None
    external_ids: dict[str, Any] | None = None
    url: str | None = None
    title: str | None = None
    abstract: str | None = None
    venue: str | None = None
    publication_venue: dict[str, Any] | None = None
    year: int | None = None
    reference_count: int | None = None
    citation_count: int | None = None
    influential_citation_count: int | None = None
    is_open_access: bool | None = None
    open_access_pdf: dict[str, Any] | None = None
    fields_of_study: list[str] | None = None
    s2_fields_of_study: list[dict[str, str]] | None = None
    publication_types: list[str] | None = None
    publication_date: str | None = Field(None, pattern=r"^\d{4}-\d\d-\d\d$")
    journal: dict[str, Any] | None = None
    citation_styles: dict[str, str] | None = None
    authors: list[AuthorRecord] | None = None
    citations: list[PaperRecord] | None = None
    references: list[PaperRecord] | None = None
    embedding: dict[str, Any] | None = None
    tldr: dict[str, str] | None = None
    text_availability: str | None = None
    match_score: float | None = None


class Page(ScholarModel, Generic[Record]):
    """A page of a list. `next` is where the next page begins, if there is one."""

    total: int = Field(description="How many entries the list has.")
    offset: int
    next: int | None = None
    data: list[Record]


class LinkRecord(ScholarRecord):
    """A citation, with the paper at its other end. Where and why it is cited is not known."""

    contexts: list[str] | None = None
    intents: list[str] | None = None
    contexts_with_intent: list[dict[str, Any]] | None = None
    is_influential: bool | None = None


class CitationRecord(LinkRecord):
    """A paper that cites the requested one."""

    citing_paper: PaperRecord


class ReferenceRecord(LinkRecord):
    """A work that the paper cites."""

    cited_paper: PaperRecord


PaperPage: TypeAlias = Page[PaperRecord]
AuthorPage: TypeAlias = Page[AuthorRecord]
CitationPage: TypeAlias = Page[CitationRecord]
ReferencePage: TypeAlias = Page[ReferenceRecord]


class BulkPage(ScholarModel):
    """Up to a thousand papers of a bulk search. `token` is for the next page; null on the last."""

    total: int = Field(description="How many papers there are in all.")
    token: str | None
    data: list[PaperRecord]


class MatchList(ScholarModel):
    """The paper whose title is nearest."""

    data: list[PaperRecord] = Field(min_length=1, max_length=1)


class Suggested(ScholarModel):
    """A suggested paper."""

    id: str
    title: str
    authors_year: str


class SuggestedList(ScholarModel):
    """Suggested papers."""

    matches: list[Suggested]


class SnippetRecord(ScholarRecord):
    """The requested parts of a passage. Its offsets are in characters of the title, the abstract, or the full text as it was read."""

    text: str | None = None
    snippet_kind: Literal["title", "abstract", "body"] | None = None
    section: str | None = Field(None, description="The head of its section; null outside a full text.")
    snippet_offset: dict[str, int] | None = None
    annotations: dict[str, list[dict[str, int]] | None] | None = None


class FoundSnippet(ScholarModel):
    """A passage and its paper. Scores order passages and say nothing else."""

    score: float
    paper: dict[str, Any]
    snippet: SnippetRecord


class SnippetList(ScholarModel):
    """Passages of papers, best first."""

    data: list[FoundSnippet]
    retrieval_version: str


class RecommendedList(ScholarModel):
    """Papers like the given ones, the nearest first."""

    recommended_papers: list[PaperRecord]


class Asked(ScholarModel):
    """The body of a request, which has nothing else: `fields` and `limit` stand in the address."""

    model_config = ConfigDict(extra="forbid")


class PaperIds(Asked):
    """The requested papers."""

    ids: list[str] = Field(min_length=1, max_length=MOST_PAPERS)


class AuthorIds(Asked):
    """The requested authors."""

    ids: list[str] = Field(min_length=1, max_length=MOST_AUTHORS)


class Examples(Asked):
    """Papers to be like, and papers to be unlike."""

    positive_paper_ids: list[str] = Field(min_length=1, max_length=MOST_PAPERS)
    negative_paper_ids: list[str] | None = Field(None, max_length=MOST_PAPERS)
